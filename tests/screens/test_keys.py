"""Keys keep their order, whatever they do and however fast they come."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from screens.ingest import IngestDialog
from screens.ordered import one_line
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, settle, type_text


async def burst(pilot: Pilot[int], *keys: str) -> None:
    """Every key is waiting before the first one acts, as after a lag."""
    for key in keys:
        character = key if len(key) == 1 else key[-1] if key.startswith("alt+") else None
        pilot.app.post_message(events.Key(key, character))
    await pilot.pause(0.05)
    await settle(pilot)


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (("a", "b", "c", "backspace", "backspace", "x", "y"), "axy"),
        (("z", "z", "z", "ctrl+u", "y", "y"), "yy"),
        (("b", "c", "home", "a", "end", "d"), "abcd"),
        (("a", "c", "left", "b", "right", "d"), "abcd"),
    ],
)
async def test_letters_do_not_overtake_editing_keys(keys: tuple[str, ...], left: str) -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await burst(pilot, *keys)
        assert app.screen.query_one("#query", Input).value == left


async def test_text_after_tab_lands_in_the_next_field() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f2")
        await settle(pilot)
        await pilot.press("i")
        await settle(pilot)
        assert isinstance(app.screen, IngestDialog)
        fields = list(app.screen.query(Input))
        fields[0].focus()
        await settle(pilot)
        await burst(pilot, "a", "tab", "b", "c")
        assert fields[0].value == "a"
        assert fields[1].value.endswith("bc")


async def test_keys_after_enter_are_not_part_of_the_question() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await burst(pilot, "enter", "z", "z")
        assert [t.query for t in desk.traces()] == ["library"]
        assert app.screen.query_one("#query", Input).value == "libraryzz"


async def test_enter_typed_before_the_terminal_was_set_up_still_asks() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await burst(pilot, "f", "e", "e", "ctrl+j")
        assert [trace.query for trace in desk.traces()] == ["fee"]


async def test_alt_with_a_key_that_does_nothing_here_is_no_text() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await burst(pilot, "alt+s", "alt+j", "h")
        assert app.screen.query_one("#query", Input).value == "h"


async def test_pasted_lines_become_one() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.post_message(events.Paste("when does\n\tthe library\r\nclose?"))
        await settle(pilot)
        assert app.screen.query_one("#query", Input).value == "when does the library close?"


def test_one_line_keeps_every_word() -> None:
    assert one_line("a\tb\n\n  c \u2028d") == "a b c d"


async def test_coming_to_ask_focuses_the_question_from_wherever_the_focus_was() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_text(pilot, "library")
        await pilot.press("down")
        assert app.focused is app.screen.query_one("#ranking")
        await burst(pilot, "3", "x")
        assert app.screen.query_one("#query", Input).value == "libraryx"
        await pilot.press("down")
        await burst(pilot, "f2", "f3", "q")
        assert app.screen.query_one("#query", Input).value == "libraryxq"
