"""Memory before loading, on the Models screen."""

from __future__ import annotations

from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, WIDE, app_on, screen_text, sees, settle
from workbench.records.answers import Generation
from workbench.records.models import Gauges
from workbench.records.playground import Pulse

SAID = Generation("complete", "", 812, 41, 700, 118.0, 146.0, 57.2, 900.0)


async def test_context_and_type_change_the_estimate_and_the_load_uses_them() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("down", "down")
        await settle(pilot)
        seen = screen_text(app)
        assert "memory at ctx 4,096 +−   KV f16 v" in seen
        assert "90 MiB" in seen
        assert "✓ fits" in seen
        assert "largest ctx that fits 8,192 (trained limit)" in seen
        await pilot.press("plus", "plus", "v")
        await settle(pilot)
        seen = screen_text(app)
        assert "memory at ctx 16,384 +−   KV q8_0 v" in seen
        assert "~ trained for 8,192 tokens" in seen
        assert "191 MiB" in seen
        await pilot.press("minus", "enter")
        await settle(pilot)
        assert desk.model
        assert (desk.model.settings.context, desk.model.settings.kv_type) == (8192, "q8_0")


async def test_the_peak_of_a_process_is_held_against_no_other_settings_than_its_own() -> None:
    desk = FakeDesk()
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("down", "down", "enter")
        await settle(pilot)
        desk.pulses = (Pulse(1.0, Gauges(226 << 20, 269 << 20, 97.0, 900 << 20, 24_000 << 20), 812, 4096, SAID),)
        assert "process at its peak 269 MiB" in await sees(pilot, "process at its peak")
        await pilot.press("plus")
        assert "process at its peak" not in await sees(pilot, "memory at ctx 8,192")
        await pilot.press("minus")
        await sees(pilot, "process at its peak 269 MiB")


async def test_what_does_not_fit_says_so_in_list_and_card() -> None:
    desk = FakeDesk()
    desk.free = 400 << 20
    app = app_on(desk)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        seen = screen_text(app)
        assert "✗ does not fit" in seen
        assert "✗ 512 MiB" in seen
        assert "~ 353 MiB" in seen, "SmolLM2 leaves little"


async def test_the_window_key_acts_on_models_that_have_one() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        assert "window whole w" in screen_text(app)
        await pilot.press("w")
        await settle(pilot)
        assert "window 512 w" in screen_text(app)
        await pilot.press("down")
        await settle(pilot)
        assert "window whole" not in screen_text(app)


async def test_the_smallest_terminal_still_says_what_fits() -> None:
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        assert "✓ 512 MiB" in screen_text(app)
        assert "memory at ctx 4,096" in screen_text(app)


async def test_a_key_shows_each_quantization_at_each_context_with_its_verdict() -> None:
    desk = FakeDesk()
    desk.free = 500 << 20
    app = app_on(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("down", "down", "m")
        await settle(pilot)
        seen = screen_text(app)
        assert "What fits: SmolLM2" in seen
        assert "▸ Q4_1" in seen
        assert "F16" in seen
        assert "2,048" in seen
        assert "8,192" in seen
        assert "MiB ✓" in seen
        assert "MiB ✗" in seen
        await pilot.press("escape")
        await settle(pilot)
        assert "What fits" not in screen_text(app)
