"""Datasets between files and the workbench's own: import with its skipped rows, export with what it couldn't keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.errors import NotFoundError
from workbench.evals.formats import FORMATS, read_dataset, write_dataset
from workbench.evals.formats.judgements import first_of
from workbench.evals.gold.anchors import Locator
from workbench.evals.measuring.statistics import FEW
from workbench.i18n import tr
from workbench.ports import CorpusRepository, Store
from workbench.records.cases import (
    Case,
    Imported,
    ImportResult,
    RowProblem,
)


def import_dataset(store: Store, path: Path, name: str, collection: str, format: str = "") -> Imported:
    """Reads a file or folder and makes it the current version of the dataset ``name`` ("": the file's name).

    A dataset of model tasks asks about no collection, whichever is given. Documents that the gold names and the
    collection hasn't are told with the rows' problems.

    Raises:
        DocumentError: it can't be read, or not one row is a case.
        UsageError: no such format.
    """
    read = read_dataset(
        path, format=format, locate=Locator(lambda: _texts(store.corpus, collection)), sql=store.fixtures
    )
    asked = collection if any(case.expectation is None for case in read.cases) else ""
    dataset = store.datasets.put(name or path.resolve().stem, asked, read.cases)
    named, absent = _gold_documents(store.corpus, asked, read.cases)
    along = FORMATS[read.format].documents is not None
    told = [_absent(asked, absent, len(named), along=along)] if absent else []
    beyond = _beyond_the_end(store.corpus, asked, read)
    return Imported(dataset, (*read.problems, *told, *beyond), read.format, along and 0 < len(named) == len(absent))


def export_dataset(store: Store, dataset: str, path: Path, format: str = "jsonl", version: str = "") -> tuple[str, ...]:
    """Writes a dataset, or one version of it, with its documents' texts where the format holds them.

    Returns:
        The fields of its cases that the format couldn't keep.

    Raises:
        NotFoundError: no such dataset or version.
        UsageError: no such format, or the path can't be written.
    """
    cases = store.datasets.cases(dataset, version)
    collection = next(d.collection for d in store.datasets.datasets() if d.name == dataset)
    texts = _TextOf(store.corpus, collection)
    return write_dataset(cases, path, format, text_of=texts)


def cautions(cases: Sequence[Case]) -> tuple[str, ...]:
    """What weakens a dataset before anything runs: few cases, or questions of which every one has an answer."""
    found = []
    if len(cases) < FEW:
        found.append(tr("Only {n} cases: under {few}, gross failures show and little else.", n=len(cases), few=FEW))
    questions = [case for case in cases if case.expectation is None]
    if questions and all(case.answerable for case in questions):
        found.append(tr("Every question has an answer: a system that never abstains looks perfect here."))
    return tuple(found)


class _TextOf:
    """Documents' texts by source_id; "" for those that aren't in the collection."""

    def __init__(self, corpus: CorpusRepository, collection: str) -> None:
        self._corpus = corpus
        self._ids = {d.source_id: d.id for d in corpus.documents(collection)} if _exists(corpus, collection) else {}

    def __call__(self, source_id: str) -> str:
        document_id = self._ids.get(source_id)
        return self._corpus.document_text(document_id) if document_id else ""


def _texts(corpus: CorpusRepository, collection: str) -> Iterable[tuple[str, str]]:
    if not _exists(corpus, collection):
        return ()
    return ((d.source_id, corpus.document_text(d.id)) for d in corpus.documents(collection) if d.status == "current")


def _gold_documents(corpus: CorpusRepository, collection: str, cases: Sequence[Case]) -> tuple[list[str], list[str]]:
    """The documents that the gold names, and those of them that aren't in the collection."""
    named = list(dict.fromkeys(span.source_id for case in cases for span in case.gold))
    there = {d.source_id for d in corpus.documents(collection)} if _exists(corpus, collection) else set()
    return named, [name for name in named if name not in there]


def _absent(collection: str, absent: Sequence[str], total: int, *, along: bool) -> RowProblem:
    """Names the gold's documents that aren't there; where none is, how to bring them in.

    Args:
        along: the dataset's file holds them.
    """
    numbers = {"count": f"{len(absent):,}", "total": f"{total:,}", "names": first_of(absent)}
    told = (
        tr("{count} of the {total} documents that the gold names aren't in “{collection}”: {names}",
           collection=collection, **numbers)
        if collection
        else tr("{count} of the {total} documents that the gold names aren't here: {names}", **numbers)
    )  # fmt: skip
    remedy = (
        tr("Import with --ingest COLLECTION to bring them in.")
        if along
        else tr("Bring them in under these names: workbench ingest PATH")
    )
    return RowProblem(0, told if len(absent) < total else f"{told} → {remedy}", skipped=False)


def _beyond_the_end(corpus: CorpusRepository, collection: str, read: ImportResult) -> tuple[RowProblem, ...]:
    """One problem that names the cases whose gold ends after its document does: it was measured on another text."""
    if not _exists(corpus, collection):
        return ()
    lengths = {document.source_id: document.characters for document in corpus.documents(collection)}
    named = [
        case.id
        for case in read.cases
        if any(span.end > lengths.get(span.source_id, span.end) for span in (*case.gold, *case.citations))
    ]
    told = tr(
        "the gold of {count} cases ends after its document does: {names}",
        count=f"{len(named):,}",
        names=first_of(named),
    )
    return (RowProblem(0, told, skipped=False),) if named else ()


def _exists(corpus: CorpusRepository, collection: str) -> bool:
    try:
        corpus.collection(collection)
    except NotFoundError:
        return False
    return True
