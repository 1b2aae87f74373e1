"""The Evals screen as a person uses it: stepping, comparing, labelling, running, deciding."""

from __future__ import annotations

import pytest
from textual.binding import Binding
from textual.widgets import Input, Select, TextArea

from screens.dialogs import ChoiceDialog, ConfirmDialog, NoteDialog, PassageDialog
from screens.evals.case import CasePane, RankTable
from screens.evals.decide import LabelDialog
from screens.evals.launch import RunDialog
from screens.evals.rerun import DiffScreen, RerunDialog
from screens.help import declared
from screens.widgets.grid import Grid
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import (
    SMALL,
    WIDE,
    app_on,
    case_of,
    on_evals,
    press,
    screen_text,
    sees,
    settle,
    type_text,
    until,
)
from workbench.i18n import catalogue
from workbench.records.answers import Prompt, TraceSpan

HUGE = (200, 60)


# -- seeing ----------------------------------------------------------------------------------------------------------


async def test_the_newest_run_opens_against_the_baseline_with_intervals_flips_and_drops() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        seen = await on_evals(pilot)
        assert "Datasets and runs ── 1/3" in seen
        assert "3 chain against 1 bm25 ── xquad-es · 14 cases · whole chain" in seen
        assert ".71  .45–.88 n=14" in seen
        assert "≈ 1 fixed, 1 broken: not significant (McNemar p = 1.00)" in seen
        assert "by type: direct .86 .49–.97 n=7   paraphrase .00 +.56 n=3 ▼" in seen
        assert "Only 14 cases" in seen
        assert "3 things differ" in seen
        assert "gate ✗" in seen
        assert "baseline" in seen


async def test_a_narrow_terminal_keeps_lists_and_stepper_and_one_line_of_figures() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        seen = await on_evals(pilot)
        lines = seen.splitlines()
        assert "≈ 1 fixed 1 broken  Passed .71 .45–.88" in lines[1]
        assert "Cases ── failing 4" in seen
        assert "✗ retrieved but cut" in seen
        assert all(len(line) <= 80 for line in lines)
        seen = await press(pilot, "tab", "z")
        assert "1 fixed, 1 broken: not significant (McNemar p = 1.00)" in seen
        assert "3 things differ" in seen
        assert "✗ retrieved but cut" in await press(pilot, "z")


async def test_a_large_terminal_shows_the_questions_and_gold_beside_the_results() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=HUGE) as pilot:
        seen = await on_evals(pilot)
        gold = next(line for line in seen.splitlines() if "regulations.pdf  349–492  grade 3" in line)
        assert "[F1]" in gold
        assert "✂ budget" in seen
        assert "How many days at first?" in seen


async def test_a_case_shows_claims_citations_ranks_cuts_scores_times_and_the_other_run() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=(161, 50)) as pilot:
        seen = await on_evals(pilot)
        assert "The gold was found, and the budget left it out." in seen
        assert "→ Fewer duplicates, or a budget of 1,200 tokens." in seen
        assert "✓ Results within ten days. [F1]  calendar.csv January" in seen
        assert "~ Late enrolment costs" in seen
        assert "rank 4 · lex 3 · dense 4 · ✂" in seen
        assert "“A payment is overdue" in seen
        assert "gold first at rank 3 of 5" in seen
        assert "★ 3    ✂ budget" in seen
        results = app.screen.query_one(RankTable)
        assert results.size.height == len(str(results.visual).splitlines())  # no gap between results and scores
        assert "prompt 1,204 / 4,096" in seen
        assert "lexical 3.1" in seen


async def test_text_of_cases_and_rows_is_never_markup_and_never_reaches_the_terminal_raw() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot)
        await press(pilot, *["f"] * 3)
        app.screen.query_one("#cases-grid", Grid).go_to("q-013")
        await settle(pilot)
        seen = screen_text(app)
        assert "[red]Which[/] text ␛[31mtries an escape?" in seen
        assert "\x1b" not in seen
        await press(pilot, "plus")
        await type_text(pilot, "[b]note[/b]")
        assert "[b]note[/b]" in await press(pilot, "enter")


async def test_an_empty_file_says_how_to_begin() -> None:
    app = app_on(FakeDesk(empty=True))
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        seen = await on_evals(pilot)
        assert "No datasets yet." in seen
        assert "Import a dataset first" in await press(pilot, "R")
        assert "Put the cursor on a run first." in await press(pilot, "g", "o")


# -- stepping --------------------------------------------------------------------------------------------------------


