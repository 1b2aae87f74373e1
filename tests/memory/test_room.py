"""Verdicts, the largest context, and corrections by earlier loads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.builders import model
from workbench.memory.estimate import estimate
from workbench.memory.ledger import correct, measurement
from workbench.memory.room import Room, fit, room
from workbench.records.models import Gauges, LoadedModel, LoadSettings, MemoryMeasurement, MemorySplit

GIB = 1 << 30


def load(architecture: str = "llama", *, kv: float = 1.0, compute: float = 1.0) -> MemoryMeasurement:
    predicted = MemorySplit(1000, 1000, 1000, 0)
    measured = MemorySplit(1000, round(1000 * kv), round(1000 * compute), 10)
    return MemoryMeasurement(architecture, "/models/x.gguf", LoadSettings(), predicted, measured)


@given(st.integers(5, 40))
def test_the_largest_context_fits_and_the_next_one_does_not(gibibytes: int) -> None:
    file, free = model(), Room(gibibytes * GIB)
    found = fit(file, LoadSettings(), free)
    if found.largest_context:
        assert fit(file, LoadSettings(context=found.largest_context), free).verdict in ("fits", "tight")
    if found.largest_context < file.context:
        assert fit(file, LoadSettings(context=found.largest_context + 256), free).verdict == "no"


def test_nothing_fits_where_the_weights_do_not() -> None:
    found = fit(model(), LoadSettings(), Room(2 * GIB))
    assert (found.verdict, found.largest_context) == ("no", 0)


def test_a_file_that_tells_nothing_is_unknown() -> None:
    found = fit(replace(model(), problem="cut short"), LoadSettings(), Room(64 * GIB))
    assert (found.verdict, found.estimate, found.largest_context) == ("unknown", None, 0)


def test_the_loaded_model_makes_way() -> None:
    gauges = Gauges(rss=3, rss_peak=3, cpu_percent=0, ram_used=6, ram_total=10)
    assert room(gauges, loaded=True) == Room(7, None)
    assert room(gauges, loaded=False) == Room(4, None)
    assert room(replace(gauges, vram_used=1, vram_total=8), loaded=False) == Room(4, 7)


def test_the_median_of_an_architectures_loads_corrects_each_part() -> None:
    plain = estimate(model(), LoadSettings())
    loads = [load(compute=1.2), load(compute=1.1), load(compute=9.0), load("gemma3", kv=2.0)]
    corrected = correct(model(), plain, loads)
    assert plain
    assert corrected
    assert corrected.compute == round(plain.compute * 1.2)
    assert (corrected.weights, corrected.kv_cache, corrected.loads) == (plain.weights, plain.kv_cache, 3)


def test_an_odd_load_cannot_turn_an_estimate_round_and_old_ones_are_forgotten() -> None:
    plain = estimate(model(), LoadSettings())
    assert plain
    once = correct(model(), plain, [load(kv=50.0)])
    assert once
    assert once.kv_cache == 2 * plain.kv_cache
    later = correct(model(), plain, [load()] * 9 + [load(kv=50.0)] * 90)
    assert later
    assert (later.kv_cache, later.loads) == (plain.kv_cache, 9)


def test_a_load_is_entered_as_foreseen_and_as_it_was_and_found_again() -> None:
    file, settings = model(), LoadSettings(context=2048)
    plain = estimate(file, settings)
    assert plain
    taken = MemorySplit(plain.weights, plain.kv_cache, plain.compute, plain.output + round(plain.buffers * 0.02))
    entry = measurement(LoadedModel(file, settings, 2048, taken, 1.0, 1), plain)
    assert entry
    assert abs(entry.error - 0.02) < 1e-6
    assert fit(file, settings, Room(64 * GIB), [entry]).measured == entry
    assert fit(file, LoadSettings(context=4096), Room(64 * GIB), [entry]).measured is None
    assert measurement(LoadedModel(file, settings, 2048, MemorySplit(), 1.0, 1), plain) is None


@pytest.mark.parametrize(("measured", "told"), [(9_999, "0.0%"), (10_000, "0.0%"), (9_000, "-10.0%")])
def test_an_error_that_rounds_to_nothing_has_no_sign(measured: int, told: str) -> None:
    taken = MemoryMeasurement("llama", "/m.gguf", LoadSettings(), MemorySplit(10_000), MemorySplit(measured))
    assert taken.told == told
