"""What the screens' tests share: the app on the fake desk, waiting for its workers, and what stands on the screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input

from screens.app import WorkbenchApp
from screens.evals.case import CasePane
from tests.screens.fake_desk import FakeDesk

SMALL = (80, 24)
WIDE = (120, 36)
LARGE = (160, 48)
PATIENCE_S = 60.0
"""A machine that does much else is slow; a test that waits this long has failed."""


def app_on(desk: FakeDesk) -> WorkbenchApp:
    return WorkbenchApp(cast(Any, desk))


async def settle(pilot: Pilot[int]) -> None:
    """Until every read and work of the app has ended and what they brought is drawn."""
    app = cast(WorkbenchApp, pilot.app)
    quiet, given_up = 0, time.monotonic() + PATIENCE_S
    while quiet < 3:
        assert time.monotonic() < given_up, "the app is still at work"
        await pilot.pause(0.01)
        quiet = quiet + 1 if app.jobs.idle else 0


async def until(pilot: Pilot[int], condition: Callable[[], object]) -> None:
    """Until ``condition`` holds; for what is seen while the app works, or what it comes to know by itself."""
    given_up = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < given_up, screen_text(cast(WorkbenchApp, pilot.app))
        await pilot.pause(0.02)


async def sees(pilot: Pilot[int], words: str) -> str:
    """Until ``words`` are on the screen; returns all that is."""
    app = cast(WorkbenchApp, pilot.app)
    await until(pilot, lambda: words in screen_text(app))
    return screen_text(app)


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


async def on_evals(pilot: Pilot[int], *keys: str) -> str:
    """Goes to Evals, presses keys one after another, and returns what is seen."""
    return await _on(pilot, "f4", keys)


async def on_corpus(pilot: Pilot[int], *keys: str) -> str:
    """The same on Corpus."""
    return await _on(pilot, "f2", keys)


async def _on(pilot: Pilot[int], screen: str, keys: tuple[str, ...]) -> str:
    await settle(pilot)
    await pilot.press(screen)
    await settle(pilot)
    return await press(pilot, *keys)


async def press(pilot: Pilot[int], *keys: str) -> str:
    """Presses keys, each when what the one before it began has ended, and returns what is seen."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    return screen_text(app)


def case_of(app: WorkbenchApp) -> str:
    """The case in the stepper."""
    return Content.from_markup(app.screen.query_one(CasePane).border_title or "").plain
