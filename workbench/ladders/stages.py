"""The stages of a ladder: quantize, bench, score, evaluate. Each does what is missing and stores it as it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.benchmarks import Benchmarks
from workbench.errors import Cancelled, EngineError, NotFoundError
from workbench.evals.lab import EvalLab
from workbench.i18n import tr
from workbench.ladders.making import described, make
from workbench.ladders.scoring import score
from workbench.library import Library
from workbench.ports import Cancel, Store
from workbench.records.answers import AskOptions
from workbench.records.benchmarks import Bench
from workbench.records.evals import RunConfig
from workbench.records.ladders import Ladder, Rung, Stage, WindowScores


@dataclass(frozen=True, slots=True)
class Parts:
    """What the stages use of the desk."""

    store: Store
    library: Library
    benchmarks: Benchmarks
    evals: EvalLab


@dataclass(frozen=True, slots=True)
class Step:
    """What is done now and how far it is, 0–1; ``stored``: there is something new to report."""

    now: str
    fraction: float | None = None
    stored: bool = False


def usable(ladder: Ladder) -> tuple[Rung, ...]:
    """Rungs whose file is there, the reference first."""
    return tuple(rung for rung in ladder.rungs if is_made(rung) and not rung.problem)


def is_made(rung: Rung) -> bool:
    """Its file is whole and known. (A rung that was remembered but never got its name has no file.)"""
    return bool(rung.hash) and Path(rung.path).is_file()


def is_gone(rung: Rung) -> bool:
    """Its file was known, and isn't where it was."""
    return bool(rung.hash) and not Path(rung.path).is_file()


def left(parts: Parts, ladder: Ladder) -> tuple[Stage, ...]:
    """The stages that aren't complete, in their order; a file that is gone counts only where it is to be measured."""
    plan = ladder.plan
    open_rungs = [rung for rung in ladder.rungs if not rung.problem]
    missing: list[Stage] = []
    if plan.bench and not _bench_complete(parts, ladder):
        missing.append("bench")
    if plan.text and any(unscored(parts, ladder, rung) for rung in open_rungs[1:]):
        missing.append("quality")
    if plan.dataset and any(not _evaluated(parts, rung) for rung in open_rungs):
        missing.append("eval")
    measured = not missing and (plan.bench or plan.text or plan.dataset)
    unmade = any(not rung.hash if measured else not is_made(rung) for rung in open_rungs)
    return ("quantize", *missing) if unmade else tuple(missing)


# -- quantize ------------------------------------------------------------------------------------------------------


def quantize(parts: Parts, ladder: Ladder, cancel: Cancel) -> Iterator[Step]:
    """Makes what isn't there; the reference first, because the others are made from it.

    A quantization that the engine refuses has a problem, and the others go on.

    Raises:
        EngineError: the reference can't be made or used.
        UsageError, FileError, Cancelled: see ``make``.
    """
    for rung in ladder.rungs:
        if is_made(rung):
            continue
        yield Step(rung.name, 0.0)
        try:
            yield from _made(parts, ladder, rung, cancel)
        except EngineError as error:
            if rung.place == 0:
                raise
            parts.store.ladders.put_rung(ladder.id, replace(rung, problem=f"{error.title}: {error.message}"))
            yield Step(rung.name, 1.0, stored=True)


def _made(parts: Parts, ladder: Ladder, rung: Rung, cancel: Cancel) -> Iterator[Step]:
    source = ladder.plan.source if rung.place == 0 else ladder.rungs[0].path
    if known := _made_before(parts, ladder, rung):
        parts.store.ladders.put_rung(ladder.id, known)
        yield Step(rung.name, 1.0, stored=True)
        return
    for step in make(source, rung, ladder.plan.load.threads, cancel):
        if isinstance(step, Rung):
            parts.store.ladders.put_rung(ladder.id, step)
        else:
            yield Step(rung.name, step)
    yield Step(rung.name, 1.0, stored=True)


def _made_before(parts: Parts, ladder: Ladder, rung: Rung) -> Rung | None:
    """The rung as an earlier ladder made it from the same file, when what it made still lies there."""
    if not Path(rung.path).is_file():
        return None
    found = described(rung, Path(rung.path))
    if not found.hash:  # it is no model at all
        return None
    reference = parts.store.ladders.ladder(ladder.id).rungs[0].hash
    for earlier in parts.store.ladders.ladders():
        same_source = earlier.plan.source == ladder.plan.source
        for one in earlier.rungs:
            same_origin = same_source if one.place == rung.place == 0 else earlier.rungs[0].hash == reference
            same_file = one.made and (one.path, one.hash, one.kind) == (found.path, found.hash, found.kind)
            if same_file and same_origin:
                return replace(found, seconds=one.seconds)
    return None


# -- bench ---------------------------------------------------------------------------------------------------------


