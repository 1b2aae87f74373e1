"""Two runs, case by case: what was fixed, what was broken, and whether the difference is more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from workbench.evals.measuring.scoring import (
    HEADLINES,
    Column,
    are_estimates,
    columns,
    describe,
    estimate,
    estimated_tokens,
    noted,
    sample,
    statistic,
)
from workbench.evals.measuring.segments import groups_of
from workbench.evals.measuring.statistics import (
    FEW,
    Sample,
    cases_for_quantile,
    flipped_difference,
    mcnemar,
    paired_difference,
)
from workbench.evals.metrics import Metric
from workbench.i18n import tr
from workbench.records.cases import Case
from workbench.records.codec import TYPE_KEY, encode
from workbench.records.evals import (
    CaseResult,
    MetricChange,
    Run,
    RunComparison,
    RunConfig,
    SegmentChange,
)

IMPORTED: Final = "imported.from"
"""The setting in a run's manifest that names the file which it was imported from."""

# Which cases were run, how the run is called, or what it is charged, is no cause of a paired difference. Nor is which
# index was asked for: the manifest tells the one that was met.
_NO_CAUSE: Final = frozenset({"title", "dataset", "limit", "segment", "prices", "index"})
_GIVEN: Final = "ask.threshold"
_STORED: Final = "support.threshold"
# A field whose change follows from another's: one change of model shows in three places and is one cause.
_FOLLOWS: Final[Mapping[str, tuple[str, ...]]] = {
    "model_hash": ("model",),
    "embedder_fingerprint": ("embedder",),
    "index_id": ("embedder", "embedder_fingerprint", "recipe", "collection", "collection_version"),
    "collection_version": ("collection", "recipe"),
    "search.collection": ("collection",),
    "model.quantization": ("model",),
    _STORED: (_GIVEN, "collection", "layer"),
}


def compare_runs(
    a: Run,
    a_results: Sequence[CaseResult],
    b: Run,
    b_results: Sequence[CaseResult],
    cases: Sequence[Case] = (),
) -> RunComparison:
    """Pairs the cases by id and tests each metric on those that both runs have, and on each of their segments.

    Flips by the exact McNemar test, and so every metric that is 0 or 1 for each case; all others by the paired
    bootstrap. The sentence that sums it up is ``verdict``.

    Args:
        cases: of the dataset; they tell the segments.
    """
    first, second = ({r.case_id: r for r in results} for results in (a_results, b_results))
    shared = [case_id for case_id in first if case_id in second]
    fixed, broken = _flips(first, second, shared)
    differs = differences(a, b)
    tables = (
        columns((first[i] for i in shared), a.config.layer),
        columns((second[i] for i in shared), b.config.layer),
    )
    near = are_estimates(a_results), are_estimates(b_results)
    changes = tuple(_noted(change, near) for change in _changes(*tables))
    segments = tuple(_segment_changes(first, second, tables, [case for case in cases if case.id in set(shared)]))
    return RunComparison(
        a=a,
        b=b,
        differs=differs,
        paired=len(shared),
        fixed=fixed,
        broken=broken,
        p_value=mcnemar(len(fixed), len(broken)),
        metrics=changes,
        warnings=(
            *_warnings(a, b, differs, len(shared), len(first.keys() | second.keys())),
            *_left_out((a, b), tables, changes),
            *([estimated_tokens()] if any(near) else []),
        ),
        segments=segments,
    )


def _noted(change: MetricChange, near: tuple[bool, bool]) -> MetricChange:
    """Marked where its tokens are estimates: those of the first run, of the second."""
    a, b = noted(change.metric, change.a, near[0]), noted(change.metric, change.b, near[1])
    return replace(change, a=a, b=b, difference=noted(change.metric, change.difference, any(near)))


