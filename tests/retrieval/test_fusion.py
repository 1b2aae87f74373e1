"""Fusion on worked numbers, ties included."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.records.retrieval import Lane, LaneHit, LaneResult, SearchOptions
from workbench.retrieval.fusion import fuse


def lane(name: Lane, *hits: tuple[str, float], skipped: str = "") -> LaneResult:
    ranked = tuple(LaneHit(chunk_id, rank, score) for rank, (chunk_id, score) in enumerate(hits, start=1))
    return LaneResult(name, ranked, 50, 0.0, skipped)


def test_rrf_of_first_in_bm25_and_fifth_in_vectors() -> None:
    lexical = lane("lexical", ("doc-01", 11.4))
    dense = lane("dense", ("a", 0.9), ("b", 0.89), ("c", 0.88), ("d", 0.87), ("doc-01", 0.72))
    best = fuse([lexical, dense], SearchOptions(k0=60)).hits[0]
    assert best.chunk_id == "doc-01"
    assert best.score == pytest.approx(1 / 61 + 1 / 65)
    assert best.score == pytest.approx(0.0317780, abs=1e-7)
    assert dict(best.contributions) == pytest.approx({"lexical": 1 / 61, "dense": 1 / 65})
    assert (best.lexical_rank, best.dense_rank, best.lexical_score, best.dense_score) == (1, 5, 11.4, 0.72)


def test_weights_use_min_max_scores() -> None:
    lexical = lane("lexical", ("a", 12.0), ("b", 7.0), ("c", 2.0))
    dense = lane("dense", ("b", 0.9), ("c", 0.8), ("a", 0.7))
    options = SearchOptions(fusion="weights", weights=(("lexical", 0.25), ("dense", 0.75)))
    hits = fuse([lexical, dense], options).hits
    assert [(hit.chunk_id, round(hit.score, 4)) for hit in hits] == [("b", 0.875), ("c", 0.375), ("a", 0.25)]


def test_equal_scores_count_as_full() -> None:
    options = SearchOptions(fusion="weights", weights=(("lexical", 0.4), ("dense", 0.6)))
    assert fuse([lane("lexical", ("a", 3.0), ("b", 3.0))], options).hits[1].score == pytest.approx(0.4)


def test_ties_go_by_dense_rank_then_lexical_rank_then_id() -> None:
    mirrored = fuse([lane("lexical", ("x", 2), ("y", 1)), lane("dense", ("y", 2), ("x", 1))], SearchOptions())
    assert [hit.chunk_id for hit in mirrored.hits] == ["y", "x"]
    zero = SearchOptions(fusion="weights", weights=(("lexical", 0.0), ("dense", 0.0)))
    assert [h.chunk_id for h in fuse([lane("lexical", ("b", 2), ("a", 1))], zero).hits] == ["b", "a"]


def test_a_skipped_lane_gives_nothing() -> None:
    result = fuse([lane("lexical", ("a", 1.0)), lane("dense", ("b", 1.0), skipped="no embedder")], SearchOptions())
    assert [hit.chunk_id for hit in result.hits] == ["a"]


def test_a_negative_k0_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        fuse([lane("lexical", ("a", 1.0))], SearchOptions(k0=-1))


ids = st.lists(st.sampled_from("abcdefghij"), unique=True)


@given(ids, ids, st.integers(0, 100), st.sampled_from(["rrf", "weights"]))
def test_every_score_is_the_sum_of_its_contributions(
    lexical: list[str], dense: list[str], k0: int, method: str
) -> None:
    lanes = [
        lane("lexical", *((i, 10.0 - n) for n, i in enumerate(lexical))),
        lane("dense", *((i, 1 - n / 20) for n, i in enumerate(dense))),
    ]
    result = fuse(lanes, SearchOptions(k0=k0, fusion="rrf" if method == "rrf" else "weights"))
    assert {hit.chunk_id for hit in result.hits} == {*lexical, *dense}
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(hit.score == pytest.approx(sum(s for _, s in hit.contributions)) for hit in result.hits)
