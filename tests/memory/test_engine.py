"""What the engine takes against what was foreseen, and the ledger that remembers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage import open_store
from tests.engine.conftest import model_path
from workbench.desk import Desk
from workbench.engine.client import load_generator
from workbench.engine.gguf_header import read_header
from workbench.memory.estimate import estimate
from workbench.records.models import GenerationSettings, LoadSettings

pytestmark = pytest.mark.model


@pytest.mark.parametrize(
    "settings",
    [
        LoadSettings(context=2048),
        LoadSettings(context=8192, kv_type="q8_0"),
        LoadSettings(context=32768, kv_type="q4_0"),
        LoadSettings(context=8192, flash_attention=False),
        LoadSettings(context=4096, batch=64),
    ],
)
def test_the_real_model_takes_what_was_foreseen_within_5_per_cent(settings: LoadSettings) -> None:
    file = read_header(model_path())
    foreseen = estimate(file, settings)
    loaded = load_generator(file, settings)
    try:
        taken = loaded.model.memory
        *_, _ = loaded.generate("The keeper wrote the hour into the book. " * 60, GenerationSettings(max_tokens=2))
        peak = loaded.gauges().rss_peak
    finally:
        loaded.close()
    assert foreseen
    assert foreseen.buffers == pytest.approx(taken.total, rel=0.05)
    assert foreseen.resident == pytest.approx(peak, rel=0.05)
    assert foreseen.weights == pytest.approx(taken.weights, rel=0.01)
    assert foreseen.kv_cache == pytest.approx(taken.kv_cache, rel=0.01)


def test_a_load_enters_the_ledger_and_corrects_the_next_estimate(tmp_path: Path) -> None:
    desk = Desk(open_store(tmp_path / "lab.db"))
    settings = LoadSettings(context=2048)
    try:
        (file,) = (f for f in desk.library.files() if f.path == str(model_path()))
        (before,) = desk.library.memory([file], settings)
        list(desk.library.load(file.path, settings))
        (after,) = desk.library.memory([file], settings)
    finally:
        desk.close()
    assert (before.verdict, before.largest_context, before.measured) == ("fits", 8192, None)
    assert before.estimate
    assert after.estimate
    assert after.measured
    assert (before.estimate.loads, after.estimate.loads) == (0, 1)
    assert after.estimate.buffers == pytest.approx(after.measured.measured.total, rel=0.001)
