"""Ask, as a person uses it: keys in, screen out."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from screens.dialogs import PassageDialog
from screens.widgets import ranking
from screens.widgets.answer import AnswerPane
from screens.widgets.grid import Grid
from screens.widgets.passage import Passage
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import LARGE, SMALL, WIDE, app_on, press_each, screen_text, sees, settle, type_text, until
from workbench.ports import TraceSummary
from workbench.records.retrieval import SearchOptions, SearchResult


async def test_typing_searches_and_shows_where_each_chunk_stands() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        seen = screen_text(app)
        assert "regulations.pdf" in seen
        assert "1/61 + 1/61" in seen
        assert "14 ms · lexical 3.1 · dense 9.2" in seen
        assert "σ 0.82" in seen


async def test_arrows_tell_how_chunks_moved_since_the_last_keystroke() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "payments")
        await type_text(pilot, " september")
        assert "new" in screen_text(app)


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_names_are_whole_and_passages_are_seen_where_there_is_room(size: tuple[int, int]) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        row = next(line for line in screen_text(app).splitlines() if "regulations.pdf" in line)
        assert "A payment is overdue when" in row


def test_moves_are_places_gained() -> None:
    hits = FakeDesk().search("overdue payments").hits
    first, second = hits[0].hit.chunk_id, hits[1].hit.chunk_id
    assert ranking.moves(hits[:2], {second: 1, first: 2}) == {first: 1, second: -1}
    assert ranking.moves(hits[:1], {second: 1}) == {first: ranking.NEW}


class SlowDesk(FakeDesk):
    """Its first search waits until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def search(self, query: str, options: SearchOptions | None = None) -> SearchResult:
        if query == "l":
            self.gate.wait(60)
        return super().search(query, options)


async def test_a_stale_result_is_never_shown_and_keystrokes_in_between_are_skipped() -> None:
    desk = SlowDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for key in "library":
            await pilot.press(key)
        assert app.screen.query_one("#ranking", Grid).total == 0
        desk.gate.set()
        await settle(pilot)
        assert desk.searched == ["l", "library"]
        assert "faq.md" in screen_text(app)


async def test_digits_typed_in_the_question_stay_text_and_f_keys_still_switch() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await press_each(pilot, "1 2 3 4?")
        assert app.screen.query_one("#query", Input).value == "1 2 3 4?"
        assert app.current_mode == "ask"
        await pilot.press("f2")
        await settle(pilot)
        assert app.current_mode == "corpus"
        await pilot.press("3")
        assert app.current_mode == "ask"
        await pilot.press("f4")
        assert app.current_mode == "evals"


async def test_enter_answers_with_citations_and_enter_on_one_opens_the_source_at_the_span() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await pilot.press("enter")
        await settle(pilot)
        seen = screen_text(app)
        assert "~ answered · supported 1/2 · s 0.71 ≥ τ 0.42 · extractive" in seen
        assert "[F1]" in seen
        assert "prompt 1,204 / 4,096: instructions 180 + evidence 842 + question 22 + reserve 160" in seen
        app.screen.query_one("#citations").focus()
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, PassageDialog)
        passage = app.screen.query_one(Passage)
        cited = app.screen_stack[0].query_one(AnswerPane).citations[0]
        assert cited is not None
        assert passage._words[passage._start : passage._end] == cited.quote


async def test_a_citation_that_names_no_evidence_is_told() -> None:
    desk = FakeDesk()
    list(desk.library.load("/models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf"))
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await pilot.press("enter")
        await settle(pilot)
        assert "✗ removed, names no evidence: [F9]" in screen_text(app)


async def test_escape_stops_a_running_answer() -> None:
    desk = FakeDesk(slow=0.2)
    list(desk.library.load("/models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf"))
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await pilot.press("enter")
        await until(pilot, lambda: [job.title for job in app.jobs.works] == ["answering"])
        await pilot.press("escape")
        await settle(pilot)
        assert not app.jobs.works
        assert desk.traces() == ()
        assert "~ stopped" in screen_text(app)
        assert app.screen.query_one("#query", Input).value == "overdue payments"
        await pilot.press("escape", "escape")
        assert app.screen.query_one("#query", Input).value == "overdue payments"


