"""The log of a session of typing, and how much rankings differ."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.keystrokes import KeystrokeLog, change, moves
from workbench.records.codec import decode, encode
from workbench.records.keystrokes import Keystroke, LaneTime, RankMove
from workbench.records.retrieval import FusedHit, FusionResult

RANKINGS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=12)
BOTH = (LaneTime("lexical", 1.0), LaneTime("dense", 9.0))


def typed(query: str, ids: str, *, lanes: tuple[LaneTime, ...] = BOTH, at: float = 0.0) -> Keystroke:
    hits = tuple(FusedHit(name, rank, 1 / (60 + rank)) for rank, name in enumerate(ids, 1))
    return Keystroke(at, query, "", ("lexical", "dense"), lanes, hits, FusionResult("rrf", 60, (), (), 0.1), 12.0)


def test_the_reranked_hits_of_a_key_take_the_place_of_the_fused_ones() -> None:
    log = KeystrokeLog()
    log.add(typed("loans", "abc", at=1.0))
    log.add(replace(typed("loans", "bac", at=1.0), rerank="overlap"))
    assert [keystroke.rerank for keystroke in log.keystrokes] == ["overlap"]
    log.add(replace(typed("loans", "bac", at=2.0), rerank="overlap"))
    assert len(log.keystrokes) == 2


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("abc", "abc", 0.0), ("abc", "def", 1.0), ("", "", 0.0), ("", "a", 1.0), ("ab", "ba", 0.5), ("ab", "ac", 0.25)],
)
def test_change_is_one_minus_the_average_overlap(before: str, after: str, expected: float) -> None:
    assert change(list(before), list(after)) == pytest.approx(expected)


@given(RANKINGS, RANKINGS)
def test_change_is_symmetric_and_between_0_and_1(a: list[str], b: list[str]) -> None:
    assert change(a, b) == pytest.approx(change(b, a))
    assert 0.0 <= change(a, b) <= 1.0
    assert change(a, a) == pytest.approx(0.0)


def test_a_swap_at_the_top_changes_more_than_one_at_the_bottom() -> None:
    assert change("abcdefghij", "bacdefghij") > change("abcdefghij", "abcdefghji") > 0


def test_the_whole_ranking_takes_the_place_of_the_lexical_lane_alone() -> None:
    log = KeystrokeLog()
    log.add(typed("a", "xyz"))
    log.add(typed("ab", "zzz", lanes=BOTH[:1]))
    log.add(typed("ab", "xyw"))
    assert [k.query for k in log.keystrokes] == ["a", "ab"]
    assert log[1].whole
    assert log.changes[1] == pytest.approx(change("xyz", "xyw"))


def test_a_keystroke_that_was_overtaken_keeps_what_was_shown_of_it() -> None:
    log = KeystrokeLog([typed("a", "x", lanes=BOTH[:1]), typed("ab", "y")])
    assert [(k.query, k.whole) for k in log.keystrokes] == [("a", False), ("ab", True)]


def test_the_oldest_go_first_and_the_bound_holds() -> None:
    log = KeystrokeLog(most=3)
    gone = [log.add(typed(str(n), "abc"[: n % 4])) for n in range(5)]
    assert gone == [0, 0, 0, 1, 1]
    assert [k.query for k in log.keystrokes] == ["2", "3", "4"]
    assert len(log.changes) == 3


def test_moves_name_who_came_who_went_and_who_moved() -> None:
    assert moves(typed("a", "xyz"), typed("b", "yxw")) == (
        RankMove("y", 2, 1),
        RankMove("x", 1, 2),
        RankMove("w", None, 3),
        RankMove("z", 3, None),
    )


def test_a_keystroke_survives_json() -> None:
    keystroke = replace(typed("año", "xyz"), painted_ms=23.5)
    assert decode(Keystroke, encode(keystroke)) == keystroke
