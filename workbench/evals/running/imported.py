"""A foreign system's rankings as a run of a dataset, scored with the same metrics: it can be compared with ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import workbench
from workbench.errors import NotFoundError, UsageError
from workbench.evals.formats.judgements import first_of
from workbench.evals.formats.trec_run import RunFile, read_run
from workbench.evals.gold.anchors import is_whole
from workbench.evals.gold.whereabouts import relevant
from workbench.evals.measuring.compare import IMPORTED
from workbench.evals.running import marks
from workbench.i18n import tr
from workbench.ports import CorpusRepository, Store
from workbench.records.answers import Manifest
from workbench.records.cases import Case, Dataset, RowProblem
from workbench.records.evals import (
    CaseResult,
    ImportedRun,
    Ranked,
    Run,
    RunConfig,
)
from workbench.records.retrieval import SearchOptions


def is_imported(run: Run) -> bool:
    """It was read from a file: no setting of ours made it, and it can't be run again."""
    return IMPORTED in run.manifest.settings


def import_run(store: Store, dataset: Dataset, path: Path, config: RunConfig) -> ImportedRun:
    """Stores the rankings of a TREC run file as a complete run of the retrieval layer.

    A document holds all gold of its name. A question that the file doesn't name found nothing; topics that aren't
    questions of the dataset stay out, and documents that aren't in its collection are told.

    Args:
        config: its k, depth and title count.

    Raises:
        DocumentError: the file can't be read, or is no run.
        UsageError: it names no question of the dataset.
    """
    read = read_run(path)
    cases = [case for case in store.datasets.cases(dataset.name) if case.expectation is None]
    known = {case.id for case in cases}
    if known.isdisjoint(read.rankings):
        raise UsageError(
            tr("Another dataset's run"),
            tr("{path} names no question of “{dataset}”.", path=path, dataset=dataset.name),
            tr("Its topics must be called as the cases are: {names}", names=first_of([case.id for case in cases])),
        )
    config = replace(
        config, layer="retrieval", search=SearchOptions(dataset.collection), title=config.title or read.tag or path.stem
    )
    run = store.runs.create(config, dataset.hash, _manifest(path, dataset, read.tag), len(cases))
    for position, case in enumerate(cases):
        store.runs.put_result(_result(run, position, case, read.rankings.get(case.id, ())))
    told = (RowProblem(0, text, skipped=False) for text in _remarks(store.corpus, dataset, cases, read))
    return ImportedRun(store.runs.set_status(run.id, "complete"), (*read.problems, *told))


def _manifest(path: Path, dataset: Dataset, tag: str) -> Manifest:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    settings = {IMPORTED: path.name, "imported.tag": tag, "imported.sha256": digest}
    return Manifest(workbench.__version__, dataset.collection, 0, 0, "", "", "", "", "", settings=settings)


def _result(run: Run, position: int, case: Case, documents: Sequence[str]) -> CaseResult:
    k, kept = run.config.k, documents[: run.config.depth]
    held = [tuple(i for i, span in enumerate(case.gold) if span.source_id == name) for name in kept]
    ranked = tuple(
        Ranked("", name, 0, 0, rank, grade=max((case.gold[i].grade for i in gold), default=0))
        for rank, (name, gold) in enumerate(zip(kept, held, strict=True), start=1)
    )
    blank = CaseResult(run.id, case.id, position, passed=None, ranked=ranked)
    if not (case.answerable and relevant(case)):
        return replace(blank, reason=tr("The case has no gold to retrieve."))
    scores = marks.retrieval_marks(case, held, k)
    scored = replace(blank, scores=scores, passed=marks.retrieval_passed(scores, k))
    return scored if scored.passed else _lost(scored, k)


def _lost(result: CaseResult, k: int) -> CaseResult:
    best = next((hit for hit in result.ranked if hit.grade), None)
    if best:
        reason = tr("The gold is at rank {rank}, behind the cut of {k}.", rank=best.rank, k=k)
        return replace(result, failure="cut", reason=reason)
    reason = tr("The gold isn't among the {count} documents of the run.", count=len(result.ranked))
    return replace(result, failure="not_retrieved", reason=reason)


def _remarks(corpus: CorpusRepository, dataset: Dataset, cases: Sequence[Case], read: RunFile) -> Iterator[str]:
    """What in the run and in the dataset doesn't meet, and what that does to the figures."""
    names = [case.id for case in cases]
    strange = [topic for topic in read.rankings if topic not in set(names)]
    if strange:
        yield tr("{count} topics aren't in the dataset and stayed out: {names}", count=len(strange),
                 names=first_of(strange))  # fmt: skip
    silent = [case.id for case in cases if case.answerable and relevant(case) and case.id not in read.rankings]
    if silent:
        yield tr("{count} questions aren't in the run and count as nothing found: {names}", count=len(silent),
                 names=first_of(silent))  # fmt: skip
    absent = _absent(corpus, dataset.collection, read)
    if absent:
        yield tr("{count} documents of the run aren't in “{collection}”: {names}", count=f"{len(absent):,}",
                 collection=dataset.collection, names=first_of(absent))  # fmt: skip
    if any(not is_whole(span) for case in cases for span in case.gold):
        yield tr("The gold is passages, and the run ranks documents: each counts for all passages of its own.")


def _absent(corpus: CorpusRepository, collection: str, read: RunFile) -> list[str]:
    """Documents of the run that the collection hasn't; none where there is no collection to compare with."""
    try:
        there = {d.source_id for d in corpus.documents(corpus.collection(collection).name)}
    except NotFoundError:
        return []
    named = dict.fromkeys(name for documents in read.rankings.values() for name in documents)
    return [name for name in named if name not in there]
