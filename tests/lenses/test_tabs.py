"""The tabs below the chunks, on a real file whose embedder isn't installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.widgets import Input

from screens.app import WorkbenchApp
from screens.ask.screen import AskScreen
from screens.corpus.detail import Detail
from screens.evals.screen import EvalsScreen
from screens.widgets.grid import Grid
from tests.ingest.conftest import Bench
from tests.ingest.conftest import bench as empty
from tests.lenses.test_lenses import ask, run
from tests.screens.helpers import LARGE, SMALL, screen_text, settle
from workbench.desk import Desk
from workbench.records.cases import Case
from workbench.records.corpus import Recipe

pytestmark = pytest.mark.usefixtures("one_embedder")

__all__ = ["empty"]

LONG = "The office opens at nine in the morning on all days but Sunday, when it opens at ten. It closes at five."


@pytest.fixture
def desk(empty: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("WORKBENCH_MODELS", str(empty.folder.parent / "models"))
    empty.write("a.txt", "Short.")
    empty.write("b.txt", LONG)
    empty.write("c.txt", LONG.replace("nine", "eight"))
    empty.ingest(recipe=Recipe("window", size=22, overlap=6))
    first = next(d for d in empty.store.corpus.documents("c") if d.source_id == "b.txt")
    ask(empty, "t1", "When does it open?", [empty.store.corpus.chunks(first.id)[0].id])
    desk = Desk(empty.store)
    yield desk
    desk.close()


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_b_goes_to_the_next_flag_and_shows_the_cut(desk: Desk, size: tuple[int, int]) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("b")
        await settle(pilot)
        seen = screen_text(app)
        assert "b.txt #1" in seen
        assert "⚑ a sentence goes on in the next chunk" in seen
        assert "characters shared with the one before" in seen
        sources = set()
        for _ in range(8):
            await pilot.press("b")
            await settle(pilot)
            chunk = app.screen.query_one(Detail).tab.chunk
            assert chunk
            sources.add(chunk.source_id)
        assert sources == {"b.txt", "c.txt"}


async def test_the_tabs_tell_words_uses_and_likeness_without_an_embedder_and_enter_goes_on(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await pilot.press("f2", "b", "t")
        await settle(pilot)
        seen = screen_text(app)
        assert "hash, which the index was made with, isn't installed here" in seen
        assert "how many of the" in seen
        app.screen.query_one("TokensTab Input", Input).value = "When does the office open?"
        await settle(pilot)
        seen = screen_text(app)
        assert "✓ office" in seen
        assert "BM25 of this chunk" in seen
        assert "Not asked for: When, does, the" in seen
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert "When does it open?" in screen_text(app)
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert "cosine" in screen_text(app)
        detail = app.screen.query_one(Detail)
        before = detail.tab.chunk
        assert before
        detail.tab.focus()
        await pilot.press("enter")
        await settle(pilot)
        assert detail.tab.chunk
        assert detail.tab.chunk.id == desk.lenses.like(before).near[0].chunk.id


async def test_enter_on_who_found_a_chunk_opens_the_question_in_ask_and_the_case_in_evals(
    empty: Bench, desk: Desk
) -> None:
    document = next(d for d in desk.documents("c") if d.source_id == "b.txt")
    chunk, other = desk.chunks(document.id)[:2]
    cases = [Case(f"q{n}", f"Case number {n}?") for n in range(4)]
    dataset = empty.store.datasets.put("set", "c", cases)
    run(empty, {case.id: [chunk.id if case.id == "q2" else other.id] for case in cases}, dataset.hash)
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await pilot.press("f2", "b", "t", "right_square_bracket")
        await settle(pilot)
        assert "Stored questions that found it: 1 · Cases of evaluation runs that found it: 1" in screen_text(app)
        app.screen.query_one(Detail).tab.focus()
        await pilot.press("down", "enter")
        await settle(pilot)
        assert isinstance(app.screen, EvalsScreen)
        assert app.screen.query_one("#cases-grid", Grid).key == "q2"
        await pilot.press("f2", "up", "enter")
        await settle(pilot)
        assert isinstance(app.screen, AskScreen)
        assert "When does it open?" in screen_text(app)


async def test_all_flags_are_counted_by_document(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await pilot.press("f2", "B")
        await settle(pilot)
        seen = screen_text(app)
        assert "documents: 2" in seen
        assert "sentence" in seen


async def test_hubs_and_what_was_never_found_are_offered(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await pilot.press("f2", "u")
        await settle(pilot)
        seen = screen_text(app)
        total = len([c for d in desk.documents("c") for c in desk.chunks(d.id)])
        assert f"1 questions · {total - 1} of {total} chunks never found" in seen
        assert "found by 1" in seen
        await pilot.press("enter")
        await settle(pilot)
        assert "When does it open?" in screen_text(app), "the hub, with who found it"
