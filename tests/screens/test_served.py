"""Models of servers among the files of the Models screen."""

from __future__ import annotations

import dataclasses

from screens.models.gauges import strip
from tests.screens.fake_desk import FakeDesk
from tests.screens.fake_servers import DISTANT, LOCAL
from tests.screens.helpers import LARGE, SMALL, app_on, screen_text, settle
from workbench.records.answers import EngineTimes, Generation
from workbench.records.models import Gauges
from workbench.records.playground import Pulse
from workbench.records.servers import ServedModel


def lines_with(text: str, word: str) -> list[str]:
    """Of the list, on the left half of the screen."""
    return [half for line in text.splitlines() if word in (half := line.split("│")[1] if "│" in line else line)]


async def test_served_models_stand_below_the_files_with_where_they_run() -> None:
    desk = FakeDesk()
    desk.servers.there = (LOCAL, DISTANT)
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        text = screen_text(app)
        assert "smollm2:135m" in text
        assert [line.split()[-1] for line in lines_with(text, "smollm2:135m")] == ["here"]
        assert [line.split()[-1] for line in lines_with(text, "gpt-oss")] == ["cloud"]
        assert "gpu-box" not in text  # another machine is asked only when the person wants it
        await pilot.press("r")
        await settle(pilot)
        assert "gpu-box" in screen_text(app)
    assert desk.servers.looked == [False, True]


async def test_the_card_tells_badge_warning_and_what_isnt_known_and_enter_uses_it() -> None:
    desk = FakeDesk()
    desk.servers.there = (LOCAL,)
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("end", "up", "up")
        await settle(pilot)
        text = screen_text(app)
        assert "served · this machine" in text
        assert "its port listens beyond this machine" in text
        assert "ollama 0.12.6 · http://127.0.0.1:11434" in text
        assert "isn't told" in text
        await pilot.press("enter")
        await settle(pilot)
        assert desk.model is not None
        assert desk.model.server == "http://127.0.0.1:11434"


async def test_a_model_that_embeds_is_not_talked_to() -> None:
    desk = FakeDesk()
    desk.servers.there = (LOCAL,)
    app = app_on(desk)
    async with app.run_test(size=LARGE, notifications=True) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("end", "enter")
        await settle(pilot)
        assert desk.model is None
        assert "It embeds." in screen_text(app)


async def test_a_server_that_went_away_is_told_and_the_screen_goes_on() -> None:
    desk = FakeDesk()
    desk.servers.there, desk.servers.gone = (LOCAL,), True
    app = app_on(desk)
    async with app.run_test(size=LARGE) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("end", "up", "up", "enter")
        await settle(pilot)
        assert "Nobody answers" in screen_text(app)


async def test_a_servers_name_acts_on_nothing() -> None:
    desk = FakeDesk()
    hostile = ServedModel("evil\x1b[2J\u202e[bold]x[/bold]\nname")
    desk.servers.there = (dataclasses.replace(LOCAL, models=(hostile,), version="\x9b31m"),)
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("end")
        await settle(pilot)
        text = screen_text(app)
        assert "evil␛[2J" in text
        assert not set("\x1b\x9b\u202e") & set(text)


async def test_the_gauges_show_what_arrives_beside_what_the_server_counts_and_say_what_isnt_told() -> None:
    desk = FakeDesk()
    desk.model = desk.servers.use("http://127.0.0.1:11434#m")
    status = dataclasses.replace(desk.status(), reach="127.0.0.1:11434", pulses=())
    assert "nothing asked yet" in strip(status, 160, {}).plain
    said = Generation(
        "complete", "", prompt_tokens=31, output_tokens=4, ttft_ms=210.0, decode_tps=47.0,
        engine=EngineTimes(31, 155.0, 4, 80.0),
    )  # fmt: skip
    pulse = Pulse(0.0, Gauges(0, 0, 0.0, 1 << 30, 4 << 30), 35, 4096, said)
    wide = strip(dataclasses.replace(status, pulses=(pulse,)), 160, {}).plain
    assert "TTFT 210 ms" in wide
    assert "read 200 t/s" in wide
    assert "write 50.0 t/s" in wide
    assert "arrives 47.0 t/s" in wide
    assert "aren't told" in wide
    assert "RSS" not in wide
    assert "127.0.0.1:11434" in wide
