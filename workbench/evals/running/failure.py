"""The stage that lost a case, named from its result, with a sentence why and what to try first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.evals.gold.anchors import is_whole
from workbench.evals.gold.whereabouts import Whereabouts, carries, named, relevant
from workbench.evals.metrics import answer_correctness
from workbench.evals.reporting.reports import stage_title
from workbench.evals.running.marks import RIGHT, cited_gold, said_in
from workbench.evals.tasks.checks import could_still_pass
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.answers import Answer, Context, Evidence, Generation
from workbench.records.cases import Case, GoldSpan
from workbench.records.evals import CaseResult, FailureStage, Ranked
from workbench.traces.outcomes import outcome_name

_FINISHED: Final = re.compile(r"[.!?…]\W*$")
"""How a sentence ends that the limit of tokens didn't cut."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The first stage that lost a case; ``reason`` and ``advice`` are for people."""

    stage: FailureStage
    reason: str
    advice: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known of a failed case beside its result.

    Attributes:
        k: results that retrieval had to put the gold among.
        whereabouts: looks for the gold in the corpus; asked only when retrieval didn't find it.
        context, generation: of its trace, None where the layer has none.
    """

    k: int
    whereabouts: Callable[[], Whereabouts]
    context: Context | None = None
    generation: Generation | None = None


def name_failure(case: Case, result: CaseResult, findings: Findings) -> Failure:
    """The stage that lost ``result``, which has not passed.

    The chain is followed from its beginning, with the piece of gold that came furthest: corpus, index, filters,
    retrieval, context; then the answer itself.
    """
    if result.error:
        return engine_failure(result.error)
    if case.expectation is not None:
        return _of_output(case, result, findings.generation)
    answer = result.answer
    if answer is None:
        return _of_retrieval(result, findings)
    if not case.answerable:
        return _answered_without_evidence(answer)
    return _before_answer(case, result, findings) or _of_answer(case, answer, findings)


def engine_failure(error: str) -> Failure:
    """For a case that a process of the engine, or a program's fault, cut short."""
    advice = tr("Look at the engine's last words, load with a smaller context, and run the case again.")
    return Failure("engine_error", error, advice)


def broken_case(reason: str, advice: str) -> Failure:
    """For a case whose own expectation can't be checked: it stays unscored."""
    return Failure("broken_case", reason, advice)


# -- before there is an answer ---------------------------------------------------------------------------------------


def _of_retrieval(result: CaseResult, findings: Findings) -> Failure:
    best = next((hit for hit in result.ranked if hit.grade), None)
    if best is None:
        return _not_found(findings.whereabouts(), len(result.ranked))
    reason = tr(
        "The gold is at rank {rank} ({lanes}), behind the cut of {k}.", rank=best.rank, lanes=_lanes(best), k=findings.k
    )
    return Failure("cut", reason, _rank_advice(best))


def _before_answer(case: Case, result: CaseResult, findings: Findings) -> Failure | None:
    """What kept the gold from the model; None when it reached the context, or there is none to follow."""
    gold, context = relevant(case), findings.context
    if not gold:
        return None
    if context and any(carries(e.source_id, e.start, e.end, span) for e in context.evidence for span in gold):
        return None
    best = next((hit for hit in result.ranked if hit.grade), None)
    if best is None:
        return _not_found(findings.whereabouts(), len(result.ranked))
    if result.answer and result.answer.outcome == "does_not_fit":
        return Failure("cut", result.answer.text, result.answer.remedy)
    why = {
        "duplicate": tr("as a duplicate of what was kept"),
        "budget": tr("because the window was full"),
        "limit": tr("because enough evidence was kept"),
    }
    reason = tr(
        "The gold was found at rank {rank} ({lanes}) and left out of the context {why}.",
        rank=best.rank,
        lanes=_lanes(best),
        why=why.get(best.dropped, tr("because it stood too low")),
    )
    if best.dropped == "budget":
        return Failure("cut", reason, tr("Cut smaller chunks, reserve less for the answer, or load a larger context."))
    return Failure("cut", reason, _rank_advice(best))


