"""Transformations of a whole question on a real file: what each adds to the search, at what cost, and its limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.answers.fake_generator import FakeGenerator
from tests.embedders import HashEmbedder
from tests.library import NAME, open_library
from workbench.answers.ask import Asker
from workbench.errors import UsageError
from workbench.ports import Store
from workbench.queries.searching import search_transformed
from workbench.queries.transforming import level
from workbench.records.answers import AskOptions, Decision, Generation, Trace
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.retrieval import (
    FusionResult,
    LaneHit,
    LaneResult,
    SearchOptions,
    SearchResult,
    Transform,
    Transformed,
)
from workbench.retrieval.search import Searcher
from workbench.retrieval.transforms import TRANSFORMS, TRANSFORMS_SETTING, parse_transforms
from workbench.traces.exports import trace_otlp
from workbench.traces.inspector import Inspector

OPTIONS = SearchOptions(NAME)
TWO = "How many books may a reader borrow and how much is the enrolment fee?"
WORDINGS = "- What number of volumes can be taken home?\n- How many items are lent?\n- How many items are lent?\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path)
    yield opened
    opened.close()


def search(
    store: Store, query: str, *transforms: Transform, model: FakeGenerator | None = None, **options: int
) -> SearchResult:
    wanted = replace(OPTIONS, transforms=transforms, **options)  # type: ignore[arg-type]  # ints are all they take here
    return search_transformed(store, Searcher(store, HashEmbedder()), model, query, wanted)


def ask(store: Store, query: str, options: AskOptions | None = None, model: FakeGenerator | None = None) -> Trace:
    *_, last = Asker(store, Searcher(store, None), lambda: model).ask(query, options or AskOptions(), OPTIONS)
    assert last == store.traces.trace("last")
    return last


def stage(trace: Trace, name: str) -> object:
    span = trace.span(name)
    return span.output if span else None


def test_the_question_itself_always_takes_part_and_each_variant_has_its_own_share(store: Store) -> None:
    (done,) = (result := search(store, TWO, "split")).transforms
    assert (done.kind, done.by, done.searches) == ("split", "rules", 4)
    assert [variant.text for variant in done.variants] == [
        "How many books may a reader borrow",
        "how much is the enrolment fee?",
    ]
    first = result.hits[0].hit
    assert {"lexical", "split 1 lexical"} <= {name for name, _ in first.contributions}
    assert first.score == pytest.approx(sum(share for _, share in first.contributions))
    assert result.lanes[0].variant == ""


def test_a_misspelt_question_finds_what_was_meant(store: Store) -> None:
    wrong = "borow boooks"
    plain = search(store, wrong, "split")
    assert [done.kind for done in plain.transforms] == ["spelling", "split"]  # no word was found: unasked
    assert plain.lanes[0].hits == ()
    assert plain.transforms[0].variants[0].text == "borrow books"
    assert plain.hits[0].source_id == "borrowing.md"


def test_a_mixed_collection_is_searched_in_each_of_its_languages(store: Store) -> None:
    (done,) = search(store, "How many books may a reader borrow?", "languages").transforms
    assert [variant.name for variant in done.variants] == ["en", "es"]
    _, lane = done.lanes
    (chunk,) = store.corpus.chunks_by_id([lane.hits[0].chunk_id])
    assert (lane.lane, chunk.language, len(lane.hits)) == ("dense", "es", 1)
    assert sorted(hit.rank for found in done.lanes for hit in found.hits) == [1, 2, 3, 4]  # one ranking


def test_languages_are_ranked_by_how_far_a_hit_is_above_its_own_language() -> None:
    def lane(name: str, *scores: float) -> LaneResult:
        return LaneResult("dense", tuple(LaneHit(f"{name}{n}", n, s) for n, s in enumerate(scores, 1)), 9, 0.0)

    found = level({"en": lane("en", 0.90, 0.86, 0.85), "es": lane("es", 0.88, 0.79, 0.78), "fr": lane("fr")})
    ranks = {hit.chunk_id: hit.rank for one in found.values() for hit in one.hits}
    assert ranks == {"es1": 1, "en1": 2, "en2": 3, "en3": 4, "es2": 5, "es3": 6}  # +.06 over es, +.03 over en
    assert found["fr"].hits == ()


def test_a_model_s_wordings_count_half_and_what_it_costs_is_told(store: Store) -> None:
    model = FakeGenerator(WORDINGS)
    (done,) = search(store, "How many books may a reader borrow?", "multi", model=model).transforms
    assert [variant.text for variant in done.variants] == [
        "What number of volumes can be taken home?",
        "How many items are lent?",
    ]
    assert {lane.weight for lane in done.lanes} == {0.5}
    assert (done.by, done.output_tokens, done.searches) == ("fake", 3, 4)
    assert model.settings[0].grammar.startswith("root ::=")


def test_a_made_up_passage_is_only_searched_for_by_meaning(store: Store) -> None:
    passage = "A reader may borrow six books for thirty days."
    (done,) = search(store, "How many books?", "hyde", model=FakeGenerator(passage)).transforms
    assert [lane.lane for lane in done.lanes] == ["dense"]
    assert done.variants[0].text == passage


@pytest.mark.parametrize(("kind", "why"), [("multi", "no model"), ("hyde", "no model"), ("split", "one question")])
def test_what_can_not_be_done_says_why(store: Store, kind: Transform, why: str) -> None:
    (done,) = search(store, "How many books may a reader borrow?", kind).transforms
    assert why in done.skipped
    assert done.searches == 0


def test_budgets_of_searches_and_tokens_hold(store: Store) -> None:
    model = FakeGenerator(WORDINGS)
    done = search(store, TWO, "languages", "split", "multi", model=model, extra_searches=5, query_tokens=10).transforms
    assert sum(one.searches for one in done) <= 5
    assert model.prompts == []
    assert "10 are left" in done[-1].skipped
    assert done[1].by == "rules"  # where the model may not, the rules split


def test_a_collection_s_transformations_are_taken_where_none_are_asked_for(store: Store) -> None:
    store.settings.set(TRANSFORMS_SETTING.format(collection=NAME), "split")
    kept = search_transformed(store, Searcher(store, None), None, TWO, OPTIONS)
    assert [done.kind for done in kept.transforms] == ["split"]
    assert search(store, TWO).transforms == ()


def test_names_of_transformations_are_read_in_order_and_checked() -> None:
    assert parse_transforms("hyde, spelling") == ("spelling", "hyde")
    assert parse_transforms("none") == parse_transforms("") == ()
    assert parse_transforms(",".join(TRANSFORMS)) == TRANSFORMS
    with pytest.raises(UsageError, match="spellling"):
        parse_transforms("spellling")


def test_transformations_are_stages_that_are_stored_exported_and_replayed(store: Store) -> None:
    asker = Asker(store, Searcher(store, None), lambda: None)
    *_, last = asker.ask(TWO, AskOptions(), replace(OPTIONS, transforms=("split",)))
    assert isinstance(stage(last, "split"), Transformed)
    assert "workbench.transform.queries" in str(trace_otlp(last))
    inspector = Inspector(store, lambda: Searcher(store, None), lambda: None)
    result = inspector.what_if(last.id, "")
    fusion = stage(last, "fusion")
    assert isinstance(fusion, FusionResult)
    assert [hit.chunk_id for hit in result.hits] == [hit.chunk_id for hit in fusion.hits]
    *_, again = inspector.replay(last.id)
    assert isinstance(stage(again, "split"), Transformed)


# -- weak evidence ---------------------------------------------------------------------------------------------------


def test_weak_evidence_is_searched_for_once_more_and_then_answered(store: Store) -> None:
    misspelt = "How many boooks may a readerr borroww?"
    trace = ask(store, misspelt)
    check = stage(trace, "evidence")
    assert isinstance(check, EvidenceCheck)
    assert (check.next, check.step, check.steps) == ("search", 1, 1)
    assert check.support < check.threshold
    assert "boooks → books" in check.reason
    assert trace.answer
    assert trace.answer.outcome == "answered"
    assert "six books" in trace.answer.text
    names = [span.name for span in trace.spans]
    assert names[-7:] == ["context", "evidence", "retry", "fusion", "context", "citations", "decision"]


def test_what_no_source_says_is_still_not_answered_after_the_second_search(store: Store) -> None:
    trace = ask(store, "Which airspeed may an unladen swallow reach in the office?")
    assert trace.answer
    assert trace.answer.outcome == "low_support"
    assert sum(span.name == "evidence" for span in trace.spans) == 1
    check = stage(trace, "evidence")
    assert isinstance(check, EvidenceCheck)
    assert {"airspeed", "swallow"} <= set(check.lacking)
    made = stage(trace, "decision")
    assert isinstance(made, Decision)
    supports = made.reason.partition("the best of its searches: ")[2].split(", ")
    assert len(supports) == 2
    assert max(map(float, supports)) == pytest.approx(made.support, abs=0.005)
    assert ask(store, "How many boooks may a readerr borroww?", AskOptions(retries=0)).span("evidence") is None


def test_each_part_of_a_split_question_is_answered_or_told_not_to_be(store: Store) -> None:
    options = replace(OPTIONS, transforms=("split",))
    asker = Asker(store, Searcher(store, None), lambda: None)

    def answer(query: str) -> tuple[str, str]:
        *_, last = asker.ask(query, AskOptions(threshold=0.2), options)
        assert last.answer
        return last.answer.text, last.answer.missing

    text, missing = answer("How much is the enrolment fee and how many books may a reader borrow?")
    assert "118.50 euros" in text
    assert "six books" in text
    assert missing == ""
    text, missing = answer("How much is the enrolment fee and who painted the unladen swallow?")
    assert "118.50 euros" in text
    assert missing == "The sources don't answer this part: who painted the unladen swallow?"


def test_when_nothing_is_left_to_try_it_says_so_and_abstains(store: Store) -> None:
    trace = ask(store, "unladen swallow airspeed enrolment", AskOptions(retries=3, threshold=0.99))
    last = [span.output for span in trace.spans if isinstance(span.output, EvidenceCheck)][-1]
    assert last.next == "abstain"
    assert "no other wording" in last.reason


# -- follow-ups ------------------------------------------------------------------------------------------------------


def test_a_follow_up_is_read_with_the_question_before_and_answered_from_sources_alone(store: Store) -> None:
    first = ask(store, "What is the enrolment fee?")
    second = ask(store, "Is it refunded?", AskOptions(follows="last"))
    read = stage(second, "follow")
    assert isinstance(read, FollowUp)
    assert (read.follows, read.carried) == (first.id, ("enrolment", "fee"))
    assert second.query == "Is it refunded?"
    assert second.spans[0].name == "follow"
    assert second.answer
    assert "not refunded after the first week" in second.answer.text
    third = ask(store, "And when?", AskOptions(follows=second.id))
    further = stage(third, "follow")
    assert isinstance(further, FollowUp)
    assert "fee" in further.question  # the topic holds over more than one turn


def test_a_model_may_reword_a_follow_up(store: Store) -> None:
    ask(store, "What is the enrolment fee?")
    model = FakeGenerator("- Is the enrolment fee refunded?\n")
    trace = ask(store, "Is it refunded?", AskOptions("extractive", follows="last", rewrite="model"), model)
    read = stage(trace, "follow")
    assert isinstance(read, FollowUp)
    assert (read.question, read.by) == ("Is the enrolment fee refunded?", "fake")
    assert not isinstance(stage(trace, "generation"), Generation)
