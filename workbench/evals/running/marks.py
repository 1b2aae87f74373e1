"""A case's scores and whether it passed, from what was retrieved and answered. Names are those of ``metrics.METRICS``.

When a case passes:

- retrieval: the first k results hold relevant gold (Hit@k). A case without gold is unscored.
- generation and chain, answerable: it was answered; the answer is right (``RIGHT``: a gold answer stands in it, or F1
  reaches 0.5), where the case has gold answers; no claim is unsupported; and some of the gold that a right answer must
  cite is cited, where the case has gold. Not answerable: it abstained.
- model: the check of its expectation passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from workbench.evals import metrics
from workbench.evals.gold.whereabouts import carries, needed, relevant
from workbench.records.answers import Answer, Evidence, Generation
from workbench.records.cases import Case
from workbench.records.evals import CaseResult, Prices

RIGHT: Final = 0.5
"""The lowest answer correctness that counts as right."""


def retrieval_marks(case: Case, held: Sequence[Sequence[int]], k: int) -> dict[str, float]:
    """Ranking metrics; ``held`` names, per rank, the positions of the case's gold that the result holds."""
    grades = {position: span.grade for position, span in enumerate(case.gold)}
    return metrics.retrieval_scores(held, grades, k)


def context_marks(case: Case, evidence: Sequence[Evidence]) -> dict[str, float]:
    """Context precision and recall: a piece is useful when it carries relevant gold."""
    gold, wanted = relevant(case), needed(case)
    useful = sum(any(carries(e.source_id, e.start, e.end, span) for span in gold) for e in evidence)
    present = sum(any(carries(e.source_id, e.start, e.end, span) for e in evidence) for span in wanted)
    return _defined(
        context_precision=metrics.context_precision(useful, len(evidence)) if gold else None,
        context_recall=metrics.context_recall(present, len(wanted)),
    )


def answer_marks(case: Case, answer: Answer, evidence: Sequence[Evidence]) -> dict[str, float]:
    """Abstention for every case; groundedness, citations, correctness where there is an answer to a question with one.

    A claim counts as grounded when each of its citations supports it (level "supported"), and a citation as valid when
    it does, whatever stands beside it. Marks that were taken out count as citations used. Relevance is of the claims
    that an embedder held against the question.
    """
    scores = metrics.abstention_scores(answerable=case.answerable, outcome=answer.outcome)
    if not answer.spoken:
        return scores
    grounded = [claim for claim in answer.claims if claim.level == "supported"]
    rated = [claim for claim in answer.claims if claim.relevance is not None]
    kept = [citation.level for claim in answer.claims for citation in claim.citations]
    used = len(kept) + len(answer.removed) + len(answer.unsaid)
    scores |= _defined(
        groundedness=metrics.groundedness(len(grounded), len(answer.claims)),
        answer_relevance=metrics.answer_relevance(sum(not claim.off_topic for claim in rated), len(rated)),
        citation_precision=metrics.citation_precision(kept.count("supported"), used),
    )
    return scores | _against_gold(case, answer, evidence) if case.answerable else scores


def _against_gold(case: Case, answer: Answer, evidence: Sequence[Evidence]) -> dict[str, float]:
    said, language = said_in(answer), case.language or answer.language
    return _defined(
        exact_match=metrics.exact_match(said, case.answers, language),
        f1=metrics.token_f1(said, case.answers, language),
        correctness=metrics.answer_correctness(said, case.answers, language),
        citation_recall=metrics.citation_recall(len(cited_gold(case, answer, evidence)), len(needed(case))),
    )


def said_in(answer: Answer) -> str:
    """What the answer claims, without marks."""
    return " ".join(claim.text for claim in answer.claims)


def cited_gold(case: Case, answer: Answer, evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """Which of the gold that must be cited is in evidence that is cited, by position."""
    labels = {citation.label for claim in answer.claims for citation in claim.citations}
    cited = [piece for piece in evidence if piece.label in labels]
    return tuple(
        position
        for position, span in enumerate(needed(case))
        if any(carries(piece.source_id, piece.start, piece.end, span) for piece in cited)
    )


def operation_marks(generation: Generation | None) -> dict[str, float]:
    """A model's times and tokens, where one wrote; the case's own time is that of its result."""
    if generation is None or generation.state != "complete":
        return {}
    return _defined(
        ttft_ms=generation.ttft_ms,
        tokens_per_s=generation.decode_tps,
        prompt_tokens=generation.prompt_tokens,
        output_tokens=generation.output_tokens,
        tokens=generation.prompt_tokens + generation.output_tokens,
        estimated_tokens=1.0 if generation.estimated else None,
    )


def cost_marks(prices: Prices, result: CaseResult) -> dict[str, float]:
    """What the case cost, failed or not, where prices were given."""
    if prices == Prices():
        return {}
    read, written = (result.scores.get(name, 0.0) for name in ("prompt_tokens", "output_tokens"))
    rates = prices.input, prices.output, prices.hour
    return {"cost": metrics.cost(rates, read, written, result.duration_ms / 1000)}


def retrieval_passed(scores: Mapping[str, float], k: int) -> bool | None:
    """Hit@k; None where it isn't defined."""
    hit = scores.get(f"hit@{k}")
    return None if hit is None else hit > 0


def answer_passed(case: Case, answer: Answer, scores: Mapping[str, float]) -> bool | None:
    """The rule of the generation and chain layers; None when it was stopped."""
    if answer.outcome == "cancelled":
        return None
    if not case.answerable:
        return bool(metrics.abstained(answer.outcome))
    return (
        answer.outcome == "answered"
        and scores.get("correctness", 1.0) >= RIGHT
        and all(claim.level != "unsupported" for claim in answer.claims)
        and scores.get("citation_recall", 1.0) > 0
    )


def _defined(**scores: float | None) -> dict[str, float]:
    return {name: value for name, value in scores.items() if value is not None}
