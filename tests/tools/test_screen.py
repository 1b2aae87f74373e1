"""The Tools screen on a real desk: pushed, its tabs, its forms, and what a person sees."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from screens.app import WorkbenchApp
from screens.tools import ToolsScreen
from screens.tools.calculators import CalculatorDialog
from screens.tools.form import FormDialog
from screens.widgets.grid import Grid
from storage import open_store
from tests.screens.helpers import LARGE, SMALL, screen_text, sees, settle, until
from workbench.desk import Desk
from workbench.records.benchmarks import BenchManifest, BenchModel, BenchPlan, Machine, Sample
from workbench.records.decisions import Criterion, Sheet, Value
from workbench.records.money import Price, Usage
from workbench.records.usage import Call
from workbench.text.counting import tiktoken_encoding

pytestmark = pytest.mark.usefixtures("one_embedder")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """With two calls and a sheet; no embedder, which would take seconds to start for each test."""
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path))
    opened = Desk(open_store(tmp_path / "lab.db"))
    for purpose in ("ask", "eval"):
        opened.money.ledger.record(Call(datetime.now(UTC), "", "m", purpose, Usage(5_600, 100, 14_400), 900.0))
    opened.decisions.put(Sheet("which model", (), ()))
    opened.decisions.set_criterion("which model", Criterion("quality", 1))
    for name, value in (("big", 0.9), ("small", 0.6)):
        opened.decisions.set_values("which model", name, {"quality": Value(value)})
    yield opened
    opened.close()


async def enter(pilot: Pilot[int], key: str = "") -> ToolsScreen:
    """From Models by its key, then the tab's."""
    await settle(pilot)
    await pilot.press("f1")
    await settle(pilot)
    await pilot.press("t")
    await settle(pilot)
    if key:
        await pilot.press(f"alt+{key}")
        await settle(pilot)
    assert isinstance(pilot.app.screen, ToolsScreen)
    return pilot.app.screen


def fill(app: WorkbenchApp, **values: str) -> None:
    assert isinstance(app.screen, FormDialog | CalculatorDialog)
    for name, value in values.items():
        app.screen.query_one(f"#{name}", Input).value = value