async def test_n_and_p_go_round_the_failures_and_a_full_stop_finds_the_flip_that_is_not_listed() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot)
        assert case_of(app).startswith("q-006")
        await press(pilot, "n")
        assert case_of(app).startswith("q-007")
        await press(pilot, "n", "n", "n")
        assert case_of(app).startswith("q-006")
        await press(pilot, "p")
        assert case_of(app).startswith("q-011")
        await press(pilot, "n")
        seen = await press(pilot, "full_stop")
        assert case_of(app).startswith("q-008 ── ✓")
        assert "Cases ── all cases 14" in seen


async def test_j_and_k_step_from_the_case_itself_and_escape_goes_out_again() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "enter")
        assert isinstance(app.focused, CasePane)
        await press(pilot, "j")
        assert case_of(app).startswith("q-007")
        await press(pilot, "k", "escape")
        assert app.focused is app.screen.query_one("#cases-grid")
        await press(pilot, "escape")
        assert app.focused is app.screen.query_one("#runs-grid")


async def test_views_cycle_past_empty_ones_and_a_stage_narrows() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot)
        assert "Cases ── flips 2" in await press(pilot, "f")
        assert "Cases ── unlabelled 14" in await press(pilot, "f")
        assert "Cases ── all cases 14" in await press(pilot, "f")
        await press(pilot, "F")
        assert isinstance(app.screen, ChoiceDialog)
        assert "Cases ── stage: not retrieved 3" in await press(pilot, "down", "enter")
        await press(pilot, "slash")
        await type_text(pilot, "debts")
        assert "not retrieved 1/3" in await press(pilot, "enter")


# -- labelling -------------------------------------------------------------------------------------------------------


async def test_a_label_with_a_note_contradicts_the_score_is_found_again_and_undone() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "plus")
        assert isinstance(app.screen, LabelDialog)
        await type_text(pilot, "the invoice says so")
        seen = await press(pilot, "enter")
        assert [(label.case_id, label.value, label.note) for label in desk.evals.labels(3)] == [
            ("q-006", 1, "the invoice says so")
        ]
        assert "+ right against the score" in seen
        assert "the invoice says so" in seen
        assert "κ" in seen
        await press(pilot, "n", "u")
        assert not case_of(app).startswith("q-006")
        await press(pilot, "d")
        assert case_of(app).startswith("q-006")
        seen = await press(pilot, "ctrl+z")
        assert desk.evals.labels(3) == ()
        assert "against the score" not in seen


async def test_escape_labels_nothing_and_the_other_verdicts_have_keys() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await on_evals(pilot, "minus", "escape", "ctrl+z")
        assert desk.evals.labels(3) == ()
        await press(pilot, "minus", "enter", "n", "0", "enter")
        assert [label.value for label in desk.evals.labels(3)] == [-1, 0]


# -- comparing, reruns, autopsy, trace -------------------------------------------------------------------------------


async def test_c_compares_with_another_run_or_none() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "c")
        assert isinstance(app.screen, ChoiceDialog)
        assert "against" not in await press(pilot, "home", "enter")
        assert "3 chain against 2 hybrid rrf" in await press(pilot, "c", "down", "enter")


async def test_b_makes_the_run_the_baseline() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "b")
        assert desk.evals.find_run(3).baseline
        assert not desk.evals.find_run(1).baseline


async def test_r_runs_the_case_with_other_settings_and_shows_what_changed() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot)
        app.screen.query_one("#runs-grid", Grid).go_to("2/xquad-es")
        await settle(pilot)
        await press(pilot, "r")
        assert isinstance(app.screen, RerunDialog)
        app.screen.query_one("#candidates", Input).value = "none"
        assert "give a whole number from 1 on" in await press(pilot, "enter")
        app.screen.query_one("#candidates", Input).value = "50"
        app.screen.query_one("#lanes").value = "lexical"
        seen = await press(pilot, "enter")
        assert isinstance(app.screen, DiffScreen)
        assert "search.lanes  lexical+dense → lexical" in seen
        assert "then        ✗ not retrieved" in seen
        assert "now         ✓ passed" in seen
        assert ".000 →  1.000 ▲" in seen
        assert "4 → 3" in seen


async def test_a_case_is_run_again_with_what_is_in_force_in_ask_now_and_its_new_trace_opens() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "alt+l")
        await on_evals(pilot, "r")
        lanes = app.screen.query_one("#lanes", Select)
        assert lanes.value == "both"
        app.screen.query_one("#whose", Select).value = "now"
        await until(pilot, lambda: lanes.value == "lexical")
        app.screen.query_one("#candidates", Input).focus()
        assert "search.lanes  lexical+dense → lexical" in await press(pilot, "enter")
        await press(pilot, "t")
        assert app.current_mode == "ask"


