"""The ledger on a real file: one entry a generation, sums that outlive it, times that add up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import open_store, usage
from storage.driver import connect
from storage.migrations import MIGRATIONS, migrate
from tests.answers.fake_generator import FakeGenerator
from workbench.answers.manifest import SERVER_SETTING
from workbench.errors import BudgetError, EngineError
from workbench.money.costs import hit_ratio
from workbench.ports import Generator, Store
from workbench.records.answers import EngineTimes, Generation, Manifest, Trace, TraceSpan
from workbench.records.models import GenerationSettings
from workbench.records.money import Usage
from workbench.records.usage import Call
from workbench.usage import Ledger
from workbench.usage.times import call_phases, forecast, trace_phases
from workbench.usage.words import fit_words, phase_lines

DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "lab.db")
    yield opened
    opened.close()


def call(fresh: int = 100, output: int = 10, cached: int = 0, **more: Any) -> Call:
    told: dict[str, Any] = {"began": DAY, "server": "", "model": "m", "purpose": "ask", "total_ms": 1000.0} | more
    return Call(usage=Usage(fresh, output, cached), **told)


def watched(store: Store, text: str = "one two three", **more: Any) -> tuple[Ledger, Generator]:
    ledger = Ledger(store.calls)
    return ledger, ledger.watch(cast(Generator, FakeGenerator(text, **more)), "chat")


def test_a_generation_is_one_entry_with_its_tokens_and_its_purpose(store: Store) -> None:
    ledger, model = watched(store)
    *_, last = model.generate("say it", GenerationSettings(max_tokens=8))
    (entered,) = ledger.calls()
    assert (entered.model, entered.purpose, entered.server) == ("fake", "chat", "")
    assert entered.usage.output == last.output_tokens
    assert entered.usage.input == last.prompt_tokens
    assert entered.total_ms > 0


def test_what_the_caller_left_early_or_the_process_died_of_counts_once(store: Store) -> None:
    ledger, model = watched(store)
    stream = model.generate("say it", GenerationSettings(max_tokens=8))
    while not next(stream).output_tokens:
        pass
    cast(Any, stream).close()
    assert len(ledger.calls()) == 1
    _, dying = watched(store, dies=True)
    with pytest.raises(EngineError):
        list(dying.generate("say it", GenerationSettings(max_tokens=8)))
    assert len(ledger.calls()) == 2
    assert sum(one.calls for one in ledger.sums()) == 2


def test_a_prompt_that_does_not_fit_is_refused_at_once_and_is_no_call(store: Store) -> None:
    ledger, model = watched(store, context=4)
    with pytest.raises(BudgetError):
        model.generate("far too many words for it", GenerationSettings(max_tokens=8))
    assert ledger.calls() == ()


def test_sums_are_by_what_is_asked_and_h_is_of_the_source(store: Store) -> None:
    ledger = Ledger(store.calls)
    ledger.record(call(5_600, 100, 14_400))
    ledger.record(call(100, 50, purpose="eval", began=DAY + timedelta(days=1)))
    ledger.record(call(100, 50, model="other", server="http://127.0.0.1:1"))
    assert [s.day for s in ledger.sums(["day"])] == ["2026-03-02", "2026-03-01"]
    by_model = {s.model: s for s in ledger.sums(["model"])}
    assert by_model["m"].usage == Usage(5_700, 150, 14_400)
    assert by_model["m"].seconds == pytest.approx(2.0)
    (asked,) = (s for s in ledger.sums(["model", "purpose"]) if s.model == "m" and s.purpose == "ask")
    assert hit_ratio(asked.usage) == pytest.approx(0.72)
    assert ledger.calls(model="m", server="http://127.0.0.1:1") == ()


def test_estimates_stay_estimates_however_calls_are_added_up(store: Store) -> None:
    ledger = Ledger(store.calls)
    ledger.record(call(4, 2, model="counted"))
    for estimated in (False, True, False):
        ledger.record(replace(call(), usage=Usage(4, 2, estimated=estimated)))
    assert [c.usage.estimated for c in ledger.calls()] == [False, True, False, False]
    assert {s.model: s.usage.estimated for s in ledger.sums(["model"])} == {"counted": False, "m": True}
    (total,) = ledger.sums([])
    assert total.usage.estimated
    for n in (5, 9):
        ledger.record(call(100 * n, n * n, ttft_ms=7.0))
    fit, foretold = ledger.fit("m"), ledger.forecast("m")
    assert fit is not None
    assert "α ≈ " in fit_words(fit)
    assert foretold is not None
    assert not foretold.estimated  # of the calls with a TTFT, which were counted


def test_a_call_that_ends_before_its_server_told_the_tokens_is_no_count(store: Store) -> None:
    ledger = Ledger(store.calls)

    class Untold:
        model = FakeGenerator("a").model

        def generate(self, *_: object) -> Iterator[Generation]:
            yield Generation("partial", "one", output_tokens=1)
            raise EngineError("gone", "it fell", "start it")

    with pytest.raises(EngineError):
        list(ledger.watch(cast(Generator, Untold()), "chat").generate("say it", GenerationSettings(max_tokens=8)))
    (entered,) = ledger.calls()
    assert (entered.usage.output, entered.usage.estimated) == (1, True)


def test_calls_of_before_are_unknown_unless_this_machine_counted_them(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    connection = connect(path, "create")
    migrate(connection, path, MIGRATIONS[:23])
    for server in ("", "http://a"):
        connection.execute(
            "INSERT INTO model_call (began, server, model, purpose, fresh, cache_read, output, total_ms, ended) "
            "VALUES ('2026-03-01T12:00:00.000+00:00', ?, 'm', 'ask', 4, 0, 2, 9.0, '')",
            (server,),
        )
        connection.execute(
            "INSERT INTO model_call_day VALUES ('2026-03-01', ?, 'm', 'ask', 1, 4, 0, 2, 9.0)", (server,)
        )
    connection.close()
    opened = open_store(path)
    ledger = Ledger(opened.calls)
    assert [c.usage.estimated for c in ledger.calls()] == [None, False]
    ledger.record(call(4, 2, server="http://a"))  # beside what isn't known, a count tells nothing of the sum
    assert {s.server: s.usage.estimated for s in ledger.sums(["server"])} == {"": False, "http://a": None}
    ledger.record(replace(call(server="http://a"), usage=Usage(4, 2, estimated=True)))
    assert {s.server: s.usage.estimated for s in ledger.sums(["server"])} == {"": False, "http://a": True}
    opened.close()


def test_the_ledger_grows_to_a_bound_and_its_sums_forget_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "KEPT", 5)
    ledger = Ledger(store.calls)
    for n in range(12):
        ledger.record(call(n, 1))
    assert [c.usage.fresh for c in ledger.calls()] == [11, 10, 9, 8, 7]
    (total,) = ledger.sums([])
    assert (total.calls, total.usage.fresh, total.usage.output) == (12, sum(range(12)), 12)


def test_a_file_that_cannot_be_written_keeps_nobody_from_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    open_store(path).close()
    read = open_store(path, read_only=True)
    ledger, model = watched(read)
    assert list(model.generate("say it", GenerationSettings(max_tokens=8)))[-1].text == "one two three"
    assert ledger.calls() == ()
    read.close()


def test_alpha_and_beta_are_fitted_from_stored_calls(store: Store) -> None:
    ledger = Ledger(store.calls)
    for fresh, output in ((100, 10), (3_000, 900), (800, 50), (2_000, 5), (10, 400)):
        ledger.record(call(fresh, output, total_ms=350 + 0.4 * fresh + 5 * output))
    fit = ledger.fit("m")
    assert fit is not None
    assert (fit.fixed_ms, fit.alpha_ms, fit.beta_ms) == (pytest.approx(350), pytest.approx(0.4), pytest.approx(5))
    assert ledger.fit("nobody") is None


def test_ttft_and_tpot_foretell_calls_that_are_as_regular_as_the_formula() -> None:
    calls = [call(100, n, ttft_ms=700.0, total_ms=700 + (n - 1) * 20.0) for n in (2, 50, 301)]
    found = forecast(calls)
    assert found is not None
    assert (found.ttft_ms, found.tpot_ms, found.error) == (700, pytest.approx(20), pytest.approx(0))
    assert forecast([call(1, 1, ttft_ms=5.0)]) is None


@given(
    total=st.floats(0, 1e6),
    ttft=st.none() | st.floats(0, 2e6),
    clocks=st.tuples(*[st.none() | st.floats(0, 2e6)] * 3),
    served=st.booleans(),
)
def test_phases_always_add_up_to_the_total(
    total: float, ttft: float | None, clocks: tuple[float | None, ...], served: bool
) -> None:
    queue, prefill, decode = clocks
    one = call(
        total_ms=total, ttft_ms=ttft, queue_ms=queue, prefill_ms=prefill, decode_ms=decode, server="s" if served else ""
    )
    parts = call_phases(one)
    assert sum(p.ms for p in parts.phases) == pytest.approx(total, abs=1e-3)
    assert all(p.ms >= 0 for p in parts.phases)


def test_of_a_served_call_the_network_is_what_the_server_does_not_account_for() -> None:
    one = call(total_ms=1000.0, ttft_ms=400.0, queue_ms=50.0, prefill_ms=300.0, decode_ms=580.0, server="http://a")
    found = {p.name: p.ms for p in call_phases(one).phases}
    assert found == {"network": 50, "queue": 50, "prefill": 300, "decode": 580, "unexplained": pytest.approx(20)}
    near = {p.name: p.ms for p in call_phases(replace(one, server="http://127.0.0.1:8080")).phases}
    assert near == {"queue": 50, "prefill": 300, "decode": 580, "unexplained": pytest.approx(70)}
    local = call(total_ms=1000.0, ttft_ms=400.0, prefill_ms=300.0, decode_ms=580.0)
    assert {p.name: p.ms for p in call_phases(local).phases} == {"prefill": 300, "decode": 580, "unexplained": 120}


def test_a_question_s_waterfall_has_its_searching_its_model_and_its_checks() -> None:
    said = Generation("complete", "text", 10, 5, ttft_ms=30.0, duration_ms=100.0)
    manifest = Manifest("1", "c", 1, 1, "e", "f", "r", "m", "h")
    spans = (
        TraceSpan("lexical", 0.0, 40.0, None),
        TraceSpan("generation", 50.0, 100.0, said),
        TraceSpan("citations", 150.0, 25.0, None),
    )
    parts = trace_phases(Trace("t", DAY, "q", manifest, spans))
    assert {p.name: p.ms for p in parts.phases} == {"tools": 50, "first": 30, "decode": 70, "checks": 25}
    assert sum(p.ms for p in parts.phases) == parts.total_ms == 175
    timed = replace(said, engine=EngineTimes(10, 20.0, 5, 70.0))
    far = replace(manifest, settings={SERVER_SETTING: "http://gpu-box:8000"})
    served = trace_phases(Trace("t", DAY, "q", far, (replace(spans[1], output=timed),)))
    assert {p.name: p.ms for p in served.phases}["network"] == 10
    tried = [TraceSpan(f"sql_{n}", 150.0 * n, 120.0, said, {"sql": "SELECT 1"}) for n in (1, 2)]
    of_tables = trace_phases(Trace("t", DAY, "q", manifest, (TraceSpan("schema", 0.0, 150.0, None), *tried)))
    assert {p.name: p.ms for p in of_tables.phases} == {"tools": 220, "first": 60, "decode": 140}
    bars = [line.partition("ms  ")[2] for line in phase_lines(parts, 35)]
    assert bars == ["█" * 10, " " * 10 + "█" * 6, " " * 16 + "█" * 14, " " * 30 + "█" * 5, ""]
