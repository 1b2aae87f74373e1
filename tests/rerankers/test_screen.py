"""The dialog on the Ask screen, over real rerankers and a real file."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from screens.app import WorkbenchApp
from screens.ask.rerankers import RerankersScreen
from screens.ask.whatif import WhatIfScreen
from screens.widgets.grid import Grid
from tests.library import NAME
from tests.rerankers.test_searching import CASES, QUESTION
from tests.screens.helpers import LARGE, SMALL, screen_text, settle, type_text
from workbench.desk import Desk
from workbench.records.retrieval import RerankGain

BETTER = RerankGain("overlap", NAME, "faq", 40, 40, (0.5, 0.75), (0.6, 0.8), 12, 2, 0.013, (0.1, 0.4), 31.0, 3)
WORSE = RerankGain("late", NAME, "faq", 40, 40, (0.5, 0.45), (0.6, 0.6), 0, 2, 0.5, (-0.1, 0.0), 4.0)


async def opened(pilot: Pilot[int], app: WorkbenchApp) -> RerankersScreen:
    await settle(pilot)
    app.screen.query_one("#query", Input).focus()
    await type_text(pilot, QUESTION)
    await pilot.press("alt+r")
    await settle(pilot)
    assert isinstance(app.screen, RerankersScreen)
    return app.screen


async def under(pilot: Pilot[int], app: WorkbenchApp, name: str) -> None:
    app.screen.query_one("#rerankers", Grid).go_to(name)
    await settle(pilot)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_what_each_brings_stands_in_a_table_with_its_interval(desk: Desk, size: tuple[int, int]) -> None:
    desk._store.datasets.put("faq", NAME, CASES)
    desk.rerankers._keep(BETTER)
    desk.rerankers._keep(WORSE)
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        seen = screen_text(app)
        assert "+.250 [+.100, +.400]" in seen
        assert "−.050 [−.100, ±.000]" in seen
        assert "brings nothing" in seen
        assert "it lacks tok" in seen
        await under(pilot, app, "overlap")
        told = str(app.screen.query_one("#reranker-told", Static).render())
        assert "12 questions better, 2 worse" in told
        assert "Its time ended at 3 questions." in told


async def test_one_is_measured_with_progress_and_remembered(desk: Desk) -> None:
    desk._store.datasets.put("faq", NAME, CASES)
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await opened(pilot, app)
        await under(pilot, app, "bookish")
        assert "m measures what it brings to the questions of faq." in screen_text(app)
        await pilot.press("m")
        await settle(pilot)
        assert "n = 2:" in screen_text(app)
        assert [gain.mode for gain in desk.rerankers.gains()] == ["bookish"]


async def test_it_goes_on_only_where_it_gained_and_off_again(desk: Desk) -> None:
    desk._store.datasets.put("faq", NAME, CASES)
    desk.rerankers._keep(BETTER)
    desk.rerankers._keep(WORSE)
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await opened(pilot, app)
        for refused in ("late", "bookish"):
            await under(pilot, app, refused)
            await pilot.press("o")
            await settle(pilot)
            assert desk.rerankers.gain() is None
        await under(pilot, app, "overlap")
        await pilot.press("o")
        await settle(pilot)
        assert desk.rerankers.gain() == BETTER
        await pilot.press("o")
        await settle(pilot)
        assert desk.rerankers.gain() is None


async def test_chosen_for_the_next_questions_and_listed_by_what_if(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await opened(pilot, app)
        await under(pilot, app, "broken")
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, RerankersScreen)  # it can't be used
        await under(pilot, app, "overlap")
        await pilot.press("enter")
        await settle(pilot)
        assert "◆ reranker overlap" in screen_text(app)
        assert "rerank 1 → 1 (5.000)" in screen_text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert desk.trace("last").manifest.settings["search.rerank"] == "overlap"
        await pilot.press("escape", "w")
        await settle(pilot)
        assert isinstance(app.screen, WhatIfScreen)
        assert app.screen._switches["rerank"].values == ("none", "overlap")


async def test_a_collection_without_a_dataset_says_how_to_begin_one(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        await under(pilot, app, "overlap")
        assert "press e on a good answer" in str(app.screen.query_one("#reranker-told", Static).render())
        await pilot.press("m")
        await settle(pilot)
        assert desk.rerankers.gains() == ()
