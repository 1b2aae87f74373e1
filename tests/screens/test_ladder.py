"""The Ladder tab on the fake desk: making, stopping, going on, plotting, comparing, deciding, exporting, deleting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select, Static

from screens.models.ladder import Ladder
from screens.models.ladder_dialog import LadderDecisionDialog, LadderDialog
from screens.models.side_by_side import SideBySideDialog
from screens.widgets.grid import Grid
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import LARGE, SMALL, app_on, screen_text, settle
from workbench.ladders.deciding import Sentence
from workbench.records.benchmarks import BenchPlan
from workbench.records.ladders import LadderPlan, TextPlan

SOURCE = "/models/gguf/SmolLM2-135M-Instruct.Q4_1.gguf"
PLAN = LadderPlan(
    SOURCE, ("Q8_0", "Q4_K_M", "Q2_K"), "/models/gguf", text=TextPlan(collection="faq"), bench=BenchPlan(felt=False)
)


def climbed() -> FakeDesk:
    desk = FakeDesk()
    for _ in desk.ladders.run(PLAN):
        pass
    return desk


async def enter(pilot: Pilot[int]) -> Ladder:
    await settle(pilot)
    await pilot.press("f1")
    await settle(pilot)
    pilot.app.screen.query_one("#library-grid", Grid).go_to(SOURCE)
    await pilot.press("L")
    await settle(pilot)
    return pilot.app.screen.query_one(Ladder)


def drawn(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#ladder-drawn", Static).render())


def names(pilot: Pilot[int]) -> list[str]:
    return [row.folded.split()[1] for row in pilot.app.screen.query_one("#ladder-rows-grid", Grid).rows]


async def test_a_ladder_is_asked_for_and_its_rows_fill() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        assert "n begins one" in drawn(pilot)
        await pilot.press("n")
        await settle(pilot)
        assert isinstance(app.screen, LadderDialog)
        grid = app.screen.query_one(Grid)
        told = {row.key: row.folded for row in grid.rows}
        assert "120 q2_k → q4_0" in told["Q2_K"]
        assert "importance matrix" in told["IQ2_XXS"]
        grid.marked = {"Q8_0", "IQ2_XXS"}
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, LadderDialog)
        assert "importance matrix" in screen_text(app)  # it is refused with the reason, not made
        grid.marked = {"Q8_0", "Q2_K"}
        app.screen.query_one("#reference", Select).value = "F16"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert names(pilot) == ["f16", "q8_0", "q2_k*"]
        (made,) = app.desk.ladders.ladders()
        assert made.plan.reference == "F16"
        assert made.plan.bench
        assert made.plan.bench.repetitions == 3


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_the_plot_marks_the_front_and_says_over_what(size: tuple[int, int]) -> None:
    app = app_on(climbed())
    async with app.run_test(size=size) as pilot:
        await enter(pilot)
        await pilot.press("o")
        await settle(pilot)
        assert "Pareto front over file size, mean KL" in drawn(pilot)
        assert "KL 0.0300" in drawn(pilot)


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_the_plot_takes_the_place_of_a_table_that_is_alone(size: tuple[int, int]) -> None:
    app = app_on(climbed())
    async with app.run_test(size=size) as pilot:
        await enter(pilot)
        await pilot.press("z", "o")
        await settle(pilot)
        side = app.screen.query_one("#ladder-side")
        assert app.screen.maximized is side
        assert side.region.width == size[0]
        assert app.focused is side
        assert "Pareto front over file size, mean KL" in screen_text(app)


async def test_figures_of_a_rung_have_their_intervals() -> None:
    app = app_on(climbed())
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        await pilot.press("down", "down", "down")
        await settle(pilot)
        assert "0.0900 [" in drawn(pilot)
        assert "180 fell back" in drawn(pilot)
        assert "requantized from Q4_1: dequantized first" in " ".join(drawn(pilot).split())


async def test_marked_rungs_stand_side_by_side() -> None:
    app = app_on(climbed())
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        await pilot.press("down", "space", "space", "equals_sign")
        await settle(pilot)
        assert isinstance(app.screen, SideBySideDialog)
        told = str(app.screen.query_one(Static).render())
        assert "Q8_0" in told
        assert "Q4_K_M" in told
        assert "0.0600 [" in told


async def test_marks_are_of_one_ladder() -> None:
    desk = climbed()
    for _ in desk.ladders.run(PLAN):
        pass
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        await pilot.press("space", "space")
        await settle(pilot)
        assert "Ladder 2 ── ▪ 2" in screen_text(app)
        await pilot.press("h", "down", "enter")
        await settle(pilot)
        assert "Ladder 1 ─" in screen_text(app)
        assert not app.screen.query_one("#ladder-rows-grid", Grid).marked
        await pilot.press("equals_sign")
        assert not isinstance(app.screen, SideBySideDialog)


async def test_a_decision_without_a_figure_of_quality_says_that_it_asks_for_more() -> None:
    bare = Sentence(1, 0, "Q2_K", "F16", "3 GB", "nothing that was measured", "an unknown amount", judged=False)
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.push_screen(LadderDecisionDialog([bare, replace(bare, against=2, judged=True)]))
        await settle(pilot)
        told = app.screen.query_one("#sentence", Static)
        assert "the verdict will be “measure more”" in str(told.render())
        app.screen.query_one("#against", Select).value = "2"
        await settle(pilot)
        assert "measure more" not in str(told.render())


async def test_a_decision_needs_a_reason_and_is_stored_with_its_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = tmp_path / "decision-1.md"
    app = app_on(climbed())
    async with app.run_test(size=SMALL) as pilot:
        await enter(pilot)
        await pilot.press("down", "down", "d")
        await settle(pilot)
        assert isinstance(app.screen, LadderDecisionDialog)
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, LadderDecisionDialog)
        app.screen.query_one("#against", Select).value = "1"
        await settle(pilot)
        app.screen.query_one("#because", Input).value = "drafts are read by people"
        await pilot.press("ctrl+s")
        await settle(pilot)
        (record,) = app.desk.evals.decisions()
        assert record.reasons[0].startswith("Against Q8_0, Q4_K_M saves ")
        assert "still pays because drafts are read by people." in record.reasons[0]
        assert any("0.0600" in line for line in record.evidence)
    assert "still pays because" in written.read_text("utf-8")


async def test_a_stopped_ladder_goes_on() -> None:
    desk = FakeDesk()
    steps = desk.ladders.run(PLAN)
    next(steps), next(steps)
    steps.close()
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        assert "not complete: KL and perplexity" in screen_text(app)
        await pilot.press("g")
        await settle(pilot)
        assert not desk.ladders.report(1).left
        assert "not complete" not in screen_text(app)


async def test_a_rung_that_failed_is_told_and_tried_again() -> None:
    desk = climbed()
    known = desk.ladders.stored[1]
    broken = replace(known.rungs[2], problem="The ladder's process ended")
    desk.ladders.stored[1] = replace(known, rungs=(*known.rungs[:2], broken, *known.rungs[3:]))
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        assert "✗ 1 failed · g tries again" in screen_text(app)
        await pilot.press("g")
        await settle(pilot)
        assert "tries again" not in screen_text(app)
        assert not desk.ladders.report(1).failed


async def test_export_and_delete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = app_on(climbed())
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot)
        await pilot.press("x", "enter")
        await settle(pilot)
        assert "Q4_K_M" in (tmp_path / "ladder-1.md").read_text("utf-8")
        await pilot.press("D", "y")
        await settle(pilot)
        assert not app.desk.ladders.ladders()
        assert "n begins one" in drawn(pilot)
