"""XQuAD through the product: each paragraph ingested as a document, each question searched, fused and reranked.

Prints R@1, R@5 and MRR@10 of 1,190 questions for en→en, es→es and es→en, by lane, hybrid (fused) and reranked (late
interaction, sign bits), and what the rerank stage takes. The floors of the hybrid are those of RRF (k0 = 60) over BM25
and multilingual-e5-small, measured outside of the product, as are those of R@1 reranked.

Run: OPENBLAS_NUM_THREADS=1 (as the product does) python -m bench.xquad [QUESTION-LANGUAGE CORPUS-LANGUAGE]…
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from storage import open_store
from workbench import paths
from workbench.corpus.ingest import Ingester
from workbench.engine.embedding import open_embedder
from workbench.ports import Store
from workbench.records.corpus import IngestRequest, Recipe
from workbench.records.retrieval import SearchOptions, SearchResult
from workbench.retrieval.search import Searcher

DATA = Path(os.environ.get("WORKBENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
COLLECTION = "xquad"
WHOLE = Recipe(size=100_000)  # every paragraph is one chunk
RERANKED_FLOORS = {"en": 0.960, "es": 0.945}
FLOORS = {"en": (0.951, 0.994, 0.971), "es": (0.925, 0.993, 0.956)}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, where its answer stands and what it is."""

    text: str
    source_id: str
    article: int
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """Shares of questions whose paragraph is first, among the first five; mean 1/rank up to 10."""

    recall_1: float
    recall_5: float
    mrr_10: float

    def __str__(self) -> str:
        return f"{self.recall_1:.3f} {self.recall_5:.3f} {self.mrr_10:.3f}"


def load(language: str) -> tuple[dict[str, str], list[Question]]:
    """Paragraphs by source id, and the questions."""
    articles = json.loads((DATA / "xquad" / f"xquad.{language}.json").read_text("utf-8"))["data"]
    paragraphs: dict[str, str] = {}
    questions: list[Question] = []
    for number, article in enumerate(articles):
        for place, paragraph in enumerate(article["paragraphs"]):
            name = f"{number:02}-{place:02}.txt"
            paragraphs[name] = paragraph["context"]
            questions += [
                Question(q["question"], name, number, tuple(a["text"] for a in q["answers"])) for q in paragraph["qas"]
            ]
    return paragraphs, questions


@contextmanager
def corpus(paragraphs: dict[str, str]) -> Iterator[tuple[Store, Searcher]]:
    """A workbench file with the paragraphs ingested, and a searcher over it."""
    embedder = open_embedder(paths.embedders_folder() / paths.STARTER_EMBEDDER)
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder, "documents")
        documents.mkdir()
        for name, text in paragraphs.items():
            documents.joinpath(name).write_text(text, "utf-8")
        store = open_store(Path(folder, "xquad.db"))
        try:
            for _ in Ingester(store.corpus, embedder).run(IngestRequest((str(documents),), COLLECTION, recipe=WHOLE)):
                pass
            yield store, Searcher(store, embedder)
        finally:
            embedder.close()
            store.close()


def evaluate(store: Store, searcher: Searcher, questions: Sequence[Question]) -> dict[str, Scores]:
    """Scores of each lane, of their fusion and of the fusion reranked."""
    gold = {d.source_id: store.corpus.chunks(d.id)[0].id for d in store.corpus.documents(COLLECTION)}
    ranks: dict[str, list[int]] = {}
    for question in questions:
        result = searcher.search(question.text, SearchOptions(COLLECTION, k=10, rerank="late"))
        for name, ids in _rankings(result).items():
            target = gold[question.source_id]
            ranks.setdefault(name, []).append(ids.index(target) + 1 if target in ids else sys.maxsize)
    return {name: _scores(found) for name, found in ranks.items()}


def _rankings(result: SearchResult) -> dict[str, list[str]]:
    lanes: dict[str, list[str]] = {lane.lane: _first_ten(hit.chunk_id for hit in lane.hits) for lane in result.lanes}
    fused = _first_ten(hit.chunk_id for hit in result.fusion.hits)
    return {**lanes, "hybrid": fused, "reranked": _first_ten(view.hit.chunk_id for view in result.hits)}


def _first_ten(ids: Iterable[str]) -> list[str]:
    return list(islice(ids, 10))


def rerank_ms(searcher: Searcher, questions: Sequence[Question]) -> list[float]:
    """Milliseconds that the rerank stage takes for each question, ascending."""
    options = SearchOptions(COLLECTION, rerank="late")
    results = (searcher.search(question.text, options).rerank for question in questions)
    return sorted(result.duration_ms for result in results if result)


def _scores(ranks: Sequence[int]) -> Scores:
    n = len(ranks)
    return Scores(
        sum(rank == 1 for rank in ranks) / n,
        sum(rank <= 5 for rank in ranks) / n,
        sum(1 / rank for rank in ranks if rank <= 10) / n,
    )


def main(arguments: Sequence[str]) -> None:
    """Prints the table."""
    paths.go_offline()
    pairs = list(zip(arguments[::2], arguments[1::2], strict=True)) or [("en", "en"), ("es", "es"), ("es", "en")]
    print(f"{'':16} {'R@1':>5} {'R@5':>5} {'MRR@10':>6}")
    for target in dict.fromkeys(corpus_language for _, corpus_language in pairs):
        with corpus(load(target)[0]) as (store, searcher):
            for asked in (asked for asked, corpus_language in pairs if corpus_language == target):
                questions = load(asked)[1]
                for name, scores in evaluate(store, searcher, questions).items():
                    print(f"{asked}→{target} {name:10} {scores}  n={len(questions)}", flush=True)
                if asked == target:
                    print(f"{'':6} {'(floor)':10} {Scores(*FLOORS[target])}, reranked R@1 {RERANKED_FLOORS[target]}")
                times = rerank_ms(searcher, questions[:200])
                print(f"{'':6} rerank took {times[len(times) // 2]:.1f} ms, p95 {times[len(times) * 95 // 100]:.1f} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
