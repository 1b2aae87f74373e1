"""One question from beginning to end, as a trace that grows stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Generator as Steps
from contextlib import suppress
from dataclasses import dataclass, replace

from workbench.answers import abstain
from workbench.answers.citations import CitedText, cited_answer, placed, quoted_answer
from workbench.answers.conflicts import Clash, clashes, conflict
from workbench.answers.context import Budget, build_context
from workbench.answers.extractive import Quote, chosen
from workbench.answers.generate import Writer
from workbench.answers.growth import Growth
from workbench.answers.judge import ClaimJudge, with_verdicts
from workbench.answers.manifest import manifest
from workbench.answers.prompt import answer_language, broken_marks
from workbench.answers.relevance import Relevance
from workbench.answers.retrieving import Engines, NoAnswerError, Retrieval
from workbench.answers.support import Support, answer_support
from workbench.answers.terms import Term, question_terms
from workbench.answers.weighing import Scales, threshold
from workbench.errors import BudgetError, Cancelled, EngineError, UsageError
from workbench.i18n import tr
from workbench.ports import Cancel, Generator, Store
from workbench.queries.conversation import followed
from workbench.queries.rewriting import Rewriter
from workbench.records.answers import (
    Answer,
    AnswerMode,
    AskOptions,
    Context,
    Decision,
    Evidence,
    Generation,
    Outcome,
    Trace,
)
from workbench.records.corpus import Collection, Index, Metadata
from workbench.records.retrieval import Analysis, FusedHit, SearchOptions
from workbench.retrieval.filters import parse_filter
from workbench.retrieval.mmr import diversified
from workbench.retrieval.search import Searcher
from workbench.text.words import words


class Asker:
    """Answers questions from one file.

    Args:
        searcher: with the embedder that queries go through.
        generator: gives the loaded model, None when there is none; asked once a question.
    """

    def __init__(self, store: Store, searcher: Searcher, generator: Callable[[], Generator | None]) -> None:
        self._store = store
        self._searcher = searcher
        self._generator = generator

    def ask(
        self, query: str, options: AskOptions, search: SearchOptions, cancel: Cancel | None = None
    ) -> Iterator[Trace]:
        """The growing trace; the last one is complete and stored, whatever became of the engine.

        Raises:
            FilterError: the filter can't be understood; told before the first trace.
            NotFoundError: there is no such collection, or no trace that it follows.
            UsageError: nothing is asked; no lane, or a k below 1.
        """
        if not query.strip():
            raise UsageError(
                tr("Empty question"), tr("There is nothing to answer."), tr("Write what you want to know.")
            )
        collection = self._store.corpus.collection(search.collection)
        index = self._store.corpus.current_index(collection.name)
        loaded = self._generator()
        generator = loaded if options.mode != "extractive" else None
        earlier = self._store.traces.trace(options.follows) if options.follows else None
        search = self._searcher.settled(search)
        if collection.chunks:  # a filter that isn't understood is refused before there is a trace to show
            parse_filter(search.filter, self._store.search.fields(collection.name))
        told = manifest(collection, index, self._searcher.embedder, generator, options, search)
        growth = Growth(query, told, self._store.traces, cancel)
        if earlier:
            rewriter = Rewriter(loaded, search.query_tokens, cancel) if loaded and options.rewrite == "model" else None
            follow = followed(query, earlier, rewriter)
            query = follow.question
            yield growth.span("follow", follow)
        engines = Engines(self._store, self._searcher, loaded)
        yield from _Question(engines, generator, query, collection, options, search, growth, cancel).run(index)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Evidence, and how far it answers."""

    context: Context
    terms: tuple[Term, ...]
    quotes: tuple[Quote, ...]
    support: Support


