"""The Inventory tab on a real desk: filters with evidence, old facts, and a probe that names the failing layer."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input, Static

from screens.app import WorkbenchApp
from screens.dialogs import ConfirmDialog
from screens.style import plain
from screens.tools.form import FormDialog
from screens.widgets.grid import Grid
from storage import open_store
from tests.screens.helpers import LARGE, settle, until
from workbench.desk import Desk
from workbench.records.inventory import Offer

GONE = "http://127.0.0.1:9"


async def fill(pilot: Pilot[int], **lines: str) -> None:
    assert isinstance(pilot.app.screen, FormDialog)
    for name, value in lines.items():
        pilot.app.screen.query_one(f"#{name}", Input).value = value
    await pilot.press("ctrl+s")
    await settle(pilot)


def told(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#offer Static", Static).render())


def rows(pilot: Pilot[int]) -> dict[str, list[str]]:
    grid = pilot.app.screen.query_one("#offers-grid", Grid)
    return {row.key: [plain(cell) for cell in row.cells] for row in grid.rows}


async def test_offers_are_written_filtered_dated_probed_and_dropped(tmp_path: Path) -> None:
    desk = Desk(open_store(tmp_path / "lab.db"))
    desk.inventory.put(Offer("acme", "old", context=128_000, checked=date.today() - timedelta(days=91)))
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        app.action_tools("inventory")
        await settle(pilot)
        assert "⚠" in rows(pilot)["acme#old"][3]
        assert "Over 90 days old" in told(pilot)
        await pilot.press("f")
        await fill(pilot, filter="approved", passed="no", evidence="run 12 failed")
        assert rows(pilot)["acme#old"][2].split() == ["·", "·", "·", "✗"]
        assert "run 12 failed" in told(pilot)
        await pilot.press("e")
        await fill(pilot, version="sometimes")
        assert isinstance(app.screen, FormDialog)  # it says what is wrong and stays
        await fill(pilot, version="pinned", tools="yes")
        assert "⚠" not in rows(pilot)["acme#old"][3]
        assert desk.inventory.offer("acme#old").tools is True
        await pilot.press("a")
        await fill(pilot, provider=GONE, model="m", endpoint=GONE)
        app.screen.query_one("#offers-grid", Grid).go_to(f"{GONE}#m")
        await pilot.press("p")
        await until(pilot, lambda: "The layer that fails" in told(pilot))
        assert "The layer that fails: address" in told(pilot)
        await settle(pilot)
        assert rows(pilot)[f"{GONE}#m"][2].split() == ["✗", "✗", "·", "·"]
        await pilot.press("delete")
        assert isinstance(app.screen, ConfirmDialog)
        await pilot.press("y")
        await settle(pilot)
        assert list(rows(pilot)) == ["acme#old"]
    desk.close()
