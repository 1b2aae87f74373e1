"""What a cut document loses is told in the ingest report, and table rows keep their header in every recipe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.embedders import HashEmbedder
from tests.ingest.conftest import Bench
from workbench.records.corpus import Recipe

ROWS = "".join(f"{i},name {i},place {i}\n" for i in range(40))


@pytest.mark.parametrize("name", ["structure", "window", "sentence", "semantic", "parent"])
def test_every_chunk_of_a_table_shows_its_header(bench: Bench, name: str) -> None:
    bench.write("people.csv", f"id,person,city\n{ROWS}")
    outcome = bench.ingest(recipe=Recipe(name, 40))["people.csv"]
    (document,) = bench.store.corpus.documents("c")
    chunks = bench.store.corpus.chunks(document.id)
    assert len(chunks) > 5
    assert all(chunk.indexed_text.startswith("id,person,city") for chunk in chunks)
    assert outcome.reason == ""


def test_a_header_too_long_to_repeat_is_told(bench: Bench) -> None:
    header = ",".join(f"column {i}" for i in range(100))
    bench.write("wide.csv", f"{header}\n" + (",".join(["1"] * 100) + "\n") * 5)
    outcome = bench.ingest(recipe=Recipe("structure", 100))["wide.csv"]
    assert "without the header of their table" in outcome.reason
    (document,) = bench.store.corpus.documents("c")
    assert document.warnings == (outcome.reason,)


def test_chunks_longer_than_the_embedder_reads_are_told(bench: Bench) -> None:
    bench.embedder = HashEmbedder(replace(bench.embedder.info, max_tokens=50))
    bench.write("a.txt", "Some words of a sentence. " * 40)
    assert (
        "Chunks longer than the 50 tokens that the embedder reads: 1 of 1"
        in bench.ingest(recipe=Recipe(size=5000))["a.txt"].reason
    )
    (document,) = bench.store.corpus.documents("c")
    assert document.warnings == (), "the source is fine: the chunk itself is marked"
    assert [chunk.truncated for chunk in bench.store.corpus.chunks(document.id)] == [True]


def test_a_cell_of_any_length_is_a_cell(bench: Bench) -> None:
    bench.write("long.csv", "id,text\n1," + "word " * 60_000 + "\n2,short\n")
    outcome = bench.ingest(recipe=Recipe("window", 5000))["long.csv"]
    assert "quote" not in outcome.reason