def _not_found(where: Whereabouts, searched: int) -> Failure:
    if not where.in_corpus:
        return Failure(
            "not_in_corpus",
            tr("No document of the gold's name is in the collection."),
            tr("Ingest the source, or correct the case's source_id."),
        )
    if not where.indexed:
        return Failure(
            "not_ingested",
            tr("The document is there, but no chunk of the index holds the gold passage."),
            tr("Look at the document's text and ingest it again; check the offsets of the gold."),
        )
    if not where.passing:
        return Failure(
            "filtered_out",
            tr("The gold's document is retired.")
            if where.retired
            else tr("The filters let no chunk pass that holds the gold."),
            tr("Restore the document, or name status in the filter.")
            if where.retired
            else tr("Loosen the filter, or correct the document's metadata."),
        )
    return Failure(
        "not_retrieved",
        tr("The gold is in the index, and neither lane has it among the {count} that were kept.", count=searched),
        tr("The embedder doesn't see all of that chunk: cut smaller chunks.")
        if where.truncated
        else tr(
            "Search both lanes and take more candidates; if its words differ from the question's, try an embedder."
        ),
    )


def _rank_advice(best: Ranked) -> str:
    if best.lexical_rank is None:
        return tr("Only meaning found it: add the question's words to the source, or weigh the dense lane more.")
    if best.dense_rank is None:
        return tr("Only words found it: cut smaller chunks or try another embedder, or weigh the lexical lane more.")
    return tr("It is found but ranked too low: deduplicate, raise k a little, or add a reranker.")


def _lanes(hit: Ranked) -> str:
    return tr("lexical {lexical}, dense {dense}", lexical=_rank(hit.lexical_rank), dense=_rank(hit.dense_rank))


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


# -- the answer ------------------------------------------------------------------------------------------------------


def _answered_without_evidence(answer: Answer) -> Failure:
    return Failure(
        "should_have_abstained",
        tr(
            "It answered although nothing answers the question: support {support} reached τ {threshold}.",
            support=f"{answer.support:.2f}",
            threshold=f"{answer.threshold:.2f}",
        ),
        tr("Raise τ from the risk–coverage curve, and look at which evidence misled it."),
    )


def _of_answer(case: Case, answer: Answer, findings: Findings) -> Failure:
    if not answer.spoken:
        return _abstained(answer)
    cut = _cut_short(findings.generation)
    # The last one may lack what would have supported it, unless it has its full stop and its citation.
    last = answer.claims[-1] if answer.claims else None
    finished = last and last.citations and _FINISHED.search(last.text)
    whole = answer.claims[:-1] if cut and not finished else answer.claims
    wrong = next((claim for claim in whole if claim.level == "unsupported"), None)
    if wrong:
        return _unsupported(tr("The cited text doesn't say: “{claim}”", claim=wrong.text))
    if cut:
        return _truncated()
    return _wrong(case, answer, findings.context.evidence if findings.context else ())


def _unsupported(reason: str) -> Failure:
    advice = tr("Keep the grammar of citations on, lower the temperature, or choose a stronger model.")
    return Failure("unsupported", reason, advice)


def _touches_gold(case: Case, answer: Answer) -> bool:
    """Whether some citation's own span has a part of the gold in it."""
    cited = [citation for claim in answer.claims for citation in claim.citations]
    return any(
        c.source_id == span.source_id and (is_whole(span) or (c.start < span.end and span.start < c.end))
        for c in cited
        for span in relevant(case)
    )


def _abstained(answer: Answer) -> Failure:
    if answer.support < answer.threshold:
        return Failure(
            "abstained_needlessly",
            tr(
                "The gold was in the context, and support {support} stayed below τ {threshold}.",
                support=f"{answer.support:.2f}",
                threshold=f"{answer.threshold:.2f}",
            ),
            tr("Choose τ on the risk–coverage curve of this collection."),
        )
    return Failure(
        "abstained_needlessly",
        tr("The gold was in the context, and the model found no answer in it."),
        tr("Send less evidence, gold first, or choose a stronger model."),
    )


def _wrong(case: Case, answer: Answer, evidence: Sequence[Evidence]) -> Failure:
    """The gold was delivered: a right answer that doesn't cite it is miscited, a wrong one ignored or misread it."""
    if (answer_correctness(said_in(answer), case.answers, case.language) or 0.0) >= RIGHT:
        return Failure(
            "miscited",
            tr("The answer is the expected one, and none of its citations points to the gold."),
            tr("Look at what it cites: if that says it too, add it to the gold; else order the evidence by rank."),
        )
    if not any(claim.level == "supported" for claim in answer.claims):
        told = answer.claims[0] if answer.claims else None
        if told and told.citations:
            return _unsupported(tr("The cited text says it in part at most: “{claim}”", claim=told.text))
        return _unsupported(tr("It cites nothing for what it says."))
    rest = _partial(case, evidence)
    if rest:
        return Failure(
            "truncated",
            tr("The context holds only part of the gold: {span}", span=named(rest)),
            tr("Cut larger chunks, or use the recipe “parent”, which delivers the whole section."),
        )
    if not cited_gold(case, answer, evidence):
        return Failure(
            "ignored",
            tr("The gold was in the context, and the answer was taken from other evidence."),
            tr("Send fewer pieces of evidence, best first, or choose a stronger model."),
        )
    if not _touches_gold(case, answer):
        return Failure(
            "ignored",
            tr("The gold was in the context, and the answer was taken from other sentences of the same passage."),
            tr("Let a model write the answer, cut smaller chunks, or choose a stronger model."),
        )
    return Failure(
        "wrong_answer",
        tr("It cites the gold and doesn't say what was expected: {expected}", expected=" / ".join(case.answers)),
        tr("Read it beside the gold: try a stronger model, or add its wording to the gold answers if it is right."),
    )


