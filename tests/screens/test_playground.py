"""The playground and the strip of gauges, on the fake desk; once with the real model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
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
from screens.models.gauges import lately, sparkline, strip
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
from workbench.records.answers import EngineTimes, Generation, Message
from workbench.records.models import DeviceMemory, Gauges, Offload
from workbench.records.playground import Attempt, ChatReply, Fault, Lint, Pulse

MIB = 1 << 20


def pulse(at: float, generation: Generation | None = None, **gauges: object) -> Pulse:
    now = Gauges(226 * MIB, 241 * MIB, 97.0, 900 * MIB, 24_000 * MIB, vram_note="no NVIDIA driver")
    return Pulse(at, replace(now, **gauges), 812, 4096, generation)  # type: ignore[arg-type]  # gauges of several types


WRITING = Generation(
    "partial",
    "",
    812,
    41,
    700,
    118.0,
    146.0,
    57.2,
    900.0,
    prefilled_tokens=812,
    engine=EngineTimes(112, 767.0, 40, 699.0),
)
READING = Generation("started", "", 1204, 0, 0, None, 100.0, None, 5000.0, prefilled_tokens=500)


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


# -- the strip ----------------------------------------------------------------------------------------------------


def told(desk: FakeDesk, width: int, *pulses: Pulse) -> str:
    desk.pulses = pulses
    return str(strip(desk.status(), width, lately(pulses)))


@pytest.fixture
def loaded() -> FakeDesk:
    desk = FakeDesk()
    for _ in desk.library.load(desk.library.files()[0].path):
        pass
    return desk


def test_one_line_at_80_and_two_at_160_with_what_the_child_measured(loaded: FakeDesk) -> None:
    first = pulse(1.0, replace(WRITING, output_tokens=20, duration_ms=500.0))
    narrow, wide = told(loaded, 78, first, pulse(2.0, WRITING)), told(loaded, 156, first, pulse(2.0, WRITING))
    assert "\n" not in narrow
    assert len(narrow) <= 78
    assert "TTFT 118 ms  read 146 t/s  write 57.2 t/s  ctx ▓░░░ 812/4,096  RSS 226 MiB" in narrow
    one, two = wide.split("\n")
    assert max(len(one), len(two)) <= 156
    assert "TPOT 17.5 ms" in one
    assert "prefix reused 700/812 86%" in one
    assert "812/4,096" in two
    assert "RSS 226 MiB" in two
    assert "↑241 MiB" in two
    assert "CPU 97 %" in two
    assert "VRAM – (no NVIDIA driver)" in two


async def test_a_key_shows_all_gauges_at_80_columns_and_why_one_is_absent(loaded: FakeDesk) -> None:
    first = pulse(1.0, replace(WRITING, output_tokens=20, duration_ms=500.0))
    loaded.pulses = (first, pulse(2.0, WRITING))
    app = app_on(loaded)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await sees(pilot, "TTFT 118 ms")
        assert "CPU 97 %" not in screen_text(app)
        await pilot.press("G")
        seen = await sees(pilot, "CPU 97 %")
        for words in (
            "TPOT 17.5 ms",
            "tokens 41",
            "prefix reused 700/812 86%",
            "↑241 MiB",
            "VRAM – (no NVIDIA driver)",
        ):
            assert words in seen
        assert "SmolLM2" in seen, "the library is still there"
        await pilot.press("p", "alt+g")
        await settle(pilot)
        assert "CPU 97 %" not in screen_text(app)


@pytest.mark.parametrize("width", [78, 106, 116, 156])
def test_without_a_gpu_ram_leads_and_vram_says_why_it_is_absent(loaded: FakeDesk, width: int) -> None:
    """Without a model at every width; with one wherever there are two lines."""
    empty = str(strip(FakeDesk().status(), width, {}))
    assert empty.startswith("RAM ")
    assert "VRAM – (no NVIDIA driver)" in empty
    assert "l loads" in empty
    assert max(map(len, empty.split("\n"))) <= width
    many = [pulse(n / 4, replace(WRITING, duration_ms=500.0 + n), rss=(226 + n) * MIB) for n in range(40)]
    *_, last = told(loaded, width, *many).split("\n")
    assert len(last) <= width
    assert width < 106 or last.endswith("VRAM – (no NVIDIA driver)")


def test_nothing_measured_is_a_dash_and_never_zero(loaded: FakeDesk) -> None:
    line = told(loaded, 78, pulse(1.0))
    assert "TTFT –  read –  write –  ctx" in line
    assert " 0 " not in line


def test_a_prompt_that_is_read_says_how_far_and_how_long(loaded: FakeDesk) -> None:
    line = told(loaded, 78, pulse(1.0, READING))
    assert line.startswith("prompt 500/1,204 · 7 s left  read 100 t/s  write –")


def test_each_gpu_tells_what_the_process_holds(loaded: FakeDesk) -> None:
    cards = (
        DeviceMemory(0, "A", 2_418 * MIB, 80 << 30, 1_906 * MIB),
        DeviceMemory(1, "B", 642 * MIB, 24 << 30, None),
    )
    now = pulse(1.0, WRITING, devices=cards, vram_used=3_060 * MIB, vram_total=104 << 30, vram_note="")
    line = told(loaded, 200, now)
    assert "GPU0 1.86 GiB █ ↑1.86 GiB · 2.36 GiB/80.00 GiB" in line
    assert "GPU1 – · 642 MiB/24.00 GiB" in line
    status = loaded.status()
    assert status.model
    idle = replace(status, model=replace(status.model, offload=Offload(0, 0, 31)), pulses=(now,))
    assert "GPU layers 0/31" in str(strip(idle, 200, {})), "a GPU is there, and nobody asked it"


@pytest.mark.parametrize("width", [78, 156])
def test_layers_that_fell_to_the_cpu_stay_in_sight(loaded: FakeDesk, width: int) -> None:
    assert "GPU layers" not in told(loaded, width, pulse(1.0, WRITING))
    desk_status = loaded.status()
    assert desk_status.model
    fallen = replace(desk_status.model, offload=Offload(31, 0, 31, "no GPU"))
    status = replace(desk_status, model=fallen, pulses=(pulse(1.0, WRITING),))
    assert "GPU layers 0/31" in str(strip(status, width, {}))


def test_idle_time_is_no_speed() -> None:
    busy = pulse(1.0, WRITING)
    series = lately([pulse(0.0), busy, *[pulse(2.0 + i, WRITING) for i in range(50)]])
    assert series["decode"] == ("█", WRITING.engine.decode_tps)  # type: ignore[union-attr]  # its times are set above
    assert len(series["rss"][0]) == 10


def test_a_sparkline_rises_with_its_values() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 8], 8) == "▁▂▃▄▅▆▇█"
    assert sparkline([], 8) == ""
    assert sparkline([0, 0], 8) == "▁▁"
    assert len(sparkline(list(range(1000)), 8)) == 8


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
