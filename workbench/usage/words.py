"""The phases of a call, in the interface's language, and as bars where they lie in the whole."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.money import Waterfall


def phase_name(name: str) -> str:
    """A phase in the interface's language."""
    names = {
        "network": tr("network"),
        "queue": tr("queue"),
        "prefill": tr("prefill"),
        "first": tr("until the first token"),
        "decode": tr("decode"),
        "tools": tr("tools"),
        "checks": tr("checks"),
        "unexplained": tr("unexplained"),
    }
    return names[name]


def phase_lines(parts: Waterfall, bar: int) -> tuple[str, ...]:
    """A line a phase, its bar where it lies in a whole of ``bar`` cells, and the total they add up to."""
    names = [phase_name(p.name) for p in parts.phases]
    width = max(map(len, [*names, tr("total")]))
    scale, start, lines = (bar / parts.total_ms if parts.total_ms else 0.0), 0.0, []
    for name, p in zip(names, parts.phases, strict=True):
        at, start = min(bar - 1, round(start * scale)), start + p.ms
        lines.append(f"{name:<{width}}  {p.ms:>10,.1f} ms  {' ' * at}{'█' * max(1, round(start * scale) - at)}")
    return (*lines, f"{tr('total'):<{width}}  {parts.total_ms:>10,.1f} ms")
