"""Worked numbers of saving and Δquality, intervals over blocks, the Pareto front, the decision's words."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.models.ladder_plots import scatter
from tests.screens.fake_benchmarks import MANIFEST, WHEN
from workbench.__main__ import open_desk
from workbench.benchmarks.figures import figure
from workbench.errors import NotFoundError, UsageError
from workbench.ladders import deciding, exports
from workbench.ladders.exports import export, front_words, table
from workbench.ladders.figures import BLOCK, block_bootstrap, divergence, loss, saving
from workbench.ladders.report import report
from workbench.records.benchmarks import BenchModel, BenchPlan, BenchRow
from workbench.records.evals import CaseResult
from workbench.records.ladders import (
    Divergence,
    Ladder,
    LadderPlan,
    LadderReport,
    Rung,
    TextPlan,
    TextScore,
    WindowScores,
)


def test_seven_gigabytes_to_three_and_a_half_saves_half() -> None:
    assert saving(3.5, 7) == 0.5
    assert saving(7, 7) == 0
    assert saving(14, 7) == -1  # it is larger
    with pytest.raises(ValueError, match="nothing"):
        saving(1, 0)


def test_quality_loss_is_the_baseline_less_the_quantized() -> None:
    baseline, quantized = [True] * 9 + [False], [True] * 7 + [False] * 3
    found = loss(baseline, quantized)
    assert found.value == pytest.approx(0.2)
    assert found.n == 10
    assert found.low <= 0.2 <= found.high
    assert loss(baseline, baseline).value == 0


@given(st.floats(0.001, 5), st.integers(1, 8))
def test_a_constant_has_no_interval_that_passes_for_certainty(value: float, blocks: int) -> None:
    found = block_bootstrap(np.full(blocks * BLOCK, value), lambda part: part.mean())
    assert found == TextScore(pytest.approx(value), blocks * BLOCK)


def test_one_passage_or_few_positions_give_no_interval_anywhere() -> None:
    """A ladder on one passage: no figure, table, file or decision shows a closed interval."""
    one = [uneven(0.3, blocks=8)]
    few = [replace(part, window=n) for n, part in enumerate([uneven(0.3, blocks=2)] * 2)]
    enough = [replace(part, window=n) for n, part in enumerate([uneven(0.3, blocks=4), uneven(0.2, blocks=4)])]
    for windows, known in ((one, False), (few, False), (enough, True)):
        found = divergence(windows)
        assert found
        scores = (found.kl, found.kl_p99, found.same_top, found.perplexity, found.reference_perplexity, found.log_ratio)
        assert [score.low is not None for score in scores] == [known] * 6
    found = divergence(one)
    assert found
    made = report(ladder(1000, 530), {}, {1: found}, {}, ())
    (_, cells) = table(made)[1]
    assert [cells[n].rpartition(" ")[2] for n in (7, 8, 9, 10)] == ["[–]"] * 4
    bounds = [line.split(",")[6:8] for line in export(made, "csv").splitlines() if "mean" in line or ",kl," in line]
    assert bounds == [["", ""]]
    assert json.loads(export(made, "json"))["rows"][1]["divergence"]["kl"]["low"] is None
    assert "1 passage with 256 scored positions give none" in export(made, "markdown")
    told = deciding.sentence(made, 1, 0)
    assert "[–] nats" in told.loses
    assert "of perplexity" not in told.loses
    assert "of perplexity" in told.open_words


def test_a_figure_stands_with_the_ends_of_its_interval_which_is_lopsided() -> None:
    """Half its width beside the value would tell other ends: a perplexity below 0, even."""
    found = divergence([replace(uneven(0.9, blocks=4), window=n) for n in range(2)])
    assert found
    parts = ((7, found.perplexity, 2), (8, found.kl, 4), (9, found.kl_p99, 2))
    made = report(ladder(1000, 530), {}, {1: found}, {}, ())
    told = exports.row_words(made, made.rows[1])
    for place, score, digits in parts:
        assert score.low is not None
        assert score.high is not None
        assert abs(score.high + score.low - 2 * score.value) > 0.02 * score.value
        words = f"{score.value:.{digits}f} [{score.low:.{digits}f}, {score.high:.{digits}f}]"
        assert table(made)[1][1][place] == words
        assert words in told
        assert words in export(made, "markdown")


def test_neighbours_that_go_together_widen_the_interval() -> None:
    """16 blocks, each all 0 or all 1: as uncertain as 16 values, not as 512."""
    together = np.repeat(np.arange(16) % 2, BLOCK).astype(float)
    mixed = np.tile([0.0, 1.0], 8 * BLOCK)
    wide = block_bootstrap(together, lambda part: part.mean())
    assert wide.low is not None
    assert wide.high is not None
    assert wide.high - wide.low > 0.3
    assert block_bootstrap(mixed, lambda part: part.mean()).low is None


def test_a_bit_equal_model_loses_nothing() -> None:
    found = divergence([scores(0.0)] * 2)
    assert found
    assert (found.kl.value, found.kl_p99.value, found.log_ratio.value) == (0, 0, 0)
    assert found.same_top.value == 1
    assert found.same_top.low is not None
    assert found.same_top.low < 1  # agreement on so little text is no proof of agreement
    assert found.perplexity == found.reference_perplexity
    assert divergence([]) is None


def test_p99_is_the_nearest_rank() -> None:
    found = divergence([replace(scores(0.0), kl=tuple(n / 100 for n in range(4 * BLOCK)))])
    assert found
    assert found.kl_p99.value == 1.26  # the 127th of 128 values


def scores(off: float) -> WindowScores:
    n = 4 * BLOCK
    reference = tuple(3 + 0.1 * (i % 3) for i in range(n))
    return WindowScores(0, (off,) * n, tuple(s + off for s in reference), reference, (True,) * n)


def uneven(off: float, blocks: int) -> WindowScores:
    """Off by less and less from block to block."""
    far = tuple(off / (1 + i // BLOCK) + 0.01 * (i % 5) for i in range(blocks * BLOCK))
    reference = tuple(3 + 0.1 * (i % 7) for i in range(blocks * BLOCK))
    surprise = tuple(before + more for before, more in zip(reference, far, strict=True))
    return WindowScores(0, far, surprise, reference, tuple(i % (8 + i // BLOCK) > 0 for i in range(blocks * BLOCK)))


def ladder(*sizes: int) -> Ladder:
    kinds = ("F16", "Q8_0", "Q4_K_M", "Q4_0", "Q2_K")
    rungs = tuple(
        Rung(n, kinds[n], f"/m/{kinds[n]}.gguf", kinds[n], True, hash=str(n) * 64, size=size)
        for n, size in enumerate(sizes)
    )
    return Ladder(1, WHEN, LadderPlan("/m/s.gguf", kinds[1:], "/m", text=TextPlan(path="t")), MANIFEST, rungs)


def timed(found: Ladder) -> Ladder:
    return replace(found, plan=replace(found.plan, bench=BenchPlan()))


def speeds_of(*measured: list[float]) -> dict[str, BenchRow]:
    """Of the rungs of a ladder that is timed."""
    return {
        rung.path: BenchRow(BenchModel(rung.path, rung.name, "", 1), speeds=(("tg128", figure(values)),))
        for rung, values in zip(ladder(*[1000] * len(measured)).rungs, measured, strict=True)
    }


def reported(found: Ladder, *kl: float) -> LadderReport:
    scored: dict[int, Divergence] = {}
    for place, off in enumerate(kl, 1):
        if made := divergence([uneven(off, blocks=4)] * 2):
            scored[place] = made
    return report(found, {}, scored, {}, ())


def test_the_front_leaves_out_what_is_larger_and_worse() -> None:
    made = reported(ladder(1000, 530, 330, 290, 300), 0.004, 0.06, 0.25, 0.4)
    assert [row.front for row in made.rows] == [True, True, True, True, False]
    assert front_words(made) == "◆ Pareto front over file size, mean KL"


def test_a_rung_with_a_problem_is_on_no_front_and_hides_none() -> None:
    whole = ladder(1000, 530, 330)
    broken = replace(whole, rungs=(*whole.rungs[:2], replace(whole.rungs[2], problem="it broke")))
    made = reported(broken, 0.004)
    assert [row.front for row in made.rows] == [True, True, False]


def test_nothing_scored_makes_no_front() -> None:
    made = reported(ladder(1000, 530))
    assert not made.criteria
    assert not any(row.front for row in made.rows)


def test_the_decision_says_what_is_saved_kept_and_lost() -> None:
    made = reported(ladder(7_000_000_000, 3_500_000_000), 0.05)
    told = deciding.sentence(made, 1, 0).words("a person reads every draft.")
    assert told.startswith(
        "Against F16, Q8_0 saves 3.5 GB of the file (50%), keeps the likeliest token of F16 at 89.1%"
    )
    assert "loses KL 0.046 [0.0" in told
    assert told.endswith("and still pays because a person reads every draft.")
    with pytest.raises(UsageError, match="one rung against another"):
        deciding.sentence(made, 1, 1)
    with pytest.raises(NotFoundError):
        deciding.sentence(made, 7, 0)


def test_what_was_not_measured_is_not_decided_on(tmp_path: Path) -> None:
    """A rung with a figure is; the sheet begins with what lacks, and its units are the sentence's."""
    with closing(open_desk(tmp_path / "lab.db")) as desk:
        bare = report(ladder(98_362_432, 91_720_000), {}, {}, {}, ("bench",))
        with pytest.raises(UsageError, match=r"only the size is known .not complete: bench"):
            deciding.decide(desk.evals, bare, deciding.sentence(bare, 1, 0), "it is small")
        found = divergence([scores(0.05)])
        assert found
        only_fast = report(timed(ladder(1000, 530)), speeds_of([40.0, 40.1], [80.0, 80.1]), {}, {}, ("quality",))
        fast = deciding.sentence(only_fast, 1, 0)
        assert fast.loses == "an unknown amount of quality, which was not measured"
        assert deciding.decide(desk.evals, only_fast, fast, "it is fast").verdict == "measure_more"
        scored = report(ladder(98_362_432, 91_720_000), {}, {1: found}, {}, ("bench",))
        record = deciding.decide(desk.evals, scored, deciding.sentence(scored, 1, 0), "it is small")
    assert record.evidence[0] == "not complete: bench"
    assert "file 91.7 MB" in record.evidence[2]
    assert "MiB" not in "".join(record.evidence[1:3])


