"""Calls in the interface's language: estimates marked, phases as bars, what is predicted of the next one."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.money import LatencyFit, Waterfall
from workbench.records.usage import Forecast


def near(estimated: bool | None) -> str:
    """The mark before a number of tokens, or what is reckoned from it: "≈ " estimated, "≈? " where it wasn't noted."""
    return "≈? " if estimated is None else "≈ " if estimated else ""


def marks_told(estimated: bool | None) -> str:
    """What the mark of ``near`` means, "" for none."""
    if estimated is None:
        return tr("≈? entered before estimates were told from counts")
    return tr("≈ estimated: its server counts no tokens") if estimated else ""


def fit_words(fit: LatencyFit) -> str:
    """The fitted line's coefficients, in milliseconds, with how well they fit."""
    about, r2 = near(fit.estimated), "–" if fit.r2 is None else f"{fit.r2:.3f}"
    slopes = f"α {about}{fit.alpha_ms:.3f} ms · β {about}{fit.beta_ms:.2f} ms"
    return f"L0 {fit.fixed_ms:,.0f} ms · {slopes} · R² {r2} · n {fit.calls}"


def flaw_words(fit: LatencyFit) -> str:
    """Why nothing is predicted by it, "" where it can be."""
    told = {
        "negative": tr("Nothing is predicted: a part is below 0, as no time is."),
        "loose": tr("Nothing is predicted: it explains less than half of the times."),
    }
    return told.get(fit.flaw, "")


def forecast_words(forecast: Forecast) -> str:
    """The medians, and how well they foretell."""
    return tr(
        "TTFT {ttft} ms, TPOT {tpot} ms (medians of {calls} calls); TTFT + (N-1)·TPOT misses by {error} (median)",
        ttft=f"{forecast.ttft_ms:,.0f}",
        tpot=f"{near(forecast.estimated)}{forecast.tpot_ms:.1f}",
        calls=f"{forecast.calls:,}",
        error=f"{forecast.error:.1%}",
    )


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
