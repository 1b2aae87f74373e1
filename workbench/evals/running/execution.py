"""One case through one layer: what comes out, scored, and where it was lost.

The layers run separately, so that a failure names its place: retrieval without a model, generation on the gold
passages, the whole chain, a model alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from workbench.answers.ask import Asker
from workbench.errors import BudgetError, Cancelled, EngineError, FileError, FilterError, NotFoundError, UsageError
from workbench.evals.gold.whereabouts import GoldFinder, Whereabouts, relevant
from workbench.evals.running import marks
from workbench.evals.running.failure import Failure, Findings, broken_case, engine_failure, name_failure
from workbench.evals.running.fixed import FixedSearcher
from workbench.evals.tasks.checks import check
from workbench.i18n import tr
from workbench.ports import Cancel, Generator, Store
from workbench.records.answers import Context, Generation, Message, Trace
from workbench.records.cases import Case, CheckKind
from workbench.records.corpus import Index
from workbench.records.evals import CaseResult, Ranked, RunConfig
from workbench.records.models import GenerationSettings
from workbench.records.retrieval import FusedHit, FusionResult, LaneResult, Not, OneOf, RerankResult, SearchOptions
from workbench.retrieval.filters import combine, format_filter, parse_filter
from workbench.retrieval.rerank import reordered
from workbench.retrieval.search import Searcher
from workbench.text.words import words

S = TypeVar("S")

_SCORE_OF: Final[dict[CheckKind, str]] = {"exact": "exact_match", "f1": "f1"}
"""What a check's score is called; "correctness" for the other kinds."""