async def test_a_filter_that_does_not_parse_is_told_inline_and_no_dialog_opens() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue")
        await pilot.press("ctrl+f")
        await type_text(pilot, "year")
        lines = screen_text(app).splitlines()
        above = next(i for i, line in enumerate(lines) if "After the field comes a comparison" in line)
        assert lines[above - 1].index("^") == lines[above - 2].index("year") + 5
        assert "Ranking ── of the filter before" in screen_text(app)
        assert not app.screen.is_modal
        await type_text(pilot, " = 2026")
        assert "After the field" not in screen_text(app)
        assert "year = 2026" in screen_text(app)


async def test_down_goes_to_the_ranking_and_enter_opens_the_chunk_there() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "horn")
        await pilot.press("down", "enter")
        await settle(pilot)
        assert isinstance(app.screen, PassageDialog)
        await pilot.press("escape", "escape")
        assert app.focused is app.screen.query_one("#query")


async def test_escape_leaves_the_question_so_that_single_keys_act_and_comes_back() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "horn")
        await pilot.press("escape", "2")
        await settle(pilot)
        assert app.current_mode == "corpus"
        await pilot.press("3")
        await settle(pilot)
        await pilot.press("escape", "escape")
        assert app.focused is app.screen.query_one("#query")
        assert app.screen.query_one("#query", Input).value == "horn"


async def test_lanes_switch_and_the_ranking_says_so() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await pilot.press("alt+l")
        await settle(pilot)
        seen = screen_text(app)
        assert "Ranking ── lexical ─" in seen
        assert "skipped: off" in seen


async def test_earlier_questions_come_back_with_ranking_and_answer() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for question in ("library", "horn"):
            app.screen.query_one("#query", Input).value = question
            await settle(pilot)
            await pilot.press("enter")
            await settle(pilot)
        await pilot.press("alt+up")
        await settle(pilot)
        assert app.screen.query_one("#query", Input).value == "library"
        seen = screen_text(app)
        assert "question 1 of 2" in seen
        assert "Loans last three weeks" in seen
        await pilot.press("alt+down")
        await settle(pilot)
        assert app.screen.query_one("#query", Input).value == "horn"


async def test_the_trace_opens_as_json() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("alt+v")
        assert not app.screen.is_modal
        await type_text(pilot, "library")
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("alt+v")
        await settle(pilot)
        assert '"query": "library"' in screen_text(app)


async def test_copy_takes_the_answer() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("alt+c")
        assert "Loans last three weeks" in app.clipboard


async def test_an_empty_file_says_how_to_begin() -> None:
    app = app_on(FakeDesk(empty=True))
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        seen = screen_text(app)
        assert "Nothing to ask of yet." in seen
        assert "workbench demo" in seen
        assert "alt+i Ingest" in seen


@pytest.mark.parametrize("size", [SMALL, WIDE, (200, 60)])
async def test_hostile_text_stays_literal(size: tuple[int, int]) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await type_text(pilot, "override")
        await pilot.press("enter")
        await settle(pilot)
        seen = screen_text(app)
        assert "[red]boom[/]" in seen
        assert "␛[31man escape␛[0m" in seen
        assert "‹U+202E›evil" in seen
        assert "\x1b" not in seen
        assert "\u202e" not in seen


class ColdDesk(FakeDesk):
    """Its embedder starts when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def warm_embedder(self) -> None:
        self.gate.wait(60)
        super().warm_embedder()


async def test_the_words_of_the_index_are_found_while_the_embedder_is_still_starting() -> None:
    desk = ColdDesk()
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await pilot.pause(0.1)
        for key in "payments":
            await pilot.press(key)
        seen = await sees(pilot, "dense follows: the embedder is starting")
        assert "regulations.pdf" in seen
        desk.gate.set()
        await settle(pilot)
        seen = screen_text(app)
        assert "1/61 + 1/61" in seen
        assert "follows" not in seen


async def test_an_answer_says_when_it_is_to_an_earlier_question_or_filter() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await pilot.press("enter")
        await settle(pilot)
        assert "✓" in str(app.screen.query_one(AnswerPane).border_title)
        await type_text(pilot, " horn")
        assert str(app.screen.query_one(AnswerPane).border_title) == "Answer ── to an earlier question: library"
        app.screen.query_one("#query", Input).value = "library"
        await pilot.press("ctrl+f")
        await type_text(pilot, "year = 2026")
        assert "Answer ── with the filter before: –" in screen_text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert "✓" in str(app.screen.query_one(AnswerPane).border_title)


class SlowHistory(FakeDesk):
    """Its traces are read when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def traces(self, limit: int = 50) -> tuple[TraceSummary, ...]:
        self.gate.wait(60)
        return super().traces(limit)