async def test_autopsy_trace_and_source_of_a_case() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        seen = await on_evals(pilot, "a")
        assert isinstance(app.screen, NoteDialog)
        assert "regulations.pdf 349–492 (grade 3): lexical 3 · dense 4" in seen
        assert "context left out (budget)" in seen
        await press(pilot, "escape", "s")
        assert isinstance(app.screen, PassageDialog)
        seen = await press(pilot, "escape", "t")
        assert app.current_mode == "ask"
        assert "How many days at first?" in seen
        assert "answered · supported 1/2" in seen


async def test_the_prompt_of_a_case_is_read_as_it_was_sent() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await on_evals(pilot, "P")
        assert "No model was asked" in await sees(pilot, "No model was asked")
        sent = Prompt((), "<|im_start|>user\n[F1] [b]payments[/b]<|im_end|>")
        for trace_id, trace in desk.evals.traces.items():
            desk.evals.traces[trace_id] = trace.grow(TraceSpan("prompt", 0.0, 0.1, sent))
        seen = await press(pilot, "P")
        assert isinstance(app.screen, PassageDialog)
        assert "<|im_start|>user" in seen
        assert "[F1] [b]payments[/b]<|im_end|>" in seen


async def test_a_case_without_a_trace_is_asked_in_the_collection_that_it_is_about() -> None:
    desk = FakeDesk()
    desk.choose_collection("elsewhere")
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await on_evals(pilot)
        app.screen.query_one("#runs-grid", Grid).go_to("2/xquad-es")
        await settle(pilot)
        await pilot.press("t")
        assert "“regulations-2026” is the chosen collection now." in await sees(pilot, "is the chosen collection now")
        await until(pilot, lambda: app.current_mode == "ask")
        assert desk.status().collection == "regulations-2026"


# -- running ---------------------------------------------------------------------------------------------------------


async def test_a_run_is_started_shows_its_progress_is_stopped_and_goes_on() -> None:
    desk = FakeDesk(slow=0.6)
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await on_evals(pilot, "R")
        assert isinstance(app.screen, RunDialog)
        app.screen.query_one("#layer").value = "retrieval"
        app.screen.query_one("#title", Input).value = "mine"
        await pilot.press("ctrl+s")
        await sees(pilot, "4 mine")
        await until(pilot, lambda: "left" in screen_text(app).splitlines()[0])
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await settle(pilot)
        stopped = desk.evals.find_run(4)
        assert (stopped.status, 0 < stopped.done < 14) == ("stopped", True)
        assert "enter goes on" in screen_text(app)
        desk.slow = 0.0
        app.screen.query_one("#runs-grid").focus()
        await press(pilot, "enter")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "y")
        assert desk.evals.find_run(4).status == "complete"
        assert "4 mine against 1 bm25" in screen_text(app)


async def test_a_run_dialog_names_the_field_that_is_wrong() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await on_evals(pilot, "R")
        app.screen.query_one("#segment", Input).value = "colour=red"
        assert "Write one of type" in await press(pilot, "ctrl+s")
        app.screen.query_one("#segment", Input).value = ""
        app.screen.query_one("#threshold", Input).value = "7"
        assert "τ: give a number between 0 and 1" in await press(pilot, "ctrl+s")
        await press(pilot, "escape")
        assert len(desk.evals.runs()) == 3


async def test_a_run_is_deleted_after_a_question() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "delete", "n")
        assert len(desk.evals.runs()) == 3
        await press(pilot, "delete", "y")
        assert [run.id for run in desk.evals.runs()] == [2, 1]


async def test_enter_on_a_dataset_folds_its_runs() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "escape", "up")
        assert "14 of 14" not in screen_text(app)
        assert "13 of 14 answerable" in screen_text(app)
        assert "bm25" not in await press(pilot, "enter")
        assert "bm25" in await press(pilot, "enter")


async def test_the_help_lists_every_key_with_what_it_is_for() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=(100, 60)) as pilot:
        seen = await on_evals(pilot, "question_mark")
        for words in ("The next case that failed", "Takes the last label back", "A decision record"):
            assert words in seen


@pytest.mark.parametrize("kind", [TextArea, Select])
def test_keys_of_the_dialogs_fields_have_spanish_words(kind: type) -> None:
    missing = [b.description for b in declared(kind) if isinstance(b, Binding) and b.description not in catalogue("es")]
    assert missing == []


async def test_the_screen_speaks_spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_LANG", "es")
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        seen = await on_evals(pilot)
        for words in ("Conjuntos y ejecuciones", "recuperado pero recortado", "prueba", "no significativo"):
            assert words in seen
        for words in ("baseline", "failing", "expected", "Failure", "against"):
            assert words not in seen
        seen = await press(pilot, "R")
        assert "Pasajes" in seen
        assert "Candidates" not in seen
