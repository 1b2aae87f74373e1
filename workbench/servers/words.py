"""What is found of a server, in sentences that the screen and the command line share."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.evals.measuring.statistics import open_ended
from workbench.i18n import tr
from workbench.records.evals import Estimate
from workbench.records.servers import LoadFigure, LoadFigureName, LoadTest, ServerState, short_name
from workbench.usage.words import marks_told, near


def load_lines(found: LoadTest) -> tuple[str, ...]:
    """The figures of a load test, and Little's law beside the count."""
    ttft = "–" if found.ttft_p50_s is None else f"{found.ttft_p50_s:.2f} s"
    cut = tr("It was stopped: {sent} of {asked} requests were sent.", sent=found.sent, asked=found.asked)
    if not found.sent:
        return (cut,)
    return (
        *((cut,) if found.sent < found.asked else ()),
        tr(
            "{served}/s served of {rate}/s sent, {failed} failed. {tokens} tokens/s in all.",
            served=f"{found.served:.2f}",
            rate=f"{found.rate:g}",
            failed=found.failed,
            tokens=speed_words(found),
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
        *((marks_told(True),) if found.estimated else ()),
    )


def speed_words(found: LoadTest) -> str:
    """Tokens a second of all answers, marked where they are estimates."""
    return f"{near(found.estimated)}{found.tokens_per_second:.1f}"


def load_progress(found: LoadTest) -> str:
    """How far a load test is."""
    return tr("{sent} of {asked} sent, {count} ended", sent=found.sent, asked=found.asked, count=len(found.flights))


def promise_name(key: str) -> str:
    """A promise of the contract in the interface's language, by its key."""
    names = {
        "stream": tr("streams in pieces"),
        "reason": tr("says why it stopped"),
        "usage": tr("counts tokens"),
        "max_tokens": tr("max_tokens holds"),
        "stop": tr("stop strings hold"),
        "repeat": tr("temperature 0 repeats itself"),
        "schema": tr("a JSON schema holds"),
        "grammar": tr("a grammar holds"),
        "bad_request": tr("a bad request is refused"),
        "unknown_model": tr("an unknown model is refused"),
        "overflow": tr("too long a prompt is refused"),
        "cancel": tr("a stop frees the server"),
        "two_at_once": tr("two are answered at once"),
        "embeddings": tr("embeddings, in order"),
    }
    return names.get(key, key)


def state_words(state: ServerState) -> str:
    """What a server does at this moment, in a line; what it doesn't tell is left out."""
    at_work = tr("{busy} of {slots} slots at work", busy=state.busy, slots=state.slots)
    parts = [
        tr("loading") if state.ready is False else "",
        at_work if state.slots else "",
        tr("{count} under way", count=state.busy) if state.busy is not None and not state.slots else "",
        tr("{count} waiting", count=state.waiting) if state.waiting is not None else "",
        tr("its cache {share} full", share=f"{state.cache:.0%}") if state.cache is not None else "",
        tr("reads {tps} tokens/s", tps=f"{state.prefill_tps:.0f}") if state.prefill_tps else "",
        tr("writes {tps} tokens/s", tps=f"{state.decode_tps:.1f}") if state.decode_tps else "",
    ]
    return " · ".join(filter(None, parts))


def load_title(test: LoadTest) -> str:
    """What was tested, how, and when, in local time."""
    when = f"{test.created.astimezone():%Y-%m-%d %H:%M}"
    return f"{when} · {short_name(test.model)} · {test.url} · {test.rate:g}/s × {test.sent}"


def figure_name(name: LoadFigureName) -> str:
    """In the interface's language."""
    return {
        "p50": tr("request p50, s"),
        "p95": tr("request p95, s"),
        "ttft_p50": tr("first token p50, s"),
        "ttft_p95": tr("first token p95, s"),
    }[name]


def load_rows(before: LoadTest, now: LoadTest, figures: Sequence[LoadFigure]) -> list[tuple[str, str, str, str]]:
    """Two tests side by side: what is compared, then, now, and how they differ; ▲ and ▼ only beyond chance."""
    counted = (
        (tr("served/s"), f"{before.served:.2f}", f"{now.served:.2f}"),
        (tr("tokens/s"), speed_words(before), speed_words(now)),
        (tr("requests at once"), f"{before.in_system:.2f}", f"{now.in_system:.2f}"),
        (tr("failed"), f"{before.failed}/{before.sent}", f"{now.failed}/{now.sent}"),
    )
    timed = [(figure_name(f.name), _timed(f.before), _timed(f.now), load_change(f)) for f in figures]
    return [*timed, *((*row, "") for row in counted)]


def load_note() -> str:
    """What the signs of ``load_rows`` mean."""
    return tr(
        "[95 % interval; ∞: too few requests to bound it]. ▲ slower, ▼ faster, where the intervals don't meet; "
        "~ where chance may have made the difference."
    )


def _timed(found: Estimate | None) -> str:
    if found is None:
        return "–"
    digits = 2 if found.value < 10 else 1
    high = "∞)" if open_ended(found) else f"{found.high:.{digits}f}]"
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {high}"


def load_change(figure: LoadFigure) -> str:
    """By how much, with a sign of whether it is more than chance; "" where one side has nothing."""
    if figure.before is None or figure.now is None or not figure.before.value:
        return ""
    share = figure.now.value / figure.before.value - 1
    sign = ("▲" if share > 0 else "▼") if figure.apart else "~"
    return f"{sign} {share:+.0%}"
