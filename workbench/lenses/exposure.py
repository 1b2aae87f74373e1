"""Who finds a chunk, and how unevenly the questions spread over the chunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from workbench.evals.gold.anchors import grade_of
from workbench.ports import Store
from workbench.records.cases import Case, Dataset
from workbench.records.corpus import Chunk, Index
from workbench.records.lenses import Exposure, GoldUse, Occurrence, Usage

LISTED: Final = 200
"""Hubs and unfound chunks that are listed of a collection."""

DEPTH: Final = 50
"""The last rank that the file keeps of a ranking (``storage.schema_lenses``)."""


def skewness(counts: Iterable[int]) -> float | None:
    """How lopsided N_k is over all chunks: S = E[(N_k − μ)³] / σ³; None where σ is 0.

    0 is an even spread; well above it a few hubs turn up everywhere. With few questions most chunks have N_k = 0, and
    the skewness is high for that reason alone: compare it only between collections asked as much.

    Source: Radovanović, Nanopoulos & Ivanović, "Hubs in Space: Popular Nearest Neighbors in High-Dimensional Data",
    Journal of Machine Learning Research 11 (2010), section 2.
    """
    found = np.fromiter(counts, np.float64)
    spread = float(found.std()) if found.size else 0.0
    return float(np.mean((found - found.mean()) ** 3)) / spread**3 if spread else None


def exposure(store: Store, index: Index, k: int) -> Exposure:
    """How the questions asked of the index's collection spread over its chunks, by their first ``k`` ranks."""
    counts, questions = store.lenses.occurrences(index, k)
    ranked = sorted((name for name, n in counts.items() if n), key=lambda name: -counts[name])[:LISTED]
    unfound = [name for name, n in counts.items() if not n]
    return Exposure(
        collection=index.collection,
        k=k,
        questions=questions,
        chunks=len(counts),
        never=len(unfound),
        hubs=tuple(Occurrence(chunk, counts[chunk.id]) for chunk in store.corpus.chunks_by_id(ranked)),
        unfound=store.corpus.chunks_by_id(unfound[:LISTED]),
        skewness=skewness(counts.values()),
        most=max(counts.values(), default=0),
        counts=counts,
    )


class Gold:
    """Which cases have a chunk as their gold; what was read of a dataset is kept until it changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cases: dict[str, tuple[str, Mapping[str, tuple[Case, ...]]]] = {}

    def of(self, chunk: Chunk, collection: str) -> Iterable[tuple[str, Case, int]]:
        """(dataset, case, grade), by the rule of ``workbench.evals.gold.anchors``."""
        for dataset in self._store.datasets.datasets():
            if dataset.collection in ("", collection):
                for case in self._by_source(dataset).get(chunk.source_id, ()):
                    if grade := grade_of(chunk, case.gold):
                        yield dataset.name, case, grade

    def _by_source(self, dataset: Dataset) -> Mapping[str, tuple[Case, ...]]:
        kept = self._cases.get(dataset.name)
        if kept is None or kept[0] != dataset.hash:
            by_source: dict[str, list[Case]] = {}
            for case in self._store.datasets.cases(dataset.name):
                for source_id in dict.fromkeys(span.source_id for span in case.gold):
                    by_source.setdefault(source_id, []).append(case)
            kept = dataset.hash, {name: tuple(cases) for name, cases in by_source.items()}
            self._cases[dataset.name] = kept
        return kept[1]


def usage(store: Store, gold: Gold, chunk: Chunk, collection: str) -> Usage:
    """Who found the chunk, and who should have."""
    traces = store.lenses.trace_uses(chunk.id)
    cases = store.lenses.case_uses(chunk.id)
    asking = list(gold.of(chunk, collection))
    named: defaultdict[str, list[str]] = defaultdict(list)
    for dataset, case, _ in asking:
        named[dataset].append(case.id)
    runs = {dataset: store.lenses.newest_runs(collection, dataset, ids) for dataset, ids in named.items()}
    ranks = {(use.run_id, use.case_id): use.rank for use in cases}
    should = []
    for dataset, case, grade in asking:
        run_id = runs[dataset].get(case.id)
        rank = ranks.get((run_id, case.id)) if run_id else None
        should.append(GoldUse(dataset, case.id, case.question, grade, run_id, rank))
    return Usage(chunk.id, traces, cases, tuple(should), DEPTH)
