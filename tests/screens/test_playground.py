"""The playground, on the fake desk; once with the real model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, Static

from screens.app import WorkbenchApp
from screens.dialogs import ErrorDialog
from screens.help import sections
from screens.models.playground import Playground
from screens.models.sampling import SamplingDialog, read_stops, stops_line
from screens.models.transcript import PART, Transcript, Turn, cut
from screens.widgets.message import MessageField
from storage import open_store
from tests.engine.conftest import model_path
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import LARGE, SMALL, WIDE, app_on, screen_text, sees, settle, until
from workbench.desk import Desk
from workbench.playground.structured import INVOICE
from workbench.records.answers import Generation, Message
from workbench.records.playground import Attempt, ChatReply, Fault, Lint


async def open_playground(pilot: Pilot[int], desk: FakeDesk) -> MessageField:
    await settle(pilot)
    await pilot.press("f1")
    await settle(pilot)
    await pilot.press("l")
    await settle(pilot)
    await pilot.press("p")
    await settle(pilot)
    playground = pilot.app.screen.query_one(Playground)
    await until(pilot, lambda: playground._model)  # which it is told of by the gauges' watch
    return pilot.app.screen.query_one("#say", MessageField)


async def say(pilot: Pilot[int], words: str) -> None:
    pilot.app.screen.query_one("#say", MessageField).text = words
    await pilot.press("enter")
    await settle(pilot)


def only_file(folder: Path) -> str:
    (path,) = folder.glob("conversation-*.md")
    return path.read_text("utf-8")


@given(st.lists(st.text(min_size=1).filter(lambda stop: "\\" not in stop)))
def test_stop_strings_are_read_as_they_are_written(stops: list[str]) -> None:
    assert read_stops(stops_line(stops)) == tuple(stops)


def test_stop_strings_may_hold_spaces_and_new_lines() -> None:
    assert read_stops('### "User: " \\n\\n don\'t "') == ("###", "User: ", "\n\n", "don't", '"')


# -- talking ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_an_answer_streams_and_ends_with_its_figures(size: tuple[int, int]) -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=size) as pilot:
        await open_playground(pilot, desk)
        await say(pilot, "When does it open?")
        seen = screen_text(app)
        assert "It opens at nine." in seen
        assert "✓ complete · 17 tokens · TTFT 118 ms" in seen
        assert desk.playground.remembered == (
            Message("user", "When does it open?"),
            Message("assistant", "It opens at nine."),
        )


async def test_the_lines_of_a_message_are_kept_and_the_field_grows_with_them() -> None:
    """Pasted or typed with ctrl+j; enter sends them all, and leaves one empty line."""
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        field = await open_playground(pilot, desk)
        assert field.size.height == 1
        app.post_message(events.Paste("def f(x):\r\n    return x\r\n"))
        await settle(pilot)
        assert field.size.height == 3
        await pilot.press("W", "h", "y", "ctrl+j", "o", "?", "alt+j", "shift+enter", "up", "home", "left", "down")
        await settle(pilot)
        assert field.text == "def f(x):\n    return x\nWhy\no?\n"
        assert field.size.height == 4, "no more than leaves the conversation its room"
        assert field.cursor_location[0] == 3, "up and down go through its lines"
        await pilot.press("enter")
        await settle(pilot)
        assert desk.playground.remembered[0] == Message("user", "def f(x):\n    return x\nWhy\no?")
        assert (field.text, field.size.height) == ("", 1)
        seen = screen_text(app)
        assert "│     return x" in seen
        keys = dict(sections(app.screen))["In the message"]
        assert [binding.key for binding in keys] == ["enter", "ctrl+j,shift+enter"]


async def test_the_states_are_seen_and_escape_cancels_and_keeps_what_is_written() -> None:
    desk = FakeDesk()
    desk.playground.hold = threading.Event()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await open_playground(pilot, desk)
        app.screen.query_one("#say", MessageField).text = "When?"
        await pilot.press("enter")
        await sees(pilot, "● partial")
        assert "esc cancels" in screen_text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert "~ cancelled" in screen_text(app)
        assert desk.playground.remembered[-1] == Message("assistant", "I")
        await pilot.press("escape")  # now it shuts the room, as everywhere
        await settle(pilot)
        assert not app.screen.has_class("-room")


async def test_a_message_that_is_cancelled_comes_back_over_what_was_typed_meanwhile() -> None:
    desk = FakeDesk()
    desk.playground.said, desk.playground.hold = [""], threading.Event()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        field = await open_playground(pilot, desk)
        field.text = "first\nsecond"
        await pilot.press("enter")
        await sees(pilot, "esc cancels")
        await pilot.press("t", "o", "o", "escape")
        await until(pilot, lambda: field.text == "first\nsecond\ntoo")
        assert desk.playground.remembered == ()


async def test_a_second_attempt_that_is_cancelled_before_it_wrote_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def chat(_: object, cancel: threading.Event) -> Iterator[ChatReply]:
        unfit = Attempt("…", Generation("complete", "{}"), (Fault("total", "structural", "is missing"),))
        yield ChatReply((unfit, Attempt("…", Generation("started", ""))))
        assert cancel.wait(10)
        yield ChatReply((unfit, Attempt("…", Generation("cancelled", ""))))

    desk = FakeDesk()
    monkeypatch.setattr(desk.playground, "chat", chat)
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        field = await open_playground(pilot, desk)
        field.text = "An invoice"
        await pilot.press("enter")
        await sees(pilot, "total: is missing")
        await pilot.press("escape")
        await until(pilot, lambda: field.text == "An invoice")
        await until(pilot, lambda: not app.screen.query_one(Transcript).query(Turn))


async def test_the_prompt_is_seen_as_it_is_sent_and_by_tokens_with_their_ids() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        field = await open_playground(pilot, desk)
        field.text = "Hi\n"
        await settle(pilot)
        assert "<|im_start|>user" in screen_text(app)
        assert "Hi<|im_end|>" in screen_text(app), "without the empty line, which isn't sent either"
        await pilot.press("alt+t")
        await settle(pilot)
        assert "100 <|im_start|>" in screen_text(app)


async def test_in_a_small_window_the_prompt_takes_the_place_of_the_conversation() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        field = await open_playground(pilot, desk)
        field.text = "Hi"
        await settle(pilot)
        assert "<|im_start|>" not in screen_text(app)
        await pilot.press("alt+t")
        await settle(pilot)
        assert "<|im_start|>user" in screen_text(app)
        await pilot.press("alt+t", "alt+t")
        await settle(pilot)
        assert "<|im_start|>" not in screen_text(app)
        desk.playground.hold = threading.Event()
        await pilot.press("enter")
        await sees(pilot, "● partial")
        await pilot.press("alt+t")
        await sees(pilot, "Hi<|im_end|>")  # what was sent, while it is answered
        desk.playground.hold.set()
        await sees(pilot, "✓ complete")
        assert "It opens at nine.<|im_end|>" not in screen_text(app), "the answer was not sent"
        desk.playground.said = ["Nine."]
        await pilot.press("alt+t")
        await say(pilot, "\n".join(map(str, range(40))))
        assert "Nine." not in screen_text(app)
        await pilot.press("alt+t")
        await sees(pilot, "Nine.")  # the end of the answer that came behind the prompt
        app.screen.query_one(Transcript).focus()
        await pilot.press("z", "t")
        await sees(pilot, "<|im_start|>assistant")  # though the conversation was alone
        await pilot.press("t", "t")
        await sees(pilot, "Nine.")


async def test_a_model_s_text_is_never_markup_and_its_control_characters_are_seen() -> None:
    desk = FakeDesk()
    desk.playground.said = ["[bold]no[/bold] \x1b[31mred\x07 \u202e"]
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await open_playground(pilot, desk)
        await say(pilot, "[red]x[/red]")
        seen = screen_text(app)
        assert "[bold]no[/bold] ␛[31mred␇ ‹U+202E›" in seen
        assert "[red]x[/red]" in seen


async def test_five_thousand_tokens_are_drawn_in_parts_of_bounded_size() -> None:
    desk = FakeDesk()
    desk.playground.said = ["The sea is wide and the harbour small. " * 640]
    desk.playground.size = 5
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await open_playground(pilot, desk)
        await say(pilot, "Tell me everything.")
        for _ in range(20):
            await settle(pilot)
        turn = list(app.screen.query_one(Transcript).query(Turn))[-1]
        parts = [str(part.render()) for part in turn.query("LongText Static").results(Static)]
        assert "".join(parts) == "The sea is wide and the harbour small. " * 640
        assert max(map(len, parts)) <= PART
        assert len(parts) > 10


def test_a_part_ends_at_a_line_else_a_word_and_a_wall_of_letters_is_cut_too() -> None:
    line = "x" * 1_500 + "\n" + "y" * 1_500
    assert line[: cut(line, 0)].endswith("x\n")
    words = "word " * 900
    assert words[: cut(words, 0)].endswith("word ")
    assert cut("z" * 9_000, 2_000) == 4_000


async def test_what_is_wrong_with_the_template_is_said_before_anything_is_sent() -> None:
    desk = FakeDesk()
    desk.playground.found = (
        Lint("end_mismatch", "error", "Turns end with <|end|>.", "Add <|end|> to the stop strings."),
    )
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await open_playground(pilot, desk)
        await sees(pilot, "✗ Turns end with <|end|>. → Add <|end|> to the stop strings.")
        assert desk.playground.requests == []


async def test_a_system_message_and_sampling_go_with_the_next_question() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await open_playground(pilot, desk)
        await pilot.press("alt+o")
        await say(pilot, "Be brief.")
        assert desk.playground.requests == []
        await pilot.press("alt+s")
        await settle(pilot)
        dialog = app.screen
        assert isinstance(dialog, SamplingDialog)
        dialog.query_one("#temperature", Input).value = "3x"
        await pilot.press("ctrl+s")
        assert "give a number from 0 to 10" in screen_text(app)
        dialog.query_one("#temperature", Input).value = "0,5"
        dialog.query_one("#stop", Input).value = r"\n\n User:"
        dialog.query_one("#schema", Input).value = "invoice"
        await pilot.press("ctrl+s")
        await settle(pilot)
        await say(pilot, "When?")
        (request,) = desk.playground.requests
        assert [message.role for message in request.messages] == ["system", "user"]
        assert (request.settings.temperature, request.settings.stop) == (0.5, ("\n\n", "User:"))
        assert request.schema == INVOICE


async def test_a_process_that_ends_leaves_the_question_to_be_sent_again() -> None:
    desk = FakeDesk()
    desk.playground.dies = True
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        field = await open_playground(pilot, desk)
        await say(pilot, "When?")
        assert isinstance(app.screen, ErrorDialog)
        await pilot.press("escape")
        await settle(pilot)
        assert "✗ The language model's process ended" in screen_text(app)
        assert field.text == "When?"


async def test_a_death_is_told_once_and_r_loads_the_model_again_as_it_was() -> None:
    desk = FakeDesk()
    desk.playground.size, desk.playground.said = 1, ["", "Nine."]

    def die(*_: object) -> Iterator[ChatReply]:
        yield ChatReply((Attempt("…", Generation("started", "")),))
        desk.kill("It was ended by SIGABRT.")
        desk.cause = "file"
        raise desk.death

    chat, desk.playground.chat = desk.playground.chat, die  # type: ignore[method-assign]  # for this test
    app = app_on(desk)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await open_playground(pilot, desk)
        await say(pilot, "When?")
        await until(pilot, lambda: isinstance(app.screen, ErrorDialog))
        assert "r tries again with the same settings" in screen_text(app)
        assert not app._notifications
        await pilot.press("r")
        await settle(pilot)
        await until(pilot, lambda: "then write to it here" not in screen_text(app))
        seen = screen_text(app)
        assert desk.model
        assert "█" not in seen
        assert "SIGABRT" not in seen
        assert "then write to it here" not in seen
        assert "<|im_start|>user" in seen, "the prompt of the question that is there again"
        desk.playground.chat = chat  # type: ignore[method-assign]  # as it was
        await say(pilot, "When?")
        assert "✗ The model wrote nothing." in screen_text(app)
        await say(pilot, "When?")
        assert "Nine." in screen_text(app)


async def test_without_a_model_nothing_is_sent_and_the_way_is_shown() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        await say(pilot, "Hello?")
        assert "Load a model with l, then write to it here." in screen_text(app)
        assert desk.playground.requests == []


async def test_the_last_conversation_is_there_again_and_can_be_exported_and_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    desk = FakeDesk()
    desk.playground.remembered = (Message("user", "When?"), Message("assistant", "At nine."))
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await open_playground(pilot, desk)
        assert "At nine." in screen_text(app)
        await pilot.press("alt+x")
        await settle(pilot)
        assert "## You\n\nWhen?\n" in only_file(tmp_path)
        await pilot.press("alt+n")
        await settle(pilot)
        assert "At nine." not in screen_text(app)
        assert desk.playground.remembered == ()


@pytest.mark.model
async def test_the_real_model_answers_is_gauged_and_stopped(tmp_path: Path) -> None:
    desk = Desk(open_store(tmp_path / "lab.db"))
    for _ in desk.library.load(str(model_path())):
        pass
    app = WorkbenchApp(desk)
    try:
        async with app.run_test(size=LARGE) as pilot:
            await settle(pilot)
            await pilot.press("f1")
            await settle(pilot)
            await pilot.press("p")
            await settle(pilot)
            await sees(pilot, "✓ chat template")
            app.screen.query_one("#say", MessageField).text = "Count to ten thousand. " * 40
            await pilot.press("enter")
            await until(pilot, lambda: "◦ started" in screen_text(app) and "s left" in screen_text(app))
            assert "reads the prompt: " in screen_text(app)
            await sees(pilot, "● partial")
            await pilot.press("escape")
            await settle(pilot)
            seen = await sees(pilot, "RSS")
            assert "~ cancelled" in seen
            assert "VRAM" in seen
            assert desk.playground.kept()[-1].role == "assistant"
    finally:
        desk.close()
