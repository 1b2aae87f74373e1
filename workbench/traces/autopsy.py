"""Autopsy: what became of the chunk that should have been found, and the smallest change that would have kept it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from workbench.errors import NotFoundError
from workbench.i18n import tr
from workbench.ports import Store
from workbench.records.answers import Context, Trace
from workbench.records.corpus import Chunk, Index
from workbench.records.rerankers import NONE
from workbench.records.retrieval import (
    Analysis,
    FilterNode,
    FusedHit,
    FusionResult,
    Lane,
    LaneResult,
    OneOf,
    RerankResult,
    SearchOptions,
)
from workbench.records.traces import Autopsy, Fix, LostAt
from workbench.retrieval.analysis import analyse
from workbench.retrieval.filters import EVERYTHING
from workbench.retrieval.search import MAX_CANDIDATES, Searcher
from workbench.text.clean import printable
from workbench.traces.changes import parse_changes
from workbench.traces.stages import evidence_of, final_hits, fused_lanes, lanes, settled, stage
from workbench.traces.what_if import Material, what_if

FIXES: Final = 5
"""Changes told at most."""
MOST_EVIDENCE: Final = 50
"""Pieces of evidence that a change may ask for at most."""
_ANY_STATUS: Final = OneOf("status", ("current", "retired"))
_SHORTLIST: Final = 40  # chunks in which a text is looked for


def fix_text(fix: Fix) -> str:
    """ "--what-if evidence=8: place 6 in the evidence, moves 1", or the advice."""
    if not fix.change:
        return printable(fix.advice, newlines=False)
    told = tr("place {place} in the evidence, moves {changed}", place=fix.place, changed=fix.changed)
    return f"--what-if {fix.change}: {told}"


def suggest(store: Store, trace: Trace, text: str, limit: int) -> tuple[Chunk, ...]:
    """Chunks of the trace's collection that ``text`` may mean: by the beginning of an id, by words, by document.

    With no text, those of the trace's ranking.
    """
    sought = text.strip()
    index = store.corpus.current_index(trace.manifest.collection)
    mine = [hit.chunk_id for hit in final_hits(trace)]
    if index is None or not sought:
        return store.corpus.chunks_by_id(mine[:limit])
    lexical = [hit.chunk_id for hit in store.search.lexical(index, analyse(sought), _ANY_STATUS, _SHORTLIST)]
    documents = store.corpus.documents(index.collection)
    named = [d.id for d in documents if sought.casefold() in d.source_id.casefold()][:limit]
    begun = store.corpus.find_chunks(sought, limit) if len(sought) >= 4 and " " not in sought else ()
    theirs = {d.id for d in documents}
    found = (
        *(chunk for chunk in begun if chunk.document_id in theirs),
        *(chunk for document_id in named for chunk in store.corpus.chunks(document_id, index.id, limit)),
        *store.corpus.chunks_by_id(sorted(lexical, key=lambda chunk_id: chunk_id not in mine)),
    )
    return tuple({chunk.id: chunk for chunk in found}.values())[:limit]


class Coroner:
    """Says what became of chunks in one stored trace.

    Args:
        searcher: with the embedder that the index was made with: it is asked for ranks that the trace hasn't got.

    Raises:
        NotFoundError: the trace's collection is gone or empty.
        UsageError: the trace's settings can't be read.

    Attributes:
        lanes: the trace's hits, and behind them those that were looked up for the changes that were tried.
    """

    def __init__(self, store: Store, searcher: Searcher, trace: Trace) -> None:
        self._store, self._searcher, self._trace = store, searcher, trace
        self._ask, self._search = settled(trace)
        self._index: Index = searcher.index(trace.manifest.collection)
        self._where, _ = searcher.filter(self._index, self._search)
        self._deep: dict[Lane, LaneResult] = {}
        self.lanes = fused_lanes(trace)

    def examine(self, wanted: str) -> Autopsy:
        """The autopsy of the chunk with that id (or the unambiguous beginning of it), or that holds that text.

        Raises:
            NotFoundError: no chunk of the collection is meant by ``wanted``.
        """
        chunk = self._chunk(wanted)
        found = _Ranks(self._trace, chunk.id)
        passes = bool(found.hit) or self._passes(chunk, self._where)
        retired = self._store.corpus.document(chunk.document_id).status == "retired"
        looked_up = self._looked_up(found) if passes else {}
        told = Autopsy(
            chunk_id=chunk.id,
            source_id=chunk.source_id,
            text=chunk.text,
            passes_filter=passes,
            retired=retired,
            lexical_rank=found.lane("lexical") or looked_up.get("lexical"),
            dense_rank=found.lane("dense") or looked_up.get("dense"),
            looked_up=tuple(looked_up),
            fused_rank=found.fused,
            reranked_rank=found.reranked,
            label=found.label,
            dropped=found.dropped,
            cited=found.cited,
            lost_at="",
            reason="",
        )
        lost_at, reason = self._verdict(told)
        return replace(told, lost_at=lost_at, reason=reason, fixes=tuple(self._fixes(replace(told, lost_at=lost_at))))

    # -- the chunk -------------------------------------------------------------------------------------------------

    def _chunk(self, wanted: str) -> Chunk:
        sought = " ".join(wanted.split())
        named = self._store.corpus.find_chunks(sought, limit=2) if len(sought) >= 6 else ()
        if len(named) == 1:
            return named[0]
        holding = [chunk for chunk in self._shortlist(sought) if sought and sought.casefold() in _flat(chunk)]
        if holding:
            return holding[0]
        raise NotFoundError(
            tr("No such chunk"),
            tr("No chunk of “{collection}” has that id or holds that text.", collection=self._index.collection),
            tr("Give a chunk's id, or a few words in a row as the source has them."),
        )

    def _shortlist(self, text: str) -> Iterable[Chunk]:
        """Chunks that may hold ``text``: those of the trace first, then those with most of its words."""
        mine = [hit.chunk_id for hit in final_hits(self._trace)]
        hits = self._store.search.lexical(self._index, analyse(text), _ANY_STATUS, _SHORTLIST)
        return self._store.corpus.chunks_by_id(list(dict.fromkeys([*mine, *(hit.chunk_id for hit in hits)])))

    def _passes(self, chunk: Chunk, where: FilterNode) -> bool:
        return chunk.id in self._store.search.passing(self._index, [chunk.id], where)

    # -- ranks that the trace hasn't got ---------------------------------------------------------------------------

    def _looked_up(self, found: _Ranks) -> dict[Lane, int]:
        """The chunk's rank in those lanes of the trace that don't have it among their hits."""
        ranks: dict[Lane, int] = {}
        for lane in self._search.lanes:
            if found.lane(lane) is None:
                rank = next((hit.rank for hit in self._lane(lane).hits if hit.chunk_id == found.chunk_id), None)
                if rank is not None:
                    ranks[lane] = rank
        return ranks

    def _lane(self, lane: Lane, where: FilterNode | None = None) -> LaneResult:
        """The lane's first ``MAX_CANDIDATES`` hits in today's index; kept when the filter is the trace's."""
        if where is None and lane in self._deep:
            return self._deep[lane]
        read = stage(self._trace, "analysis", Analysis)  # a follow-up was searched as it was read
        analysis = self._searcher.analyse(read.query if read else self._trace.query)
        deep = SearchOptions(self._index.collection, candidates=MAX_CANDIDATES)
        found = self._searcher.lane(lane, self._index, analysis, self._where if where is None else where, deep)
        if where is None:
            self._deep[lane] = found
        return found

    # -- the verdict -----------------------------------------------------------------------------------------------

    def _verdict(self, told: Autopsy) -> tuple[LostAt, str]:
        offered = max(self._search.k, self._ask.evidence)
        if not told.passes_filter:
            return "filter", (
                tr("Its document is retired, and retired documents are not found.")
                if told.retired
                else tr("The filters let no chunk of it pass.")
            )
        if told.fused_rank is None:
            return "lanes", self._why_no_candidate(told)
        if told.label:
            return self._of_evidence(told)
        last = told.reranked_rank or told.fused_rank
        if last > offered and told.fused_rank <= offered:
            return "rerank", tr(
                "The reranker put it from {before} to {after}; the first {offered} are offered.",
                before=told.fused_rank,
                after=last,
                offered=offered,
            )
        if last > offered:
            return "fusion", tr(
                "The fusion put it at {rank}, and the first {offered} are offered.", rank=last, offered=offered
            )
        return "context", self._why_dropped(told, last)

    def _of_evidence(self, told: Autopsy) -> tuple[LostAt, str]:
        """Citations lose only what an answer could have cited: a mere search, or a stopped question, has none."""
        answer = self._trace.answer
        if told.cited:
            return "", ""
        if answer is None:
            return "", tr(
                "It is in the evidence as {label}; nothing was answered, so nothing was cited.", label=told.label
            )
        if not answer.spoken:
            return "citations", tr(
                "It was in the evidence as {label}, and the question was not answered.", label=told.label
            )
        return "citations", tr("It was in the evidence as {label}, and not cited.", label=told.label)

    def _why_no_candidate(self, told: Autopsy) -> str:
        ranks = [
            tr("{lane} {rank}", lane=lane, rank=rank if rank else tr("not found"))
            for lane, rank in (("lexical", told.lexical_rank), ("dense", told.dense_rank))
            if lane in self._search.lanes
        ]
        kept = max((lane.k for lane in lanes(self._trace)), default=self._search.candidates)
        if any(rank is not None and rank <= kept for rank in (told.lexical_rank, told.dense_rank)):
            return tr("Today's index has it ({ranks}), the trace hasn't: it came later.", ranks=", ".join(ranks))
        return tr("It is no candidate: {ranks}, and each lane gave {kept}.", ranks=", ".join(ranks), kept=kept)

    def _why_dropped(self, told: Autopsy, rank: int) -> str:
        why = {
            "duplicate": tr("as a duplicate of what was kept"),
            "budget": tr("because the window was full"),
            "limit": tr("because enough evidence was kept"),
        }
        if told.dropped in why:
            return tr("It was found at rank {rank} and left out {why}.", rank=rank, why=why[told.dropped])
        return tr("It was found at rank {rank}; the question ended before the evidence was chosen.", rank=rank)

    # -- what would have kept it -----------------------------------------------------------------------------------

    def _fixes(self, told: Autopsy) -> list[Fix]:
        match told.lost_at:
            case "" | "citations":
                return []
            case "filter":
                return [self._without_filter(told)]
        if told.dropped == "duplicate" or not final_hits(self._trace):
            return []
        self.lanes = self._lanes_with(told)
        trials = Trials(Material(self._store, self._trace), self.lanes)
        return sorted(trials.slightest(told), key=lambda fix: fix.changed)[:FIXES]

    def _lanes_with(self, told: Autopsy) -> tuple[LaneResult, ...]:
        """The trace's hits; with the deeper ones behind them in the lanes that were looked up."""
        return tuple(
            replace(lane, hits=self._lane(lane.lane).hits) if lane.lane in told.looked_up and not lane.variant else lane
            for lane in fused_lanes(self._trace)
        )

    def _without_filter(self, told: Autopsy) -> Fix:
        """What the lanes would find without the query's filter, or of retired documents too."""
        mandatory = self._store.corpus.collection(self._index.collection).mandatory_filter
        where = _ANY_STATUS if told.retired else EVERYTHING
        ranks = {
            lane: next((h.rank for h in self._lane(lane, where).hits if h.chunk_id == told.chunk_id), None)
            for lane in self._search.lanes
        }
        placed = ", ".join(tr("{lane} {rank}", lane=lane, rank=rank) for lane, rank in ranks.items() if rank)
        if told.retired:
            advice = tr("Restore the document: workbench restore {source}", source=told.source_id)
        elif self._search.filter.strip():
            advice = tr("Leave out the filter “{filter}”.", filter=self._search.filter)
        else:
            advice = tr("Change the collection's filter “{filter}”, or the document's metadata.", filter=mandatory)
        return Fix("", 0, 0, f"{advice} ({placed})" if placed else advice)


