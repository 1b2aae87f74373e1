"""The SQL tab on a real desk: written, judged, run, exported, opened on another file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from screens.app import WorkbenchApp
from screens.tools import ToolsScreen
from screens.tools.sqlrows import ResultGrid
from storage import open_store
from tests.screens.helpers import LARGE, SMALL, screen_text, settle
from tests.sqltools.test_asking import Scripted
from workbench.desk import Desk

pytestmark = pytest.mark.usefixtures("one_embedder")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path))
    opened = Desk(open_store(tmp_path / "lab.db"))
    yield opened
    opened.close()


async def enter(pilot: Pilot[int]) -> ToolsScreen:
    await settle(pilot)
    await pilot.press("f1")
    await settle(pilot)
    await pilot.press("t")
    await settle(pilot)
    await pilot.press("alt+q")
    await settle(pilot)
    assert isinstance(pilot.app.screen, ToolsScreen)
    return pilot.app.screen


async def fill(pilot: Pilot[int], key: str, line: str, text: str) -> None:
    """A dialog of one line."""
    await pilot.press(key)
    await settle(pilot)
    pilot.app.screen.query_one(line, Input).value = text
    await pilot.press("ctrl+s")
    await settle(pilot)


def vanish(file: Path) -> None:
    file.unlink()


async def run(pilot: Pilot[int], tools: ToolsScreen, sql: str) -> None:
    tools.query_one("#query", TextArea).text = sql
    await settle(pilot)
    await pilot.press("ctrl+r")
    await settle(pilot)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_a_query_is_judged_and_run(desk: Desk, school: Path, size: tuple[int, int]) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        tools = await enter(pilot)
        await fill(pilot, "alt+o", "#path", str(school))
        await run(pilot, tools, "SELECT estado, COUNT(*) AS n FROM pagos WHERE estado != 'x' GROUP BY estado")
        shown = screen_text(app)
        assert "pendiente" in shown
        assert "school.db" in shown
        assert "⚠" in str(tools.query_one("#judged", Static).content)
        assert desk.sql.history()[0].startswith("SELECT estado")


async def test_a_hundred_thousand_rows_and_a_refused_query(desk: Desk, tmp_path: Path) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        tools = await enter(pilot)
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
        many = f"{numbers} SELECT i, i * 2 AS b FROM n"
        await run(pilot, tools, many)
        grid = tools.query_one(ResultGrid)
        assert len(grid.rows) == 100_000
        assert "more rows were left out" in screen_text(app)
        grid.focus()
        await pilot.press("end")
        await settle(pilot)
        assert "100000  200000" in screen_text(app)
        await pilot.press("right")
        await settle(pilot)
        assert "200000" in screen_text(app)
        await fill(pilot, "e", "#path", str(tmp_path / "rows.csv"))
        assert (tmp_path / "rows.csv").read_text().splitlines()[-1] == "100000,200000"
        await run(pilot, tools, "DELETE FROM collection")
        assert "Only one SELECT" in screen_text(app)
        assert len(grid.rows) == 100_000
        await pilot.press("alt+r")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert tools.query_one("#query", TextArea).text == many


async def test_a_question_asked_with_no_model_and_with_one(
    desk: Desk, school: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        tools = await enter(pilot)
        await fill(pilot, "alt+o", "#path", str(school))
        await fill(pilot, "alt+a", "#question", "¿Cuántos alumnos hay?")
        assert "No model is loaded" in str(tools.query_one("#judged", Static).content)
        model = Scripted("SELECT x FROM alumnos", "SELECT COUNT(*) AS n FROM alumnos")
        monkeypatch.setattr(desk.sql, "_model", lambda: model)
        await fill(pilot, "alt+a", "#question", "¿Cuántos alumnos hay?")
        assert tools.query_one("#query", TextArea).text == "SELECT COUNT(*) AS n FROM alumnos"
        told = str(tools.query_one("#attempts", Static).content)
        assert "1 ✗ no such column: x" in told
        assert "2 ✓ 1 row" in told
        assert [str(cell) for cell in tools.query_one(ResultGrid).rows[0].cells] == ["3"]
        tools.query_one("#query", TextArea).text = "SELECT 1"
        await settle(pilot)
        assert not tools.query_one("#attempts", Static).display


async def test_what_is_doubtful_is_told_in_full_on_a_small_terminal(desk: Desk, school: Path) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        tools = await enter(pilot)
        await fill(pilot, "alt+o", "#path", str(school))
        await run(pilot, tools, "SELECT COUNT(*) FROM alumnos a JOIN pagos p ON p.alumno_id = a.alumno_id")
        assert "COUNT(DISTINCT a.alumno_id)" in " ".join(screen_text(app).split())


async def test_a_file_that_is_none_leaves_the_one_that_was_open(desk: Desk, school: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("no database at all, but text that is long enough to hold a header of one" * 9)
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        tools = await enter(pilot)
        await fill(pilot, "alt+o", "#path", str(school))
        for wrong, told in ((text, "Not a SQLite file"), (tmp_path / "gone.db", "No such SQLite file")):
            await fill(pilot, "alt+o", "#path", str(wrong))
            assert told in screen_text(app)
            await pilot.press("escape")
            await settle(pilot)
        await run(pilot, tools, "SELECT COUNT(*) AS n FROM alumnos")
        assert "school.db" in screen_text(app)
        assert [str(cell) for cell in tools.query_one(ResultGrid).rows[0].cells] == ["3"]
        vanish(school)
        await run(pilot, tools, "SELECT COUNT(*) AS n FROM pagos")
        assert "No such SQLite file" in str(tools.query_one("#judged", Static).content)
