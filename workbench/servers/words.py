"""What is found of a server, in sentences that the screen and the command line share."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.servers import LoadTest


def load_lines(found: LoadTest) -> tuple[str, ...]:
    """The figures of a load test, and Little's law beside the count."""
    ttft = "–" if found.ttft_p50_s is None else f"{found.ttft_p50_s:.2f} s"
    return (
        tr(
            "{served}/s served of {rate}/s sent, {failed} failed. {tokens} tokens/s in all.",
            served=f"{found.served:.2f}",
            rate=f"{found.rate:g}",
            failed=found.failed,
            tokens=f"{found.tokens_per_second:.1f}",
        ),
        tr(
            "a request: mean {mean} s, p50 {p50} s, p95 {p95} s, first token p50 {ttft}",
            mean=f"{found.mean_s:.2f}",
            p50=f"{found.p50_s:.2f}",
            p95=f"{found.p95_s:.2f}",
            ttft=ttft,
        ),
        tr(
            "in the system at once: {count} counted, {little} by Little's law (λ·W)",
            count=f"{found.in_system:.2f}",
            little=f"{found.little:.2f}",
        ),
    )
