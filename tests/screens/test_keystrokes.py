"""Typing in Ask: what is drawn when, looking back, pinning, saving, replaying."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from screens.app import WorkbenchApp
from screens.ask.screen import AskScreen
from screens.ask.timeline import Timeline
from screens.ask.walk import WalkScreen
from screens.ask.whatif import WhatIfScreen
from screens.widgets import ranking
from screens.widgets.grid import Grid
from tests.library import NAME, open_library
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, press_each, screen_text, sees, settle, type_text, until
from workbench.desk import Desk
from workbench.ports import Cancel
from workbench.records.retrieval import FusedHit, FusionResult, SearchOptions, SearchResult

pytestmark = pytest.mark.usefixtures("one_embedder")


class TwoStepDesk(FakeDesk):
    """The lexical lane comes first; the rest comes when it is told to, or never when nobody waits for it any more."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.cancelled: list[str] = []

    def search_typed(
        self, query: str, options: SearchOptions | None = None, cancel: Cancel | None = None
    ) -> Iterator[SearchResult]:
        for first in FakeDesk.search_typed(self, query, SearchOptions(lanes=("lexical",))):
            yield dataclasses.replace(first, lanes=first.lanes[:1])
        self.gate.wait(60)
        if cancel and cancel.is_set():
            self.cancelled.append(query)
        yield from FakeDesk.search_typed(self, query, options)


def strip(app: WorkbenchApp) -> str:
    return str(app.screen.query_one(Timeline).content)


def question(app: WorkbenchApp) -> str:
    return app.screen.query_one("#query", Input).value


async def test_a_key_that_is_overtaken_is_told_to_stop_and_its_late_ranking_is_not_shown() -> None:
    desk = TwoStepDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("h")
        await sees(pilot, "dense follows")  # and not the time that it took for another question
        await pilot.press("o", "r", "n")
        desk.gate.set()
        await settle(pilot)
        assert desk.cancelled == ["h"]
        entries = app.screen.query_one(Timeline).entries
        assert [(e.keystroke.query, e.keystroke.whole) for e in entries if e.keystroke.whole] == [("horn", True)]
        assert "1/(60+1) + 1/(60+1) = 0.0328" in screen_text(app)
        await pilot.press("alt+left")
        await sees(pilot, "the next key came first")


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_alt_left_shows_what_each_keystroke_found_and_escape_comes_back(size: tuple[int, int]) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for words in ("library", " horn", " fog"):
            await type_text(pilot, words)
        assert strip(app).startswith("keys ")
        assert "3/3" in strip(app)
        await pilot.press("alt+left", "alt+left")
        await settle(pilot)
        assert question(app) == "library"
        assert "1/3" in strip(app)
        assert "[▁]" in strip(app)
        assert "of an earlier keystroke" in screen_text(app)
        await pilot.press("alt+left")
        assert question(app) == "library"  # there is nothing before it
        await pilot.press("alt+right")
        assert question(app) == "library horn"
        await pilot.press("escape")
        await settle(pilot)
        assert question(app) == "library horn fog"
        assert "3/3" in strip(app)
        assert "[" not in strip(app)


async def test_only_keys_of_the_question_are_keystrokes_and_have_a_painted_time() -> None:
    desk = TwoStepDesk()
    desk.gate.set()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        for words in ("library", " horn"):
            await type_text(pilot, words)
        timeline = app.screen.query_one(Timeline)
        before = timeline.keystrokes
        assert None not in [keystroke.painted_ms for keystroke in before]
        for keys in (["alt+left"], ["escape"], ["alt+m"], ["alt+m"], ["down"], ["escape"]):
            await pilot.press(*keys)
            await settle(pilot)
        assert timeline.keystrokes == before


async def test_typing_goes_on_from_an_earlier_keystroke() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await type_text(pilot, " horn")
        await pilot.press("alt+left")
        await press_each(pilot, "s")
        assert question(app) == "librarys"
        assert "3/3" in strip(app)


async def test_an_earlier_question_that_is_answered_is_asked_now_with_its_ranking_of_today() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await type_text(pilot, " horn")
        await pilot.press("alt+left")
        await settle(pilot)
        assert "of an earlier keystroke" in screen_text(app)
        screen = app.screen
        assert isinstance(screen, AskScreen)
        screen.reload()  # the file changed: looking back goes on
        await settle(pilot)
        assert "of an earlier keystroke" in screen_text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert "of an earlier keystroke" not in screen_text(app)
        assert app.screen.query_one(Timeline).at is None
        assert question(app) == "library"


async def test_a_pinned_ranking_is_what_moves_are_told_against() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        there = {row.key for row in app.screen.query_one("#ranking", Grid).rows}
        await pilot.press("alt+m")
        await settle(pilot)
        question_ = app.screen.query_one("#query", Input)
        for words in ("overdue", "overdue payments"):
            question_.value = words
            await settle(pilot)
        assert "◆" in strip(app)
        seen = screen_text(app)
        assert "new" in seen
        assert "against “library”" in seen
        lost = [row for row in app.screen.query_one("#ranking", Grid).rows if row.key in there]
        assert lost
        assert "was 1" in lost[0].folded
        await pilot.press("alt+left", "alt+left", "alt+m")
        await settle(pilot)
        assert "◆" not in strip(app)


