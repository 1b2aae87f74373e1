"""Ask's two choices, as a person makes them: a follow-up, and who answers."""

from __future__ import annotations

from textual.widgets import Input

from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import LARGE, app_on, screen_text, settle, type_text
from workbench.records.answers import AskOptions


class ListeningDesk(FakeDesk):
    """Remembers what it was asked with."""

    def __init__(self) -> None:
        self.asked: list[AskOptions] = []
        super().__init__()
        self.asked.clear()  # its evaluations ask, too

    def ask(self, query, options=None, search=None, cancel=None):  # type: ignore[no-untyped-def]  # as FakeDesk's
        self.asked.append(options)
        yield from super().ask(query, options, search, cancel)


async def test_a_follow_up_goes_on_from_the_last_answer_until_it_is_turned_off() -> None:
    desk = ListeningDesk()
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        await pilot.press("alt+y")
        assert "follows “" not in screen_text(app)  # nothing was asked yet
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("alt+y")
        await settle(pilot)
        assert "follows “overdue payments”" in screen_text(app)
        app.screen.query_one("#query", Input).value = "and when?"
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("alt+y")
        await pilot.press("enter")
        await settle(pilot)
    assert [bool(options.follows) for options in desk.asked] == [False, True, False]


async def test_who_answers_is_chosen_by_a_key_and_told_over_the_question() -> None:
    desk = ListeningDesk()
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        await type_text(pilot, "overdue payments")
        for told in ("held by a grammar", "a free model", "the sources alone"):
            await pilot.press("alt+k")
            await settle(pilot)
            assert told in screen_text(app)
            await pilot.press("enter")
            await settle(pilot)
    assert [(o.mode, o.constrained) for o in desk.asked] == [
        ("generated", True),
        ("generated", False),
        ("extractive", None),
    ]