class _Question:
    """One question's stages, in order; each yields the trace as it stands."""

    _index: Index

    def __init__(
        self,
        engines: Engines,
        generator: Generator | None,
        question: str,
        collection: Collection,
        options: AskOptions,
        search: SearchOptions,
        growth: Growth,
        cancel: Cancel | None,
    ) -> None:
        self._store = engines.store
        self._searcher = engines.searcher
        self._collection = collection
        self._options = options
        self._search = search
        self._growth = growth
        self._cancel = cancel
        analysis = self._searcher.analyse(question)
        self._retrieval = Retrieval(engines, growth, search, analysis, collection.mandatory_filter, cancel)
        self._writer = Writer(generator, question, analysis.language, options) if generator else None
        self._judge = ClaimJudge(engines.generator, cancel) if options.judge and engines.generator else None
        self._scales = Scales(self._store, self._searcher, cancel)
        self._problem = tr("no model is loaded") if options.mode == "generated" and generator is None else ""
        given = options.threshold
        self._threshold = threshold(self._store, collection.name) if given is None else given
        self._supports: tuple[float, ...] = ()

    def run(self, index: Index | None) -> Iterator[Trace]:
        """Every stage; the last trace is complete."""
        try:
            yield from self._stages(index)
        except Cancelled:
            yield self._end("cancelled")
        except NoAnswerError as error:
            yield self._end(error.outcome)
        except BudgetError as error:
            yield self._end("does_not_fit", problem=error.message, remedy=error.remedy)

    def _stages(self, index: Index | None) -> Iterator[Trace]:
        growth = self._growth
        yield growth.span("analysis", self._analysis)
        if index is None or not self._collection.chunks:
            raise NoAnswerError("empty_corpus")
        self._index = index
        hits = yield from self._retrieval.first(index)
        best = yield from self._weighed(index, hits)
        tried = [best]
        while best.support.score < self._threshold and len(tried) <= self._options.retries:
            second = yield from self._second(index, best, len(tried))
            if second is None:
                break
            tried.append(second)
            best = max(best, second, key=lambda one: one.support.score)
        self._supports = tuple(one.support.score for one in tried)
        terms, context, support = best.terms, best.context, best.support
        if support.score < self._threshold:  # of what was typed, as a guess at its spelling led to nothing, in all seen
            seen = [piece for one in tried for piece in one.context.evidence]
            yield self._refuse(tried[0].terms, seen, support)
        elif self._writer:
            yield from self._written(self._writer, terms, context, best.quotes, support)
        else:
            yield self._quoted(terms, context.evidence, best.quotes, support)

    def _weighed(self, index: Index, hits: Sequence[FusedHit]) -> Steps[Trace, None, _Weighed]:
        """The evidence that the hits deliver, and its support."""
        growth, analysis = self._growth, self._analysis
        growth.begin()
        context = self._context(index, hits)
        terms = self._scales.terms(analysis, index, self._retrieval.filter.total)
        quotes = self._scales.quotes(analysis, terms, context.evidence)
        yield growth.span("context", context, neutralised=broken_marks(context.evidence), compared=len(quotes))
        lanes = self._retrieval.lanes
        support = answer_support(terms, context.evidence, lanes, quotes, analysis.language, analysis.query)
        return _Weighed(context, terms, quotes, support)

    def _second(self, index: Index, weak: _Weighed, step: int) -> Steps[Trace, None, _Weighed | None]:
        """The evidence judged, and what one more search finds; None when there is nothing else to search for."""
        self._growth.begin()
        transformer, reading = self._retrieval.transformer, self._analysis
        wording = transformer.rewrite(reading, by_model=self._options.rewrite == "model")
        check = abstain.checked(weak.terms, weak.context.evidence, weak.support, self._threshold, wording)
        check = replace(check, step=step, steps=self._options.retries)
        check = replace(check, tokens=transformer.tokens, most_tokens=self._search.query_tokens)
        yield self._growth.span("evidence", check)
        if not wording.texts:
            return None
        self._growth.begin()
        done = transformer.retry(wording)
        if wording.corrects:
            reading = self._searcher.analyse(wording.texts[0])
        hits = yield from self._retrieval.again(index, done, reading)
        return (yield from self._weighed(index, hits))

    @property
    def _analysis(self) -> Analysis:
        """Of the question as it is read."""
        return self._retrieval.analysis

    def _context(self, index: Index, found: Sequence[FusedHit]) -> Context:
        """What fits the model; what fits anything, when the model died and can't count any more."""
        hits = found[: max(self._search.k, self._options.evidence)]
        if self._options.mmr is not None:
            vectors = self._store.search.vectors(index.id, [hit.chunk_id for hit in hits])
            hits = diversified(hits, vectors, self._options.mmr)
        try:
            budget = self._writer.budget() if self._writer else self._unlimited()
            return build_context(hits, self._store.corpus, budget, self._options)
        except EngineError as error:
            self._give_up_writing(f"{error.title}: {error.message}")
            return build_context(hits, self._store.corpus, self._unlimited(), self._options)

    def _unlimited(self) -> Budget:
        count, tokenizer = self._counter()
        return Budget(
            measure=lambda evidence: count(evidence.text),
            window=None,
            instructions=0,
            question=count(self._analysis.query),
            reserve=0,
            tokenizer=tokenizer,
            most=self._options.budget,
        )

    def _counter(self) -> tuple[Callable[[str], int], str]:
        """The embedder's tokens, and its name; words where there is no embedder or it can't be started."""
        embedder = self._searcher.embedder
        with suppress(EngineError):
            if embedder:
                embedder.tokenizer.count(self._analysis.query)
                return embedder.tokenizer.count, embedder.tokenizer.name
        return lambda text: len(words(text)), tr("words")

    # -- the answer ------------------------------------------------------------------------------------------------

    def _written(
        self, writer: Writer, terms: Sequence[Term], context: Context, quotes: Sequence[Quote], support: Support
    ) -> Iterator[Trace]:
        """The model's answer; the sources' own words when it dies or says nothing."""
        growth = self._growth
        growth.begin()
        try:
            prompt = writer.prompt(context.evidence)
        except EngineError as error:
            self._give_up_writing(f"{error.title}: {error.message}")
            yield self._quoted(terms, context.evidence, quotes, support)
            return
        yield growth.span("prompt", prompt)
        growth.begin()
        generation = Generation("started", "")
        for generation in writer.write(prompt, context.evidence, self._cancel):
            yield growth.span("generation", generation)
        if generation.state == "cancelled":
            raise Cancelled
        if generation.state == "error" or not writer.finished(generation).strip():
            self._give_up_writing(generation.error or tr("The model ended without writing anything."))
            yield self._quoted(terms, context.evidence, quotes, support)
        elif writer.refused(generation.text):
            yield self._refuse(terms, context.evidence, support)
        else:
            growth.begin()
            spoken, meaning = answer_language(self._analysis.language), self._scales.meaning(self._analysis)
            cited = cited_answer(writer.finished(generation), context.evidence, self._scales.units, spoken, meaning)
            answer = self._answer(cited, terms, support, self._clashes(cited, context.evidence))
            answer = self._judged(abstain.warned(answer, generation), context.evidence)
            yield self._finish(answer, support)

    def _quoted(
        self, terms: Sequence[Term], evidence: Sequence[Evidence], quotes: Sequence[Quote], support: Support
    ) -> Trace:
        """The extractive answer: of each part that the question was split into, and with the other side of a conflict;
        after an engine's failure it says so first.
        """
        self._growth.begin()
        parts = {part: self._part(part, evidence) for part in self._retrieval.parts}
        best = list(filter(None, parts.values())) or chosen(terms, quotes, self._analysis.query)
        quoted = list({(quote.evidence.label, quote.unit.start): quote for quote in best}.values())
        cited = quoted_answer(quoted)
        found = self._clashes(cited, evidence)
        said = {(quote.evidence.label, quote.unit.start) for quote in quoted}
        both = (side for clash in found for side in (clash.newer, clash.older))
        more = [Quote(e, u, 0.0, frozenset(), False) for e, u in both if (e.label, u.start) not in said]
        answer = self._answer(quoted_answer([*quoted, *more]) if more else cited, terms, support, found)
        if lacking := "; ".join(part for part, quote in parts.items() if quote is None):
            told = tr("The sources don't answer this part: {parts}", answer.language, parts=lacking)
            answer = replace(answer, missing=told)
        elif unspoken := abstain.unspoken_sentence(terms, evidence, self._analysis.language):
            answer = replace(answer, missing=unspoken)
        if self._problem:
            spoken = answer.language
            told = tr(
                "No model wrote this ({problem}); these are the sources' own words:", spoken, problem=self._problem
            )
            remedy = tr("Load the model again, with a smaller context if memory was short, and ask again.", spoken)
            answer = replace(answer, outcome="engine_gone", text=f"{told}\n{answer.text}", remedy=remedy)
        return self._finish(self._judged(answer, evidence), support)

    def _part(self, text: str, evidence: Sequence[Evidence]) -> Quote | None:
        """The unit that answers a part of the question, None where the support for it is below τ."""
        read = self._searcher.analyse(text)
        terms = self._scales.terms(read, self._index, self._retrieval.filter.total)
        quotes = self._scales.quotes(read, terms, evidence)
        support = answer_support(terms, evidence, (), quotes, read.language, text)
        return next(iter(chosen(terms, quotes, text)), None) if support.score >= self._threshold else None

    def _clashes(self, cited: CitedText, evidence: Sequence[Evidence]) -> tuple[Clash, ...]:
        return clashes(cited.claims, evidence, self._scales.units, self._metadata)

    def _metadata(self, document_id: str) -> Metadata:
        return self._store.corpus.document(document_id).metadata

    def _answer(self, cited: CitedText, terms: Sequence[Term], support: Support, found: Sequence[Clash]) -> Answer:
        """With each claim's relevance, and the conflicts in words."""
        relevance = Relevance(terms, self._analysis.language, self._scales.meaning(self._analysis))
        cited = placed(cited, self._scales.places)
        language = answer_language(self._analysis.language)
        conflicts = tuple(conflict(clash, self._metadata, language) for clash in found)
        return Answer(
            outcome="answered",
            mode=self._mode,
            text="\n".join([cited.text, *(one.text for one in conflicts)]),
            claims=relevance.rated(cited.claims),
            removed=cited.removed,
            unsaid=cited.unsaid,
            support=support.score,
            threshold=self._threshold,
            language=language,
            conflicts=conflicts,
        )

    # -- endings ---------------------------------------------------------------------------------------------------

    def _refuse(self, terms: Sequence[Term], seen: Sequence[Evidence], support: Support) -> Trace:
        self._growth.begin()
        found, language = self._retrieval.filter, self._analysis.language
        kept_out = found.total - found.matching - found.retired if found.expression or found.mandatory else 0
        spelt = self._retrieval.spelt()
        answer = abstain.unsupported(terms, seen, language, self._mode, support, self._threshold, kept_out, spelt)
        return self._finish(answer, support)

    def _end(self, outcome: Outcome, **values: object) -> Trace:
        found = self._retrieval.filter
        filters = " and ".join(f"({part})" for part in (found.mandatory, found.expression) if part.strip())
        named = {
            "collection": self._collection.name,
            "matching": found.matching,
            "total": found.total,
            "filter": filters or "status = current",  # what every search asks of documents by itself
            **values,
        }
        answer = abstain.abstention(outcome, self._analysis.language, self._mode, self._threshold, named)
        if outcome == "no_result":
            terms = question_terms(self._analysis, {}, found.total)
            answer = replace(answer, missing=abstain.missing_sentence(terms, (), self._analysis.language))
            answer = abstain.with_spelling(answer, self._retrieval.spelt())
        return self._finish(answer, Support(0.0, ()))

    def _judged(self, answer: Answer, evidence: Sequence[Evidence]) -> Answer:
        """With a model's verdict beside each claim's support, where that was asked for."""
        if self._judge is None or not answer.claims:
            return answer
        self._growth.begin()
        told = self._judge.judged(answer.claims, evidence)
        self._growth.span("judge", told)
        return replace(answer, claims=with_verdicts(answer.claims, told))

    def _finish(self, answer: Answer, support: Support) -> Trace:
        self._growth.span("citations", answer)
        reason = f"s = {support.score:.2f} {'≥' if support.score >= self._threshold else '<'} τ = {self._threshold:.2f}"
        if len(self._supports) > 1:
            told = ", ".join(f"{score:.2f}" for score in self._supports)
            reason = f"{reason} · {tr('the best of its searches: {supports}', supports=told)}"
        decision = Decision(
            answer.outcome, support.score, self._threshold, support.parts, reason if support.parts else ""
        )
        return self._growth.finish(answer, decision)

    def _give_up_writing(self, problem: str) -> None:
        self._writer = None
        self._problem = problem

    @property
    def _mode(self) -> AnswerMode:
        return "generated" if self._writer else "extractive"
