"""The dialog of times: all of it is on a small screen, in both languages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from screens.tools.times import Times, times_dialog
from tests.screens.fake_desk import FakeDesk
from tests.screens.helpers import SMALL, app_on, screen_text, settle
from workbench import i18n
from workbench.money.times import PHASES
from workbench.records.money import LatencyFit, Phase, Usage, Waterfall
from workbench.records.usage import Call, Forecast

FULL = (*(name for name in PHASES if name != "first"), "unexplained")
"""No call has both: the first token's wait is told whole only where nobody told its parts."""

FULLEST = Times(
    "What does the service contract say of replacement parts that were bought before it was signed?",
    Waterfall(tuple(Phase(name, 1_000.0) for name in FULL), 7_000.0),
    Call(
        datetime.now(UTC),
        "http://gpu-box.local:8080",
        "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf",
        "chat",
        Usage(12_000, 900),
        20_000.0,
        ttft_ms=9_000.0,
        queue_ms=1_000.0,
        prefill_ms=6_000.0,
        decode_ms=10_000.0,
    ),
    Forecast(9_000.0, 12.2, 1_234, 0.123),
    LatencyFit(1_350.0, 0.412, 12.21, 1_234, 100.0, 0.998),
)


@pytest.mark.parametrize("language", ["en", "es"])
async def test_times_stand_on_a_small_screen_whole(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "_chosen", [language])
    app = app_on(FakeDesk())
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.push_screen(times_dialog(FULLEST))
        await settle(pilot)
        shown = screen_text(app)
        assert app.screen.query_one(".dialog").max_scroll_y == 0, shown
        assert "20,000.0 ms" in shown
        assert "20,000 ms" in shown.splitlines()[-2]
        app.push_screen(times_dialog(replace(FULLEST, fit=LatencyFit(-219.0, 0.412, 12.21, 31, 100.0, 0.948))))
        await settle(pilot)
        shown = screen_text(app)
        assert app.screen.query_one(".dialog").max_scroll_y == 0, shown
        assert ("Nothing is predicted" if language == "en" else "No se predice nada") in shown
