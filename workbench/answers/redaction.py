"""Taking a deleted document's words out of what is stored of questions and answers; places and figures stay."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from workbench.records.answers import (
    Answer,
    Citation,
    Claim,
    Context,
    Evidence,
    Generation,
    Judged,
    Prompt,
    Stage,
    Trace,
)
from workbench.records.evals import CaseResult
from workbench.records.retrieval import RerankResult

MARK: Final = "[deleted]"
"""Stands for text that was taken out; the passage's ``document_id`` is then ""."""


def redacted_trace(trace: Trace, documents: Collection[str]) -> Trace:
    """``trace`` without the words of those documents, given by id.

    What a model was given and wrote goes too when the trace quotes one of them, since it may repeat it.
    """
    spans = tuple(replace(span, output=_stage(span.output, documents)) for span in trace.spans)
    answer = trace.answer and redacted_answer(trace.answer, documents)
    return replace(trace, spans=spans, answer=answer)


def redacted_result(result: CaseResult, documents: Collection[str]) -> CaseResult:
    """An evaluation's result whose answer is without the words of those documents."""
    return replace(result, answer=result.answer and redacted_answer(result.answer, documents))


def redacted_answer(answer: Answer, documents: Collection[str]) -> Answer:
    """``answer`` without the claims that cite those documents, or cite nothing; its text goes with them."""
    claims = tuple(_claim(claim, documents) for claim in answer.claims)
    return replace(answer, claims=claims, text=answer.text if claims == answer.claims else MARK)


def _stage(stage: Stage, documents: Collection[str]) -> Stage:
    match stage:
        case Context():
            return replace(stage, evidence=tuple(_evidence(passage, documents) for passage in stage.evidence))
        case Prompt():
            messages = tuple(replace(message, content=MARK) for message in stage.messages)
            return replace(stage, messages=messages, rendered=MARK if stage.rendered else "")
        case Generation():
            return replace(stage, text=MARK if stage.text else "")
        case Answer():
            return redacted_answer(stage, documents)
        case Judged():
            return replace(stage, verdicts=tuple(replace(verdict, reason=MARK) for verdict in stage.verdicts))
        case RerankResult():
            return replace(stage, hits=tuple(replace(hit, matches=()) for hit in stage.hits))
        case _:
            return stage


def _evidence(passage: Evidence, documents: Collection[str]) -> Evidence:
    if passage.document_id not in documents:
        return passage
    return replace(passage, document_id="", text=MARK, header="", heading=())


def _claim(claim: Claim, documents: Collection[str]) -> Claim:
    if claim.citations and not any(citation.document_id in documents for citation in claim.citations):
        return claim
    judged = claim.judged and replace(claim.judged, reason=MARK)
    return replace(
        claim, text=MARK, judged=judged, citations=tuple(_citation(citation, documents) for citation in claim.citations)
    )


def _citation(citation: Citation, documents: Collection[str]) -> Citation:
    if citation.document_id not in documents:
        return citation
    return replace(citation, document_id="", quote=MARK, heading=())
