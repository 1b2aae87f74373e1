"""Pages of the stages that find: question, words, filter, lanes, fusion, reranking."""

from __future__ import annotations

import json

from screens.ask.page import Page
from screens.ask.story import Story
from screens.style import count
from screens.widgets.ranking import why
from workbench.i18n import tr
from workbench.records.answers import TraceSpan
from workbench.records.codec import encode
from workbench.records.rerankers import LATE
from workbench.records.retrieval import Analysis, FilterResult, FusionResult, LaneResult, RerankedHit, RerankResult
from workbench.retrieval.analysis import MAX_TERMS
from workbench.retrieval.rerank import describe_gain
from workbench.text.words import is_stopword
from workbench.traces.stages import lanes
from workbench.traces.telling import stage_name

_LEAST = 0.001
"""Scores below it are told as such: BM25 gives nearly nothing for a word that most chunks have."""
_ROWS = 50
"""Hits that a table shows at most."""


def query_page(story: Story, page: Page) -> None:
    """The question as it was typed, and what would have to be the same for the same answer."""
    made = story.trace.manifest
    page.head(tr("as typed")).say(story.trace.query)
    page.head(tr("asked of"))
    page.facts(
        [
            (tr("collection"), f"{made.collection} v{made.collection_version} · {tr('index {id}', id=made.index_id)}"),
            (tr("chunks by"), made.recipe),
            (tr("embedder"), f"{made.embedder} {made.embedder_fingerprint[:8]}" if made.embedder else ""),
            (tr("model"), made.model or tr("none: the answer quotes")),
        ]
    )
    words = {True: tr("on"), False: tr("off")}
    told = [(name, words[value] if isinstance(value, bool) else f"{value}") for name, value in made.settings.items()]
    page.head(tr("settings")).facts(sorted(told))


def analysis_page(story: Story, found: Analysis, page: Page) -> None:
    """Words kept and dropped, and what the embedder sees."""
    prefix = found.embedded_text.removesuffix(found.query)
    page.head(tr("in")).say(found.query)
    page.head(tr("out, for the lexical lane"))
    page.facts(
        [
            (tr("language"), found.language or tr("can't be told")),
            (tr("terms kept"), " ".join(found.terms)),
            (tr("stems"), " ".join(found.stems)),
            (tr("exact accents"), " ".join(found.exact)),
            (tr("phrases"), " ".join(f"“{phrase}”" for phrase in found.phrases)),
        ]
    )
    page.head(tr("out, for the dense lane"))
    page.facts(
        [
            (tr("prefix"), f"“{prefix}”" if prefix else tr("none")),
            (tr("embedded"), found.embedded_text),
            (tr("tokens"), f"{len(story.tokens)}: {'│'.join(story.tokens)}" if story.tokens else ""),
        ]
    )
    page.head(tr("dropped"))
    if not found.dropped:
        page.say(tr("Nothing: every word is searched for."))
    page.table((tr("word"), tr("why")), [(word, _why_dropped(word, found.language)) for word in found.dropped])


def _why_dropped(word: str, language: str) -> str:
    if is_stopword(word, language):
        return tr("a stopword: it stands in most texts, and tells none from another")
    return tr("beyond the first {most} words: those with digits and the longest are kept", most=MAX_TERMS)


def filter_page(story: Story, found: FilterResult, page: Page) -> None:
    """What was demanded, and the share of the chunks that passes."""
    page.head(tr("in"))
    page.facts(
        [
            (tr("always"), found.mandatory or tr("nothing is demanded of this collection")),
            (tr("this question"), found.expression or tr("no filter")),
            (tr("chunks"), count(found.total)),
        ]
    )
    page.head(tr("out"))
    page.facts([(tr("pass"), count(found.matching)), (tr("selectivity"), f"σ = {found.selectivity:.3f}")])
    page.head(tr("dropped"))
    left_out = count(found.total - found.matching)
    page.say(tr("Before either lane ranked: {count}.", count=left_out))
    if found.retired:
        page.say(
            tr("{count} retired: no filter is set, and chunks of retired documents are never found.", count=left_out)
        )


