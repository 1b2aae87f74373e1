"""Looking closer at a question: its stages, other settings, autopsy, comparison, history, cases, exports."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from screens.app import WorkbenchApp
from screens.ask.autopsy import AutopsyScreen
from screens.ask.case import CaseDialog
from screens.ask.compare import CompareScreen
from screens.ask.page import Page, Reader
from screens.ask.past import PastDialog
from screens.ask.screen import AskScreen
from screens.ask.walk import WalkScreen
from screens.ask.whatif import Tuning, WhatIfScreen
from screens.widgets.grid import Grid
from screens.widgets.keys import KeyBar
from tests.library import NAME, open_library
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import LARGE, SMALL, WIDE, app_on, screen_text, sees, settle, type_text, until
from workbench.desk import Desk
from workbench.records.answers import AskOptions
from workbench.records.corpus import Chunk
from workbench.records.retrieval import SearchOptions

pytestmark = pytest.mark.usefixtures("one_embedder")

STAGES = 16


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_library(tmp_path))
    desk.choose_collection(NAME)
    yield desk
    desk.close()


async def ask(pilot: Pilot[int], words: str, *, answer: bool = True) -> None:
    """Types a question, answers it, and leaves the field."""
    await settle(pilot)
    await type_text(pilot, words)
    if answer:
        await pilot.press("enter")
        await settle(pilot)
    await pilot.press("escape")
    await settle(pilot)


async def press(pilot: Pilot[int], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def at(app: App[int], kind: type[Screen[Any]]) -> None:
    """Which screen a person sees."""
    assert isinstance(app.screen, kind)


# -- stage by stage ----------------------------------------------------------------------------------------------------


async def test_tab_from_the_last_pane_walks_every_stage_and_shift_tab_walks_back_out() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=LARGE) as pilot:
        await ask(pilot, "when are overdue payments due", answer=False)
        await press(pilot, "tab")
        at(app, WalkScreen)
        seen = screen_text(app)
        assert "question · stage 1 of 16" in seen
        assert "as you type" in seen
        await press(pilot, "tab")
        analysis = screen_text(app)
        assert "terms kept" in analysis
        assert "a stopword" in analysis
        for _ in range(STAGES):
            await press(pilot, "tab")
        assert "decision · stage 16 of 16" in screen_text(app)
        assert "The question was searched and not asked yet" in screen_text(app)
        for _ in range(STAGES):
            await press(pilot, "shift+tab")
        at(app, AskScreen)


async def test_tab_goes_to_the_ranking_and_the_citations_first() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await press(pilot, "enter", "tab")
        assert app.focused is app.screen.query_one("#ranking")
        await press(pilot, "tab")
        assert app.focused is app.screen.query_one("#citations")
        await press(pilot, "tab")
        at(app, WalkScreen)
        assert "of the answer" in screen_text(app)


async def test_the_walk_is_searched_and_stages_that_did_not_run_say_why(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await ask(pilot, "enrolment fee")
        await press(pilot, "t")
        at(app, WalkScreen)
        seen: list[str] = []
        for _ in range(STAGES):
            seen.append(screen_text(app))
            await press(pilot, "tab")
        everything = "\n".join(seen)
        for told in (
            "No reranker is on",
            "No model wrote this answer",
            "no larger spans around its chunks",
            "σ = 1.000",
            "RRF: Σ w/(60 + rank)",
            "s = ",
        ):
            assert told in everything
        await press(pilot, "slash")
        await type_text(pilot, "OUTCOME")
        assert "find 1 of 1" in screen_text(app)
        page = app.screen.query_one(Reader).page
        assert page._words[page._start : page._end] == "outcome"


@pytest.mark.parametrize("keys", [["tab"] * 6, ["w"] * 3, ["enter"] * 3])
async def test_a_key_pressed_again_while_its_dialog_is_opened_opens_no_second_one(desk: Desk, keys: list[str]) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "enrolment fee", answer=False)
        reading = threading.Event()
        free = app.jobs._app.run_worker  # every read waits until all the keys are pressed

        def held(work: Callable[[], object], **options: Any) -> object:
            return free(lambda: (reading.wait(60), work()), **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app, "run_worker", held)
            for key in keys:
                app.simulate_key(key)
            await until(pilot, lambda: not app._waiting)
            reading.set()
            await settle(pilot)
        assert len(app.screen_stack) == 2
        await press(pilot, "escape")
        at(app, AskScreen)


async def test_what_if_and_autopsy_are_reached_from_the_stages_and_the_bar_shows_what_acts_there(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await ask(pilot, "enrolment fee")
        bar = app.screen.query_one(KeyBar)
        assert "h History" in str(bar.render())
        await press(pilot, "t")
        told = str(bar.render())
        for lives in ("Next stage", "w What if", "a Autopsy", "? Help"):
            assert lives in told
        for dead in ("History", "Filter", "Lanes", "Trace", "Models"):
            assert dead not in told
        assert told.strip() in screen_text(app), "it is drawn, under the stages"
        await press(pilot, "a")
        at(app, AutopsyScreen)
        assert "What if" not in str(bar.render()), "w is a letter of the chunk's name"
        await press(pilot, "escape")
        at(app, WalkScreen)
        assert str(bar.render()) == told
        await press(pilot, "w")
        at(app, WhatIfScreen)
        assert "Use" in str(bar.render())
        await press(pilot, "escape")
        at(app, WalkScreen)
        await press(pilot, "w")
        app.screen.query_one("#switches", Grid).go_to("evidence")
        await press(pilot, "left", "enter")
        at(app, AskScreen)
        assert "h History" in str(app.screen.query_one(KeyBar).render())


def test_a_table_fits_its_width_and_cuts_the_widest_cells() -> None:
    page = Page(40).table(("#", "source", "text"), [("1", "a-very-long-name-of-a-file.md", "word " * 40)], right=(0,))
    lines = page.text.splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].count("…") == 2
    narrow = Page(30).table(("#", "source", "§", "text"), [("1", "x" * 30, "y" * 30, "z" * 30)])
    assert "z" not in narrow.text


def test_control_characters_of_a_source_do_not_act_on_a_page() -> None:
    assert "\x1b" not in Page(40).say("a \x1b[31mred\x1b[0m word").table(("",), [("\x1b[2J",)]).text


def test_two_texts_stand_beside_each_other_where_there_is_room() -> None:
    wide = Page(95).sides("Lent for 21 days.\nNot renewed.", "Lent for\x1b[2J 10 days.").text.splitlines()
    assert [[side.strip() for side in line.split("│")] for line in wide] == [
        ["Lent for 21 days.", "Lent for␛[2J 10 days."],
        ["Not renewed.", ""],
    ]
    assert Page(60).sides("21 days", "10 days").text.split() == ["−", "21", "days", "+", "10", "days"]


# -- what-if -----------------------------------------------------------------------------------------------------------


async def test_what_if_changes_the_evidence_at_once_and_is_used_for_the_next_question(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await ask(pilot, "the enrolment office and the fee")
        await press(pilot, "w")
        at(app, WhatIfScreen)
        assert "evidence: the same" in screen_text(app)
        app.screen.query_one("#switches", Grid).go_to("evidence")
        before = len(app.screen.query_one("#would-show", Grid).rows)
        assert before >= 2
        for _ in range(4):
            await press(pilot, "left")
        seen = screen_text(app)
        assert "◆ 1" in seen
        assert f"evidence: −{before - 1}" in seen
        assert "gone" in seen
        [first, *others] = app.screen.query_one("#would-show", Grid).rows
        trace = desk.trace("last")
        assert trace.answer
        cited = {c.chunk_id: c.label for claim in trace.answer.claims for c in claim.citations}
        assert [row.cells[-1][0] for row in (first, *others)] == [cited.get(row.key, "") for row in (first, *others)]
        lost = [cited[row.key] for row in others if row.key in cited]
        assert cited
        assert (f"gone, and cited: {' '.join(lost)}" in seen) == bool(lost)
        await press(pilot, "enter")
        at(app, AskScreen)
        assert "◆ pieces kept 1" in screen_text(app)
        await press(pilot, "slash", "enter")
        settings = desk.trace("last").manifest.settings
        assert settings["ask.evidence"] == 1
        await press(pilot, "escape", "w", "d")
        assert "◆" not in screen_text(app)


async def test_what_if_works_before_there_is_an_answer_and_knows_when_it_would_abstain(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot, "enrolment fee of foreign elephants", answer=False)
        await press(pilot, "w")
        at(app, WhatIfScreen)
        assert not desk.traces()
        await press(pilot, "escape", "slash", "enter", "escape", "w")
        assert "answers" in screen_text(app)
        app.screen.query_one("#switches", Grid).go_to("threshold")
        for _ in range(25):
            await pilot.press("right")
        await settle(pilot)
        assert "abstains" in screen_text(app)
        await press(pilot, "r")
        assert "◆" not in screen_text(app)


def test_a_tuning_changes_only_what_it_names() -> None:
    tuning = Tuning((("lexical_k", 0), ("dense_k", 5), ("k0", 10), ("mmr", 0.5), ("rerank", "none")))
    search = tuning.search(SearchOptions(filter="year >= 2026"))
    assert search.lanes == ("dense",)
    assert search.lane_candidates == (("dense", 5),)
    assert (search.k0, search.rerank, search.filter, search.candidates) == (10, "none", "year >= 2026", 50)
    assert tuning.ask(AskOptions()) == AskOptions(mmr=0.5)
    weighted = Tuning((("fusion", "weights"), ("lexical", 0.8))).search(SearchOptions())
    assert weighted.weights == (("lexical", 0.8), ("dense", 0.5))


def test_a_lane_gives_as_many_hits_as_it_is_asked_for(desk: Desk) -> None:
    found = desk.search("enrolment office students", SearchOptions(lane_candidates=(("lexical", 1),)))
    assert len(found.lanes[0].hits) == 1


# -- autopsy -----------------------------------------------------------------------------------------------------------


async def test_an_autopsy_names_the_stage_and_hands_its_change_to_what_if(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        for _ in desk.ask("enrolment", AskOptions(evidence=1)):
            pass
        first = desk.trace("last")
        await app.show_trace(first.id, "")
        await settle(pilot)
        await press(pilot, "escape", "a")
        at(app, AutopsyScreen)
        await type_text(pilot, "courses until 17 October")
        await press(pilot, "enter")
        seen = screen_text(app)
        if "lost here" not in seen:  # that chunk was the evidence: ask for the other one
            await press(pilot, "escape")
            app.screen.query_one(Input).value = "not refunded after the first week"
            await settle(pilot)
            await press(pilot, "enter")
            seen = screen_text(app)
        assert "✗ lost here · enough pieces are kept already" in seen
        assert "evidence=2: place 2 in the evidence" in seen
        await press(pilot, "w")
        at(app, WhatIfScreen)
        assert "evidence: +1" in screen_text(app)


async def test_enter_examines_the_first_chunk_of_the_words_that_stand_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "enrolment fee", answer=False)
        await press(pilot, "a")
        screen = app.screen
        assert isinstance(screen, AutopsyScreen)
        wanted, listed = screen.query_one(Input), screen.query_one("#suspects", Grid)
        for words in ("e", "en", "co"):  # what was first stays listed, behind others
            wanted.value = words
            await settle(pilot)
            assert listed.key == screen._suggest(words)[0].id
        suggest, may_go_on = screen._suggest, threading.Event()

        def slow(words: str) -> tuple[Chunk, ...]:
            may_go_on.wait(5)
            return suggest(words)

        monkeypatch.setattr(screen._latest, "_call", slow)
        wanted.value = "coffee"
        await pilot.press("enter")
        may_go_on.set()
        await sees(pilot, "▸ coffee.md")


async def test_an_autopsy_suggests_chunks_by_the_name_of_their_document(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "enrolment fee", answer=False)
        await press(pilot, "a")
        await type_text(pilot, "coffee")
        rows = app.screen.query_one("#suspects", Grid).rows
        assert rows
        assert all("coffee.md" in row.folded for row in rows)


# -- history, comparison, replay ---------------------------------------------------------------------------------------


async def test_the_history_is_searched_opened_and_deleted(desk: Desk) -> None:
    for question in ("enrolment fee", "how many books may a reader borrow"):
        for _ in desk.ask(question):
            pass
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await press(pilot, "ctrl+r")
        at(app, PastDialog)
        await type_text(pilot, "FEEZ")
        assert "none holds these words" in screen_text(app)
        await press(pilot, "backspace")
        assert re.search(r"\d\d:\d\d +✓ +enrolment fee", screen_text(app))
        assert app.screen.query_one("#questions", Grid).total == 1
        await press(pilot, "enter")
        assert app.screen.query_one("#query", Input).value == "enrolment fee"
        assert "118.50" in screen_text(app)
        await press(pilot, "ctrl+r", "down", "d", "y")
        await until(pilot, lambda: [t.query for t in desk.traces()] == ["enrolment fee"])
        await until(pilot, lambda: app.screen.query_one("#questions", Grid).total == 1)


async def test_two_marked_questions_are_compared_with_what_differs(desk: Desk) -> None:
    for evidence in (5, 1):
        for _ in desk.ask("enrolment fee", AskOptions(evidence=evidence)):
            pass
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await press(pilot, "ctrl+r", "down", "space", "space", "equals_sign")
        at(app, CompareScreen)
        seen = screen_text(app)
        assert "Settings differ: ask.evidence 5 → 1." in seen
        assert "≠ evidence" in seen
        assert "= question" in seen


async def test_a_replay_says_that_the_documents_changed(desk: Desk, tmp_path: Path) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await ask(pilot, "how many books may a reader borrow")
        gone = next(d for d in desk.documents() if d.source_id == "borrowing.md")
        desk.delete_documents([gone.id])
        await press(pilot, "R")
        at(app, CompareScreen)
        seen = screen_text(app)
        assert "The documents have changed since" in seen
        assert "≠ answer" in seen
        assert len(desk.traces()) == 2


# -- keeping -----------------------------------------------------------------------------------------------------------


async def test_a_question_is_saved_as_a_case_with_its_citation_as_gold(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "enrolment fee")
        await press(pilot, "e")
        at(app, CaseDialog)
        app.screen.query_one("#dataset", Input).value = "mine"
        app.screen.query_one("#expected", Input).value = "118.50 euros"
        await press(pilot, "ctrl+s")
        at(app, AskScreen)
        (case,) = desk.evals.cases("mine")
        assert case.answers == ("118.50 euros",)
        document = next(d for d in desk.documents() if d.source_id == case.gold[0].source_id)
        span = case.gold[0]
        assert "118.50" in desk.document_text(document.id)[span.start : span.end]


async def test_a_case_without_gold_or_answer_is_not_saved_and_says_what_is_missing(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot, "enrolment fee")
        await press(pilot, "e")
        app.screen.query_one("#gold", Grid).marked.clear()
        await press(pilot, "ctrl+s")
        at(app, CaseDialog)
        assert "Mark what answers it" in screen_text(app)


@pytest.mark.parametrize(("steps", "ending"), [(0, ".json"), (1, ".otlp.json"), (2, ".md")])
async def test_a_trace_is_exported_in_three_forms(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, ending: str
) -> None:
    monkeypatch.chdir(tmp_path)
    app = WorkbenchApp(desk)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "enrolment fee")
        await press(pilot, "X", *["down"] * steps, "enter")
    name = "answer" if ending == ".md" else "trace"
    words = await asyncio.to_thread((tmp_path / f"{name}-{desk.trace('last').id}{ending}").read_text, "utf-8")
    assert "enrolment fee" in words
    if ending == ".json":
        assert json.loads(words)["complete"] is True


async def test_keys_without_a_question_say_what_is_missing() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "escape", "w")
        at(app, AskScreen)
        assert any("Nothing was found yet" in told.message for told in app._notifications)


async def test_the_help_tells_every_key_and_none_that_something_nearer_has() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=(120, 120)) as pilot:
        await ask(pilot, "library", answer=False)
        await press(pilot, "question_mark")
        seen = screen_text(app)
        assert "Looking closer" in seen
        assert "What if · Other settings on what was found" in seen
        work = next(line for line in seen.splitlines() if "Running work" in line)
        assert "alt+w" in work
        assert "w  alt+w" not in work


def test_a_narrow_table_leaves_out_first_what_it_can_spare() -> None:
    row = ("1", "2", "3", "0.0325", "1/62 + 1/63", "regulations-of-2026.md", "Chapter 4 › Fees › Overdue")
    page = Page(64).table(("#", "lex", "dense", "score", "why", "source", "§"), [row], (0, 1, 2, 3), (6, 2, 1))
    for words in ("0.0325", "1/62 + 1/63", "regulations"):
        assert words in page.text
    cut = ("12", "regulations-of-2026.md", "Chapter 4 › Fees", "enough pieces are kept already")
    told = Page(40).table(("#", "source", "§", "why"), [cut], right=(0,), spare=(2,)).text
    assert "§" not in told
    assert "enough pieces" in told


async def test_the_forms_of_an_export_are_told_whole_at_80_columns() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("escape", "X")
        await settle(pilot)
        seen = screen_text(app)
        assert "OTLP spans with gen_ai.* attributes" in seen
        assert "the answer, sources as footnotes" in seen