def test_a_small_model_s_saving_is_told_in_megabytes() -> None:
    told = deciding.sentence(reported(ladder(98_362_432, 91_720_000), 0.05), 1, 0)
    assert told.saves == "6.64 MB of the file (7%)"
    assert [exports.decimal(n) for n in (294_600_000, 999_600_000)] == ["295 MB", "1 GB"]
    back = deciding.sentence(reported(ladder(98_362_432, 91_720_000), 0.05), 0, 1)
    assert back.saves == "nothing that was measured"
    assert back.loses.startswith("6.64 MB more of the file")
    assert "the perplexity (-" in back.keeps
    assert back.judged


@pytest.mark.parametrize(
    ("speeds", "part", "words"),
    [
        ([20.0, 20.1, 19.9], "loses", "50% of the decode speed"),
        ([80.0, 80.1, 79.9], "saves", "50% of the time for a token"),
        ([20.0, 70.0, 45.0], "open", "decode speed ×1.12"),
        ([20.0], "open", "decode speed ×0.50"),
    ],
)
def test_a_speed_is_lost_saved_or_open_as_far_as_the_intervals_tell(speeds: list[float], part: str, words: str) -> None:
    made = report(timed(ladder(1000, 530)), speeds_of([40.0, 40.1, 39.9], speeds), {}, {}, ())
    told = deciding.sentence(made, 1, 0)
    lines = [line.split(",") for line in export(made, "csv").splitlines() if "tokens_per_s" in line]
    assert [bool(line[6]) for line in lines] == [True, len(speeds) > 1]  # a bound of 0 is a bound
    assert [name for name in ("saves", "keeps", "loses", "open") if words in getattr(told, name)] == [part]


