"""Means, intervals, ranks, drift and LocalScore on worked numbers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.screens.fake_benchmarks import MANIFEST, WHEN
from workbench.benchmarks.exports import export
from workbench.benchmarks.figures import drifts, figure, local_score, ranked, t_quantile
from workbench.benchmarks.quality import judged
from workbench.benchmarks.report import report
from workbench.records.answers import Manifest
from workbench.records.benchmarks import Bench, BenchModel, BenchPlan, Conditions, Figure, Sample
from workbench.records.evals import Run, RunConfig, RunStatus

SPEEDS = st.lists(st.floats(0.1, 1e5), min_size=2, max_size=12)


def test_the_spread_is_the_samples() -> None:
    """2, 4, 4, 4, 5, 5, 7, 9: squares sum to 32, over n − 1 = 7 (over n it would be 2)."""
    found = figure([2, 4, 4, 4, 5, 5, 7, 9])
    assert found.mean == 5
    assert found.sd == pytest.approx(math.sqrt(32 / 7))


def test_the_interval_of_five_is_students() -> None:
    """t of 4 degrees is 2.776: 100 ± 2.776 · √2.5 / √5 = 100 ± 1.963."""
    found = figure([98, 99, 100, 101, 102])
    assert found.low == pytest.approx(100 - 1.963, abs=1e-3)
    assert found.high == pytest.approx(100 + 1.963, abs=1e-3)


def test_one_repetition_has_no_interval_and_none_has_no_figure() -> None:
    found = figure([80.0])
    assert (found.low, found.high, found.sd) == (None, None, None)
    with pytest.raises(ValueError, match="needs a value"):
        figure([])


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.706), (30, 2.042), (40, 2.021), (120, 1.980)])
def test_quantiles_are_those_of_the_tables(freedom: int, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, abs=0.002)


@given(SPEEDS)
def test_an_interval_holds_its_mean(values: list[float]) -> None:
    found = figure(values)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.mean <= found.high


def test_overlapping_intervals_share_a_rank() -> None:
    """The second overlaps the first, the third lies below both, the fourth overlaps only the third."""
    bounds = [(99, 101), (97, 100), (90, 95), (88, 92)]
    figures = [Figure((low + high) / 2, 1.0, 5, low, high) for low, high in bounds]
    assert [f.rank for f in ranked(figures) if f] == [1, 1, 3, 3]


def test_there_is_no_rank_without_an_interval_or_a_rival() -> None:
    single, wide = figure([80.0]), figure([79.0, 81.0])
    assert [f.rank for f in ranked([single, wide]) if f] == [0, 0]
    assert ranked([None, wide])[0] is None


def test_a_model_without_figures_leaves_the_others_their_ranks() -> None:
    fast, slow = figure([100, 101, 99]), figure([50, 51, 49])
    assert [f.rank if f else None for f in ranked([slow, None, fast])] == [2, None, 1]


def test_a_steady_fall_is_drift_and_noise_is_not() -> None:
    assert drifts([100, 97, 95, 92, 90])
    assert not drifts([100, 97, 101, 98, 100])
    assert not drifts([100.0, 99.9, 99.8, 99.7, 99.6])  # a trend, but not worth telling
    assert not drifts([100, 80, 60])  # too few to tell


def test_local_score_is_ten_times_the_cube_root() -> None:
    """240 · 89 · 1000 / 118 = 181,016.9, its cube root 56.568."""
    assert local_score(240, 89, 118) == pytest.approx(565.68, abs=0.01)
    assert local_score(100, 10, 1000) == pytest.approx(100.0)
    with pytest.raises(ValueError, match="positive"):
        local_score(100, 10, 0)


@pytest.mark.parametrize(
    ("seen", "flags"),
    [
        (Conditions(others=0.1, frequency=0.95, temperature=0.9, battery=False), ()),
        (Conditions(), ()),  # a system that tells nothing
        (Conditions(others=0.3), ("busy",)),
        (Conditions(frequency=0.8), ("throttled",)),
        (Conditions(temperature=0.98, battery=True), ("hot", "battery")),
    ],
)
def test_what_disturbed_a_repetition_is_flagged(seen: Conditions, flags: tuple[str, ...]) -> None:
    calm = Conditions(others=0.0, frequency=1.0)
    bench = Bench(1, WHEN, BenchPlan(repetitions=2), (BenchModel("/m.gguf", "m", "0" * 64, 1),), MANIFEST, 4)
    samples = [
        Sample(1, 0, test, n, 50.0 + n, WHEN, conditions=seen if (test, n) == ("tg128", 1) else calm)
        for test in ("pp512", "tg128")
        for n in range(2)
    ]
    (row,) = report(bench, samples).rows
    assert row.flags == flags
    assert {test: found.flags for test, found in row.speeds} == {"pp512": (), "tg128": flags}


def a_run(
    number: int, model: BenchModel, dataset: str, passed: int, limit: int = 0, status: RunStatus = "complete"
) -> Run:
    config = RunConfig(dataset, "model", model=model.path, limit=limit, title=f"of {model.name}")
    told = Manifest("0.1.0", "", 0, 0, "", "", "", model.name, model.hash)
    return Run(number, config, "d" * 64, told, status, WHEN, 10, 10, passed, scored=10)


def test_quality_is_of_cases_that_the_models_have_in_common() -> None:
    """A newer evaluation of one of them, of other cases or of fewer, compares with nothing."""
    a, b = (BenchModel(f"/{name}.gguf", name, name * 64, 1) for name in "ab")
    runs = [
        a_run(5, a, "tasks", 10, status="stopped"),
        a_run(4, a, "other", 10),
        a_run(3, a, "tasks", 9, limit=10),
        a_run(2, b, "tasks", 6),
        a_run(1, replace(a, path="/moved.gguf"), "tasks", 8),
    ]
    found = judged([a, b], runs)
    assert found.dataset == "tasks"
    assert [found.rates[n].share for n in (0, 1)] == [0.8, 0.6]
    alone = judged([a], runs)
    assert (alone.dataset, alone.rates[0].share) == ("other", 1.0)
    assert judged([replace(b, hash="0" * 64)], runs).rates == {}  # the file was replaced
    bench = Bench(1, WHEN, BenchPlan(), (a, b), MANIFEST, 4)
    assert "passed of tasks" in export(report(bench, [], found), [], "markdown")