def bench(parts: Parts, ladder: Ladder, cancel: Cancel) -> Iterator[Step]:
    """Measures all rungs in turns, so that they compare. Raises as ``Benchmarks.run``."""
    plan = ladder.plan.bench
    if plan is None or _bench_complete(parts, ladder):
        return
    if _benched(parts, ladder):
        steps = parts.benchmarks.resume(ladder.bench_id, cancel)
    else:
        steps = parts.benchmarks.run([rung.path for rung in usable(ladder)], plan, cancel)
    known = 0
    for progress in steps:
        done = progress.report.bench
        if not known:
            known = done.id
            parts.store.ladders.set_bench(ladder.id, done.id)
        yield Step(progress.now, done.done / done.total if done.total else None, stored=True)


def _benched(parts: Parts, ladder: Ladder) -> Bench | None:
    """Its bench, when that is there and has every rung: one that failed before and is there now needs a new one."""
    try:
        found = parts.store.benchmarks.bench(ladder.bench_id) if ladder.bench_id else None
    except NotFoundError:
        return None
    measured = {model.path for model in found.models} if found else set()
    return found if measured.issuperset(rung.path for rung in usable(ladder)) else None


def _bench_complete(parts: Parts, ladder: Ladder) -> bool:
    found = _benched(parts, ladder)
    return found is not None and found.complete


# -- quality -------------------------------------------------------------------------------------------------------


def unscored(parts: Parts, ladder: Ladder, rung: Rung) -> list[int]:
    """Passages that the rung still has no scores of."""
    windows = ladder.plan.text.windows if ladder.plan.text else 0
    known = {scores.window for scores in parts.store.ladders.scores(ladder.id, rung.place)}
    return [n for n in range(windows) if n not in known]


def quality(parts: Parts, ladder: Ladder, passages: Sequence[str], cancel: Cancel) -> Iterator[Step]:
    """Holds every rung against the reference; each passage is stored as it ends.

    A rung that can't be scored has a problem, and the others go on.

    Raises:
        UsageError: the passages are too short.
        Cancelled: ``cancel`` was set.
    """
    text, rungs = ladder.plan.text, usable(ladder)
    if text is None or not rungs:
        return
    reference, *others = rungs
    for rung in others:
        missing = unscored(parts, ladder, rung)
        done = len(passages) - len(missing)
        if not missing:
            continue
        yield Step(rung.name, done / len(passages))
        try:
            for found in score(reference, rung, ladder.plan, text, [(n, passages[n]) for n in missing], cancel):
                if isinstance(found, WindowScores):
                    parts.store.ladders.put_scores(ladder.id, rung.place, found)
                    done += 1
                    yield Step(rung.name, done / len(passages), stored=True)
                else:
                    yield Step(tr("loading {name}", name=rung.name), done / len(passages))
        except EngineError as error:
            parts.store.ladders.put_rung(ladder.id, replace(rung, problem=f"{error.title}: {error.message}"))
            yield Step(rung.name, 1.0, stored=True)


# -- eval ----------------------------------------------------------------------------------------------------------


def evaluate(parts: Parts, ladder: Ladder, cancel: Cancel) -> Iterator[Step]:
    """Runs the dataset with every rung; the loaded model is replaced, and unloaded in the end. Raises as ``run``."""
    if not ladder.plan.dataset:
        return
    try:
        for rung in usable(ladder):
            if not _evaluated(parts, rung):
                yield from _run(parts, ladder, rung, cancel)
    finally:
        parts.library.unload()


def _run(parts: Parts, ladder: Ladder, rung: Rung, cancel: Cancel) -> Iterator[Step]:
    plan = ladder.plan
    config = RunConfig(
        plan.dataset,
        "model",
        ask=AskOptions(max_output=plan.output),
        model=rung.path,
        limit=plan.limit,
        load=plan.load,
        title=tr("ladder {id}, {kind}", id=ladder.id, kind=rung.kind),
    )
    begun = _begun(parts, rung)
    steps = parts.evals.resume(rung.run_id, cancel) if begun else parts.evals.run(config, cancel)
    known = rung.run_id if begun else 0
    for progress in steps:
        run = progress.run
        if run.id != known:
            known = run.id
            parts.store.ladders.put_rung(ladder.id, replace(rung, run_id=run.id))
        if progress.cancelled:
            raise Cancelled
        yield Step(rung.name, run.done / run.total if run.total else None, stored=progress.finished)


def _begun(parts: Parts, rung: Rung) -> bool:
    """An evaluation of it is there."""
    try:
        return bool(rung.run_id) and parts.evals.find_run(rung.run_id).id > 0
    except NotFoundError:
        return False


def _evaluated(parts: Parts, rung: Rung) -> bool:
    return _begun(parts, rung) and parts.evals.find_run(rung.run_id).status == "complete"
