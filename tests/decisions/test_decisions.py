"""Sheets, fronts, expected utility: worked numbers, and what must hold of any of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.decisions.sheet import judge
from workbench.decisions.utility import expected_utility, value_of_information
from workbench.decisions.writing import firmness
from workbench.errors import UsageError
from workbench.records.decisions import Criterion, Option, Sheet, Value

POLICY = {"approve": 0.6, "deny": 0.4}


def actions(wrong: float) -> dict[str, dict[str, float]]:
    return {
        "say approve": {"approve": 10, "deny": wrong},
        "say deny": {"approve": wrong, "deny": 10},
        "abstain": {"approve": 2, "deny": 2},
    }


def test_reading_the_document_is_worth_8_when_a_wrong_answer_is_expensive() -> None:
    found = value_of_information(POLICY, actions(-20))
    assert found.utilities == {"say approve": -2, "say deny": pytest.approx(-8), "abstain": 2}
    assert (found.action, found.without, found.with_evidence, found.value) == ("abstain", 2, 10, 8)


def test_it_is_worth_less_when_a_wrong_answer_is_cheap() -> None:
    found = value_of_information(POLICY, actions(-1))
    assert (found.action, found.without) == ("say approve", pytest.approx(5.6))
    assert found.value == pytest.approx(4.4)


@given(st.floats(0, 1), st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=1, max_size=5))
def test_information_is_never_worth_less_than_nothing(p: float, table: list[tuple[float, float]]) -> None:
    found = value_of_information({"a": p, "b": 1 - p}, {str(i): {"a": a, "b": b} for i, (a, b) in enumerate(table)})
    assert found.value >= -1e-9


@pytest.mark.parametrize("probabilities", [{"a": 0.6, "b": 0.6}, {"a": -0.5, "b": 1.5}, {"a": float("nan")}, {}])
def test_what_is_no_distribution_is_refused(probabilities: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="probabilities"):
        expected_utility(probabilities, {"a": 1, "b": 1})


def test_an_interval_across_a_bound_is_told_and_leaves_the_first_place_open() -> None:
    bounded = (Criterion("wait", 1, "less", most=2_000), Criterion("quality", 1))
    sure = Option("B", {"wait": Value(1_500), "quality": Value(0.5)})

    def judged(wait: Value, quality: float = 0.9) -> tuple[str, bool, str]:
        verdict = judge(Sheet("s", bounded, (Option("A", {"wait": wait, "quality": Value(quality)}), sure)))
        return verdict.winner, verdict.close, " ".join(firmness(verdict))

    winner, close, told = judged(Value(1_196, 216.8, 5_534.3))
    assert (winner, close) == ("A", True)
    assert "A may miss the bound: wait 1,196 [216.8, 5,534.3]." in told
    winner, close, told = judged(Value(1_196, 900))  # too few times to be bounded from above
    assert (winner, close) == ("A", True)
    assert "A may miss the bound: wait 1,196 [900, ∞)." in told
    winner, close, told = judged(Value(2_100, 1_400, 2_500))
    assert (winner, close) == ("B", True)
    assert "A may meet the bound after all: wait 2,100 [1,400, 2,500]." in told
    assert not judged(Value(2_100, 1_900, 2_500), quality=0.1)[1]  # it may be in, and couldn't win
    for value in (Value(2_100, 2_001, 2_500), Value(1_196, 1_000, 2_000)):
        assert "bound" not in judged(value)[2].replace("upper bound", "")
    alone = judge(Sheet("s", bounded, (Option("A", {"wait": Value(2_100, 1_900, 2_500), "quality": Value(1)}),)))
    assert (alone.winner, alone.close) == ("", True)


def option(name: str, penalty: float = 0.0, /, **values: float) -> Option:
    return Option(name, {key: Value(value) for key, value in values.items()}, penalty)


LADDER = (
    option("A", quality=0.60, price=1.0),
    option("B", quality=0.75, price=2.0),
    option("C", quality=0.90, price=6.0),
    option("D", quality=0.70, price=3.0),
)
CRITERIA = (Criterion("quality", 0.5), Criterion("price", 0.5, "less"))


def test_what_is_dominated_is_off_the_front_whatever_the_weights() -> None:
    verdict = judge(Sheet("a model", CRITERIA, LADDER))
    found = {scored.option.name: scored for scored in verdict.ranking}
    assert found["D"].dominated_by == ("B",)
    assert {name for name, scored in found.items() if scored.on_front} == {"A", "B", "C"}
    assert verdict.winner == "B"


def test_a_requirement_filters_before_anything_is_weighed() -> None:
    strict = (Criterion("quality", 0.01, least=0.8), Criterion("price", 0.99, "less"))
    verdict = judge(Sheet("a model", strict, LADDER))
    assert verdict.winner == "C"
    assert [scored.out for scored in verdict.ranking[1:]] == [
        "quality 0.6 is below 0.8",
        "quality 0.75 is below 0.8",
        "quality 0.7 is below 0.8",
    ]
    none = judge(Sheet("a model", (Criterion("quality", 1, least=2),), (option("A", quality=1.0),)))
    assert none.winner == ""


def test_scores_are_the_weighted_sum_of_values_scaled_to_their_range_less_the_penalty() -> None:
    criteria = (Criterion("quality", 3, best=1, worst=0), Criterion("price", 1, "less", best=0, worst=10))
    verdict = judge(Sheet("x", criteria, (option("A", 0.1, quality=0.8, price=4.0),)))
    assert verdict.ranking[0].score == pytest.approx(0.75 * 0.8 + 0.25 * 0.6 - 0.1)
    assert verdict.ranking[0].shares == {"quality": pytest.approx(0.6), "price": pytest.approx(0.15)}


def test_the_weight_at_which_another_option_wins_is_told_and_right() -> None:
    verdict = judge(Sheet("a model", CRITERIA, LADDER))
    quality = next(flip for flip in verdict.flips if flip.criterion == "quality")
    assert quality.down is not None
    assert quality.up is not None
    for weight, wins in (
        (quality.down - 0.01, quality.down_to),
        (quality.down + 0.01, "B"),
        (quality.up - 0.01, "B"),
        (quality.up + 0.01, quality.up_to),
    ):
        moved = (Criterion("quality", weight), Criterion("price", 1 - weight, "less"))
        assert judge(Sheet("a model", moved, LADDER)).winner == wins


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=6))
def test_the_winner_is_never_dominated(rows: list[tuple[float, float, float]]) -> None:
    options = tuple(option(str(i), a=a, b=b, c=c) for i, (a, b, c) in enumerate(rows))
    criteria = (Criterion("a", 1), Criterion("b", 2), Criterion("c", 3, "less"))
    verdict = judge(Sheet("x", criteria, options))
    best = verdict.ranking[0]
    ties = [s for s in verdict.ranking if s.score == pytest.approx(best.score)]
    assert any(s.on_front for s in ties)


def test_a_lead_within_the_measured_intervals_is_called_close() -> None:
    def pair(half: float) -> Sheet:
        return Sheet(
            "x",
            (Criterion("pass rate", 1, best=1, worst=0),),
            (
                Option("Q8_0", {"pass rate": Value(0.8, 0.8 - half, 0.8 + half, "run 1")}),
                Option("Q4_0", {"pass rate": Value(0.7, 0.7 - half, 0.7 + half, "run 2")}),
            ),
        )

    assert judge(pair(0.12)).close
    assert not judge(pair(0.04)).close


@pytest.mark.parametrize(
    "sheet",
    [
        Sheet("no options", CRITERIA, ()),
        Sheet("no criteria", (), LADDER),
        Sheet("a value is missing", CRITERIA, (option("A", quality=1.0),)),
        Sheet("not a number", CRITERIA, (option("A", quality=float("nan"), price=1.0),)),
        Sheet("no weight", (Criterion("quality", 0),), (option("A", quality=1.0),)),
        Sheet("negative", (Criterion("quality", -1), Criterion("price", 2)), LADDER),
        Sheet("twice", (Criterion("quality", 1), Criterion("quality", 2)), LADDER),
    ],
    ids=lambda sheet: sheet.title,
)
def test_a_sheet_that_says_nothing_is_refused(sheet: Sheet) -> None:
    with pytest.raises(UsageError):
        judge(sheet)
