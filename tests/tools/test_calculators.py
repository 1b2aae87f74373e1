"""The calculators of the Tools screen: worked numbers as one types, and what can't be reckoned with."""

from __future__ import annotations

from datetime import date

import pytest
from textual.widgets import Static

from screens.app import WorkbenchApp
from screens.tools.calculators import CalculatorDialog
from screens.widgets.grid import Grid
from tests.screens.helpers import LARGE, SMALL, screen_text, settle
from tests.tools.test_screen import desk, enter, fill
from workbench.desk import Desk
from workbench.records.money import Price

__all__ = ["desk"]

EXPECTED = {
    "cache": ("0.0456", "0.0516", "0.0276", "from 2 calls on"),
    "tco": ("0.00 + 80.00 + 0.00 + 0.00 = 80.00", "a year 960.00"),
    "capacity": ("5/s × 0.9 s = 4.5 at once", "1 − (1 − 0.9)^3 = 0.999"),
    "vectors": ("30.720 GB", "7.680 GB", "0.960 GB"),
}


def result(app: WorkbenchApp) -> str:
    return str(app.screen.query_one("#result", Static).render())


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("name", EXPECTED)
async def test_a_calculator_shows_its_sum_whole(desk: Desk, name: str, size: tuple[int, int]) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        await enter(pilot, "m")
        await pilot.press("c")
        await settle(pilot)
        app.screen.query_one(Grid).go_to(name)
        await pilot.press("enter")
        await settle(pilot)
        shown = screen_text(app)
        assert all(figure in shown for figure in EXPECTED[name])
        assert app.screen.query_one(".calculator").max_scroll_y == 0


async def test_the_cache_reckons_with_the_price_under_the_cursor_and_follows_every_key(desk: Desk) -> None:
    desk.money.put_price(Price("local", "m", "EUR", 4, 16, date.today()))
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot, "m")
        await pilot.press("c")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "local#m" in screen_text(app)
        assert "It never pays" in result(app)
        fill(app, read="0.5")
        await settle(pilot)
        assert "It pays from 2 calls on" in result(app)
        fill(app, prefix="many")
        await settle(pilot)
        assert result(app).startswith("✗ Fixed prefix")
        fill(app, prefix="9" * 400)
        await settle(pilot)
        assert "too large" in result(app)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_reading_the_document_is_worth_8_on_the_screen_too(desk: Desk, size: tuple[int, int]) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        await enter(pilot, "d")
        await pilot.press("v")
        await settle(pilot)
        assert isinstance(app.screen, CalculatorDialog)
        shown = screen_text(app)
        assert all(said in shown for said in ("say yes  -2", "say no   -8", "abstain   2", "VoI = 10 − 2 = 8"))
        assert app.screen.query_one(".calculator").max_scroll_y == 0
        fill(app, states="yes=0.6, no=0.6")
        await settle(pilot)
        assert "add up to 1.2" in result(app)
        fill(app, states="yes=0.6, no=")
        await settle(pilot)
        assert "NAME=NUMBER" in result(app)
