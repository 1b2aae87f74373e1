"""The rerank stage with a cross-encoder: from the fused hits to the trace, within its time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from tests.library import NAME
from workbench.desk import Desk
from workbench.errors import Cancelled, NotFoundError, UsageError
from workbench.ports import Cancel
from workbench.records.cases import Case, GoldSpan
from workbench.records.rerankers import PairScore, RerankerInfo
from workbench.records.retrieval import FusedHit, RerankResult, SearchOptions, SearchResult
from workbench.retrieval.cross import rank_pairs
from workbench.traces.stages import settled, stage
from workbench.traces.what_if import Material, settings_of, what_if

QUESTION = "how many books may a reader borrow"
OVERLAP = SearchOptions(NAME, rerank="overlap")
CASES = (
    Case("1", QUESTION, gold=(GoldSpan("borrowing.md"),)),
    Case("2", "cuesta nueve euros el menú", gold=(GoldSpan("coffee.md"),)),
)


class Slow:
    """Scores by a table; the clock of the budget runs out after ``lasts`` pairs."""

    info = RerankerInfo("slow", "onnx")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lasts: int) -> None:
        self._now = 0.0
        self._step = 1 / lasts
        monkeypatch.setattr("workbench.retrieval.cross.time.perf_counter", lambda: self._now)

    def start(self) -> None:
        self._now += 100  # to start takes no time off the budget

    def score(self, query: str, passages: Sequence[str], cancel: Cancel | None = None) -> Iterator[PairScore]:
        for passage in passages:
            self._now += self._step * 1.001
            yield PairScore(float(len(passage)), truncated=False)

    def close(self) -> None: ...


def hits(count: int) -> tuple[FusedHit, ...]:
    return tuple(FusedHit(f"c{n}", n, 1 / (60 + n)) for n in range(1, count + 1))


def test_when_the_time_ends_only_the_hits_so_far_move(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"c{n}": "x" * n for n in range(1, 9)}
    ranked, note = rank_pairs(Slow(monkeypatch, 5), "q", hits(8), texts, 1000)
    assert [hit.chunk_id for hit in ranked] == ["c5", "c4", "c3", "c2", "c1"]
    assert note == "its 1,000 ms ended after 5 of 8"
    ranked, note = rank_pairs(Slow(monkeypatch, 5), "q", hits(8), texts, 0)
    assert (len(ranked), note) == (8, "")


def test_equal_scores_keep_their_order_and_chunks_that_are_gone_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked, _ = rank_pairs(Slow(monkeypatch, 9), "q", hits(4), {"c1": "x", "c3": "x", "c4": "xx"}, 1000)
    assert [(hit.chunk_id, hit.before, hit.score) for hit in ranked] == [
        ("c4", 4, 2), ("c1", 1, 1), ("c3", 3, 1), ("c2", 2, None),
    ]  # fmt: skip


def searched(desk: Desk, options: SearchOptions) -> tuple[SearchResult, RerankResult]:
    result = desk.search(QUESTION, options)
    assert result.rerank is not None
    return result, result.rerank


@pytest.mark.parametrize(("name", "best"), [("overlap", 5.0), ("bookish", None)])
def test_both_kinds_put_the_passage_first_that_they_prefer(desk: Desk, name: str, best: float | None) -> None:
    result, told = searched(desk, SearchOptions(NAME, rerank=name))
    assert (told.mode, told.skipped, told.note) == (name, "", "")
    assert result.hits[0].source_id == "borrowing.md"
    scores = [hit.score for hit in told.hits if hit.score is not None]
    assert len(scores) == len(result.fusion.hits)
    assert scores == sorted(scores, reverse=True)
    assert best in (None, scores[0])
    assert [view.hit.fused_rank for view in result.hits] == [hit.before for hit in told.hits]


def test_only_the_first_hits_are_read_as_set_for_the_file_or_the_search(desk: Desk) -> None:
    desk.rerankers.limit(2, 5000)
    assert len(searched(desk, OVERLAP)[1].hits) == 2
    assert len(searched(desk, SearchOptions(NAME, rerank="overlap", rerank_depth=3))[1].hits) == 3


def test_a_search_can_be_stopped_while_it_reranks(desk: Desk) -> None:
    desk.warm_embedder()
    stop = threading.Event()
    steps = desk.search_typed(QUESTION, OVERLAP, stop)
    fused = next(step for step in steps if step.pending)
    assert fused.rerank is None
    assert fused.hits[0].hit.fused_rank is None
    stop.set()
    with pytest.raises(Cancelled):
        list(steps)


def test_a_keystroke_shows_the_fusion_and_then_the_reranked_hits(desk: Desk) -> None:
    desk.warm_embedder()
    *_, fused, last = desk.search_typed(QUESTION, OVERLAP)
    assert (fused.pending, last.pending) == (True, False)
    assert last.rerank is not None
    assert last.hits[0].hit.rerank_score == 5


def test_an_unknown_reranker_is_refused_and_one_that_fails_leaves_the_fused_order(desk: Desk) -> None:
    with pytest.raises(NotFoundError, match="nothing"):
        desk.search(QUESTION, SearchOptions(NAME, rerank="nothing"))
    result, told = searched(desk, SearchOptions(NAME, rerank="classifier"))
    assert "one number for each pair" in told.skipped
    assert result.notes[-1].startswith("rerank skipped: classifier can't rerank")
    assert [view.hit for view in result.hits] == list(result.fusion.hits)


def test_the_trace_has_the_stage_and_what_if_takes_it_away(desk: Desk) -> None:
    *_, trace = desk.ask(QUESTION, search=OVERLAP)
    told = stage(trace, "rerank", RerankResult)
    assert told is not None
    assert told.hits[0].score == 5
    assert settled(trace)[1].rerank == "overlap"
    material = Material(desk._store, trace)
    assert settings_of(trace).rerank == "overlap"
    off = desk.inspector.what_if(trace, "rerank=off")
    assert [hit.chunk_id for hit in off.hits] == [hit.chunk_id for hit in sorted(told.hits, key=lambda h: h.before)]
    assert what_if(material, settings_of(trace)).hits[0].rerank_score == 5
    with pytest.raises(UsageError, match="no scores of “bookish”"):
        desk.inspector.what_if(trace, "rerank=bookish")
    other = desk.inspector.what_if(trace, replace(material.settings, rerank="bookish"))  # in force on the screen
    assert other.notes[-1] == "The trace holds no scores of bookish: ask again with it."


def test_measured_on_a_dataset_each_reranker_has_its_figures_and_one_is_turned_on(desk: Desk) -> None:
    desk._store.datasets.put("faq", NAME, CASES)
    for name in ("overlap", "bookish", "late"):
        *_, gain = desk.rerankers.measure("faq", name)
        assert (gain.mode, gain.cases, gain.total) == (name, 2, 2)
        assert gain.interval is not None
        assert gain.interval[0] <= gain.recall_1[1] - gain.recall_1[0] <= gain.interval[1]
        assert gain.milliseconds > 0
    *_, again = desk.rerankers.measure("faq", "overlap")
    assert [gain.mode for gain in desk.rerankers.gains()] == ["bookish", "late", "overlap"]
    level = replace(again, fixed=0, broken=0, recall_1=(0.5, 0.5), mrr_10=(0.5, 0.75))
    with pytest.raises(UsageError, match="workbench search --rerank overlap"):
        desk.rerankers.use(level)
    better = type(again)("overlap", NAME, "faq", 2, 2, (0.5, 1.0), (0.75, 1.0), 1, 0, 1.0)
    desk.rerankers.use(better)
    result = desk.search(QUESTION, SearchOptions(NAME))
    assert result.rerank is not None
    assert (result.rerank.mode, result.rerank.gain) == ("overlap", better)
    told = searched(desk, SearchOptions(NAME, rerank="bookish"))[1].gain
    assert told is not None
    assert told.mode == "bookish"  # its own last measurement, though another one is on
    desk.rerankers.stop()
    assert desk.search(QUESTION, SearchOptions(NAME)).rerank is None


def test_a_sweep_runs_over_rerankers(desk: Desk) -> None:
    from workbench.evals.running.sweep import vary
    from workbench.records.evals import RunConfig

    desk._store.datasets.put("faq", NAME, CASES)
    configs = vary(RunConfig(dataset="faq"), "rerank", ["none", "overlap", "bookish"])
    assert [config.search.rerank for config in configs] == ["none", "overlap", "bookish"]
    for config in configs:
        *_, last = desk.evals.run(config)
        assert last.run is not None
        results = desk.evals.results(last.run.id)
        assert [result.error for result in results] == ["", ""]
        assert all((result.ranked[0].fused_rank is not None) == (config.search.rerank != "none") for result in results)
