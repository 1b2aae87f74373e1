"""Exports, imports, copies and snapshots of a made-up collection: rows a second, bytes, and the memory that it takes.

20,000 chunks of 100 words with vectors of 384 numbers and sign bits of 120 tokens each, ten chunks a document.

Run: python -m bench.exchange [CHUNKS]
"""

from __future__ import annotations

import hashlib
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from storage import open_store
from workbench.corpus.identity import document_id, sha256, short_id
from workbench.exchange import Exchange
from workbench.ports import Store
from workbench.records.corpus import Chunk, Document, EmbedderInfo, ParsedDocument, Recipe
from workbench.records.exchange import ExportForm, ExportRequest

INFO = EmbedderInfo("made up", "made-up", 384, 512, "query: ", "passage: ", "mean", True)
NAME = "made-up"
PER_DOCUMENT = 10
FORMS: tuple[ExportForm, ...] = ("jsonl", "parquet")


def fill(store: Store, chunks: int) -> None:
    """Makes the collection."""
    numbers = np.random.default_rng(7)
    words = [f"word{number:04}" for number in range(3_000)]
    store.corpus.create_collection(NAME, Recipe())
    index = store.corpus.open_index(NAME, INFO, Recipe())
    store.corpus.fix_token_mean(index.id, np.zeros(INFO.dimension, np.float32))
    for place in range(chunks // PER_DOCUMENT):
        source = f"{place:06}.txt"
        pieces = [" ".join(numbers.choice(words, 100)) for _ in range(PER_DOCUMENT)]
        text = "\n".join(pieces)
        document = Document(
            document_id(NAME, source), NAME, source, "", source, "text/plain", "en", "current",
            hashlib.sha256(text.encode()).hexdigest(), "", len(text), {"year": 2000 + place % 26}, datetime.now(UTC),
        )  # fmt: skip
        made, start = [], 0
        for ordinal, piece in enumerate(pieces):
            chunk = Chunk(
                short_id(source, str(ordinal)), document.id, source, ordinal, start, start + len(piece), piece, "", (),
                "paragraph", None, "", "en", 120, 0, False, sha256("", piece),
            )  # fmt: skip
            made.append(chunk)
            start += len(piece) + 1
        vectors = {chunk.id: numbers.standard_normal(INFO.dimension, np.float32) for chunk in made}
        tokens = {chunk.id: numbers.integers(0, 256, (120, INFO.dimension // 8), np.uint8) for chunk in made}
        store.corpus.put_document(
            index, document, ParsedDocument(text, source, "text/plain", ()), made, vectors, tokens
        )


def timed(what: str, rows: int, work: Callable[[], int]) -> None:
    """Prints seconds, rows a second, bytes, and the most memory the process has had."""
    began = time.perf_counter()
    octets = work()
    seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{what:<16}{seconds:>8.2f} s{rows / seconds:>10,.0f} rows/s{octets / 1e6:>9.1f} MB   peak {most} MB")


def main(chunks: int) -> None:
    """Fills a file, then takes everything out and in."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store = open_store(folder / "a.db")
        fill(store, chunks)
        exchange = Exchange(store)
        print(f"{chunks:,} chunks, {store.path.stat().st_size / 1e6:.1f} MB")

        def export(form: ExportForm) -> int:
            for _ in exchange.export(ExportRequest(NAME, str(folder / form), form)):
                pass
            return sum(path.stat().st_size for path in (folder / form).iterdir())

        def receive(form: ExportForm) -> int:
            other = open_store(folder / f"{form}.db")
            for _ in Exchange(other).receive(str(folder / form)):
                pass
            other.close()
            return other.path.stat().st_size

        def copy() -> int:
            for _ in exchange.copy(NAME, str(folder / "copy.db")):
                pass
            return (folder / "copy.db").stat().st_size

        for form in FORMS:
            timed(f"export {form}", chunks, partial(export, form))
            timed(f"import {form}", chunks, partial(receive, form))
        timed("copy, checked", chunks, copy)
        timed("snapshot", chunks, lambda: exchange.take_snapshot("one").bytes)
        timed("restore", chunks, lambda: exchange.restore_snapshot("one").bytes)
        store.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
