"""The Evals screen as a person uses it: gates, thresholds, decisions, reports, and what comes in from files."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from screens.dialogs import ChoiceDialog, ErrorDialog, PassageDialog
from screens.evals.decide import DecisionDialog, ExportDialog
from screens.evals.gates import GatesScreen, LockDialog
from screens.evals.imported import ProblemsScreen
from screens.evals.plots import PlotsScreen
from screens.widgets.grid import Grid
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import (
    SMALL,
    WIDE,
    app_on,
    on_evals,
    press,
    settle,
    type_text,
)

# -- deciding --------------------------------------------------------------------------------------------------------


async def test_gates_say_why_and_new_ones_are_locked_from_the_template() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        seen = await on_evals(pilot, "g")
        assert isinstance(app.screen, GatesScreen)
        assert "✗ release ── locked" in seen
        assert "measure more, n = " in seen
        await press(pilot, "l")
        assert isinstance(app.screen, LockDialog)
        assert "Give the gates a name." in await press(pilot, "ctrl+s")
        app.screen.query_one("#name", Input).value = "strict"
        app.screen.query_one("#gates", TextArea).text = "recall@5 > much"
        assert "can't be read as a gate" in await press(pilot, "ctrl+s")
        app.screen.query_one("#gates", TextArea).text = "hit@5 >= 0.2\n\nlatency_p95_ms <= 2500 # it can be used"
        await press(pilot, "ctrl+s")
        assert [len(g.gates) for g in desk.evals.gate_sets()] == [2, 2]
        seen = await press(pilot, "g")
        assert "strict ── locked" in seen
        assert "written after the run began" in seen


async def test_tau_is_picked_on_the_curve_and_stored() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        seen = await on_evals(pilot, "o")
        assert isinstance(app.screen, PlotsScreen)
        assert "stored τ 0.530" in seen
        assert "◆ τ 0.530   coverage .429 [.214, .674] n=14   risk .333 [" in seen
        seen = await press(pilot, "right")
        assert "◆ τ 0.500   coverage .500" in seen
        await press(pilot, "enter")
        assert round(desk.evals.thresholds["regulations-2026"], 3) == 0.5
        assert "├──" in await press(pilot, "o", "o")


async def test_a_retrieval_run_has_its_metrics_plotted_and_no_tau() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot)
        app.screen.query_one("#runs-grid", Grid).go_to("2/xquad-es")
        await settle(pilot)
        assert "Metrics with 95 % intervals" in await press(pilot, "o")
        await press(pilot, "enter", "left", "escape")
        assert desk.evals.thresholds == {}


async def test_a_decision_is_written_and_read_again(tmp_path: Path) -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "D")
        assert isinstance(app.screen, DecisionDialog)
        assert "at least one reason" in await press(pilot, "ctrl+s")
        app.screen.query_one("#title", Input).value = "Keep bm25"
        app.screen.query_one("#verdict").value = "stop"
        app.screen.query_one("#reasons", TextArea).text = "no gain\ntoo few cases"
        seen = await press(pilot, "ctrl+s")
        assert isinstance(app.screen, PassageDialog)
        assert "Keep bm25" in seen
        (made,) = desk.evals.decisions()
        assert (made.verdict, made.reasons, made.runs) == ("stop", ("no gain", "too few cases"), (1, 3))
        await press(pilot, "escape", "D")
        assert isinstance(app.screen, ChoiceDialog)
        assert "Keep bm25" in await press(pilot, "down", "enter")
        await press(pilot, "x")
        app.screen.query_one("#path", Input).value = str(tmp_path / "decision.html")
        assert "End the name in .md." in await press(pilot, "enter")
        app.screen.query_one("#path", Input).value = str(tmp_path / "decision.md")
        await press(pilot, "enter")
        assert "- no gain\n- too few cases" in (tmp_path / "decision.md").read_text("utf-8")


async def test_a_report_is_written_and_replaced_only_when_asked_twice(tmp_path: Path) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "x")
        assert isinstance(app.screen, ExportDialog)
        field = app.screen.query_one("#path", Input)
        field.value = str(tmp_path / "report.pdf")
        assert "End the name in" in await press(pilot, "enter")
        file = tmp_path / "report.md"
        file.write_text("precious", "utf-8")
        field.value = str(file)
        assert "enter once more replaces it" in await press(pilot, "enter")
        assert file.read_text("utf-8") == "precious"
        await press(pilot, "enter")
        words = file.read_text("utf-8")
        assert "q-007" in words
        assert "McNemar" in words
        for name in ("page.html", "table.tex"):
            await press(pilot, "x")
            app.screen.query_one("#path", Input).value = str(tmp_path / name)
            await press(pilot, "enter")
        page = (tmp_path / "page.html").read_text("utf-8")
        assert "<html" in page
        assert "McNemar" in page
        assert "tabular" in (tmp_path / "table.tex").read_text("utf-8")


async def test_an_import_lists_the_rows_that_stayed_out_and_a_wrong_file_says_why() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "i")
        await type_text(pilot, "pyproject.toml")
        seen = await press(pilot, "enter")
        assert isinstance(app.screen, ProblemsScreen)
        assert "pyproject ── 2 cases came in, 1 rows stayed out" in seen
        assert seen.count("there is no [b]“question”[/b]") == 2  # in its row, which may be cut, and whole under them
        seen = await press(pilot, "escape")
        assert "Datasets and runs ── 2/3" in seen
        assert "pyproject · 2 cases" in seen
        assert "R runs it." in seen
        assert "No, hasta haberlos abonado." in seen
        await press(pilot, "i")
        await type_text(pilot, "tests/conftest.py")
        await press(pilot, "enter")
        assert isinstance(app.screen, ErrorDialog)


@pytest.mark.parametrize("answer", ["y", "n"])
async def test_an_import_offers_to_bring_its_documents_in_and_comes_in_again_after_them(
    answer: str, tmp_path: Path
) -> None:
    (tmp_path / "faro.squad").write_text("{}", "utf-8")
    desk = FakeDesk()
    asked: list[str] = []
    imported = desk.evals.import_file
    desk.evals.import_file = lambda path, name="", collection="": (  # type: ignore[method-assign]  # watched
        asked.append(collection) or imported(path, name, collection)
    )
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "i")
        await type_text(pilot, str(tmp_path / "faro.squad"))
        assert "Bring its documents in?" in await press(pilot, "enter")
        seen = await press(pilot, answer)
        assert asked == (["", "faro"] if answer == "y" else [""])
        assert (app.ingest is not None) == (answer == "y")
        if app.ingest:
            assert app.ingest.collection == "faro"
            seen = await press(pilot, "escape")
        assert "faro · 2 cases" in seen


async def test_a_trec_run_joins_the_dataset_under_the_cursor(tmp_path: Path) -> None:
    (tmp_path / "theirs.run").write_text("q-001 Q0 faq 1 9 bm25\nbad\n", "utf-8")
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await on_evals(pilot, "i")
        await type_text(pilot, str(tmp_path / "theirs.run"))
        seen = await press(pilot, "enter")
        assert "#4 theirs ── 1 rows stayed out" in seen
        assert "it has not six columns" in seen
        assert "4  theirs" in await press(pilot, "escape")
