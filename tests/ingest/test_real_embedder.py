"""The real embedder's child process, a real file: what is ingested is found by meaning."""

from __future__ import annotations

import pytest

from tests.ingest.conftest import Bench
from workbench.corpus.ingest import Ingester
from workbench.engine.embedding import open_embedder
from workbench.paths import STARTER_EMBEDDER, embedders_folder
from workbench.records.corpus import IngestRequest
from workbench.records.retrieval import AllOf


@pytest.mark.model
def test_what_is_ingested_is_found_by_meaning(bench: Bench) -> None:
    bench.write("es.md", "# Tasas\n\nLa matrícula se paga en septiembre, en un solo plazo.\n")
    bench.write("en.md", "# Library\n\nBooks are lent for three weeks and can be renewed twice.\n")
    embedder = open_embedder(embedders_folder() / STARTER_EMBEDDER)
    try:
        *_, last = Ingester(bench.store.corpus, embedder).run(IngestRequest((str(bench.folder),), "c"))
        assert (last.done, last.chunks_done, last.cancelled) == (2, 2, False)
        index = bench.store.corpus.current_index("c")
        assert index is not None
        hits = bench.store.search.dense(index, embedder.embed_query("How long may I keep a book?"), AllOf(()), 2)
        (best,) = bench.store.corpus.chunks_by_id([hits[0].chunk_id])
        assert best.source_id == "en.md"
        assert best.tokens == embedder.tokenizer.count("passage: " + best.indexed_text) + 2
    finally:
        embedder.close()
