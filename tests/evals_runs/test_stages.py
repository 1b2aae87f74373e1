"""Stages that reading failed cases of XQuAD showed to be named wrongly, each in a case of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals_metrics.builders import answer as blank_answer
from workbench.evals.gold.whereabouts import Whereabouts
from workbench.evals.running.failure import Findings, name_failure
from workbench.evals.running.marks import answer_marks
from workbench.records.answers import Answer, Citation, Claim, Context, Evidence, Generation, Ledger, SupportLevel
from workbench.records.cases import Case, GoldSpan
from workbench.records.evals import CaseResult, FailureStage

TEXT = "Lamps burn oil. Ada Quinn built the lamp in 1874. It weighs 310 kilograms."
GOLD = GoldSpan("lamp.md", TEXT.index("1874"), TEXT.index("1874") + 4, grade=3)
CASE = Case("lamp", "When was the lamp built?", gold=(GOLD,), answers=("1874",))
PIECE = Evidence("F1", "c", "d", "lamp.md", "", (), None, "", 0, len(TEXT), TEXT, 20)
CONTEXT = Context((PIECE,), (), Ledger(0, 20, 0, 0, 100, "words"))
CUT = Generation("complete", "", stop_reason="length")
RIGHT_SENTENCE = "Ada Quinn built the lamp in 1874."
OTHER_SENTENCE = "It weighs 310 kilograms."


def claim(text: str, level: SupportLevel, cited: str = RIGHT_SENTENCE) -> Claim:
    start = TEXT.index(cited)
    where = Citation("F1", "c", "d", "lamp.md", "", (), None, "", start, start + len(cited), cited)
    return Claim(text, (where,) if level != "uncited" else (), {"supported": 1.0, "weak": 0.5}.get(level, 0.0), level)


def stage(*claims: Claim, generation: Generation | None = None) -> FailureStage:
    said = Answer("answered", "generated", "", claims, (), 0.9, 0.5, "en")
    findings = Findings(5, lambda: Whereabouts(True, False, True, False, True), CONTEXT, generation)
    return name_failure(CASE, CaseResult(1, "lamp", 0, passed=False, answer=said), findings).stage


@pytest.mark.parametrize(
    ("claims", "cut", "expected"),
    [
        # A false answer whose words stand in part in what it cites was called a wrong reading of the gold.
        ([claim("Ada Quinn built it in 1910.", "weak")], False, "unsupported"),
        # An answer without a citation was said to be taken from other evidence.
        ([claim("Nobody can say.", "uncited")], False, "unsupported"),
        # A sentence from beside the gold was said to cite it.
        ([claim(OTHER_SENTENCE, "supported", OTHER_SENTENCE)], False, "ignored"),
        # What was false before the limit of tokens came was said to be lost by it.
        ([claim("In 1920.", "unsupported"), claim("Oil is", "weak")], True, "unsupported"),
        ([claim("Ada Quinn built it in", "unsupported")], True, "truncated"),
        # Its one sentence, whole and cited, was taken for the one that the limit cut.
        ([claim("Ada Quinn built it in 4.", "unsupported")], True, "unsupported"),
        ([claim("Ada Quinn built it in 4.", "uncited")], True, "truncated"),
        ([claim("The lamp was built by Ada Quinn.", "supported")], False, "wrong_answer"),
        ([claim("It was built in 1874.", "weak")], False, "miscited"),
    ],
)
def test_the_stage_is_where_it_was_lost(claims: list[Claim], cut: bool, expected: FailureStage) -> None:
    assert stage(*claims, generation=CUT if cut else None) == expected


def test_a_whole_document_as_gold_is_touched_by_any_of_its_sentences() -> None:
    case = Case("lamp", "When?", gold=(GoldSpan("lamp.md", grade=3),), answers=("1910",))
    said = Answer("answered", "generated", "", (claim(OTHER_SENTENCE, "supported", OTHER_SENTENCE),), (), 1, 0, "en")
    findings = Findings(5, lambda: Whereabouts(True, False, True, False, True), CONTEXT)
    found = name_failure(case, CaseResult(1, "lamp", 0, passed=False, answer=said), findings)
    assert found.stage == "wrong_answer"


def test_an_abstention_is_still_needless() -> None:
    findings = Findings(5, lambda: Whereabouts(True, False, True, False, True), CONTEXT)
    silent = CaseResult(1, "lamp", 0, passed=False, answer=blank_answer(0.2, "low_support", 0.5))
    assert name_failure(CASE, silent, findings).stage == "abstained_needlessly"


def test_a_citation_that_supports_its_claim_is_valid_beside_one_that_does_not() -> None:
    good, weak = claim(RIGHT_SENTENCE, "supported"), claim(RIGHT_SENTENCE, "weak")
    halved = replace(weak, citations=(*good.citations, replace(good.citations[0], level="weak")))
    said = Answer("answered", "generated", "", (good, halved), (), 0.9, 0.5, "en", unsaid=("F2",))
    scores = answer_marks(CASE, said, (PIECE,))
    assert (scores["groundedness"], scores["citation_precision"]) == (1 / 2, 2 / 4)  # of 3 kept and 1 taken out
