"""Each screen as it looks, at the smallest terminal and at a common one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, settle


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["80x24", "120x36"])
@pytest.mark.parametrize("screen", ["ask", "models", "corpus", "evals", "welcome"])
def test_screen(screen: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    app = app_on(FakeDesk(empty=screen == "welcome"))
    app.animation_level = "none"

    async def arrange(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        if screen == "ask":
            question = app.screen.query_one("#query", Input)
            question.cursor_blink = False
            question.value = "overdue payments"
            await settle(pilot)
            await pilot.press("enter")
        elif screen == "welcome":
            app.screen.query_one("#query", Input).cursor_blink = False
        else:
            await pilot.press({"models": "f1", "corpus": "f2", "evals": "f4"}[screen])
        await settle(pilot)

    assert snap_compare(app, terminal_size=size, run_before=arrange)