def lane_page(story: Story, found: LaneResult, page: Page) -> None:
    """One lane's hits."""
    page.head(tr("in"))
    asked = tr("words against the full-text index, by BM25")
    if found.lane == "dense":
        asked = tr("the question's vector against those of the chunks, by cosine")
    page.facts([(tr("searched"), asked), ("k", count(found.k)), (tr("weight"), f"{found.weight:g}")])
    page.head(tr("out"))
    if found.skipped:
        page.say(tr("It did not run: {reason}", reason=found.skipped))
        return
    if found.note:
        page.say(found.note)
    rows = [(f"{hit.rank}", _score(hit.score), *story.named(hit.chunk_id)) for hit in found.hits]
    page.table(("#", tr("score"), tr("source"), "§", tr("text")), rows, right=(0, 1))
    page.head(tr("dropped"))
    cut = tr("What stood below rank {k}.", k=count(found.k))
    page.say(cut if len(found.hits) >= found.k else tr("Nothing: {count} hits are all there are.", count=len(rows)))


def _score(score: float) -> str:
    return f"{score:.3f}" if score >= _LEAST else f"<{_LEAST}"


def fusion_page(story: Story, found: FusionResult, page: Page) -> None:
    """The sum behind every rank."""
    page.head(tr("in"))
    given = [(stage_name(lane.lane), tr("{count} hits", count=len(lane.hits))) for lane in lanes(story.trace)]
    page.facts([*given, (tr("how"), _method(found))])
    page.head(tr("out"))
    rows = [
        (
            f"{h.rank}",
            _rank(h.lexical_rank),
            _rank(h.dense_rank),
            f"{h.score:.4f}",
            why(h, found),
            *story.named(h.chunk_id)[:2],
        )
        for h in found.hits[:_ROWS]
    ]
    page.table(("#", tr("lex"), tr("dense"), tr("score"), tr("why"), tr("source"), "§"), rows, (0, 1, 2, 3), (6, 2, 1))
    both = sum(h.lexical_rank is not None and h.dense_rank is not None for h in found.hits)
    page.head(tr("dropped"))
    page.say(tr("Nothing; {both} of {all} were found by both lanes.", both=both, all=len(found.hits)))
    if len(found.hits) > _ROWS:
        page.say(tr("{count} more below.", count=len(found.hits) - _ROWS))


def _method(found: FusionResult) -> str:
    if found.method == "rrf":
        return f"RRF: Σ w/({found.k0} + rank)"
    return tr("weights of scores between the lane's lowest and highest: {weights}", weights=dict(found.weights))


def rerank_page(story: Story, found: RerankResult, page: Page) -> None:
    """Before and after, and the pairs of tokens behind the scores."""
    how = tr("the vectors of single tokens") if found.mode == LATE else tr("the reranker {name}", name=found.mode)
    page.head(tr("in")).say(tr("the first {depth} of the fusion, by {how}", depth=found.depth, how=how))
    page.head(tr("out"))
    if found.skipped:
        page.say(tr("It did not run: {reason}", reason=found.skipped))
        return
    rows = [(f"{h.rank}", f"{h.before}", _rerank_score(h), *story.named(h.chunk_id)) for h in found.hits]
    page.table(("#", tr("before"), tr("score"), tr("source"), "§", tr("text")), rows, right=(0, 1, 2))
    if any(h.truncated for h in found.hits):
        page.say(tr("✂ the pair was too long: only its beginning was read"))
    if found.note:
        page.head(tr("told")).say(found.note)
    if found.gain:
        page.head(tr("measured")).say(describe_gain(found.gain))
    if found.mode == LATE and any(h.score is not None and not h.matches for h in found.hits):
        page.say(tr("A question that is answered tells the pairs of every hit: enter answers it."))
    for hit in found.hits:
        if hit.matches:
            page.head(tr("why {source} stands at {rank}", source=story.named(hit.chunk_id)[0], rank=hit.rank))
            pairs = [(m.query.strip(), m.passage.strip(), f"{m.cosine:.2f}") for m in hit.matches]
            page.table((tr("in the question"), tr("nearest in the passage"), tr("cosine")), pairs)


def _rerank_score(hit: RerankedHit) -> str:
    if hit.score is None:
        return "–"
    return f"{hit.score:.3f} ✂" if hit.truncated else f"{hit.score:.3f}"


def other_page(span: TraceSpan, page: Page) -> None:
    """A stage that has no page of its own: what it took and gave, as it is stored."""
    page.head(tr("in")).facts(list(span.input.items()))
    page.head(tr("out")).say(json.dumps(encode(span.output), ensure_ascii=False, indent=2))
    page.head(tr("told")).facts(list(span.metadata.items()))


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
