"""Sweeps, runs side by side, judges, interrupted runs and gates that can't judge, as a person sees them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input

from screens import evals
from screens.dialogs import HELP, ChoiceDialog, ConfirmDialog
from screens.evals.beside import BesideScreen, LadderDialog
from screens.evals.case import outcome
from screens.evals.judges import JudgeDialog, JudgementScreen
from screens.evals.sweeps import SweepDialog
from screens.style import plain
from screens.widgets.grid import Grid
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, case_of, on_evals, press, screen_text, settle, until
from tests.screens.test_evals_review import with_model
from workbench.evals.deciding.gates import parse_gates
from workbench.ports import Cancel
from workbench.records.evals import RunConfig, RunProgress


async def test_a_sweep_runs_its_values_and_shows_them_with_intervals_and_what_overlaps() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await on_evals(pilot)
        app.screen.query_one("#runs-grid", Grid).go_to("2/xquad-es")
        await settle(pilot)
        await press(pilot, "S")
        assert isinstance(app.screen, SweepDialog)
        assert "All else as in run 2 hybrid rrf; layer: retrieval." in screen_text(app)
        app.screen.query_one("#variable").value = "lane"
        await settle(pilot)
        values = app.screen.query_one("#values", Input)
        assert values.value == "lexical, dense, both"
        values.value = "lexical"
        values.focus()
        assert "at least two different values" in await press(pilot, "enter")
        values.value = "lexical, sideways"
        assert "“sideways” is no value of lane" in " ".join((await press(pilot, "enter")).split())
        values.value = "lexical, both"
        seen = await press(pilot, "enter")
        assert [run.config.title for run in desk.evals.runs()][:2] == ["lane=both", "lane=lexical"]
        assert [run.config.search.lanes for run in desk.evals.runs()][:2] == [("lexical", "dense"), ("lexical",)]
        assert isinstance(app.screen, BesideScreen)
        assert "Recall@k ── 2 runs" in seen
        assert seen.count("★ best") == 2, "equals share the first place"
        assert sum("├" in line and "●" in line for line in seen.splitlines()) == 2
        assert "share the best value" in seen
        assert "Passed ── 2 runs" in await press(pilot, "left")
        seen = await press(pilot, "l")
        assert "search.lanes" in seen
        assert "p = 1.00" in seen
        assert "✓ + −" in seen, "flips are of passed cases, whatever the metric"
        await press(pilot, "down", "enter")
        place = app.screen.query_one("#runs-grid", Grid).key
        assert place == f"{desk.evals.runs()[0].id}/xquad-es"


async def test_a_sweep_that_is_stopped_keeps_what_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = FakeDesk()
    app = app_on(desk)
    whole = desk.evals.sweep

    def sweep(configs: Sequence[RunConfig], cancel: Cancel | None = None) -> Iterator[RunProgress]:
        for progress in whole(configs, cancel):
            if progress.finished:
                desk.slow = 60.0  # the second run waits to be stopped
            yield progress

    monkeypatch.setattr(desk.evals, "sweep", sweep)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await on_evals(pilot, "S")
        app.screen.query_one("#limit", Input).value = "3"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "2/4 · " in screen_text(app).splitlines()[0])
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await press(pilot, "y")
        assert [run.status for run in desk.evals.runs()[:-3]] == ["stopped", "complete"]


async def test_chosen_runs_stand_side_by_side_and_are_written_as_a_table(tmp_path: Path) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await on_evals(pilot, "L")
        assert isinstance(app.screen, LadderDialog)
        assert "Mark at least two runs" in await press(pilot, "space", "enter")
        seen = await press(pilot, "space", "enter")
        assert isinstance(app.screen, BesideScreen)
        assert "2 runs" in seen
        assert "2 hybrid rrf" in seen
        await press(pilot, "x")
        app.screen.query_one("#path", Input).value = str(tmp_path / "runs.tex")
        await press(pilot, "enter")
        rows = (tmp_path / "runs.tex").read_text("utf-8").splitlines()
        assert [row.split(" & ")[0] for row in rows if row.startswith(r"\#") and " & " in row] == [
            r"\#1 bm25",
            r"\#2 hybrid rrf",
        ]
        await press(pilot, "escape")
        assert app.screen.query_one("#runs-grid", Grid).key == "3/xquad-es"


async def test_a_judge_is_run_its_verdicts_stand_beside_the_cases_and_never_without_agreement() -> None:
    desk = with_model(FakeDesk())
    desk.evals.label(3, "q-006", -1)
    desk.evals.label(3, "q-007", 1)
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await on_evals(pilot, "J")
        assert isinstance(app.screen, JudgeDialog)
        seen = await press(pilot, "ctrl+s")
        (told,) = desk.evals.judgements(3)
        assert len(told.judgement.cases) == 14
        assert "judged right 0.615" in seen
        assert "1 unscored" in seen
        assert "people agree" in seen
        assert "κ" in seen
        assert "judge      ✓ right  [b]It says[/b] what is expected." in seen
        app.screen.query_one("#cases-grid", Grid).focus()
        await press(pilot, "J")
        assert isinstance(app.screen, ChoiceDialog)
        seen = await press(pilot, "down", "enter")
        assert isinstance(app.screen, JudgementScreen)
        assert "◦  unscored" in seen
        assert told.judgement.rubric[:30] in await press(pilot, "r")
        await press(pilot, "escape")
        app.screen.query_one(Grid).go_to("q-003")
        await press(pilot, "enter")
        assert case_of(app).startswith("q-003")
        assert "◦ unscored  the judge's output can't be read" in screen_text(app)


async def test_a_judge_needs_a_model_and_a_run_with_answers() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        assert "No model is loaded" in await on_evals(pilot, "J")
        assert "A judge is a language model." in await press(pilot, "ctrl+s")
        await press(pilot, "escape")
        app.screen.query_one("#runs-grid", Grid).go_to("2/xquad-es")
        await settle(pilot)
        assert "has no answers to judge" in " ".join((await press(pilot, "J")).split())


async def test_an_interrupted_run_is_told_from_a_stopped_one_and_goes_on() -> None:
    desk = FakeDesk()
    lab = desk.evals
    known = lab._runs[3]
    lab._runs[3] = replace(known, status="interrupted", done=5, scored=0)
    for case_id in list(lab._results[3])[5:]:
        del lab._results[3][case_id]
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        seen = await on_evals(pilot)
        assert "╳ 5/14" in seen
        assert "interrupted at 5/14: enter goes on" in seen
        app.screen.query_one("#runs-grid", Grid).focus()
        await press(pilot, "enter", "y")
        assert lab.find_run(3).status == "complete"


async def test_gates_that_need_what_the_run_lacks_or_came_late_do_not_judge_it() -> None:
    desk = FakeDesk()
    desk.evals.lock_gates("xquad-es", "late", parse_gates("hit@5 >= 0.1"))
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        seen = await on_evals(pilot)
        assert seen.count("not judged") == 2
        assert "◦ not judged: late ── locked" in await press(pilot, "g")
    desk = FakeDesk()
    desk.evals._gates[0] = replace(desk.evals._gates[0], gates=parse_gates("groundedness >= 0.1\nhit@5 >= 0.1"))
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        seen = await on_evals(pilot)
        assert next(line for line in seen.splitlines() if "2  hybrid rrf" in line).count("not judged") == 1


async def test_that_there_are_few_cases_is_told_once() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        assert (await on_evals(pilot)).count("gross failures show") == 1


def test_a_case_names_citations_that_do_not_say_it() -> None:
    result = FakeDesk().evals.result(3, "q-007")
    assert result.answer is not None
    told = replace(result, answer=replace(result.answer, outcome="answered", unsaid=("F2",)))
    assert "~ removed, does not say it: F2" in [plain(line) for line in outcome(told)]


def test_every_dialog_of_evals_has_the_help() -> None:
    modules = [importlib.import_module(f"screens.evals.{found.name}") for found in pkgutil.iter_modules(evals.__path__)]
    dialogs = {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and issubclass(kind, ModalScreen)
    }
    assert len(dialogs) > 15
    assert [
        kind.__name__ for kind in dialogs if not {b.id for b in HELP} <= {getattr(b, "id", "") for b in kind.BINDINGS}
    ] == []