def _of_output(case: Case, result: CaseResult, generation: Generation | None) -> Failure:
    wanted, readable = case.expectation, result.scores.get("format_valid") != 0.0
    if wanted is None:
        raise AssertionError("an output is held against an expectation")
    if _cut_short(generation) and could_still_pass(wanted, result.output, language=case.language, readable=readable):
        return _truncated()
    if not readable:
        return Failure(
            "wrong_format",
            result.reason or tr("The output hasn't the form that was asked for."),
            tr("Show the form in the prompt, or force it by grammar."),
        )
    return Failure(
        "wrong_answer",
        result.reason or tr("The output isn't the expected one."),
        tr("Read the query that it wrote; give the schema in the prompt.")
        if wanted.kind == "sql"
        else tr("Compare with a larger quantization: if it passes there, this one costs the case."),
    )


def _truncated() -> Failure:
    return Failure(
        "truncated",
        tr("The answer was cut at the limit of output tokens."),
        tr("Reserve more tokens for the answer, or ask for a shorter one."),
    )


def _cut_short(generation: Generation | None) -> bool:
    return generation is not None and generation.stop_reason == "length"


def _partial(case: Case, evidence: Sequence[Evidence]) -> GoldSpan | None:
    """Gold of which the context has a part and not all."""
    for span in relevant(case):
        pieces = [e for e in evidence if carries(e.source_id, e.start, e.end, span)]
        if pieces and span.end and not any(e.start <= span.start and span.end <= e.end for e in pieces):
            return span
    return None


# -- autopsy ---------------------------------------------------------------------------------------------------------


def autopsy(case: Case, result: CaseResult, kept_by: Sequence[str] = ()) -> tuple[str, ...]:
    """What became of each piece of gold (rank in each lane, in the fusion, place in the context), and the verdict.

    Args:
        kept_by: changes that would have put the gold into the context, the smallest first.
    """
    lines = [_journey(span, result) for span in relevant(case)]
    if not lines and case.expectation is None:
        lines.append(tr("The case has no gold to follow."))
    if result.answer:
        lines.append(
            tr(
                "answer: {outcome}, support {support}, τ {threshold}",
                outcome=outcome_name(result.answer.outcome),
                support=f"{result.answer.support:.2f}",
                threshold=f"{result.answer.threshold:.2f}",
            )
        )
    if result.failure:
        lines.append(tr("lost at: {stage}. {reason}", stage=stage_title(result.failure), reason=retold(result.reason)))
        lines += [tr("would have kept it: {change}", change=change) for change in kept_by]
        lines.append(f"→ {retold(result.advice)}")
    elif result.error:  # of a run made before such cases had a stage
        lines.append(tr("error: {reason}", reason=result.error))
    else:
        lines.append(tr("passed") if result.passed else tr("unscored"))
        lines += [retold(result.reason)] if result.reason else []
    return tuple(lines)


def _journey(span: GoldSpan, result: CaseResult) -> str:
    head = tr("{span} (grade {grade}):", span=named(span), grade=span.grade)
    best = next((r for r in result.ranked if r.grade and carries(r.source_id, r.start, r.end, span)), None)
    if best is None:
        return f"{head} " + tr("not among the {count} results", count=len(result.ranked))
    context = best.evidence or (tr("left out ({why})", why=tr(best.dropped)) if best.dropped else "–")
    parts = (
        tr("lexical {rank}", rank=_rank(best.lexical_rank)),
        tr("dense {rank}", rank=_rank(best.dense_rank)),
        tr("fusion {rank}", rank=best.fused_rank or best.rank),
        *([tr("rerank {rank}", rank=best.rank)] if best.fused_rank else []),
        tr("context {place}", place=context),
    )
    return f"{head} {' · '.join(parts)}"
