"""The numbers that the source text works out, and what follows from the same formulas."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.money.costs import (
    amount,
    break_even_requests,
    cache_plan,
    call_cost,
    cloud_month,
    gpu_month,
    hit_ratio,
    is_stale,
    local_month,
    per_million_tokens,
    tco,
)
from workbench.money.times import MeasuredCall, effective_success, fit_latency, in_system, latency, waterfall
from workbench.money.vectors import vector_bytes
from workbench.records.money import Price, Usage
from workbench.usage.words import flaw_words

PRICE = Price("somebody", "some-model", "EUR", 2.0, 8.0, date(2026, 1, 1), cache_read=0.5, cache_write=2.5)


def test_a_cached_prefix_costs_more_once_and_less_from_the_second_call_on() -> None:
    plan = cache_plan(12_000, 8_000, 700, PRICE)
    assert (plan.write, plan.read, plan.full) == (pytest.approx(0.0516), pytest.approx(0.0276), pytest.approx(0.0456))
    assert plan.break_even == 2
    assert round(1 - plan.read / plan.full, 1) == 0.4
    assert plan.mean(1) > plan.full > plan.mean(2)
    assert plan.mean(10_000) == pytest.approx(plan.read, rel=1e-3)


def test_a_provider_without_cache_prices_bills_cached_tokens_as_input_and_the_cache_never_pays() -> None:
    plain = Price("somebody", "some-model", "EUR", 2.0, 8.0, date(2026, 1, 1))
    assert call_cost(Usage(0, 0, cache_read=1_000_000), plain) == 2.0
    assert cache_plan(12_000, 8_000, 700, plain).break_even is None


@given(
    prefix=st.integers(1, 10**6),
    fresh=st.integers(0, 10**5),
    output=st.integers(0, 10**5),
    read=st.floats(0.01, 1.9),
    write=st.floats(2.0, 20.0),
)
def test_the_break_even_is_the_first_number_of_calls_that_costs_less(
    prefix: int, fresh: int, output: int, read: float, write: float
) -> None:
    plan = cache_plan(prefix, fresh, output, Price("", "", "", 2.0, 8.0, date(2026, 1, 1), read, write))
    assert plan.break_even is not None
    slack = 1e-6 * plan.full
    assert plan.mean(plan.break_even) < plan.full + slack
    if plan.break_even > 1:
        assert plan.mean(plan.break_even - 1) >= plan.full - slack


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.000846, "0.000846"), (0.0456, "0.0456"), (8.2e-6, "0.00000820"), (1234.5, "1,234.50"), (0, "0.00")],
)
def test_money_is_told_with_the_digits_that_matter(value: float, told: str) -> None:
    assert amount(value) == told


def test_the_hit_ratio_of_14_400_in_20_000_tokens_is_72_percent() -> None:
    assert hit_ratio(Usage(5_600, 100, cache_read=14_400)) == pytest.approx(0.72)
    assert hit_ratio(Usage(0, 5)) is None


def test_local_pays_from_94_563_requests_a_month_on() -> None:
    assert break_even_requests(80, 0.000846) == 94_563
    assert cloud_month(1_200, 0.000846) < 80 < cloud_month(94_563, 0.000846)
    assert break_even_requests(80, 0.0) is None


def test_an_idle_gpu_costs_five_times_as_much_per_token() -> None:
    half, tenth = per_million_tokens(2.5, 40, 0.5), per_million_tokens(2.5, 40, 0.1)
    assert (round(half, 1), round(tenth, 1)) == (34.7, 173.6)
    assert tenth == pytest.approx(5 * half)
    assert gpu_month(100, 630, 2.5) == pytest.approx(1825.0)


@pytest.mark.parametrize(("speed", "share"), [(0, 0.5), (40, 0), (40, 1.1), (float("nan"), 0.5), (40, float("nan"))])
def test_a_speed_or_a_utilisation_that_cannot_be_is_refused(speed: float, share: float) -> None:
    with pytest.raises(UsageError):
        per_million_tokens(2.5, speed, share)


def test_a_machine_is_written_off_over_its_months_and_all_costs_are_owned() -> None:
    assert local_month(2_400, 36, energy=13) == pytest.approx(79.667, abs=1e-3)
    assert tco(10, 20, 30, 40) == 100
    with pytest.raises(UsageError):
        local_month(2_400, 0)


def test_a_price_gets_stale() -> None:
    assert not is_stale(PRICE, date(2026, 4, 1))
    assert is_stale(PRICE, date(2026, 4, 2))


def test_latency_is_the_first_token_and_the_gaps_between_the_others() -> None:
    assert latency(700, 1000 / 60, 301) == pytest.approx(5_700)
    assert latency(700, 10, 0) == latency(700, 10, 1) == 700


def test_five_requests_a_second_of_two_seconds_are_ten_at_once() -> None:
    assert in_system(5, 2) == 10


def test_three_tries_at_nine_in_ten_are_as_good_as_999_in_1000() -> None:
    assert effective_success(0.9, 3) == pytest.approx(0.999)


def test_phases_add_up_to_the_total_with_what_nobody_measured_named() -> None:
    parts = waterfall(100, {"decode": 60, "prefill": 30})
    assert [(p.name, p.ms) for p in parts.phases] == [("prefill", 30), ("decode", 60), ("unexplained", 10)]
    assert sum(p.ms for p in parts.phases) == parts.total_ms
    with pytest.raises(UsageError, match="add up"):
        waterfall(50, {"decode": 60})
    with pytest.raises(UsageError):
        waterfall(50, {"thinking": 10})


@pytest.mark.parametrize(
    ("before", "decode", "checks", "total"),
    [(300 + 400 + 500, 1_500, 300, 3_000), (20 + 80 + 300, 1_200 + 700, 90, 2_390)],
)
def test_an_agent_takes_3_seconds_and_a_query_in_sql_2_4(
    before: float, decode: float, checks: float, total: float
) -> None:
    parts = waterfall(total, {"tools": before, "decode": decode, "checks": checks})
    assert [phase.name for phase in parts.phases] == ["tools", "decode", "checks"]
    assert sum(phase.ms for phase in parts.phases) == total


def test_three_subqueries_of_five_chunks_of_300_tokens_make_an_answer_cost_0_013() -> None:
    context = 3 * 5 * 300
    assert context == 4_500
    assert call_cost(Usage(context + 200, 400), PRICE) == pytest.approx(0.0126)
    assert call_cost(Usage(4_700, 400), PRICE) == pytest.approx(0.013, abs=5e-4)
    assert call_cost(Usage(6_400, 150), PRICE) == pytest.approx(0.014)


def test_alpha_and_beta_are_found_again_in_calls_made_from_them() -> None:
    calls = [MeasuredCall(f, o, 350 + 0.4 * f + 5 * o) for f, o in ((100, 10), (3_000, 900), (800, 50), (2_000, 5))]
    fit = fit_latency(calls)
    assert fit is not None
    assert (fit.fixed_ms, fit.alpha_ms, fit.beta_ms) == (pytest.approx(350), pytest.approx(0.4), pytest.approx(5))
    assert fit.predict(3_000, 900) == pytest.approx(350 + 1_200 + 4_500)
    assert fit.error_ms == pytest.approx(0, abs=1e-6)
    assert fit.r2 == pytest.approx(1)


def test_calls_that_cannot_tell_alpha_from_beta_give_no_fit() -> None:
    assert fit_latency([MeasuredCall(100, o, 5.0 * o) for o in (1, 2, 3, 4, 5)]) is None
    assert fit_latency([MeasuredCall(1, 2, 3), MeasuredCall(4, 5, 6), MeasuredCall(9, 8, 7)]) is None


def test_a_line_that_takes_time_off_or_explains_little_predicts_nothing() -> None:
    prompts, alike = [(100, 10), (3_000, 900), (800, 50), (2_000, 5)], [(100, 10), (110, 10), (100, 11), (105, 12)]
    faster = fit_latency([MeasuredCall(f, o, 9_000 - 2 * f + 5 * o) for f, o in prompts])
    loose = fit_latency(
        [MeasuredCall(f, o, ms) for (f, o), ms in zip(alike * 2, (20, 21, 21, 22, 9, 9, 9, 9), strict=True)]
    )
    assert faster is not None
    assert (faster.flaw, faster.predict(8_000, 1)) == ("negative", None)
    assert "below 0" in flaw_words(faster)
    assert loose is not None
    assert loose.predict(100, 10) is None
    assert flaw_words(loose)


def test_ten_million_vectors_of_768_dimensions() -> None:
    sizes = [vector_bytes(10_000_000, 768, kind) / 1e9 for kind in ("float32", "int8", "bit")]
    assert sizes == [pytest.approx(30.72), pytest.approx(7.68), pytest.approx(0.96)]
    assert vector_bytes(1_000_000, 1536) / 1e9 == pytest.approx(6.144)
    with pytest.raises(UsageError):
        vector_bytes(5, 0)


@pytest.mark.parametrize(
    ("count", "dimension", "gigabytes"),
    [
        (1_000_000, 384, 1.54),
        (1_000_000, 768, 3.07),
        (1_000_000, 1536, 6.14),
        (1_000_000, 3072, 12.29),
        (10_000_000, 3072, 122.88),
        (10_000_000, 512, 20.48),
    ],
)
def test_vectors_of_the_source_s_dimensions(count: int, dimension: int, gigabytes: float) -> None:
    assert round(vector_bytes(count, dimension) / 1e9, 2) == gigabytes
