"""Stepping as arithmetic: views, narrowing, the next case; and how figures are written."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime

import pytest

from screens.evals.case import head
from screens.evals.columns import in_columns
from screens.evals.items import CaseItem, narrowings, next_item, shown
from screens.evals.launch import read_segment
from screens.evals.lists import run_rows
from screens.evals.plots import draw_curve, whisker
from screens.evals.reading import CaseView, Lists
from screens.evals.words import change_line, estimate_parts, share, value_text
from screens.style import plain
from tests.screens.fake_desk import FakeDesk
from workbench.evals.measuring.scoring import describe, ordered
from workbench.records.cases import Case, GoldSpan
from workbench.records.evals import (
    CaseResult,
    Estimate,
    FailureStage,
    JudgedCase,
    JudgedVerdict,
    Label,
    MetricChange,
    ThresholdPoint,
)

NOW = datetime(2026, 3, 2)


def item(
    key: str, after: bool | None, before: bool | None = None, label: int | None = None, stage: FailureStage = ""
) -> CaseItem:
    result = CaseResult(2, key, 0, passed=after, failure=stage)
    other = None if before is None else CaseResult(1, key, 0, passed=before)
    given = None if label is None else Label(2, key, label, "", NOW)
    return CaseItem(Case(key, "?", type="table"), "c", result, other, given, (("type", "table"),))


ITEMS = [
    item("a", True, True),
    item("b", False, True, stage="cut"),
    item("c", True, False, label=-1),
    item("d", None, True),
    item("e", False, False, label=0, stage="cut"),
    item("f", False, False, label=-1, stage="ignored"),
]


@pytest.mark.parametrize(
    ("view", "ids"),
    [("failing", "bef"), ("flips", "bc"), ("unlabelled", "abd"), ("disagreements", "c"), ("all", "abcdef")],
)
def test_what_each_view_shows(view: str, ids: str) -> None:
    assert "".join(i.case.id for i in ITEMS if shown(i, view)) == ids


@pytest.mark.parametrize(
    ("passed", "label", "said", "disagrees"),
    [
        (True, None, "wrong", True),
        (True, None, "right", False),
        (True, None, "", False),
        (True, None, "worse", False),
        (None, 1, "wrong", True),
        (True, 1, "wrong", True),
        (False, 0, "wrong", False),
    ],
)
def test_a_judge_that_differs_from_score_or_person_is_a_disagreement(
    passed: bool | None, label: int | None, said: JudgedVerdict, disagrees: bool
) -> None:
    one = replace(item("a", passed, label=label), judged=(("judge", JudgedCase("a", said, "", "")),))
    assert one.disagrees is disagrees
    assert not one.against_score


def test_a_case_names_what_it_must_cite_and_what_looks_right_and_is_not() -> None:
    case = Case("a", "?", citations=(GoldSpan("faq.md", 1, 9),), negatives=(GoldSpan("old.md"), GoldSpan("x.md", 2, 3)))
    facts = [(name, plain(value)) for name, value in head(CaseView(replace(ITEMS[0], case=case)), None, None)]
    assert facts[-5:-2] == [("must cite", "faq.md 1–9"), ("misleading", "old.md"), ("", "x.md 2–3")]


def test_scores_stand_in_columns_read_downwards_in_the_order_of_reports() -> None:
    scores = {"tokens": 1204.0, "f1": 0.5, "recall@5": 1.0, "mine": 0.25, "ttft_ms": 1500.0}
    cells = [(describe(name).title, value_text(name, scores[name])) for name in ordered(scores)]
    assert [plain(line) for line in in_columns(cells, 60)] == [
        "Recall@5             1.000    Tokens               1,204",
        "Token F1              .500    mine                  .250",
        "Time to first token  1.5 s",
    ]
    assert len(list(in_columns(cells, 20))) == 5


def test_narrowing_to_a_stage_and_a_segment() -> None:
    assert [i.case.id for i in ITEMS if shown(i, "all", ("stage", "cut"))] == ["b", "e"]
    assert all(shown(i, "all", ("type", "table")) for i in ITEMS)
    assert not any(shown(i, "all", ("type", "direct")) for i in ITEMS)
    assert narrowings(ITEMS) == [(("stage", "cut"), 2), (("stage", "ignored"), 1), (("type", "table"), 6)]


def test_the_next_one_goes_round_and_is_never_the_same() -> None:
    def failed(i: CaseItem) -> bool:
        return i.failed

    after_f, before_b = next_item(ITEMS, "f", failed), next_item(ITEMS, "b", failed, -1)
    assert after_f is not None
    assert after_f.case.id == "b"
    assert before_b is not None
    assert before_b.case.id == "f"
    assert next_item(ITEMS[:2], "b", failed) is None
    assert next_item([], "", failed) is None
    first = next_item(ITEMS, "", failed)
    assert first is not None
    assert first.case.id == "b"


@pytest.mark.parametrize(
    ("value", "digits", "words"),
    [
        (0.988, 3, ".988"),
        (1.0, 3, "1.000"),
        (-0.01, 3, "−.010"),
        (0.0, 2, ".00"),
        (-0.0001, 3, ".000"),
        (0.9996, 3, "1.000"),
    ],
)
def test_shares_are_short(value: float, digits: int, words: str) -> None:
    assert share(value, digits) == words


def test_a_wide_interval_takes_a_decimal_away() -> None:
    assert estimate_parts("recall@5", Estimate(0.988, 1190, 0.981, 0.993, "Wilson")) == (".988", "±.006")
    assert estimate_parts("pass_rate", Estimate(0.82, 40, 0.68, 0.92, "Wilson")) == (".82", "±.12")
    unbounded = Estimate(1900.0, 40, 1500.0, math.inf, "order statistics, open-ended")
    assert estimate_parts("latency_p95_ms", unbounded)[1] == "≥1.5 s"
    assert value_text("latency_p95_ms", 1900.0) == "1.9 s"


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (1.0, 0.741, 1.0, ("1.00", "−.26")),
        (0.0, 0.0, 0.259, (".00", "+.26")),
        (0.9, 0.6, 0.98, (".90", ".60–.98")),
        (0.5, 0.4, 0.6, (".50", "±.10")),
    ],
)
def test_a_lopsided_interval_has_no_plus_minus(value: float, low: float, high: float, words: tuple[str, str]) -> None:
    assert estimate_parts("pass_rate", Estimate(value, 11, low, high, "Wilson")) == words


@pytest.mark.parametrize(
    ("metric", "difference", "p", "words"),
    [
        ("recall@5", 0.02, 0.01, "▲ +.020"),
        ("recall@5", -0.02, 0.01, "▼ −.020"),
        ("recall@5", 0.02, 0.4, "· +.020"),
        ("recall@5", 0.0, 1.0, "="),
        ("latency_p95_ms", 120.0, 0.01, "▲ +120 ms"),
    ],
)
def test_a_change_has_an_arrow_only_when_it_is_significant(
    metric: str, difference: float, p: float, words: str
) -> None:
    estimate = Estimate(0.9, 1000, 0.89, 0.91, "Wilson")
    change = MetricChange(metric, estimate, estimate, Estimate(difference, 1000, 0.0, 0.0, "bootstrap"), p, "bootstrap")
    assert plain(change_line(change)) == words


def test_an_interval_stands_on_its_scale() -> None:
    assert plain(whisker(Estimate(0.5, 40, 0.25, 0.75, "Wilson"), 21, "●")) == "·····├────●────┤·····"
    assert plain(whisker(Estimate(1.0, 40, 0.9, 1.0, "Wilson"), 21, "●")).endswith("├─●")
    assert len(plain(whisker(Estimate(0.0, 1, 0.0, 0.0, "Wilson"), 5, "○"))) == 5


def test_a_curve_of_one_point_is_drawn() -> None:
    drawn = draw_curve([ThresholdPoint(0.4, 1.0, 0.0, None, None)], 0, 40, 10).plain
    assert drawn.count("◆") == 1
    assert "●" not in drawn


def test_a_segment_is_read_and_a_wrong_one_says_how() -> None:
    assert read_segment("type = table") == ("type", "table")
    assert read_segment("") is None
    for words in ("table", "colour=red", "type="):
        with pytest.raises(ValueError, match="type, language"):
            read_segment(words)


@pytest.mark.parametrize(("scored", "words"), [(11, "100.0 %"), (0, "–")])
def test_passed_is_a_share_of_the_cases_with_a_verdict(scored: int, words: str) -> None:
    lab = FakeDesk().evals
    run = replace(lab.runs()[0], done=14, passed=scored, scored=scored, status="complete")
    rows = run_rows(Lists(lab.datasets(), (run,), {}), frozenset(), {}, {}, 0)
    assert words in [plain(cell) for row in rows for cell in row.cells]
