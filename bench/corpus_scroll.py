"""The chunk table of a big file, through the real Corpus screen: how long until rows are seen, and how a page turns.

For each size it prints, from the key until all rows in view are painted: the screen with one document's chunks; all
chunks of the collection; page downs; the end and page ups from there; anywhere in the table; other orders; and words
typed to find chunks. The file has no vectors, as the table needs none: only texts, full text and metadata, two
sentences of XQuAD a chunk. Making a million takes some ten minutes; ``--keep`` makes it once. The terminal is 120 × 36
and draws into nothing.

Run: python -m bench.corpus_scroll [--chunks 100000 1000000] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import get_args

from textual.widgets import Input

from bench.large_file import chunks_of
from bench.xquad import load
from screens.app import WorkbenchApp
from screens.corpus.chunks import ChunkPane
from screens.corpus.screen import CorpusScreen
from screens.widgets.paged import PagedGrid
from storage import open_store
from workbench.__main__ import open_desk
from workbench.corpus.identity import document_id, sha256
from workbench.desk import Desk
from workbench.records.browsing import ChunkOrder
from workbench.records.corpus import Document, EmbedderInfo, ParsedDocument, Recipe
from workbench.text.sentences import sentences

COLLECTION = "bench"
PER_DOCUMENT = 200
_NOBODY = EmbedderInfo("none", "none", 8, 512, "", "", "mean", normalised=True)


def build(path: Path, chunks: int) -> None:
    """Makes the file at ``path``; what is there already is left as it is."""
    if path.exists():
        return
    rng = random.Random(7)
    pool = [text[a:b] for language in ("en", "es") for text in load(language)[0].values() for a, b in sentences(text)]
    half = len(pool) // 2
    store = open_store(path)
    store.corpus.create_collection(COLLECTION, Recipe(token_vectors="none"))
    index = store.corpus.open_index(COLLECTION, _NOBODY, Recipe(token_vectors="none"))
    for number in range(-(-chunks // PER_DOCUMENT)):
        language, known = ("es", pool[half:]) if number % 2 else ("en", pool[:half])
        texts = [" ".join(rng.sample(known, 2)) for _ in range(min(PER_DOCUMENT, chunks - number * PER_DOCUMENT))]
        text = "\n\n".join(texts)
        document = _document(number, language, text)
        parsed = ParsedDocument(text, document.title, "text/plain", ())
        store.corpus.put_document(index, document, parsed, list(chunks_of(document, texts)), {})
    store.close()


def _document(number: int, language: str, text: str) -> Document:
    name = f"{number:05}.txt"
    return Document(
        id=document_id(COLLECTION, name),
        collection=COLLECTION,
        source_id=name,
        uri="",
        title=name,
        media_type="text/plain",
        language=language,
        status="current",
        hash=sha256(text),
        metadata_hash="",
        characters=len(text),
        metadata={"year": 2000 + number % 27, "date": date(2000 + number % 27, 1 + number % 12, 1)},
        ingested=datetime.now(UTC),
    )


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds from an act until what it brings is painted, and the processor time of the whole process in them."""

    wall: float
    cpu: float


async def measure(desk: Desk, size: tuple[int, int] = (120, 36)) -> dict[str, list[Took]]:
    """By what was done: from the act, until the rows that it brings are painted."""
    took: dict[str, list[Took]] = {}
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        await _idle(app)
        took["the screen, a document's chunks"] = [await _timed(app, partial(app.action_mode, "corpus"))]
        await _idle(app)
        screen = app.screen
        assert isinstance(screen, CorpusScreen)
        chunks, grid = screen.query_one(ChunkPane), screen.query_one(PagedGrid)
        took["all chunks"] = [await _timed(app, screen.action_all)]
        await _idle(app)
        took["page down"] = [await _timed(app, partial(grid.action_page, 1)) for _ in range(60)]
        took["to the end"] = [await _timed(app, partial(grid.action_move, len(grid.rows)))]
        took["page up from there"] = [await _timed(app, partial(grid.action_page, -1)) for _ in range(60)]
        rng = random.Random(7)
        jumps = [rng.randrange(len(grid.rows)) for _ in range(40)]
        took["anywhere"] = [await _timed(app, partial(setattr, grid, "cursor", place)) for place in jumps]
        for order in get_args(ChunkOrder)[1:]:
            took[f"by {order}"] = [await _timed(app, partial(chunks.order_by, order))]
            await _idle(app)
        chunks.order_by("document")
        await _idle(app)
        await pilot.press("slash")
        line = screen.query_one("#find", Input)
        took["find, key by key"] = [await _timed(app, partial(line.insert_text_at_cursor, key)) for key in "panthers"]
    return took


async def _idle(app: WorkbenchApp) -> None:
    quiet = 0
    while quiet < 5:
        await asyncio.sleep(0.02)
        quiet = quiet + 1 if app.jobs.idle else 0


async def _timed(app: WorkbenchApp, act: Callable[[], object]) -> Took:
    """Until all rows in view are there and the screen was painted after that."""
    start, cpu = time.perf_counter(), time.process_time()
    done = act()
    if isawaitable(done):
        await done
    await asyncio.sleep(0)  # a text field tells of its change by message
    for _ in range(60_000):
        if _there(app):
            break
        await asyncio.sleep(0.001)
    painted = asyncio.Event()
    app.screen.call_after_refresh(painted.set)
    await painted.wait()
    return Took(1000 * (time.perf_counter() - start), 1000 * (time.process_time() - cpu))


def _there(app: WorkbenchApp) -> bool:
    if not isinstance(app.screen, CorpusScreen):
        return False
    chunks = app.screen.query_one(ChunkPane)
    top = round(chunks.grid.scroll_y)
    rows = chunks.grid.rows[top : top + chunks.grid.size.height - 1]
    typed = chunks.query_one("#find", Input).value.strip()
    listed = chunks.listing is not None and chunks.listing.query is chunks.asked and chunks.asked.words == typed
    return listed and bool(rows or chunks.grid.total == 0) and all(row.key for row in rows)


def main() -> None:
    """Prints the figures of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--keep", type=Path, help="where the files stay")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for chunks in given.chunks:
            path = (given.keep or Path(folder)) / f"{chunks}.db"
            build(path, chunks)
            desk = open_desk(path)
            took = asyncio.run(measure(desk))
            desk.close()
            print(f"{chunks:,} chunks, {path.stat().st_size / (1 << 20):,.0f} MiB")
            for what, times in took.items():
                wall, cpu = sorted(t.wall for t in times), sorted(t.cpu for t in times)
                middle = f"median {statistics.median(wall):6.0f} ms  most {wall[-1]:6.0f}"
                print(f"  {what:32} {middle}   processor: median {statistics.median(cpu):5.0f}  most {cpu[-1]:5.0f}")


if __name__ == "__main__":
    main()