@pytest.mark.skipif(tiktoken_encoding("o200k_base") is None, reason="needs tiktoken's files: workbench starter")
async def test_a_text_is_cut_as_it_is_typed_and_escape_goes_back(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        tools = await enter(pilot)
        tools.query_one(TextArea).text = "¿Qué día es hoy?"
        await settle(pilot)
        assert "5 tokens, 3.20 characters each" in screen_text(app)
        tools.query_one(TextArea).text = "Hola"
        await settle(pilot)
        assert "1 token, 4.00 characters" in screen_text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(app.screen, ToolsScreen)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_the_budget_says_whether_it_fits(desk: Desk, size: tuple[int, int]) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        tools = await enter(pilot)
        parts = {"window": "128000", "instructions": "600", "history": "2000", "documents": "20000"}
        for name, value in (parts | {"tools": "1400", "question": "0", "output": "1500"}).items():
            tools.query_one(f"#budget-{name}", Input).value = value
        await settle(pilot)
        assert "24,000 + 1,500 = 25,500 ≤ 128,000 · 102,500 left" in screen_text(app)
        tools.query_one("#budget-window", Input).value = "25499"
        await settle(pilot)
        assert "1 too many" in screen_text(app)
        tools.query_one("#budget-window", Input).value = "many"
        await settle(pilot)
        assert "whole numbers" in screen_text(app)


async def test_usage_is_summed_and_a_price_that_is_written_down_gives_its_cost(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        tools = await enter(pilot, "m")
        assert "72%" in screen_text(app)
        await pilot.press("p")
        fill(app, provider="local", model="m", input="2", output="8", checked="yesterday")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Give a day" in screen_text(app)
        fill(app, checked="2026-01-01")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert tools.query_one("#prices-grid", Grid).rows[0].key == "local#m"
        assert "2026-01-01 ⚠" in screen_text(app)
        assert f"{(40_000 * 2 + 200 * 8) / 1e6:.4f} EUR" in screen_text(app)
        tools.query_one("#used-grid", Grid).focus()
        await pilot.press("g")
        await settle(pilot)
        await pilot.press("g")
        await settle(pilot)
        assert {row.cells[1] for row in tools.query_one("#used-grid", Grid).rows} == {"ask", "eval"}


async def test_a_price_written_anew_keeps_where_it_was_looked_up(desk: Desk) -> None:
    desk.money.put_price(Price("local", "m", "EUR", 2, 8, date(2026, 1, 1), source="the meter"))
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        tools = await enter(pilot, "m")
        tools.query_one("#prices-grid", Grid).focus()
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        fill(app, input="3")
        await pilot.press("ctrl+s")
        await settle(pilot)
    (price,) = desk.money.prices()
    assert (price.input, price.source, price.checked) == (3, "the meter", date.today())


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_times_of_a_call_add_up_and_are_foretold(desk: Desk, size: tuple[int, int]) -> None:
    for fresh, output in ((100, 10), (3_000, 900), (800, 50), (2_000, 5), (3_000, 90)):
        total = 350 + 0.4 * fresh + 5 * output
        clocks = {"ttft_ms": 400 + 0.4 * fresh, "queue_ms": 100.0, "prefill_ms": 0.4 * fresh}
        desk.money.ledger.record(
            Call(datetime.now(UTC), "http://a", "served", "chat", Usage(fresh, output), total, **clocks)
        )
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        tools = await enter(pilot, "m")
        grid = tools.query_one("#used-grid", Grid)
        grid.go_to(next(row.key for row in grid.rows if row.cells[1] == "served"))
        await settle(pilot)
        await pilot.press("f")
        await settle(pilot)
        speed = desk.money.speed("served")
        assert speed is not None
        assert tools.query_one("#sum-speed", Input).value == f"{speed.tokens_per_second:.1f}"
        await pilot.press("w")
        await settle(pilot)
        shown = screen_text(app)
        assert all(word in shown for word in ("network", "queue", "prefill", "decode", "2,000.0 ms"))
        assert "α 0.400 ms · β 5.00 ms" in shown
        assert "2,000 ms predicted, 2,000 ms measured" in " ".join(shown.replace("│", " ").split())
        await pilot.press("escape")
        elsewhere = Call(datetime.now(UTC), "http://b", "served", "chat", Usage(10, 11), 2_000.0, ttft_ms=1_000.0)
        desk.money.ledger.record(elsewhere)
        await pilot.press("f")
        await sees(pilot, "Which server?")
        await pilot.press("down", "enter")
        await until(pilot, lambda: tools.query_one("#sum-speed", Input).value == "10.0")


async def test_the_sums_of_machines_are_the_source_s(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await enter(pilot, "m")
        told = str(app.screen.query_one("#sums-told", Static).render())
        assert "34.7 in your currency" in told
        assert "94,563" in told
        assert "example numbers: type yours" in told
        app.screen.query_one("#sum-hour", Input).value = "3"
        await settle(pilot)
        told = str(app.screen.query_one("#sums-told", Static).render())
        assert "still the example's: tokens/s, busy %, own a month, a request" in told
        app.screen.query_one("#sum-busy", Input).value = "0"
        await settle(pilot)
        assert "✗" in str(app.screen.query_one("#sums-told", Static).render())


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_costs_are_told_whole_and_prices_of_alike_addresses_apart(desk: Desk, size: tuple[int, int]) -> None:
    today = date.today()
    for port, currency in ((28000, "USD"), (28080, "EUR")):
        url = f"http://127.0.0.1:{port}"
        name = "SmolLM2-135M-Instruct.Q4_1"
        desk.money.put_price(Price(url, name, currency, 0.1, 0.4, today))
        used = Usage(5_600, 100, 14_400, estimated=port == 28000)
        desk.money.ledger.record(Call(datetime.now(UTC), url, name, "ask", used, 900.0))
    app = WorkbenchApp(desk)
    async with app.run_test(size=size) as pilot:
        await enter(pilot, "m")
        await settle(pilot)
        shown = screen_text(app)
        assert "≈ 0.00204 USD + 0.00204 EUR" in shown
        assert "≈ 200" in shown
        assert "≈ 72%" in shown
        assert "its server counts no tokens" in shown
        assert "127.0.0.1:28000" in shown
        assert "127.0.0.1:28080" in shown


async def test_a_sheet_is_judged_and_decided_on(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        tools = await enter(pilot, "d")
        assert "big          1.000" in screen_text(app)
        await pilot.press("r")
        fill(app, reason="it is better", review="2026-01-01")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "overdue" in screen_text(app)
        assert [record.choice for record in desk.decisions.records()] == ["big"]
        await pilot.press("slash")
        await pilot.press(*"decode")
        await settle(pilot)
        assert [row.cells[1] for row in tools.query_one("#things-grid", Grid).rows] == ["The text comes slowly"]


async def test_evidence_opens_where_it_was_measured(desk: Desk) -> None:
    manifest = BenchManifest(Machine("cpu", 2, 2, 8 << 30, "os"), "1", "0.3")
    model = BenchModel("/m.gguf", "slowpoke", "hash", 1, "Q4")
    for value in (40.0, 4.0):
        bench = desk._store.benchmarks.create(BenchPlan(prompt=0, generate=4, repetitions=1), [model], manifest, 1)
        desk._store.benchmarks.add_sample(Sample(bench.id, 0, "tg4", 0, value, datetime.now(UTC)))
    desk.decisions.write("speed", "tg4 1\ntwelve 1\nonly: tg4=bench:1:slowpoke:tg4 twelve=12")
    desk.decisions.decide("Which model", "only", sheet="speed", reasons=["fast"], review="2099-01-01")
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        tools = await enter(pilot, "d")
        assert "Next review: 2099-01-01, Which model" in screen_text(app)
        tools.query_one("#things-grid", Grid).go_to("record 1")
        await settle(pilot)
        await pilot.press("o")
        await settle(pilot)
        assert "Bench 1" in screen_text(app)
        assert not isinstance(app.screen, ToolsScreen)


async def test_a_symptom_is_found_by_its_metric(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        tools = await enter(pilot, "d")
        await pilot.press("slash")
        await pilot.press(*"tpot")
        await settle(pilot)
        assert [row.cells[1] for row in tools.query_one("#things-grid", Grid).rows] == ["The text comes slowly"]


async def test_a_sheet_is_written_as_lines_and_a_bad_line_is_told(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await enter(pilot, "d")
        await pilot.press("n")
        app.screen.query_one("#title", Input).value = "another"
        app.screen.query_one(TextArea).text = "quality high"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Line 1: quality high" in screen_text(app)
        app.screen.query_one(TextArea).text = "quality 1\nonly: quality=0.5"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert desk.decisions.judge("another").winner == "only"
        await pilot.press("e")
        await settle(pilot)
        assert "only: quality=0.5" in screen_text(app)


async def test_with_no_server_it_says_how_to_add_one_and_tells_an_address_that_does_not_answer(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=LARGE) as pilot:
        await enter(pilot, "s")
        await pilot.press("a")
        fill(app, url="http://127.0.0.1:9")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "Nobody answers" in screen_text(app)


async def test_they_open_over_any_screen_by_5_and_escape_goes_back_to_it(desk: Desk) -> None:
    app = WorkbenchApp(desk)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        for key, mode in (("f5", "ask"), ("5", "corpus")):  # Ask's question has the focus: a digit is typed there
            await pilot.press({"ask": "f3", "corpus": "f2"}[mode])
            await settle(pilot)
            await pilot.press(key)
            await settle(pilot)
            assert isinstance(app.screen, ToolsScreen)
            await pilot.press("escape")
            await settle(pilot)
            assert not isinstance(app.screen, ToolsScreen)
            assert app.current_mode == mode
