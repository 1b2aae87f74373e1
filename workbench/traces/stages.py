"""What the stages of a stored trace gave, each by its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.answers import AskOptions, Context, Evidence, EvidenceOrder, Manifest, Trace
from workbench.records.retrieval import (
    FusedHit,
    FusionResult,
    Lane,
    LaneResult,
    RerankMode,
    RerankResult,
    SearchOptions,
    Transformed,
)
from workbench.records.traces import Move
from workbench.retrieval.rerank import reordered
from workbench.retrieval.transforms import parse_transforms

S = TypeVar("S")

LANES: Final[tuple[Lane, ...]] = ("lexical", "dense")
ORDERS: Final[tuple[EvidenceOrder, ...]] = ("best_first", "best_last", "edges")


def stage(trace: Trace, name: str, kind: type[S]) -> S | None:
    """The output of the stage, None when it hasn't run."""
    span = trace.span(name)
    return span.output if span is not None and isinstance(span.output, kind) else None


def lanes(trace: Trace) -> tuple[LaneResult, ...]:
    """Of those lanes that were asked with the question itself, lexical first."""
    return tuple(found for lane in LANES if (found := stage(trace, lane, LaneResult)))


def fused_lanes(trace: Trace) -> tuple[LaneResult, ...]:
    """All that was fused: the question's own lanes, then those of its variants."""
    others = (span.output.lanes for span in trace.spans if isinstance(span.output, Transformed))
    return (*lanes(trace), *(lane for found in others for lane in found))


def final_hits(trace: Trace) -> tuple[FusedHit, ...]:
    """The ranking that the context was built from."""
    fusion = stage(trace, "fusion", FusionResult)
    return reordered(fusion, stage(trace, "rerank", RerankResult)) if fusion else ()


def cached_rerankings(trace: Trace) -> dict[RerankMode, RerankResult]:
    """By reranker: what each has scored in this trace, its last word where it was asked twice."""
    found = [span.output for span in trace.spans if isinstance(span.output, RerankResult)]
    return {result.mode: result for result in found if not result.skipped}


def evidence_of(trace: Trace) -> tuple[Evidence, ...]:
    """Best first."""
    context = stage(trace, "context", Context)
    return context.evidence if context else ()


def settled(trace: Trace) -> tuple[AskOptions, SearchOptions]:
    """The options that the trace was asked with, as its manifest remembers them.

    Raises:
        UsageError: the manifest's settings can't be read.
    """
    try:
        return _ask(trace.manifest), _search(trace.manifest)
    except (ValueError, TypeError) as error:
        raise UsageError(
            tr("Settings can't be read"),
            tr("The trace {id} holds settings that this version doesn't understand: {error}", id=trace.id, error=error),
            tr("Ask the question again."),
        ) from error


def moves(before: Sequence[str], after: Sequence[str], sources: Mapping[str, str]) -> tuple[Move, ...]:
    """Where each chunk went, in the order of ``after``; those that left come last, in the order of ``before``.

    Args:
        before, after: chunk ids, best first.
        sources: source_id by chunk id.
    """
    then = {chunk_id: place for place, chunk_id in enumerate(before, 1)}
    now = {chunk_id: place for place, chunk_id in enumerate(after, 1)}
    return tuple(Move(c, sources.get(c, ""), then.get(c), now.get(c)) for c in dict.fromkeys((*after, *before)))


def _ask(manifest: Manifest) -> AskOptions:
    told = _under("ask", manifest)
    default = AskOptions()
    mmr, budget, threshold = told.get("mmr"), told.get("budget"), told.get("threshold")
    return AskOptions(
        mode=_one_of(told.get("mode", default.mode), ("auto", "extractive", "generated")),
        evidence=int(told.get("evidence", default.evidence)),
        max_output=int(told.get("max_output", default.max_output)),
        threshold=None if threshold is None else float(threshold),
        constrained=bool(told["constrained"]) if "constrained" in told else None,
        temperature=float(told.get("temperature", default.temperature)),
        seed=int(told.get("seed", default.seed)),
        mmr=None if mmr is None else float(mmr),
        budget=None if budget is None else int(budget),
        order=_one_of(told.get("order", default.order), ORDERS),
        follows=str(told.get("follows", default.follows)),
        retries=int(told.get("retries", 0)),
        rewrite=_one_of(told.get("rewrite", default.rewrite), ("rules", "model")),
        judge=bool(told.get("judge", default.judge)),
        duplicates=bool(told.get("duplicates")) or None,
        parents=False if told.get("parents") is False else None,
    )


def _search(manifest: Manifest) -> SearchOptions:
    told = _under("search", manifest)
    default = SearchOptions()
    asked = str(told.get("lanes", " ".join(default.lanes))).split()
    pairs = (pair.split("=") for pair in str(told.get("weights", "")).split())
    depth = dict(pair.split("=") for pair in str(told.get("lane_candidates", "")).split())
    return SearchOptions(
        collection=manifest.collection,
        k=int(told.get("k", default.k)),
        candidates=int(told.get("candidates", default.candidates)),
        lanes=tuple(lane for lane in LANES if lane in asked),
        fusion=_one_of(told.get("fusion", default.fusion), ("rrf", "weights")),
        k0=int(told.get("k0", default.k0)),
        weights=tuple((name, float(weight)) for name, weight in pairs) or default.weights,
        filter=str(told.get("filter", "")),
        rerank=str(told["rerank"]) if "rerank" in told else None,
        lane_candidates=tuple((lane, int(depth[lane])) for lane in LANES if lane in depth),
        transforms=parse_transforms(str(told.get("transforms", "")).replace(" ", ",")),
        extra_searches=int(told.get("extra_searches", default.extra_searches)),
        query_tokens=int(told.get("query_tokens", default.query_tokens)),
        rerank_depth=int(told["rerank_depth"]) if "rerank_depth" in told else None,
        rerank_ms=int(told["rerank_ms"]) if "rerank_ms" in told else None,
    )


def _under(prefix: str, manifest: Manifest) -> dict[str, str | int | float | bool]:
    start = f"{prefix}."
    return {name.removeprefix(start): value for name, value in manifest.settings.items() if name.startswith(start)}


L = TypeVar("L", bound=str)


def _one_of(value: object, known: tuple[L, ...]) -> L:
    for one in known:
        if value == one:
            return one
    raise ValueError(f"{value!r} is none of {', '.join(known)}")
