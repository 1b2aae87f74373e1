"""The context builder: duplicates, parents, limits and the account of every token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.answers.pieces import evidence
from tests.library import NAME, open_library
from workbench.answers.context import Budget, build_context, ordered
from workbench.errors import BudgetError
from workbench.ports import Store
from workbench.records.answers import AskOptions, EvidenceOrder
from workbench.records.corpus import Chunk, Recipe
from workbench.records.retrieval import FusedHit

RULE = "The office opens at nine in the morning and closes at five in the afternoon on every working day of the year."
DOCUMENTS = {
    "a.txt": RULE,
    "copy.txt": RULE,
    "almost.txt": RULE.replace("of the year", "of the month"),
    "other.txt": "Readers may borrow six books for thirty days and renew them twice unless somebody else asks.",
    "long.txt": " ".join(f"Paragraph {n} speaks of matter number {n} at some length." for n in range(40)),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_library(tmp_path, DOCUMENTS, recipe=Recipe(size=2000))
    yield opened
    opened.close()


def chunks(store: Store, *names: str) -> list[Chunk]:
    ids = {document.source_id: document.id for document in store.corpus.documents(NAME)}
    return [chunk for name in names for chunk in store.corpus.chunks(ids[name])]


def hits(found: list[Chunk]) -> list[FusedHit]:
    return [FusedHit(chunk.id, rank, 1.0 / rank) for rank, chunk in enumerate(found, start=1)]


def budget(window: int | None, reserve: int = 20) -> Budget:
    return Budget(lambda evidence: len(evidence.text.split()), window, 30, 10, reserve, "words")


def test_copies_and_near_copies_are_given_once(store: Store) -> None:
    found = hits(chunks(store, "a.txt", "copy.txt", "almost.txt", "other.txt"))
    context = build_context(found, store.corpus, budget(None), AskOptions())
    assert [(e.label, e.source_id) for e in context.evidence] == [("F1", "a.txt"), ("F2", "other.txt")]
    assert {(d.source_id, d.reason, d.of) for d in context.dropped} == {
        ("copy.txt", "duplicate", "F1"),
        ("almost.txt", "duplicate", "F1"),
    }
    every = build_context(found, store.corpus, budget(None), AskOptions(duplicates=True))
    assert [e.source_id for e in every.evidence] == ["a.txt", "copy.txt", "almost.txt", "other.txt"]
    assert every.dropped == ()


def test_what_does_not_fit_is_left_out_whole_and_the_account_adds_up(store: Store) -> None:
    context = build_context(
        hits(chunks(store, "a.txt", "long.txt", "other.txt")), store.corpus, budget(120), AskOptions()
    )
    assert [e.source_id for e in context.evidence] == ["a.txt", "other.txt"]
    assert [(d.source_id, d.reason) for d in context.dropped] == [("long.txt", "budget")]
    ledger = context.ledger
    assert (ledger.instructions, ledger.question, ledger.reserve, ledger.window) == (30, 10, 20, 120)
    assert ledger.evidence == sum(e.tokens for e in context.evidence) == 22 + 16
    assert ledger.total <= ledger.window
    assert all(e.text == DOCUMENTS[e.source_id] for e in context.evidence)


def test_exactly_full_is_still_in(store: Store) -> None:
    found = hits(chunks(store, "a.txt"))
    assert build_context(found, store.corpus, budget(82), AskOptions()).ledger.total == 82
    with pytest.raises(BudgetError):
        build_context(found, store.corpus, budget(81), AskOptions())


def test_nothing_fits_is_a_named_refusal_with_the_numbers(store: Store) -> None:
    with pytest.raises(BudgetError) as caught:
        build_context(hits(chunks(store, "long.txt", "a.txt")), store.corpus, budget(70), AskOptions())
    assert caught.value.title == "The evidence does not fit"
    assert all(number in caught.value.message for number in ("70", "30", "10", "20", "22"))


def test_more_than_the_limit_is_recorded(store: Store) -> None:
    context = build_context(
        hits(chunks(store, "a.txt", "other.txt", "long.txt")), store.corpus, budget(None), AskOptions(evidence=1)
    )
    assert [d.reason for d in context.dropped] == ["limit", "limit"]
    assert context.ledger.window == context.ledger.total


def test_two_chunks_of_one_parent_deliver_it_once(tmp_path: Path) -> None:
    sentence = "Rule {0} says that drawer {0} of the archive holds exactly {0} hundred letters of the founder."
    text = " ".join(sentence.format(number) for number in range(1, 9))
    store = open_library(tmp_path, {"rules.txt": text}, recipe=Recipe("parent", size=40, parent_size=400))
    try:
        found = chunks(store, "rules.txt")
        assert len(found) > 2
        context = build_context(hits(found[1:]), store.corpus, budget(None), AskOptions())
        (piece,) = context.evidence
        assert piece.text == piece.body == text[piece.start : piece.end]
        assert len(piece.text) > len(found[1].text)
        assert piece.chunk_id == found[1].id
        assert {d.of for d in context.dropped} == {"F1"}
        alone = build_context(hits(found[1:]), store.corpus, budget(None), AskOptions(evidence=50, parents=False))
        assert [piece.text for piece in alone.evidence] == [chunk.text for chunk in found[1:]]
    finally:
        store.close()


def test_the_evidence_may_be_given_fewer_tokens_than_the_window_has(store: Store) -> None:
    found = hits(chunks(store, "a.txt", "other.txt"))
    small = replace(budget(None), most=22)
    context = build_context(found, store.corpus, small, AskOptions())
    assert [(e.source_id, e.tokens) for e in context.evidence] == [("a.txt", 22)]
    assert [(d.source_id, d.reason) for d in context.dropped] == [("other.txt", "budget")]
    with pytest.raises(BudgetError, match="may take 21 tokens"):
        build_context(found[:1], store.corpus, replace(small, most=21), AskOptions())


def test_the_prompt_can_show_the_best_evidence_first_last_or_at_both_ends() -> None:
    pieces = [evidence("text", f"F{n}") for n in range(1, 6)]

    def shown(order: EvidenceOrder) -> str:
        return " ".join(piece.label for piece in ordered(pieces, order))

    assert shown("best_first") == "F1 F2 F3 F4 F5"
    assert shown("best_last") == "F5 F4 F3 F2 F1"
    assert shown("edges") == "F1 F3 F5 F4 F2"
