"""How the Evals screen writes metrics, marks, runs and layers."""

from __future__ import annotations

from typing import Final

from screens.style import Line, Tone
from workbench.evals.measuring.scoring import describe
from workbench.evals.measuring.statistics import open_ended
from workbench.i18n import tr
from workbench.records.evals import (
    CaseResult,
    Estimate,
    FailureStage,
    Label,
    MetricChange,
)

WORTH_A_THIRD_DIGIT: Final = 0.05
"""Margin of a share under which its third decimal says something."""

LOPSIDED: Final = 1.5
"""How many times the narrower arm of an interval the wider one is before ± would misstate it."""


def share(value: float, digits: int = 3) -> str:
    """0.988 → ".988"; 1.0 → "1.000"; −0.01 → "−.010"."""
    written = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(written) else ""
    return sign + (written[1:] if written.startswith("0.") else written)


def value_text(name: str, value: float, digits: int = 3) -> str:
    """A metric's value as short as it can be told: ".988", "1.9 s", "412 ms", "57.2 tokens/s", "1,204" tokens."""
    metric = describe(name)
    if metric.bounded:
        return share(value, digits)
    if metric.unit == "ms":
        return f"{value / 1000:,.1f} s" if abs(value) >= 1000 else f"{value:,.0f} ms"
    if metric.unit == "tokens":  # the metric's name says what they are
        return f"{value:,.0f}" if value >= 100 or value.is_integer() else f"{value:,.1f}"
    return metric.text(value)


def estimate_parts(name: str, estimate: Estimate) -> tuple[str, str]:
    """(".988", "±.006"): a share to two decimals when its margin is wide.

    A lopsided interval has no one margin: ("1.00", "−.26") where the value is its end, (".90", ".60–.98") otherwise.
    One without an upper bound tells the lower alone: ("18.8 s", "≥18.7 s").
    """
    digits = 3 if estimate.margin < WORTH_A_THIRD_DIGIT else 2
    value = ("≈ " if estimate.estimated else "") + value_text(name, estimate.value, digits)
    if open_ended(estimate):
        return value, "≥" + value_text(name, estimate.low, digits)
    below, above = estimate.value - estimate.low, estimate.high - estimate.value
    narrow, wide = sorted((below, above))
    if narrow * LOPSIDED >= wide:
        return value, "±" + value_text(name, estimate.margin, digits)
    if narrow <= 0:
        return value, ("−" if below > above else "+") + value_text(name, wide, digits)
    return value, f"{value_text(name, estimate.low, digits)}–{value_text(name, estimate.high, digits)}"


def change_line(change: MetricChange) -> Line:
    """The paired difference: an arrow where it is significant, a point where it may be chance."""
    metric = describe(change.metric)
    value = change.difference.value
    digits = 3 if change.a.margin < WORTH_A_THIRD_DIGIT else 2
    if not round(value, digits):
        return ("=", Tone.DIM)
    written = ("+" if value > 0 else "") + value_text(change.metric, value, digits)
    if not change.significant:
        return (f"· {written}", Tone.DIM)
    better = (value > 0) == metric.higher_is_better
    return (f"{'▲' if value > 0 else '▼'} {written}", Tone.GOOD if better else Tone.BAD)


def result_mark(result: CaseResult | None) -> Line:
    """✓ passed, ✗ failed, ◦ unscored or not yet run."""
    if result is None or result.passed is None:
        return ("◦", Tone.DIM)
    return ("✓", Tone.GOOD) if result.passed else ("✗", Tone.BAD)


def value_mark(value: int) -> Line:
    """A verdict: + − 0."""
    marks: dict[int, Line] = {1: ("+", Tone.GOOD), -1: ("−", Tone.BAD), 0: ("0", Tone.DIM)}
    return marks[value]


def label_mark(label: Label | None) -> Line:
    """The mark of a person's verdict, blank for none."""
    return value_mark(label.value) if label else ""


def short_stage(stage: FailureStage) -> str:
    """A failure stage in at most 16 characters, for a table; the long name stands with the case itself."""
    names: dict[FailureStage, str] = {
        "": "",
        "not_in_corpus": tr("not in corpus"),
        "not_ingested": tr("not ingested"),
        "filtered_out": tr("filtered out"),
        "not_retrieved": tr("not retrieved"),
        "cut": tr("cut"),
        "truncated": tr("truncated"),
        "ignored": tr("ignored"),
        "unsupported": tr("unsupported"),
        "miscited": tr("miscited"),
        "wrong_answer": tr("wrong answer"),
        "should_have_abstained": tr("had to abstain"),
        "abstained_needlessly": tr("needless silence"),
        "wrong_format": tr("wrong format"),
        "engine_error": tr("engine error"),
        "broken_case": tr("broken case"),
    }
    return names[stage]
