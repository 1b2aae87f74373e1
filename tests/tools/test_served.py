"""The Servers tab and the ledger over a real llama-server on the loopback."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from screens.app import WorkbenchApp
from screens.tools import ToolsScreen
from screens.tools.form import FormDialog
from screens.widgets.grid import Grid
from storage import open_store
from tests.screens.helpers import LARGE, settle
from tests.servers.conftest import llama_server
from workbench.desk import Desk
from workbench.usage.times import call_phases

__all__ = ["llama_server"]


async def report(pilot: Pilot[int], words: str) -> str:
    """What the pane beside the list says, once it holds ``words``."""
    for _ in range(60):
        await settle(pilot)
        told = str(pilot.app.screen.query_one("#report Static", Static).render())
        if words in told:
            break
    return told


@pytest.mark.model
async def test_a_server_is_added_used_probed_and_loaded_and_its_calls_are_counted(
    llama_server: str, tmp_path: Path
) -> None:
    desk = Desk(open_store(tmp_path / "lab.db"))
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        app.action_tools("servers")
        await settle(pilot)
        assert isinstance(app.screen, ToolsScreen)
        await pilot.press("a")
        assert isinstance(app.screen, FormDialog)
        app.screen.query_one("#url", Input).value = llama_server
        await pilot.press("ctrl+s")
        await settle(pilot)
        grid = app.screen.query_one("#servers-grid", Grid)
        (model,) = (row.key for row in grid.rows if row.key.startswith(llama_server) and not row.key.endswith("#"))
        grid.go_to(model)
        await pilot.press("u")
        assert "answers from now on" in await report(pilot, "answers from now on")
        await pilot.press("p")
        assert "✓ template" in await report(pilot, "✓ JSON")
        await pilot.press("l")
        app.screen.query_one("#rate", Input).value = "4"
        app.screen.query_one("#requests", Input).value = "3"
        await pilot.press("ctrl+s")
        assert "by Little's law" in await report(pilot, "Little")
    calls = [call for call in desk.money.ledger.calls() if call.server == llama_server]
    assert {call.purpose for call in calls} == {"probe"}
    assert all(call.usage.input > 0 and call.usage.output > 0 for call in calls)
    assert all(sum(p.ms for p in call_phases(c).phases) == pytest.approx(c.total_ms) for c in calls)
    assert "network" in {p.name for call in calls for p in call_phases(call).phases}
    desk.close()