class CaseRunner:
    """Runs cases under one configuration, and stores nothing but the traces of questions.

    A result's time is that of searching, asking or generating, without the scoring.

    Args:
        config: its collection is named.
        index: None for the model layer, which has no corpus.
        generator: gives the loaded model, None for extractive answers; asked once a case.
    """

    def __init__(
        self,
        store: Store,
        searcher: Searcher,
        index: Index | None,
        generator: Callable[[], Generator | None],
        config: RunConfig,
    ) -> None:
        self._store = store
        self._searcher = searcher
        self._index = index
        self._generator = generator
        self._config = config
        self._finder = GoldFinder(store, index) if index else None

    def run(self, run_id: int, position: int, case: Case, cancel: Cancel | None = None) -> CaseResult:
        """The case's result, whatever becomes of it: an engine's death is its failure, no exception.

        Raises:
            Cancelled: ``cancel`` was set; there is no result.
            NotFoundError: the collection or its index is gone.
        """
        layers = {"retrieval": self._retrieval, "generation": self._generation, "chain": self._chain}
        case = self._as_run(case)
        blank = CaseResult(run_id, case.id, position, passed=False)
        started = time.perf_counter()
        try:
            result = layers.get(self._config.layer, self._model)(blank, case, cancel)
        except FilterError as error:
            result = _lost(blank, Failure("filtered_out", error.message, error.remedy), error.message)
        except BudgetError as error:
            result = _lost(blank, Failure("truncated", error.message, error.remedy), error.message)
        except EngineError as error:
            told = f"{error.title}: {error.message}"
            result = _lost(blank, engine_failure(told), told)
        timed = result if result.duration_ms else replace(result, duration_ms=_since(started))
        return replace(timed, scores={**timed.scores, **marks.cost_marks(self._config.prices, timed)})

    def _as_run(self, case: Case) -> Case:
        """Without its gold's documents nothing answers a case."""
        return replace(case, answerable=False) if self._config.exclude_gold else case

    # -- retrieval -------------------------------------------------------------------------------------------------

    def _retrieval(self, blank: CaseResult, case: Case, _cancel: Cancel | None) -> CaseResult:
        options = self._options(case)
        found = self._searcher.search(case.question, options)
        blank = replace(blank, duration_ms=found.duration_ms)
        if error := _stage_error(case, found.lanes, found.rerank):
            return _lost(blank, engine_failure(error), error)
        ranked, holding = self._ranked(case, reordered(found.fusion, found.rerank), None)
        if not (case.answerable and relevant(case)):
            return replace(blank, passed=None, ranked=ranked, reason=tr("The case has no gold to retrieve."))
        scores = marks.retrieval_marks(case, holding, self._config.k)
        result = replace(blank, passed=marks.retrieval_passed(scores, self._config.k), scores=scores, ranked=ranked)
        return self._explained(case, result)

    # -- answers ---------------------------------------------------------------------------------------------------

    def _chain(self, blank: CaseResult, case: Case, cancel: Cancel | None) -> CaseResult:
        return self._asked(blank, case, self._searcher, self._options(case), cancel)

    def _generation(self, blank: CaseResult, case: Case, cancel: Cancel | None) -> CaseResult:
        """From the gold passages; a case that can't be answered gets its hard negatives as context."""
        index, finder = self._corpus()
        chunks = finder.chunks(relevant(case) if case.answerable else case.negatives)
        if chunks:
            searcher = FixedSearcher(self._store, self._searcher, chunks)
            return self._asked(blank, case, searcher, replace(self._config.search, collection=index.collection), cancel)
        if case.answerable and relevant(case):
            return self._explained(case, blank)
        return replace(blank, passed=None, reason=tr("The case has no passages to answer from."))

    def _asked(
        self, blank: CaseResult, case: Case, searcher: Searcher, options: SearchOptions, cancel: Cancel | None
    ) -> CaseResult:
        asker = Asker(self._store, searcher, self._generator)
        started = time.perf_counter()
        *_, trace = asker.ask(case.question, self._config.ask, options, cancel)
        blank = replace(blank, duration_ms=_since(started))
        if trace.answer is None or trace.answer.outcome == "cancelled":
            raise Cancelled
        answer, generation = trace.answer, _stage(trace, "generation", Generation)
        context = _stage(trace, "context", Context)
        evidence = context.evidence if context else ()
        fusion, reranked = _stage(trace, "fusion", FusionResult), _stage(trace, "rerank", RerankResult)
        ranked, holding = self._ranked(case, reordered(fusion, reranked) if fusion else (), context)
        scores = marks.answer_marks(case, answer, evidence) | marks.operation_marks(generation)
        if case.answerable:
            scores |= marks.context_marks(case, evidence)
            if self._config.layer != "generation":  # which is handed the gold: its ranking is right by construction
                scores |= marks.retrieval_marks(case, holding, self._config.k)
        result = replace(blank, ranked=ranked, answer=answer, output=answer.text, scores=scores, trace_id=trace.id)
        lanes = [lane for name in ("lexical", "dense") if (lane := _stage(trace, name, LaneResult))]
        error = (
            generation.error if generation and answer.outcome == "engine_gone" else _stage_error(case, lanes, reranked)
        )
        if error or answer.outcome == "engine_gone":
            told = error or answer.text
            return _lost(result, engine_failure(told), told)
        result = replace(result, passed=marks.answer_passed(case, answer, scores))
        return self._explained(case, result, context, generation)

    # -- a model alone ---------------------------------------------------------------------------------------------

    def _model(self, blank: CaseResult, case: Case, cancel: Cancel | None) -> CaseResult:
        generator = self._generator()
        if case.expectation is None or generator is None:
            raise AssertionError("a model task has an expectation, and its run a model")
        prompt = case.question
        if generator.model.file.chat_template:
            prompt = generator.render([Message("user", case.question)])
        settings = GenerationSettings(
            self._config.ask.max_output, self._config.ask.temperature, seed=self._config.ask.seed
        )
        started = time.perf_counter()
        *_, generation = generator.generate(prompt, settings, cancel)
        blank = replace(blank, duration_ms=_since(started))
        if generation.state == "cancelled":
            raise Cancelled
        if generation.state == "error":
            return _lost(blank, engine_failure(generation.error), generation.error)
        answered = replace(blank, output=generation.text, scores=marks.operation_marks(generation))
        try:
            checked = check(case.expectation, generation.text, language=case.language, sql=self._store.fixtures)
        except (UsageError, NotFoundError, FileError) as error:  # the expectation's own fault
            lost = _lost(answered, broken_case(error.message, error.remedy), error.message)
            return replace(lost, passed=None)
        scores = {
            **answered.scores,
            _SCORE_OF.get(case.expectation.kind, "correctness"): checked.score,
            "format_valid": float(checked.failure != "wrong_format"),
        }
        result = replace(answered, passed=checked.passed, scores=scores, reason=checked.reason, fault=checked.fault)
        return self._explained(case, result, None, generation)

    # -- behind ----------------------------------------------------------------------------------------------------

    def _corpus(self) -> tuple[Index, GoldFinder]:
        if self._index is None or self._finder is None:
            raise AssertionError("this layer runs on a corpus")
        return self._index, self._finder

    def _options(self, case: Case) -> SearchOptions:
        """The run's options with the case's own filter, and without the gold's documents where they are left out."""
        options = self._config.search
        parts = [parse_filter(expression) for expression in (options.filter, case.filter) if expression.strip()]
        if self._config.exclude_gold and case.gold:
            parts.append(Not(OneOf("source_id", tuple(sorted({span.source_id for span in case.gold})))))
        return replace(options, filter=format_filter(combine(*parts)))

    def _ranked(
        self, case: Case, hits: Sequence[FusedHit], context: Context | None
    ) -> tuple[tuple[Ranked, ...], list[tuple[int, ...]]]:
        """The first ``depth`` hits as a result keeps them, and which of the case's gold each holds."""
        _, finder = self._corpus()
        kept = hits[: self._config.depth]
        chunks = {chunk.id: chunk for chunk in self._store.corpus.chunks_by_id([hit.chunk_id for hit in kept])}
        labels = {piece.chunk_id: piece.label for piece in context.evidence} if context else {}
        dropped = {piece.chunk_id: piece.reason for piece in context.dropped} if context else {}
        ranked: list[Ranked] = []
        holding: list[tuple[int, ...]] = []
        for hit in (hit for hit in kept if hit.chunk_id in chunks):
            chunk = chunks[hit.chunk_id]
            holding.append(finder.held(chunk.id, case.gold))
            ranked.append(
                Ranked(
                    chunk.id,
                    chunk.source_id,
                    chunk.start,
                    chunk.end,
                    hit.rank,
                    hit.lexical_rank,
                    hit.dense_rank,
                    grade=max((case.gold[i].grade for i in holding[-1]), default=0),
                    evidence=labels.get(chunk.id, ""),
                    dropped=dropped.get(chunk.id, ""),
                    fused_rank=hit.fused_rank,
                )
            )
        return tuple(ranked), holding

    def _explained(
        self, case: Case, result: CaseResult, context: Context | None = None, generation: Generation | None = None
    ) -> CaseResult:
        """With the stage that lost it, when it was lost."""
        if result.passed is not False:
            return result

        def whereabouts() -> Whereabouts:
            index, finder = self._corpus()
            where, _ = self._searcher.filter(index, self._options(case))
            return finder.whereabouts(relevant(case), where)

        return _lost(result, name_failure(case, result, Findings(self._config.k, whereabouts, context, generation)))


def _stage(trace: Trace, name: str, kind: type[S]) -> S | None:
    """What that stage put out, None when it didn't run."""
    span = trace.span(name)
    return span.output if span is not None and isinstance(span.output, kind) else None


def _since(started: float) -> float:
    """Milliseconds."""
    return (time.perf_counter() - started) * 1000


def _stage_error(case: Case, lanes: Sequence[LaneResult], reranked: RerankResult | None) -> str:
    """Why the dense lane or the reranker, which were asked for, didn't run; "" where the question has no words."""
    if not words(case.question):
        return ""
    skipped = next((lane.skipped for lane in lanes if lane.lane == "dense" and lane.skipped), "")
    return skipped or (reranked.skipped if reranked else "")


def _lost(result: CaseResult, failure: Failure, error: str = "") -> CaseResult:
    return replace(
        result, passed=False, failure=failure.stage, reason=failure.reason, advice=failure.advice, error=error
    )
