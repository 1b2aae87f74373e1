"""The screens over the real desk: a real file, the real embedder, the demo collection."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

import workbench
from screens.app import WorkbenchApp
from screens.ingest import IngestScreen
from screens.widgets.answer import AnswerPane
from storage import open_store
from tests.library import NAME, open_library
from tests.screens.helpers import WIDE, screen_text, settle, type_text, until
from workbench.desk import Desk

DEMO = Path(workbench.__file__).parent / "demo" / "faro" / "en"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_store(tmp_path / "lab.db"))
    yield desk
    desk.close()


@pytest.mark.model
async def test_from_an_empty_file_to_a_cited_answer(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "Nothing to ask of yet." in screen_text(app)
        await pilot.press("alt+i")
        await settle(pilot)
        app.screen.query_one("#paths", Input).value = f"'{DEMO}'"
        app.screen.query_one("#collection", Input).value = "faro"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.ingest is not None and app.ingest.done)
        await settle(pilot)
        assert isinstance(app.screen, IngestScreen)
        assert "added" in screen_text(app)
        await pilot.press("escape")
        await settle(pilot)
        app.screen.query_one("#query", Input).focus()
        await type_text(pilot, "When is the library open?")
        await pilot.press("enter")
        await settle(pilot)
        seen = screen_text(app)
        assert "lab.db › faro" in seen
        assert "✓ answered" in seen
        assert "extractive" in seen
        assert "[F1]" in seen
        assert len(desk.traces()) == 1
        await pilot.press("f2")
        await settle(pilot)
        assert "opening-hours" in screen_text(app)


@pytest.mark.model
def test_a_search_waits_for_the_embedder_only_when_it_runs(demo_file: Path, tmp_path: Path) -> None:
    cold = Desk(open_store(Path(shutil.copy(demo_file, tmp_path))))
    try:
        [first] = cold.search_typed("library hours")
        assert [lane.lane for lane in first.lanes] == ["lexical"]
        assert first.hits
        cold.warm_embedder()
        *_, whole = cold.search_typed("library hours")
        assert [lane.lane for lane in whole.lanes] == ["lexical", "dense"]
    finally:
        cold.close()


async def test_enter_with_a_filter_that_does_not_parse_keeps_the_answer(tmp_path: Path) -> None:
    desk = Desk(open_library(tmp_path))
    desk.choose_collection(NAME)
    app = WorkbenchApp(desk)
    try:
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            await type_text(pilot, "enrolment fee")
            await pilot.press("enter")
            await settle(pilot)
            answer = app.screen.query_one(AnswerPane)
            assert any(cited.quote.startswith("The enrolment fee") for cited in answer.citations if cited)
            await pilot.press("ctrl+f")
            await type_text(pilot, "year >")
            await pilot.press("enter")
            await settle(pilot)
            seen = screen_text(app)
            assert any(cited.quote.startswith("The enrolment fee") for cited in answer.citations if cited)
            assert app.screen.query_one("#filter-problem").has_class("-open")
            assert "Answer ── with the filter before" in seen
            assert "stopped" not in seen
            assert len(desk.traces()) == 1
    finally:
        desk.close()