class _Ranks:
    """Where the trace itself has a chunk."""

    def __init__(self, trace: Trace, chunk_id: str) -> None:
        self.chunk_id = chunk_id
        fusion = stage(trace, "fusion", FusionResult)
        reranked = stage(trace, "rerank", RerankResult)
        context = stage(trace, "context", Context)
        self.hit: FusedHit | None = next((h for h in fusion.hits if h.chunk_id == chunk_id), None) if fusion else None
        self.fused = self.hit.rank if self.hit else None
        self.reranked = next((h.rank for h in reranked.hits if h.chunk_id == chunk_id), None) if reranked else None
        self.label = next((piece.label for piece in evidence_of(trace) if piece.chunk_id == chunk_id), "")
        dropped = context.dropped if context else ()
        self.dropped = next((drop.reason for drop in dropped if drop.chunk_id == chunk_id), "")
        claims = trace.answer.claims if trace.answer else ()
        self.cited = any(citation.chunk_id == chunk_id for claim in claims for citation in claim.citations)

    def lane(self, lane: Lane) -> int | None:
        """Its rank among the lane's stored hits."""
        if self.hit is None:
            return None
        return self.hit.lexical_rank if lane == "lexical" else self.hit.dense_rank


class Trials:
    """What-ifs that could bring a chunk into the evidence, tried from the slightest to the strongest of each kind."""

    def __init__(self, material: Material, found: Sequence[LaneResult]) -> None:
        self._material, self._lanes = material, found

    def slightest(self, told: Autopsy) -> Iterator[Fix]:
        """Of each kind of change the slightest that is enough."""
        now, base = self._material.settings, _deeper(told)
        rank = told.reranked_rank or told.fused_rank or 0
        offered = f"k={rank}" if max(now.k, now.evidence) < rank <= MOST_EVIDENCE else ""
        kinds: tuple[tuple[str, Iterable[object]], ...] = (
            ("", ("",) if base else ()),
            ("{}", (offered,) if offered else ()),
            (",".join(filter(None, (offered, "evidence={}"))), range(now.evidence + 1, MOST_EVIDENCE + 1)),
            ("k0={}", (k0 for k0 in (30, 10, 3, 0) if k0 < now.k0)),
            ("k0={}", (k0 for k0 in (120, 240, 1000) if k0 > now.k0)),
            ("lexical.weight={},dense.weight=0.5", (0.75, 1, 2, 5)),
            ("dense.weight={},lexical.weight=0.5", (0.75, 1, 2, 5)),
            ("rerank={}", ("off",) if now.rerank != NONE else ()),
            ("mmr={}", ("off",) if now.mmr is not None else (0.7, 0.5, 0.3)),
            ("budget={}", ("off",) if now.budget is not None else ()),
            ("dense={}", ("off",) if told.lexical_rank and now.dense_k else ()),
            ("lexical={}", ("off",) if told.dense_rank and now.lexical_k else ()),
        )
        for written, values in kinds:
            changes = (",".join(filter(None, (base, written.format(value)))) for value in values)
            if enough := next((fix for change in changes if (fix := self.fix(told.chunk_id, change))), None):
                yield enough

    def fix(self, chunk_id: str, change: str) -> Fix | None:
        """The change as a fix; None when the chunk isn't in the evidence then either."""
        result = what_if(self._material, parse_changes(change, self._material.settings), self._lanes)
        place = next((n for n, piece in enumerate(result.evidence, 1) if piece.chunk_id == chunk_id), 0)
        return Fix(change, place, result.changed) if place else None


def _deeper(told: Autopsy) -> str:
    """The change that makes a chunk from outside the candidates one of them, in the lane that ranks it best."""
    if told.fused_rank is not None:
        return ""
    ranks = {"lexical": told.lexical_rank, "dense": told.dense_rank}
    known = {lane: rank for lane, rank in ranks.items() if rank is not None}
    if not known:
        return ""
    lane = min(known, key=lambda name: known[name])
    return f"{lane}.k={known[lane]}"


def _flat(chunk: Chunk) -> str:
    return " ".join(chunk.indexed_text.split()).casefold()