async def test_an_earlier_question_that_comes_late_does_not_take_the_place_of_a_newer_answer() -> None:
    desk = SlowHistory()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for question in ("library", "horn"):
            app.screen.query_one("#query", Input).value = question
            await settle(pilot)
            await pilot.press("enter")
            await settle(pilot)
        await pilot.press("alt+up", "enter")
        await pilot.pause(0.1)
        desk.gate.set()
        await settle(pilot)
        assert app.screen.query_one("#query", Input).value == "horn"
        assert [trace.query for trace in desk._traces] == ["horn", "horn", "library"]
        app.screen.query_one("#answer-text").focus()
        await pilot.press("left_square_bracket", "enter")
        await settle(pilot)
        assert len(desk._traces) == 3  # enter asks only where one types


async def test_a_draft_comes_back_after_a_look_at_earlier_questions() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await pilot.press("enter")
        await settle(pilot)
        question = app.screen.query_one("#query", Input)
        question.value = "a long dra"
        await settle(pilot)
        await pilot.press("alt+up")
        await settle(pilot)
        assert question.value == "library"
        await pilot.press("alt+down")
        await settle(pilot)
        assert question.value == "a long dra"
        await pilot.press("alt+down")
        await settle(pilot)
        assert question.value == "a long dra"


async def test_a_row_of_an_answer_that_is_gone_opens_nothing() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await pilot.press("enter")
        await settle(pilot)
        grid = app.screen.query_one("#citations", Grid)
        grid.post_message(Grid.Opened(grid, "99"))
        grid.post_message(Grid.Opened(grid, ""))
        await settle(pilot)
        assert not app.screen.is_modal


async def test_an_answer_is_written_as_markdown_with_its_sources_as_footnotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("alt+x")
        await settle(pilot)
        assert [notice.message for notice in app._notifications] == [f"Written: {tmp_path / 'answer-t001.md'}"]
    written = (tmp_path / "answer-t001.md").read_text("utf-8")
    assert written.startswith("# overdue payments\n")
    assert "[^F1]: regulations.pdf" in written


async def test_a_pane_fills_the_screen_and_comes_back() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("down", "z")
        await settle(pilot)
        seen = screen_text(app)
        assert "1/61 + 1/61" in seen
        assert "Answer ──" not in seen
        assert "WORKBENCH" in seen
        await pilot.press("z")
        await settle(pilot)
        assert "Answer ──" in screen_text(app)


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_a_source_shows_every_character_of_every_line(size: tuple[int, int]) -> None:
    words = " ".join(f"word{number * 37 % 1000}x{'y' * (number % 7)}" for number in range(400))
    app = app_on(FakeDesk())
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        app.push_screen(PassageDialog("source", words, 0, 5))
        await settle(pilot)
        region = app.screen.query_one(Passage).region
        lines = screen_text(app).splitlines()[region.y : region.bottom]
        seen = " ".join(line[region.x : region.right - 1] for line in lines).split()
        assert seen == words.split()[: len(seen)]


async def test_the_cursor_stays_on_the_first_hit_until_a_person_moves_it() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        ranking = app.screen.query_one("#ranking", Grid)
        for words in ("library", " horn", " fog", " overdue payments"):
            await type_text(pilot, words)
            assert ranking.cursor == 0
        await pilot.press("down", "down")
        await settle(pilot)
        kept = ranking.key
        assert ranking.cursor == 1
        await pilot.press("slash")
        await type_text(pilot, " library")
        assert kept not in [row.key for row in ranking.rows] or ranking.key == kept
