"""The one table of metric names: what scores are stored under, what gates speak of, what screens and reports show."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from workbench.errors import UsageError
from workbench.i18n import tr

Statistic: TypeAlias = Literal["rate", "mean", "time", "ratio"]
_AT: Final = re.compile(r"^(?P<family>[a-z_]+)@(?P<k>[1-9]\d*)$")


@dataclass(frozen=True, slots=True)
class Metric:
    """How a metric is named, read and summed up.

    Attributes:
        name: "recall@5"; "recall@k" in the table.
        label: for people, in English; ``title`` is in the interface's language.
        unit: "" for a share between 0 and 1, else "ms", "s", "tokens", "tokens/s", "cost".
        kind: "rate": the share of cases with 1 (Wilson); "mean": over cases; "time": a percentile of cases;
            "ratio": one sum over another.
        source: the score of a case that a percentile or ratio is made of, "" for the metric's own name.
        quantile: of a "time", 0–1.
    """

    name: str
    label: str
    unit: str = ""
    higher_is_better: bool = True
    kind: Statistic = "mean"
    source: str = ""
    quantile: float = 0.0

    @property
    def title(self) -> str:
        """The label in the interface's language."""
        family, at, k = self.label.partition("@")
        return tr(family) + at + k

    @property
    def bounded(self) -> bool:
        """Whether it is a share between 0 and 1."""
        return not self.unit

    def text(self, value: float) -> str:
        """A value as people read it: "0.853", "2,310 ms", "12.4 tokens/s", "0.0142" of a currency."""
        return self.number(value) if self.unit in ("", "cost") else f"{self.number(value)} {self.unit}"

    def number(self, value: float) -> str:
        """The same without its unit: the bounds of an interval, whose value has it."""
        if self.bounded:
            return f"{value:.3f}"
        if self.unit == "cost":
            return f"{value:.3g}" if abs(value) < 1 else f"{value:,.2f}"
        return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


def _percentiles(name: str, label: str, quantiles: tuple[int, ...]) -> tuple[Metric, ...]:
    return tuple(
        Metric(f"{name}_p{q}_ms", f"{label} p{q}", "ms", False, "time", f"{name}_ms", q / 100) for q in quantiles
    )


METRICS: Final[dict[str, Metric]] = {
    m.name: m
    for m in (
        Metric("pass_rate", "Passed", kind="rate"),
        Metric("precision@k", "Precision@k"),
        Metric("recall@k", "Recall@k"),
        Metric("hit@k", "Hit@k", kind="rate"),
        Metric("mrr@k", "MRR@k"),
        Metric("mrr", "MRR"),
        Metric("map@k", "MAP@k"),
        Metric("map", "MAP"),
        Metric("ndcg@k", "nDCG@k"),
        Metric("recall_ann@k", "Recall of the index@k"),
        Metric("context_precision", "Context precision"),
        Metric("context_recall", "Context recall"),
        Metric("groundedness", "Groundedness"),
        Metric("answer_relevance", "Answer relevance"),
        Metric("citation_precision", "Citation precision"),
        Metric("citation_recall", "Citation recall"),
        Metric("exact_match", "Exact match", kind="rate"),
        Metric("f1", "Token F1"),
        Metric("correctness", "Answer correctness"),
        Metric("coverage", "Coverage", kind="rate"),
        Metric("correct_abstention", "Correct abstention", kind="rate"),
        Metric("unsupported_answer", "Unsupported answers", higher_is_better=False, kind="rate"),
        Metric("needless_abstention", "Needless abstention", higher_is_better=False, kind="rate"),
        Metric("format_valid", "Valid format", kind="rate"),
        *_percentiles("latency", "Latency", (50, 95, 99)),
        *_percentiles("ttft", "Time to first token", (50, 95, 99)),
        Metric("tokens_per_s", "Output speed", "tokens/s"),
        Metric("prompt_tokens", "Prompt tokens", "tokens", higher_is_better=False),
        Metric("output_tokens", "Output tokens", "tokens", higher_is_better=False),
        Metric("seconds_per_useful", "Time per useful answer", "s", False, "ratio", "seconds"),
        Metric("tokens_per_useful", "Tokens per useful answer", "tokens", False, "ratio", "tokens"),
        Metric("cost_per_useful", "Cost per useful answer", "cost", False, "ratio", "cost"),
    )
}


def find_metric(name: str) -> Metric | None:
    """The metric with that name, "recall@5" being of the family "recall@k"; None when there is none."""
    at = _AT.match(name)
    if at and (family := METRICS.get(f"{at['family']}@k")):
        return replace(family, name=name, label=family.label.replace("@k", f"@{at['k']}"))
    return None if name.endswith("@k") else METRICS.get(name)


def metric(name: str) -> Metric:
    """The metric with that name. Raises UsageError with the nearest names."""
    found = find_metric(name)
    if found is None:
        near = difflib.get_close_matches(name, METRICS, n=3, cutoff=0.4)
        raise UsageError(
            tr("Unknown metric"),
            tr("There is no metric called “{name}”.", name=name),
            tr("Did you mean {names}? With @k write a number: recall@5.", names=", ".join(near or list(METRICS))),
        )
    return found