async def test_the_end_of_a_question_longer_than_its_field_is_in_sight() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await press_each(pilot, "how many " * 10 + "lighthouses")
        assert "how many lighthouses" in screen_text(app)
        await pilot.press("home")
        await settle(pilot)
        assert "│ how many how" in screen_text(app)


def test_the_arithmetic_of_a_hit_is_written_out() -> None:
    fusion = FusionResult("rrf", 60, (), (), 0.1)
    shares = (("lexical", 1 / 61), ("dense", 1 / 65))
    hit = FusedHit("c", 1, sum(share for _, share in shares), 1, 12.3456, 5, 0.8712, shares)
    assert ranking.arithmetic(hit, fusion) == "1/(60+1) + 1/(60+5) = 0.0318 · BM25 12.35 · cos 0.871"
    half = FusedHit("c", 1, 0.5 / 62, 2, 3.0, None, None, (("lexical", 0.5 / 62),))
    assert ranking.arithmetic(half, fusion).startswith("0.5/(60+2) = 0.0081")


async def test_the_hit_under_the_cursor_tells_its_arithmetic() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        assert "1/(60+1) + 1/(60+1) = 0.0328" in screen_text(app)
        await pilot.press("down", "down")
        await settle(pilot)
        assert "1/(60+2)" in str(app.screen.query_one("#arithmetic", Static).content)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A real file with no embedder."""
    desk = Desk(open_library(tmp_path))
    desk.choose_collection(NAME)
    yield desk
    desk.close()


async def test_a_session_is_saved_opened_stepped_through_and_compared_with_today(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press_each(pilot, "six books")
        await pilot.press("ctrl+s")
        await settle(pilot)
        [saved] = desk.keystrokes.sessions()
        assert saved.question == "six books"
        await pilot.press("alt+o")
        await settle(pilot)
        assert "six books" in screen_text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert question(app) == "s"
        assert f"saved {saved.id[:6]} " in strip(app)
        await pilot.press(*["alt+right"] * 8)
        await settle(pilot)
        assert question(app) == "six books"
        assert "borrowing.md" in screen_text(app)
        await pilot.press("alt+d")
        await settle(pilot)
        told = [notice.message for notice in app._notifications]
        assert f"The same rankings as then, {saved.keystrokes} of {saved.keystrokes}." in told
        await pilot.press("escape")
        await settle(pilot)
        assert question(app) == "six books"
        assert "saved" not in strip(app)


async def test_a_saved_keystroke_shows_its_own_stages_and_not_those_of_the_question_in_front(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press_each(pilot, "six books")
        await pilot.press("ctrl+s")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "decision" in screen_text(app)
        await pilot.press("alt+o")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        lines = app.screen.query_one("#stage-lines", Static)
        for _ in range(len(app.screen.query_one(Timeline).entries)):
            seen, entry = str(lines.content), app.screen.query_one(Timeline).at
            assert entry
            assert entry.result
            assert "decision" not in seen
            assert "σ 1.00" in seen
            assert [view.hit for view in entry.result.hits] == list(entry.result.fusion.hits[:10])
            await pilot.press("alt+right")
            await settle(pilot)


async def test_a_saved_keystroke_opens_its_stages_and_what_if_and_one_saved_without_them_says_so(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press_each(pilot, "six books")
        await pilot.press("ctrl+s")
        await settle(pilot)
        session = desk.keystrokes.session("last")
        await pilot.press("escape")
        app.screen.query_one("#query", Input).value = ""  # nothing is asked any more
        await settle(pilot)
        await pilot.press("alt+o")
        await settle(pilot)
        await pilot.press("enter", *["alt+right"] * 6)
        await settle(pilot)
        assert question(app) == "six book"
        await pilot.press("alt+t")
        await sees(pilot, "Stage by stage")
        assert isinstance(app.screen, WalkScreen)
        await pilot.press("tab")
        await sees(pilot, "out, for the lexical lane")
        await pilot.press("w")
        await settle(pilot)
        assert isinstance(app.screen, WhatIfScreen)
        stages = session.keystrokes[6].stages
        assert stages
        assert app.screen._before["lexical_k"] == len(stages.lanes[0].hits) > 0
        await pilot.press("escape", "escape", "escape")
        await settle(pilot)
        assert question(app) == ""
        assert "of an earlier keystroke" not in screen_text(app)
        bare = [dataclasses.replace(keystroke, stages=None) for keystroke in session.keystrokes]
        desk.keystrokes.save(bare, NAME)
        await pilot.press("alt+o")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "not saved with a keystroke" in str(app.screen.query_one("#stage-lines", Static).content)
        for keys in (["alt+t"], ["down", "w"], ["tab"]):
            app.clear_notifications()
            await pilot.press(*keys)
            await until(pilot, lambda: "saved without its stages" in "".join(n.message for n in app._notifications))


async def test_a_saved_session_plays_by_itself(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press_each(pilot, "six")
        await pilot.press("ctrl+s")
        await settle(pilot)
        await pilot.press("alt+o")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("alt+p")
        await until(pilot, lambda: question(app) == "six")


async def test_saving_before_anything_is_typed_says_so(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Nothing was typed yet." in screen_text(app)
        assert desk.keystrokes.sessions() == ()