def _flips(
    first: Mapping[str, CaseResult], second: Mapping[str, CaseResult], shared: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The cases that passed only in the second run, and those that did only in the first."""
    verdicts = [(case_id, first[case_id].passed, second[case_id].passed) for case_id in shared]
    fixed = tuple(case_id for case_id, before, after in verdicts if before is False and after is True)
    return fixed, tuple(case_id for case_id, before, after in verdicts if before is True and after is False)


def _segment_changes(
    first: Mapping[str, CaseResult],
    second: Mapping[str, CaseResult],
    tables: tuple[Mapping[str, Column], Mapping[str, Column]],
    cases: Sequence[Case],
) -> Iterator[SegmentChange]:
    """A field on which all cases agree makes no segment."""
    headlines = [name for name in tables[0] if name.startswith(HEADLINES)]
    for (field, value), members in groups_of(cases).items():
        ids = [case.id for case in members]
        fixed, broken = _flips(first, second, ids)
        a, b = ({name: _part(table[name], ids) for name in headlines if name in table} for table in tables)
        p = mcnemar(len(fixed), len(broken))
        yield SegmentChange(field, value, len(ids), len(fixed), len(broken), p, _changes(a, b))


def _part(column: Column, ids: Sequence[str]) -> Column:
    return {case_id: column[case_id] for case_id in ids if case_id in column}


def verdict(comparison: RunComparison) -> str:
    """One sentence: "3 fixed, 2 broken: not significant (McNemar p = 1.00)"."""
    counts = {"fixed": len(comparison.fixed), "broken": len(comparison.broken), "p": p_text(comparison.p_value)}
    if comparison.p_value < 0.05:
        return tr("{fixed} fixed, {broken} broken: significant (McNemar {p})", **counts)
    return tr("{fixed} fixed, {broken} broken: not significant (McNemar {p})", **counts)


def other_rule() -> str:
    """Why "passed" isn't the same in a run of the retrieval layer and in another."""
    return tr("One run passes a case when its gold is found, the other when its answer is right.")


def p_text(p: float) -> str:
    """ "p = 1.00", "p = 0.031", "p < 0.001"."""
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def differences(a: Run, b: Run) -> tuple[str, ...]:
    """Names of what differs between two runs and could have caused a difference; what follows from another is left out.

    "layer", "search.k", "ask.threshold", "recipe", "model", "versions.numpy", …  A τ that was given and the same τ
    stored for the collection are one.
    """
    one, other = _settings(a), _settings(b)
    if threshold_of(a) == threshold_of(b):
        for settings in (one, other):
            settings.pop(_GIVEN, None)
            settings.pop(_STORED, None)
    return causes(one, other)


def threshold_of(run: Run) -> float | None:
    """The τ that a run abstained by: the one it was given, else its collection's at that time; None of no answers."""
    stored = run.manifest.settings.get(_STORED)
    if run.config.ask.threshold is None and stored is not None:
        return float(stored)
    return run.config.ask.threshold


def causes(one: Mapping[str, object], other: Mapping[str, object]) -> tuple[str, ...]:
    """Names of what differs between two flat mappings of settings; what follows from another is left out."""
    changed = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
    if IMPORTED in changed:  # another system: nothing of ours made it
        return (IMPORTED,)
    # A model's load settings are there only while one is loaded.
    follows = {**_FOLLOWS, **{n: ("model",) for n in one.keys() ^ other.keys() if n.startswith("model.")}}
    follows |= {n: (n.replace("load.", "model."),) for n in changed if n.startswith("load.")}  # asked for, and had
    return tuple(sorted(n for n in changed if changed.isdisjoint(follows.get(n, ()))))


def beside_baseline(run: Run, baseline: Run | None) -> tuple[str, ...]:
    """Says that a run differs from its dataset's baseline in more than one thing."""
    differs = differences(baseline, run) if baseline and baseline.id != run.id else ()
    if baseline is None or len(differs) < 2:
        return ()
    return (tr("Beside the baseline #{run}: {reason}", run=baseline.id, reason=_no_one_cause(differs)),)


def _no_one_cause(differs: Sequence[str]) -> str:
    return tr(
        "{n} things differ ({names}): no one of them can be named as the cause.",
        n=len(differs),
        names=", ".join(differs),
    )


def changed_settings(a: RunConfig, b: RunConfig) -> tuple[tuple[str, Any, Any], ...]:
    """(name, in a, in b) of each setting in which two configurations differ; a title or a price is none."""
    one, other = _flat(_told(a)), _flat(_told(b))
    return tuple((name, one.get(name), other.get(name)) for name in one | other if one.get(name) != other.get(name))


def _told(config: RunConfig) -> dict[str, Any]:
    return {name: value for name, value in encode(config).items() if name not in _NO_CAUSE}


def _settings(run: Run) -> dict[str, Any]:
    """Configuration and manifest as one flat mapping; both speak of search and ask, and only the manifest of the file
    that ``model`` is."""
    manifest = encode(run.manifest)
    return _flat(manifest.pop("settings")) | _flat(_told(run.config)) | _flat(manifest)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        elif name != TYPE_KEY:
            flat[prefix + name] = value
    return flat


def _changes(a: Mapping[str, Column], b: Mapping[str, Column]) -> tuple[MetricChange, ...]:
    return tuple(change for name in a if name in b and (change := _change(name, a[name], b[name])))


def _change(name: str, a: Column, b: Column) -> MetricChange | None:
    both = [case_id for case_id in a if case_id in b]
    if not both:
        return None
    metric = describe(name)
    if _too_few(metric, len(both)):
        return None
    before, after = sample(a[i] for i in both), sample(b[i] for i in both)
    first, second = estimate(metric, before), estimate(metric, after)
    if not all(abs(e.value) < float("inf") for e in (first, second)):
        return None
    shares = (
        metric.kind in ("rate", "mean") and metric.bounded and all(_within_0_1(values) for values in (before, after))
    )
    if shares and np.isin([before, after], (0.0, 1.0)).all():
        fixed, broken = int((after > before).sum()), int((after < before).sum())
        difference = flipped_difference(len(both), fixed, broken)
        return MetricChange(name, first, second, difference, mcnemar(fixed, broken), "McNemar")
    difference, p = paired_difference(before, after, statistic(metric), shares=shares)
    return MetricChange(name, first, second, difference, p, "paired bootstrap")


def _too_few(metric: Metric, n: int) -> bool:
    """A percentile that n cases don't bound from above: nothing bounds the difference of two of them either."""
    return metric.kind == "time" and n < cases_for_quantile(metric.quantile)


def _within_0_1(values: Sample) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _left_out(
    runs: tuple[Run, Run], tables: tuple[Mapping[str, Column], Mapping[str, Column]], changes: Sequence[MetricChange]
) -> Iterator[str]:
    """Which metrics aren't compared, and why."""
    a, b = runs
    both = tables[0].keys() & tables[1].keys()
    alone = [
        f"{describe(name).title} (#{run.id})"
        for run, table in zip(runs, tables, strict=True)
        for name in table
        if name not in both
    ]
    if alone and a.config.k != b.config.k:
        ks = {"a": a.config.k, "b": b.config.k}
        yield tr("Not compared, as k is {a} in one run and {b} in the other: {names}.", names=", ".join(alone), **ks)
    elif alone:
        yield tr("Not compared, as only one of the runs has them: {names}.", names=", ".join(alone))
    compared = {change.metric for change in changes}
    few = [
        name
        for name in tables[0]
        if name in both and _too_few(describe(name), len(tables[0][name].keys() & tables[1][name].keys()))
    ]
    if few:
        titles = ", ".join(describe(name).title for name in few)
        yield tr("Not compared, as so few cases don't bound a percentile: {names}.", names=titles)
    compared |= set(few)
    undefined = [describe(name).title for name in tables[0] if name in both and name not in compared]
    if undefined:
        yield tr(
            "Not compared, as no case has them in both runs, or a run has none useful: {names}.",
            names=", ".join(undefined),
        )


def _warnings(a: Run, b: Run, differs: Sequence[str], paired: int, together: int) -> tuple[str, ...]:
    found: list[str] = []
    if len(differs) > 1:
        found.append(_no_one_cause(differs))
    elif differs == (IMPORTED,):
        found.append(
            tr(
                "An imported run ranks documents, and ours chunks. Where documents have several, compare alike: "
                "export ours in TREC's form and import it too."
            )
        )
    elif not differs:
        found.append(tr("Nothing differs between the two: what changed is chance."))
    if "retrieval" in (a.config.layer, b.config.layer) and a.config.layer != b.config.layer:
        found.append(other_rule())
    if a.config.exclude_gold != b.config.exclude_gold:
        found.append(tr("One run leaves the gold out: there, a case passes by abstaining."))
    if a.dataset_hash != b.dataset_hash:
        found.append(tr("The dataset changed between the runs: only cases of the same id are compared."))
    if paired < together:
        found.append(
            tr(
                "{paired} of {together} cases are in both runs; the others don't count.",
                paired=paired,
                together=together,
            )
        )
    if paired < FEW:
        found.append(tr("Only {n} cases: under {few}, gross failures show and little else.", n=paired, few=FEW))
    return tuple(found)
