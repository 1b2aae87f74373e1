"""Transformations of one question: what else is searched besides it, what that found, and what it cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from workbench.errors import EngineError
from workbench.i18n import tr
from workbench.ports import Cancel, Generator, Store
from workbench.queries.retrying import Rewrite, rewrite
from workbench.queries.rewriting import Rewriter, Written
from workbench.queries.spelling import Speller, corrected
from workbench.queries.splitting import split
from workbench.records.corpus import Index
from workbench.records.retrieval import (
    Analysis,
    Comparison,
    Correction,
    FilterNode,
    Lane,
    LaneResult,
    SearchOptions,
    Transform,
    Transformed,
    Variant,
)
from workbench.retrieval.filters import combine
from workbench.retrieval.search import Searcher, wanted_lanes

# Chosen on other XQuAD questions than bench/transforms.py asks. Those of multi and hyde weren't measured: what a model
# made up counts half.
WEIGHTS: Final[dict[str, float]] = {"spelling": 1.0, "languages": 3.0, "split": 1.0, "multi": 0.5, "hyde": 0.5}
"""Of a variant's ranks in fusion; the question's own count 1."""
DEPTHS: Final[dict[str, int]] = {"split": 2, "multi": 5, "hyde": 5}
"""First hits of each of a variant's lanes that count: all of them would lift what is a little like every part, over
what answers one (two XQuAD questions in one line, both paragraphs among five: .84 unsplit, .96 with 2, .59 with 50)."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a question's variants are searched: the index, its filter, and the options of the search."""

    index: Index
    where: FilterNode
    options: SearchOptions


