"""Recall_ANN: of the k exact nearest vectors, the share that an approximate form finds too, on a person's own data.

Each form is measured among the chunks that pass the filter, as a search would find them; the exact neighbours are
those by cosine over whole float vectors. An index that stands in such a form itself is asked as it is in use.

What is as near as the k-th counts, so that of equal texts any will do: Aumüller, Bernhardsson and Faithfull,
"ANN-Benchmarks" (2020).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote
from statistics import median
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.corpus.chunking import describe_recipe
from workbench.errors import UsageError
from workbench.evals.measuring.statistics import FEW, bounded_mean
from workbench.i18n import tr
from workbench.indexing.building import exact_indexes, stop_if
from workbench.indexing.catalogue import cuts
from workbench.indexing.forms import FORMS, OVERSAMPLING, Matrix, pack, shortened, similarity, stored_bytes, unpack
from workbench.ports import Cancel, Embedder, Store
from workbench.records.corpus import Index, VectorForm
from workbench.records.indexes import FormRecall, RecallProgress
from workbench.records.retrieval import FilterNode

KS: Final = (10, 20)
SAMPLED: Final = 300
"""Questions at most, and chunks that stand in for questions where there are none."""

_TIE: Final = 1e-6
"""How far float32 cosines of equal vectors stray."""

Places: TypeAlias = npt.NDArray[np.intp]


def measure_recall(
    store: Store,
    index: Index,
    embedder: Embedder | None,
    questions: Sequence[str],
    where: FilterNode,
    text: str = "",
    cancel: Cancel | None = None,
) -> Iterator[RecallProgress]:
    """All forms that the index's vectors could have, and its own as it is in use, each at k = 10 and 20.

    Args:
        embedder: of the index; None where it isn't installed: chunks of the index then stand in for questions.
        questions: of the same kind as will be asked; of fewer than 30, chunks stand in too.
        text: the filter as it was written.

    Raises:
        UsageError: there are no exact vectors to compare with, or nothing passes the filter.
        Cancelled: ``cancel`` was set.
    """
    newest = store.indexes.newest(index.id)
    exact, ids, vectors = _exact(store, index, where)
    stand_in = embedder is None or len(questions) < FEW
    queries = _sampled(vectors) if embedder is None or stand_in else _embedded(embedder, questions, cancel)
    forms = _forms(index)
    judge = _Judge(vectors, queries)
    measured: list[FormRecall] = []
    for done, form in enumerate(forms):
        yield RecallProgress(done, len(forms) + 1, tuple(measured))
        measured += _figures(form, judge, _simulated(vectors, queries, form), exact, text)
        stop_if(cancel)
    if index.form != VectorForm():
        yield RecallProgress(len(forms), len(forms) + 1, tuple(measured))
        asked, milliseconds = _asked(store, index, ids, queries, where, cancel)
        measured = [one for one in measured if one.form != index.form]
        measured += _figures(index.form, judge, asked, index, text, milliseconds)
    told = tuple(replace(one, stand_in=stand_in, newest=newest) for one in measured)
    yield RecallProgress(len(forms) + 1, len(forms) + 1, told, finished=True)


def _exact(store: Store, index: Index, where: FilterNode) -> tuple[Index, Sequence[str], Matrix]:
    """An index with the whole vectors of the same chunks, and its ids (n,) and vectors (n, d) that pass the filter."""
    found = exact_indexes(store, index)
    if not found:
        raise UsageError(
            tr("Nothing exact to compare with"),
            tr("No index of {name} with this recipe keeps whole vectors.", name=index.embedder.name),
            tr(
                "Build one: workbench indexes build -c {collection} -e {name} -r {recipe} --form float32",
                collection=quote(index.collection),
                name=quote(index.embedder.name),
                recipe=describe_recipe(index.recipe),
            ),
        )
    exact = next((other for other in found if other.vectors == index.vectors), None)
    if exact is None:
        raise UsageError(
            tr("Nothing exact to compare with"),
            tr("Index {id} and index {other} hold different chunks.", id=index.id, other=found[0].id),
            tr(
                "Complete it first: workbench indexes build --index {id}",
                id=min(index, found[0], key=lambda one: one.vectors).id,
            ),
        )
    ids, vectors = store.indexes.matrix(exact, where)
    if not ids:
        raise UsageError(tr("Nothing to measure"), tr("No chunk passes the filter."), tr("Choose another filter."))
    return exact, ids, vectors


def _sampled(vectors: Matrix) -> Matrix:
    """Chunks that stand in for questions (m, d)."""
    picked = np.random.default_rng(0).permutation(len(vectors))[:SAMPLED]
    return vectors[np.sort(picked)]


def _embedded(embedder: Embedder, questions: Sequence[str], cancel: Cancel | None) -> Matrix:
    """A unit vector for each question (m, d)."""
    found = []
    for question in dict.fromkeys(questions[:SAMPLED]):
        stop_if(cancel)
        found.append(embedder.embed_query(question))
    return np.stack(found)


class _Judge:
    """Knows the exact cosine of everything with each query."""

    def __init__(self, vectors: Matrix, queries: Matrix) -> None:
        self._vectors, self._queries = vectors, queries
        self.passing = len(vectors)
        most = min(max(KS), len(vectors))
        # (m, most) cosines of the nearest, the highest first
        self._best = np.stack([-np.sort(-np.partition(vectors @ q, -most)[-most:]) for q in queries])

    def shares(self, found: Sequence[Places], k: int) -> npt.NDArray[np.float64]:
        """Of the k found first, how many are as near as the k-th exact one, for each query."""
        near = [
            (self._vectors[places[:k]] @ query >= best[k - 1] - _TIE).sum() / k
            for places, query, best in zip(found, self._queries, self._best, strict=True)
        ]
        return np.array(near, np.float64)


def _first(nearness: npt.NDArray[np.float32], k: int) -> Places:
    kept = np.argpartition(-nearness, k - 1)[:k] if k < len(nearness) else np.arange(len(nearness))
    return kept[np.lexsort((kept, -nearness[kept]))]


def _forms(index: Index) -> tuple[VectorForm, ...]:
    made = index.embedder
    cut = [VectorForm("float32", fewer) for fewer in cuts(made.name, made.dimension, made.matryoshka)]
    fitting = [form for form in FORMS.values() if form.component != "bit" or index.embedder.dimension % 8 == 0]
    own = () if index.form in (*fitting, *cut) else (index.form,)
    return (*fitting, *cut, *own)


def _simulated(vectors: Matrix, queries: Matrix, form: VectorForm) -> list[Places]:
    """The places that a search over that form finds, for each query."""
    kept, asked = shortened(vectors, form.dimension), shortened(queries, form.dimension)
    centre = kept.mean(axis=0) if form.component == "bit" else None
    packed, wanted = pack(kept, form.component, centre), pack(asked, form.component, centre)
    k = min(max(KS), len(vectors))
    sample = k if form.rescore == "none" else min(k * OVERSAMPLING, len(vectors))
    rescoring = None
    if form.rescore != "none":
        rescoring = unpack(pack(kept, form.rescore), form.rescore, kept.shape[1])
    found = []
    for one, query in zip(wanted, asked, strict=True):
        places = _first(similarity(packed, one, form.component), sample)
        if rescoring is not None:
            places = places[_first(rescoring[places] @ query, k)]
        found.append(places)
    return found


def _asked(
    store: Store, index: Index, ids: Sequence[str], queries: Matrix, where: FilterNode, cancel: Cancel | None
) -> tuple[list[Places], float]:
    """The places of what the index finds as it is in use, and the median of milliseconds."""
    place = {name: number for number, name in enumerate(ids)}
    found: list[Places] = []
    times: list[float] = []
    for query in queries:
        stop_if(cancel)
        started = time.perf_counter()
        hits = store.search.dense(index, query, where, max(KS), cancel)
        times.append((time.perf_counter() - started) * 1000)
        found.append(np.array([place[hit.chunk_id] for hit in hits if hit.chunk_id in place], np.intp))
    return found, median(times)


def _figures(
    form: VectorForm,
    judge: _Judge,
    found: Sequence[Places],
    index: Index,
    text: str,
    milliseconds: float | None = None,
) -> list[FormRecall]:
    size = stored_bytes(form, form.dimension or index.embedder.dimension, index.vectors)
    return [
        FormRecall(
            form, k, bounded_mean(judge.shares(found, k)), index.vectors, size, judge.passing, text, milliseconds
        )
        for k in sorted({min(k, judge.passing) for k in KS})
    ]
