"""What the screens' tests share: the app on the fake desk, waiting for its workers, and what stands on the screen."""

from __future__ import annotations

from typing import Any, cast

from textual.pilot import Pilot
from textual.widgets import Input

from screens.app import WorkbenchApp
from tests.screens.fake_desk import FakeDesk

SMALL = (80, 24)
WIDE = (120, 36)
LARGE = (160, 48)


def app_on(desk: FakeDesk) -> WorkbenchApp:
    return WorkbenchApp(cast(Any, desk))


async def settle(pilot: Pilot[int]) -> None:
    """Until every read and work of the app has ended and what they brought is drawn."""
    app = cast(WorkbenchApp, pilot.app)
    quiet = 0
    for _ in range(400):
        await pilot.pause(0.01)
        quiet = quiet + 1 if app.jobs.idle else 0
        if quiet == 3:
            return


async def press_each(pilot: Pilot[int], words: str) -> None:
    """Types key by key."""
    names = {" ": "space", "?": "question_mark"}
    for character in words:
        await pilot.press(names.get(character, character))
    await settle(pilot)


async def type_text(pilot: Pilot[int], words: str) -> None:
    """Adds ``words`` to the text field in focus at once, as a paste does."""
    field = pilot.app.focused
    assert isinstance(field, Input)
    field.value += words
    await settle(pilot)


def screen_text(app: WorkbenchApp) -> str:
    """What a person sees, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size)
    return "\n".join(strip.text[:width] for strip in lines[:height])
