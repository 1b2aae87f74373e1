"""The lexical lane on XQuAD: a paragraph is a document and a chunk; R@1, R@5, MRR@10 per language.

Usage: python -m bench.bm25 [FOLDER_WITH_XQUAD] [--titles] [--weights HEADING TEXT STEMS EXACT]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from storage import open_store, search, word_scores
from storage.word_scores import BM25_WEIGHTS
from workbench.ports import Store
from workbench.records.corpus import Chunk, Document, EmbedderInfo, Index, ParsedDocument, Recipe
from workbench.records.retrieval import AllOf
from workbench.retrieval.analysis import analyse

Case = tuple[str, str]

DATA = Path(os.environ.get("WORKBENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(store: Store, index: Index, path: Path, language: str, *, titles: bool) -> list[Case]:
    """Stores every paragraph; returns (question, id of its paragraph)."""
    cases: list[Case] = []
    for article in json.loads(path.read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            name, text = f"{len(cases):05}", paragraph["context"]
            title = article["title"] if titles else ""
            document = Document(
                name,
                "xquad",
                name,
                "",
                title,
                "text/plain",
                language,
                "current",
                "",
                "",
                len(text),
                {},
                datetime.now(UTC),
            )
            chunk = Chunk(
                name, name, name, 0, 0, len(text), text, "", (), "paragraph", None, "", language, 0, 0, False, ""
            )  # fmt: skip
            store.corpus.put_document(index, document, ParsedDocument(text, title, "text/plain", ()), [chunk], {})
            cases += [(qa["question"], name) for qa in paragraph["qas"]]
    return cases


def measure(store: Store, index: Index, cases: list[Case]) -> tuple[float, float, float]:
    """R@1, R@5, MRR@10 over all questions."""
    ranks: list[int] = []
    for question, gold in cases:
        hits = store.search.lexical(index, analyse(question), AllOf(()), 10)
        ranks.append(next((hit.rank for hit in hits if hit.chunk_id == gold), 0))
    n = len(cases)
    return sum(r == 1 for r in ranks) / n, sum(1 <= r <= 5 for r in ranks) / n, sum(1 / r for r in ranks if r) / n


def main() -> None:
    """Prints one line per language."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, nargs="?", default=DATA / "xquad")
    options.add_argument("--titles", action="store_true", help="the article's title is the document's")
    options.add_argument("--weights", type=float, nargs=4, default=BM25_WEIGHTS)
    chosen = options.parse_args()
    rank = f"bm25({', '.join(map(str, chosen.weights))})"
    for module in (search, word_scores):
        setattr(module, "RANK", rank)  # noqa: B010 -- constants of the product; here others are tried
    for language in ("en", "es"):
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(Path(folder) / "bench.db")
            store.corpus.create_collection("xquad", Recipe())
            embedder = EmbedderInfo("none", "none", 1, 0, "", "", "", normalised=True)
            index = store.corpus.open_index("xquad", embedder, Recipe())
            cases = load(store, index, chosen.folder / f"xquad.{language}.json", language, titles=chosen.titles)
            print(language, len(cases), *(f"{figure:.4f}" for figure in measure(store, index, cases)))
            store.close()


if __name__ == "__main__":
    main()
