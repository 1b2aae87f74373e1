"""Rows side by side, and in words what else differs between the benches they are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from workbench.i18n import tr
from workbench.records.benchmarks import Bench, BenchComparison, BenchReport


def comparison(chosen: Sequence[tuple[BenchReport, int]]) -> BenchComparison:
    """The rows at those places of those reports; every bench's settings are held against the first one's."""
    first = chosen[0][0].bench
    caveats = {words: None for report, _ in chosen for words in differences(first, report.bench)}
    judged = {report.dataset: None for report, place in chosen if report.rows[place].quality}
    if len(judged) > 1:
        caveats[tr("other cases: {names}", names=" ↔ ".join(judged))] = None
    return BenchComparison(
        titles=tuple(bench_title(report.bench) for report, _ in chosen),
        rows=tuple(report.rows[place] for report, place in chosen),
        caveats=tuple(caveats),
    )


def bench_title(bench: Bench) -> str:
    """ "bench 3 · 2026-05-25 10:02", in local time."""
    return tr("bench {id} · {date}", id=bench.id, date=f"{bench.created.astimezone():%Y-%m-%d %H:%M}")


def differences(a: Bench, b: Bench) -> tuple[str, ...]:
    """Why figures of ``b`` don't compare with those of ``a``, a sentence each; none when they do."""
    return (*machine_differences(a, b), *_plan_differences(a, b))


def machine_differences(a: Bench, b: Bench) -> tuple[str, ...]:
    """Another machine, engine or version of the workbench."""
    pairs = (
        (tr("another machine"), _machine(a), _machine(b)),
        (tr("another engine"), a.manifest.engine, b.manifest.engine),
        (tr("another version of the workbench"), a.manifest.workbench, b.manifest.workbench),
    )
    return tuple(f"{name}: {one} ↔ {other}" for name, one, other in pairs if one != other)


def _machine(bench: Bench) -> str:
    m = bench.manifest.machine
    return f"{m.processor}, {m.cores}/{m.logical_cores}, {m.memory / (1 << 30):.1f} GiB, {m.system}"


def _plan_differences(a: Bench, b: Bench) -> Iterator[str]:
    named = {
        tr("prompt tokens"): (a.plan.prompt, b.plan.prompt),
        tr("generated tokens"): (a.plan.generate, b.plan.generate),
        tr("depths"): (_listed(a.plan.depths), _listed(b.plan.depths)),
        tr("repetitions"): (a.plan.repetitions, b.plan.repetitions),
    }
    loads = {f.name: (getattr(a.plan.load, f.name), getattr(b.plan.load, f.name)) for f in fields(a.plan.load)}
    for name, (one, other) in (named | loads).items():
        if one != other:
            yield f"{tr('other settings')}: {name} {one} ↔ {other}"


def _listed(depths: Sequence[int]) -> str:
    return ", ".join(map(str, depths))
