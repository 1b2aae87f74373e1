"""What answers cost: worked numbers, and ratios that count failures as paid for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.evals.measuring.compare import differences
from workbench.evals.measuring.scoring import columns, describe, measure
from workbench.evals.metrics import METRICS, cost, cost_per_useful
from workbench.evals.running.marks import cost_marks
from workbench.evals.running.sweep import with_variable
from workbench.records.answers import Manifest
from workbench.records.evals import (
    CaseResult,
    Prices,
    Run,
    RunConfig,
)

PRICES = Prices(input=2.0, output=8.0)


def result(passed: bool, prompt: float, output: float, ms: float = 1000.0, prices: Prices = PRICES) -> CaseResult:
    scores = {"prompt_tokens": prompt, "output_tokens": output, "tokens": prompt + output}
    blank = CaseResult(1, f"{prompt}-{output}", 0, passed, scores, duration_ms=ms)
    return CaseResult(1, blank.case_id, 0, passed, {**scores, **cost_marks(prices, blank)}, duration_ms=ms)


def test_a_question_of_6400_tokens_and_its_answer_of_150_cost_fourteen_thousandths() -> None:
    assert cost((2.0, 8.0, 0.0), 6400, 150, 2.4) == pytest.approx(0.014)


def test_an_hour_of_a_machine_at_2_50_that_writes_40_tokens_a_second_is_paid_by_its_seconds() -> None:
    seconds = 1_000_000 / 40
    assert cost((0, 0, 2.50), 0, 1_000_000, seconds) == pytest.approx(17.36, abs=0.005)
    assert cost((0, 0, 2.50 / 0.5), 0, 1_000_000, seconds) == pytest.approx(34.7, abs=0.05)  # busy half of the time


def test_failures_are_paid_for_and_only_useful_answers_count() -> None:
    found = measure(columns([result(True, 6400, 150), result(False, 6000, 250), result(True, 1000, 0)], "chain"))
    assert found["cost_per_useful"].value == pytest.approx((0.014 + 0.014 + 0.002) / 2)
    assert found["tokens_per_useful"].value == pytest.approx((6550 + 6250 + 1000) / 2)
    assert found["seconds_per_useful"].value == pytest.approx(1.5)
    assert cost_per_useful([0.014, 0.014, 0.002], 2) == pytest.approx(found["cost_per_useful"].value)
    assert "cost_per_useful" not in measure(columns([result(False, 6400, 150)], "chain"))


def test_without_prices_nothing_costs_anything_and_no_figure_says_so() -> None:
    assert "cost_per_useful" not in measure(columns([result(True, 10, 10, prices=Prices())], "chain"))


def test_a_price_is_no_cause_of_a_difference() -> None:
    told = Manifest("0", "c", 0, 0, "", "", "", "", "")
    a, b = (
        Run(n, RunConfig("faq", prices=prices), "h", told, "complete", datetime.now(UTC), 1, 1)
        for n, prices in enumerate((Prices(), PRICES))
    )
    assert differences(a, b) == ()


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "free"])
def test_a_price_is_a_number_from_0(value: str) -> None:
    with pytest.raises(UsageError):
        with_variable(RunConfig("faq"), "price-input", value)
    assert with_variable(RunConfig("faq"), "price-hour", "0.5").prices.hour == 0.5


@pytest.mark.parametrize(("value", "text"), [(0.0142, "0.0142"), (12.5, "12.50"), (1234.5, "1,234.50"), (0.0, "0")])
def test_costs_are_written_as_precisely_as_they_are_small(value: float, text: str) -> None:
    assert describe("cost_per_useful").text(value) == text


@pytest.mark.parametrize(
    ("name", "title", "text"), [("ttft_ms", "Time to first token", "28,612 ms"), ("tokens", "Tokens", "1,426 tokens")]
)
def test_what_only_a_case_has_is_written_for_people_too(name: str, title: str, text: str) -> None:
    value = {"ttft_ms": 28612.361, "tokens": 1426.0}[name]
    assert (describe(name).title, describe(name).text(value)) == (title, text)


def test_every_figure_of_operation_has_a_name() -> None:
    percentiles = {f"{name}_p{q}_ms" for name in ("latency", "ttft") for q in (50, 95, 99)}
    others = {"tokens_per_s", "prompt_tokens", "output_tokens", "coverage", "correct_abstention", "unsupported_answer"}
    assert percentiles | others | {"cost_per_useful", "tokens_per_useful", "seconds_per_useful"} <= set(METRICS)


@given(st.lists(st.floats(0, 1e6), min_size=3, max_size=3), *[st.floats(0, 1e9)] * 3)
def test_a_cost_is_never_negative_and_grows_with_what_is_used(
    prices: list[float], read: float, written: float, seconds: float
) -> None:
    rates = (prices[0], prices[1], prices[2])
    assert 0 <= cost(rates, read, written, seconds) <= cost(rates, 2 * read, 2 * written, 2 * seconds)