class Transformer:
    """Runs the transformations of one question, within its budgets of searches and tokens.

    Args:
        generator: the loaded model, None when there is none: what needs one is then skipped and says so.
    """

    def __init__(
        self,
        store: Store,
        searcher: Searcher,
        generator: Generator | None,
        target: Target,
        cancel: Cancel | None = None,
    ) -> None:
        self._store = store
        self._searcher = searcher
        self._target = target
        self._left = target.options.extra_searches
        self._rewriter = Rewriter(generator, target.options.query_tokens, cancel) if generator else None
        self._spent: list[Transformed] = []

    @property
    def searches(self) -> int:
        """Lanes asked so far beyond the question's own."""
        return sum(done.searches for done in self._spent)

    @property
    def tokens(self) -> int:
        """Tokens that the model has read and written so far."""
        return sum(done.prompt_tokens + done.output_tokens for done in self._spent)

    def run(self, kind: Transform, analysis: Analysis) -> Transformed:
        """One transformation. Raises Cancelled."""
        runs: dict[Transform, Callable[[Analysis], Transformed]] = {
            "spelling": self._spelled,
            "languages": self._by_language,
            "split": self._split,
            "multi": self._reworded,
            "hyde": self._hypothetical,
        }
        return self._kept(runs[kind](analysis))

    def suggestion(self, analysis: Analysis) -> Transformed | None:
        """The spelling that may have been meant, not searched for; None where nothing looks misspelt."""
        found = self.corrections(analysis)
        if not found:
            return None
        told = tr("only suggested: the words as typed found something")
        return Transformed("spelling", "index", corrections=found, note=told)

    def corrections(self, analysis: Analysis) -> tuple[Correction, ...]:
        """Of words that look misspelt; none where the index is in other languages than the question."""
        known = self._store.search.languages(self._target.index)
        if analysis.language and known and analysis.language not in known:
            return ()  # every word would be foreign to the index, and none of them wrong
        return Speller(self._store, self._target.index).corrections(analysis)

    def rewrite(self, analysis: Analysis, *, by_model: bool) -> Rewrite:
        """What to search for once more, the evidence being weak. Raises Cancelled."""
        tried = {analysis.query, *(variant.text for done in self._spent for variant in done.variants)}
        if self._left < len(wanted_lanes(self._target.options)):
            return Rewrite((), "rules", tr("the budget of searches is spent"))
        return rewrite(analysis, self.corrections(analysis), tried, self._rewriter if by_model else None)

    def retry(self, wording: Rewrite) -> Transformed:
        """The second search of a question whose evidence is weak."""
        written = wording.written or Written(())
        return self._kept(
            Transformed(
                "retry",
                wording.by,
                self._asked("retry", wording.texts, 1.0),
                prompt_tokens=written.prompt_tokens,
                output_tokens=written.output_tokens,
                note=wording.reason,
            )
        )

    # -- one by one ------------------------------------------------------------------------------------------------

    def _spelled(self, analysis: Analysis) -> Transformed:
        found = self.corrections(analysis)
        if not found:
            return Transformed("spelling", "index", skipped=tr("every word is known or has no likely correction"))
        text = corrected(analysis.query, found)
        return Transformed("spelling", "index", self._asked("spelling", [text], WEIGHTS["spelling"]), found)

    def _by_language(self, analysis: Analysis) -> Transformed:
        """The dense lane once in each language of the index: an embedder prefers passages in the question's own."""
        known = self._store.search.languages(self._target.index)
        if len(known) < 2 or "dense" not in self._target.options.lanes:
            return Transformed("languages", "index", skipped=tr("the index is in one language"))
        found = {language: self._dense_in(language, analysis) for language in list(known)[: self._left]}
        variants = (
            Variant(language, analysis.query, WEIGHTS["languages"], (lane,)) for language, lane in level(found).items()
        )
        return Transformed("languages", "index", tuple(variants))

    def _dense_in(self, language: str, analysis: Analysis) -> LaneResult:
        where = combine(self._target.where, Comparison("language", "=", language))
        found = self._searcher.lane("dense", self._target.index, analysis, where, self._target.options)
        return replace(found, variant=language, weight=WEIGHTS["languages"])

    def _split(self, analysis: Analysis) -> Transformed:
        """By the model where one is loaded; by rules where there is none, or it wrote nothing of use."""
        written = self._rewriter.split(analysis.query) if self._rewriter else Written(())
        parts, by = (written.texts, self._by) if written.texts else (split(analysis.query), "rules")
        spent = Transformed("split", by, prompt_tokens=written.prompt_tokens, output_tokens=written.output_tokens)
        if not parts:
            return replace(spent, skipped=tr("it is one question"))
        return replace(spent, variants=self._asked("split", parts, WEIGHTS["split"]), note=written.problem)

    def _reworded(self, analysis: Analysis) -> Transformed:
        return self._by_model("multi", lambda rewriter: rewriter.multi(analysis.query))

    def _hypothetical(self, analysis: Analysis) -> Transformed:
        return self._by_model("hyde", lambda rewriter: rewriter.hyde(analysis.query))

    def _by_model(self, kind: Transform, write: Callable[[Rewriter], Written]) -> Transformed:
        if self._rewriter is None:
            return Transformed(kind, "", skipped=tr("no model is loaded"))
        written = write(self._rewriter)
        lanes: tuple[Lane, ...] = ("dense",) if kind == "hyde" else wanted_lanes(self._target.options)
        variants = self._asked(kind, written.texts, WEIGHTS[kind], lanes)
        return Transformed(
            kind,
            self._by,
            variants,
            prompt_tokens=written.prompt_tokens,
            output_tokens=written.output_tokens,
            skipped=written.problem,
        )

    # -- searching -------------------------------------------------------------------------------------------------

    def _asked(self, kind: str, texts: Sequence[str], weight: float, lanes: Sequence[Lane] = ()) -> tuple[Variant, ...]:
        """The texts searched in their order, as far as the budget of searches goes."""
        lanes = lanes or wanted_lanes(self._target.options)
        affordable = texts[: self._left // len(lanes)]
        return tuple(self._variants(kind, affordable, weight, lanes))

    def _variants(self, kind: str, texts: Sequence[str], weight: float, lanes: Sequence[Lane]) -> Iterator[Variant]:
        for number, text in enumerate(texts, 1):
            name = f"{kind} {number}" if len(texts) > 1 else kind
            found = (self._lane(kind, lane, text) for lane in lanes)
            lanes_found = tuple(
                replace(x, hits=x.hits[: DEPTHS.get(kind)], variant=name, weight=weight * x.weight) for x in found
            )
            yield Variant(name, text, weight, lanes_found)

    def _lane(self, kind: str, lane: Lane, text: str) -> LaneResult:
        target = self._target
        if kind != "hyde":
            return self._searcher.lane(lane, target.index, self._searcher.analyse(text), target.where, target.options)
        k, started = max(target.options.candidates, target.options.k), time.perf_counter()
        try:  # a made-up passage is embedded as a passage, among which it looks for its like
            vector = self._searcher.passage_vector(target.index, text)
            hits = self._store.search.dense(target.index, vector, target.where, k)
        except EngineError as error:
            return LaneResult(lane, (), k, 0.0, f"{error.title}: {error.message}")
        return LaneResult(lane, hits, k, (time.perf_counter() - started) * 1000)

    def _kept(self, done: Transformed) -> Transformed:
        self._left -= done.searches
        self._spent.append(done)
        return done

    @property
    def _by(self) -> str:
        return self._rewriter.name if self._rewriter else ""


def level(lanes: Mapping[str, LaneResult]) -> dict[str, LaneResult]:
    """Dense lanes of several languages ranked as one: by how far each cosine is above the mean of its own language.

    Ranks run through all of them, so that fused together they are one ranking.
    """
    mean = {language: fmean(hit.score for hit in lane.hits) for language, lane in lanes.items() if lane.hits}
    above = [(hit.score - mean[language], hit) for language, lane in lanes.items() for hit in lane.hits]
    order = sorted(above, key=lambda pair: (-pair[0], pair[1].chunk_id))
    ranks = {hit.chunk_id: rank for rank, (_, hit) in enumerate(order, 1)}
    return {
        language: replace(lane, hits=tuple(replace(hit, rank=ranks[hit.chunk_id]) for hit in lane.hits))
        for language, lane in lanes.items()
    }
