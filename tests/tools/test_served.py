"""The Servers tab and the ledger over a real llama-server on the loopback."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from screens.app import WorkbenchApp
from screens.dialogs import ConfirmDialog
from screens.tools import ToolsScreen
from screens.tools.form import FormDialog
from screens.widgets.grid import Grid
from storage import open_store
from tests.screens.helpers import LARGE, sees, settle, until
from tests.servers.conftest import embedding_server, llama_server
from workbench.desk import Desk
from workbench.records.servers import Flight
from workbench.usage.times import call_phases

__all__ = ["embedding_server", "llama_server"]


async def report(pilot: Pilot[int], words: str) -> str:
    """What the pane beside the list says, once it holds ``words``."""
    pane = pilot.app.screen.query_one("#report Static", Static)
    await until(pilot, lambda: words in str(pane.render()))
    await settle(pilot)
    return str(pane.render())


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
        grid = app.screen.query_one("#servers-list-grid", Grid)
        (model,) = (row.key for row in grid.rows if row.key.startswith(llama_server) and not row.key.endswith("#"))
        assert app.screen.query_one("#report").region.right <= LARGE[0]
        grid.go_to(model)
        told = await report(pilot, "Not examined yet")
        assert "this machine" in told
        assert "its port listens on this machine alone" in told
        await pilot.press("c")
        told = await report(pilot, "The first report")
        assert "✓ streams in pieces" in told
        (kept,) = desk.servers.reports.all()
        assert f"{kept.kept} of {len(kept.checks)} promises kept" in told
        await pilot.press("u")
        assert "answers from now on" in await report(pilot, "answers from now on")
        await pilot.press("p")
        assert "✓ template" in await report(pilot, "✓ JSON")
        await pilot.press("l")
        app.screen.query_one("#rate", Input).value = "4"
        app.screen.query_one("#requests", Input).value = "3"
        await pilot.press("ctrl+s")
        assert "by Little's law" in await report(pilot, "Little")
        slower = replace(desk.servers.loads.all()[0], created=datetime(2026, 1, 2, tzinfo=UTC), p50_s=99.5)
        desk.servers.loads.keep(replace(slower, flights=(Flight(0.0, 50.0, 99.5, 16),)))
        await pilot.press("o", "o")
        assert "99.50" in await sees(pilot, "99.5 [0.0, ∞)")  # listed, and beside the one just made
        await pilot.press("down", "delete", "y")
        await until(pilot, lambda: len(desk.servers.loads.all()) == 1)
        await pilot.press("escape")
        await settle(pilot)
        await pilot.press("delete")
        assert isinstance(app.screen, ConfirmDialog)
        await pilot.press("y")
        await settle(pilot)
        assert llama_server not in {endpoint.url for endpoint in desk.servers.endpoints()}
    calls = [call for call in desk.money.ledger.calls() if call.server == llama_server]
    assert {call.purpose for call in calls} == {"probe"}
    assert all(call.usage.input > 0 and call.usage.output > 0 for call in calls)
    assert all(sum(p.ms for p in call_phases(c).phases) == pytest.approx(c.total_ms) for c in calls)
    assert {p.name for call in calls for p in call_phases(call).phases} >= {"prefill", "decode"}
    desk.close()


@pytest.mark.model
async def test_a_served_model_is_chosen_to_embed_and_dropped_again(embedding_server: str, tmp_path: Path) -> None:
    desk = Desk(open_store(tmp_path / "lab.db"))
    desk.servers.add(embedding_server)
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        app.action_tools("servers")
        await settle(pilot)
        grid = app.screen.query_one("#servers-list-grid", Grid)
        grid.go_to(next(row.key for row in grid.rows if row.key.startswith(embedding_server)))
        await pilot.press("e")
        assert isinstance(app.screen, FormDialog)
        app.screen.query_one("#passage", Input).value = "passage:"
        await pilot.press("ctrl+s")
        assert "576 dimensions" in await report(pilot, "dimensions")
        (name,) = desk.servers.embedders.names()
        card = desk.servers.embedders.card(name)
        assert card is not None
        assert (card.query_prefix, card.passage_prefix) == ("", "passage: ")
        await pilot.press("h")
        assert "embedded on this machine" in await report(pilot, "embedded on this machine")
    desk.close()