def test_a_perplexity_is_lost_only_when_the_paired_ratio_says_so() -> None:
    noisy = replace(scores(0.05), surprise=tuple(3 + 0.1 * ((i + 1) % 3) + 1e-6 for i in range(4 * BLOCK)))
    unsure = divergence([noisy, noisy])
    assert unsure
    assert unsure.log_ratio.low is not None
    assert unsure.log_ratio.low < 0 < unsure.log_ratio.value
    told = deciding.sentence(report(ladder(1000, 530), {}, {1: unsure}, {}, ()), 1, 0)
    assert told.open == "+0.2% of perplexity"
    assert "perplexity" not in told.keeps + told.loses
    lost = deciding.sentence(reported(ladder(1000, 530), 0.05), 1, 0)
    assert "+4.7% of perplexity" in lost.loses


def test_the_plot_s_scale_is_seen_to_be_logarithmic() -> None:
    drawn = str(scatter(reported(ladder(1000, 530, 330), 0.004, 0.3), 60, 24)).splitlines()
    places = [next(n for n, line in enumerate(drawn) if line.startswith(f"{tick:>6} ")) for tick in (0.1, 0.01, 0.001)]
    assert abs((places[1] - places[0]) - (places[2] - places[1])) <= 1 < places[1] - places[0]


def test_cases_are_compared_pair_by_pair() -> None:
    found = ladder(1000, 530)
    results = {
        0: [CaseResult(1, f"c{n}", n, True) for n in range(8)],
        1: [CaseResult(2, f"c{n}", n, n > 1) for n in range(8)],
    }
    made = report(found, {}, {}, results, ())
    assert made.rows[1].loss
    assert made.rows[1].loss.value == pytest.approx(0.25)
    assert made.rows[0].loss is None
    assert made.rows[1].passed
    assert made.rows[1].passed.n == 8
    fewer, more = deciding.sentence(made, 1, 0), deciding.sentence(made, 0, 1)
    assert "6/8 [0.41, 0.93] cases passed (it was 8/8" in fewer.open
    assert "cases passed" not in fewer.keeps + fewer.loses, "fewer are not kept, and these few prove no loss"
    assert "8/8 [0.68, 1.00] cases passed (it was 6/8" in more.keeps


def test_markdown_escapes_a_pipe_and_says_what_it_rests_on() -> None:
    found = ladder(1000, 530)
    odd = replace(found, rungs=(found.rungs[0], replace(found.rungs[1], made=False, name="a|b", origin="Q4_1")))
    told = export(reported(odd, 0.01), "markdown")
    assert "Q8_0 (a\\|b)" in told
    assert "dequantized first" in told
    assert "SHA-256 " + "1" * 64 in told
    assert export(reported(odd, 0.01), "csv").count("\n") > 8
