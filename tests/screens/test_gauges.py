"""The strip of gauges: what it tells at which width, and what it says where nothing was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from screens.models.gauges import lately, sparkline, strip
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, app_on, screen_text, sees, settle
from workbench.records.answers import EngineTimes, Generation
from workbench.records.models import DeviceMemory, Gauges, Offload
from workbench.records.playground import Pulse

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
