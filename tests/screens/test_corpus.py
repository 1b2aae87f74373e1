"""The Corpus screen: the paged list of chunks, finding, filtering, sorting, health, edits and deletes."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from screens.app import WorkbenchApp
from screens.corpus.chunks import ChunkPane
from screens.corpus.edit import EditDialog
from screens.corpus.health import HealthScreen
from screens.corpus.screen import CorpusScreen
from screens.widgets.grid import Grid, Row
from screens.widgets.paged import KEPT, PAGE, PagedGrid, Pages
from storage import open_store
from tests.library import NAME, open_library
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, screen_text, sees, settle, type_text, until
from workbench.desk import Desk
from workbench.records.corpus import Recipe
from workbench.records.health import Health

pytestmark = pytest.mark.usefixtures("one_embedder")


@asynccontextmanager
async def corpus(app: WorkbenchApp, size: tuple[int, int] = WIDE) -> AsyncIterator[Pilot[int]]:
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        yield pilot


async def press(pilot: Pilot[int], *keys: str) -> str:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)
    return screen_text(cast(WorkbenchApp, pilot.app))


def many(tmp_path: Path, documents: int = 6, chunks: int = 60) -> Desk:
    texts = {
        f"{n}.md": "\n\n".join(f"# Part {c}\n\nMatter {n * 1000 + c} and nothing else." for c in range(chunks))
        for n in range(documents)
    }
    desk = Desk(open_library(tmp_path, texts, recipe=Recipe(size=16)))
    desk.choose_collection(NAME)
    return desk


# -- pages -------------------------------------------------------------------------------------------------------------


def test_pages_ask_for_whole_pages_that_are_missing_and_forget_the_oldest() -> None:
    pages = Pages(1_000_000, 2)
    assert pages.missing(130, 160) == range(PAGE, 2 * PAGE)
    rows = [Row(str(n), ("", str(n))) for n in range(PAGE, 2 * PAGE)]
    pages.put(PAGE, rows)
    assert not pages.missing(130, 160)
    assert pages[130].key == "130"
    assert pages[5].key == ""
    assert pages.missing(999_990, 1_000_020) == range(999_936, 1_000_000)
    for page in range(2, KEPT + 2):
        pages.put(page * PAGE, rows)
    assert pages.missing(130, 131) == range(PAGE, 2 * PAGE)
    assert len(pages.there) == KEPT * PAGE


# -- browsing on a real file -------------------------------------------------------------------------------------------


async def test_all_chunks_of_a_real_file_are_scrolled_sorted_found_and_filtered(tmp_path: Path) -> None:
    desk = many(tmp_path)
    app = WorkbenchApp(desk)
    try:
        async with corpus(app) as pilot:
            assert "Chunks ── 60" in screen_text(app)
            assert "All chunks ── 360" in await press(pilot, "a")
            seen = await press(pilot, "end")
            grid = app.screen.query_one(PagedGrid)
            assert grid.cursor == 359
            assert "5.md #60" in seen
            assert "Matter 5059 and nothing else." in seen
            seen = await press(pilot, "a")
            assert "Chunks ── 60" in seen
            assert "5.md #60" in seen, "the chunk stays under the cursor"
            await press(pilot, "a", "slash")
            await type_text(pilot, "matter 3007")
            seen = screen_text(app)
            assert "All chunks ── 1 · “matter 3007”" in seen
            assert "3.md #8" in seen
            assert "All chunks ── 360" in await press(pilot, "escape")
            await press(pilot, "alt+f")
            await type_text(pilot, "source_id = 2.md and tokens >")
            assert app.screen.query_one("#chunk-problem").has_class("-open")
            await type_text(pilot, " 0")
            assert "All chunks ── 60 · source_id = 2.md and tokens > 0" in screen_text(app)
            await press(pilot, "end", "backspace", *"5000")
            await sees(pilot, "No chunk of this collection matches.")
            await press(pilot, "enter", "a")
            await sees(pilot, "a looks in all of them")
            await press(pilot, "a", "alt+f", "backspace")
            await type_text(pilot, "source_id = 2.md and tokens > 0")
            assert "matches" not in await sees(pilot, "All chunks ── 60 ·")
            await press(pilot, "enter", "s", "down", "enter", "S")
            assert "by tokens ▼" in screen_text(app)
            tokens = [row.tokens for row in app.screen.query_one(ChunkPane)._known.values()]
            assert tokens
        assert desk.setting("corpus.order") == "tokens down"
    finally:
        desk.close()


async def test_neighbours_ids_columns_and_marks(tmp_path: Path) -> None:
    desk = many(tmp_path, documents=2)
    app = WorkbenchApp(desk)
    chunks = desk.chunks(desk.documents()[1].id)
    first, wanted = chunks[0], chunks[41]
    try:
        async with corpus(app) as pilot:
            await press(pilot, "number_sign")
            await type_text(pilot, "xyz")
            await sees(pilot, "No chunk of this collection has an id that begins so.")
            await press(pilot, *["backspace"] * 3)
            await type_text(pilot, wanted.id[:9])
            assert "begins so." not in screen_text(app)
            assert "1.md #42" in await press(pilot, "enter")
            assert "1.md #43" in await press(pilot, "n")
            assert "1.md #41" in await press(pilot, "p", "p")
            await pilot.press("n", "n", "n", "n", "p")  # faster than the file answers
            await settle(pilot)
            assert "1.md #44" in screen_text(app)
            assert "t: a question" in await press(pilot, "t")
            await press(pilot, "t")
            await type_text(pilot, "R")
            assert isinstance(app.focused, Input)
            assert "R Retire" not in screen_text(app).splitlines()[-1]
            await press(pilot, "escape")
            assert app.focused is app.screen.query_one("#chunks-grid")
            await press(pilot, "C", "end", "up", "space")
            seen = await press(pilot, "enter")
            assert wanted.id[:10] in seen
            assert "── ▪ 2" in await press(pilot, "space", "space")
            await press(pilot, "number_sign")
            await type_text(pilot, first.id[:9])
            await press(pilot, "enter", "p")
            await sees(pilot, "The document begins here.")
        assert "id" in desk.setting("corpus.columns").split(",")
    finally:
        desk.close()


async def test_holding_page_down_never_shows_a_row_of_another_place(tmp_path: Path) -> None:
    desk = many(tmp_path, documents=8)
    app = WorkbenchApp(desk)
    try:
        async with corpus(app) as pilot:
            await press(pilot, "a")
            for _ in range(25):
                await pilot.press("pagedown")
            await settle(pilot)
            grid, chunks = app.screen.query_one(PagedGrid), app.screen.query_one(ChunkPane)
            assert chunks.known is not None
            assert chunks.listing is not None
            assert chunks.known.key == int(chunks.listing.keys[grid.cursor])
    finally:
        desk.close()


async def test_another_workbench_deletes_what_is_listed(tmp_path: Path) -> None:
    desk = many(tmp_path, documents=3)
    app = WorkbenchApp(desk)
    try:
        async with corpus(app) as pilot:
            await press(pilot, "a")
            desk.delete_documents([desk.documents()[0].id])
            app.changed()
            await settle(pilot)
            assert "All chunks ── 120" in screen_text(app)
            assert "1.md #1" in await press(pilot, "home")
    finally:
        desk.close()


async def test_a_small_terminal_shows_one_side_at_a_time() -> None:
    app = app_on(FakeDesk())
    async with corpus(app, SMALL) as pilot:
        seen = screen_text(app)
        assert "manual/lighthouse.docx" in seen
        assert "Chunks ──" not in seen
        seen = await press(pilot, "enter")
        assert "Chunks ── 2" in seen
        assert "not examined yet" not in seen
        assert "not examined yet" in await press(pilot, "escape")


# -- health ------------------------------------------------------------------------------------------------------------


async def test_health_goes_to_a_finding_and_mends_it() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with corpus(app) as pilot:
        assert "not examined yet" in screen_text(app)
        seen = await press(pilot, "h")
        assert isinstance(app.screen, HealthScreen)
        assert "✗  Chunks without a vector" in seen
        assert app.screen.query_one("#checks", Grid).key == "vectors", "the worst, though the file's space came first"
        assert "manual/lighthouse.docx #2" in seen
        assert "→ Embed them." in seen
        await press(pilot, "enter", "enter")
        seen = screen_text(app)
        assert "✗ 1" in seen
        assert "manual/lighthouse.docx #2" in seen
        await press(pilot, "h", "home", "f")
        assert desk.doctor.mended == ["embed"]
        assert "✓ 2 of 2 checks" in screen_text(app)


async def test_the_chosen_check_stays_chosen_while_it_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    desk, go_on = FakeDesk(), threading.Event()
    examine = desk.doctor.examine

    def late(collection: str, cancel: object = None) -> Iterator[Health]:
        begun, whole = examine(collection)
        yield begun
        yield replace(whole, checks=whole.checks[:1], histograms=(), done=1, running="vectors")
        go_on.wait(60)
        yield whole

    app = app_on(desk)
    async with corpus(app) as pilot:
        await press(pilot, "h")
        monkeypatch.setattr(desk.doctor, "examine", late)
        checks = app.screen.query_one("#checks", Grid)
        for chosen in ("plot tokens", "truncated", "vectors"):
            checks.go_to(chosen)
            go_on.clear()
            await pilot.press("r")
            assert "…  Chunks without a vector" in await sees(pilot, "checking vectors 1/2")
            assert checks.key == chosen
            go_on.set()
            await settle(pilot)
            assert "✗  Chunks without a vector" in screen_text(app)
            assert checks.key == chosen
        await press(pilot, "f")
        assert desk.doctor.mended == ["embed"]
        assert checks.key == "vectors", "though it is the worst no longer"


async def test_health_draws_distributions_and_the_files_space() -> None:
    app = app_on(FakeDesk())
    async with corpus(app) as pilot:
        await press(pilot, "h", "end", "up")
        assert "▇▇▇ 14" in screen_text(app)
        assert "f fixes" not in screen_text(app)
        seen = await press(pilot, "down")
        assert "chunks and their text" in seen
        assert "1.0 MiB can be given back" in seen
        assert "1.0 MiB were given back." in await press(pilot, "f")


async def test_the_health_of_a_real_file_is_kept_and_told_stale_when_it_changed(tmp_path: Path) -> None:
    desk = many(tmp_path, documents=2, chunks=6)
    app = WorkbenchApp(desk)
    try:
        async with corpus(app) as pilot:
            await press(pilot, "h")
            assert "checks   examined" in screen_text(app)
            seen = await press(pilot, "escape")
            assert "changed since" not in seen
            desk.set_status([desk.documents()[0].id], "retired")
            app.changed()
            await settle(pilot)
            assert "changed since: h" in screen_text(app)
            await press(pilot, "h")
            assert "changed since" not in await press(pilot, "escape")
            kept = desk.doctor.last(NAME)
            assert kept is not None
            assert len(kept.histograms) == 4
            assert {check.key: check.count for check in kept.checks}["retired"] == 1, "h checked it again"
    finally:
        desk.close()


async def test_a_key_opens_what_decides_on_a_finding(tmp_path: Path) -> None:
    rules = "Loans last for two weeks and can be renewed once unless somebody else has asked for the same book. "
    texts = {
        "gone.md": "---\ndate: never\n---\nThese rules went.",
        "a.md": rules * 2 + "Ask at the desk.",
        "b.md": rules * 2 + "Ask there.",
    }
    desk = Desk(open_library(tmp_path, texts))
    desk.choose_collection(NAME)
    desk.set_status([d.id for d in desk.documents() if d.source_id == "gone.md"], "retired")
    app = WorkbenchApp(desk)

    async def remedy(pilot: Pilot[int], check: str) -> str:
        await press(pilot, "h")
        app.screen.query_one("#checks", Grid).go_to(check)
        await settle(pilot)
        assert "f fixes" in screen_text(app)
        return await press(pilot, "f")

    try:
        async with corpus(app) as pilot:
            assert "◦  gone.md" in screen_text(app), "retired, whatever was warned of"
            seen = await remedy(pilot, "metadata")
            assert isinstance(app.screen, EditDialog)
            assert "2 documents" in seen, "the retired one isn't asked for its date"
            await press(pilot, "escape")
            assert "Delete the document?" in await remedy(pilot, "retired")
            await press(pilot, "escape")
            assert isinstance(app.screen, CorpusScreen)
            assert len(desk.documents()) == 3
            assert "no longer found: a.md." in await remedy(pilot, "near-duplicates")
            await press(pilot, "y")
            assert isinstance(app.screen, HealthScreen)
            assert [d.source_id for d in desk.documents() if d.status == "current"] == ["b.md"]
    finally:
        desk.close()


async def test_what_another_process_changes_is_listed_anew(tmp_path: Path) -> None:
    desk = many(tmp_path, documents=2, chunks=3)
    other = open_store(desk.path)
    app = WorkbenchApp(desk)
    try:
        async with corpus(app) as pilot:
            assert "1.md" in screen_text(app)
            other.corpus.delete_documents([desk.documents()[1].id])
            await until(pilot, lambda: "1.md" not in screen_text(app))
            assert "0.md" in screen_text(app)
    finally:
        other.close()
        desk.close()


# -- edits and deletes -------------------------------------------------------------------------------------------------


async def test_metadata_of_marked_documents_are_previewed_changed_and_taken_back(tmp_path: Path) -> None:
    desk = many(tmp_path, documents=3, chunks=2)
    desk.curator.apply(desk.curator.preview([desk.documents()[2].id], {"year": 2026}))
    app = WorkbenchApp(desk)
    try:
        async with corpus(app) as pilot:
            await press(pilot, "space", "space", "e")
            await type_text(pilot, "foo")
            assert "“foo” is not of the form key=value." in await press(pilot, "enter")
            await press(pilot, "backspace", "backspace", "backspace")
            await type_text(pilot, "owner=registry; year=twenty")
            await type_text(pilot, "; =")
            assert app.screen.query_one(".problem").has_class("-open")
            await press(pilot, "end", "backspace", "backspace")
            seen = screen_text(app)
            assert "registry" in seen
            assert "“year” is of type text here, number elsewhere" in seen
            assert len(app.screen.query_one(Grid).rows) == 4
            assert "2 documents changed; ctrl+z takes it back." in await press(pilot, "enter")
            assert [d.metadata.get("owner") for d in desk.documents()] == ["registry", "registry", None]
            await press(pilot, "ctrl+z")
            assert [d.metadata.get("owner") for d in desk.documents()] == [None] * 3
            assert "taken back" in await press(pilot, "E")
    finally:
        desk.close()


async def test_a_delete_is_proven_for_lanes_index_and_export(tmp_path: Path) -> None:
    desk = many(tmp_path, documents=2, chunks=3)
    app = WorkbenchApp(desk)
    try:
        async with corpus(app) as pilot:
            await press(pilot, "D", "t")
            seen = await press(pilot, "y")
            for words in (
                "✓ the lexical lane cannot find it",
                "✓ the dense lane cannot find it",
                "✓ no index holds its chunks",
                "✓ no export can give it out",
            ):
                assert words in seen
            assert len(desk.documents()) == 1
    finally:
        desk.close()
