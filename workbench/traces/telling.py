"""What each stage of a question did in a line, the same in every front end: in → out, and what it dropped and why.

A new stage is one more entry in ``RENDERERS``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from workbench.i18n import amounts, language, tr
from workbench.records.answers import (
    EMBEDDER_START,
    Context,
    Decision,
    Generation,
    Judged,
    Ledger,
    Prompt,
    Stage,
    TraceSpan,
)
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.rerankers import LATE
from workbench.records.retrieval import Analysis, FilterResult, FusionResult, LaneResult, RerankResult, Transformed
from workbench.retrieval.rerank import describe_gain
from workbench.sqltools.words import rows_told
from workbench.traces import query_stages
from workbench.traces.outcomes import attempt_error

PAIRS_SHOWN: Final = 4
"""Token matches of the first hit that the rerank stage tells."""


def told(stage: Stage | None) -> tuple[str, str] | None:
    """(flow, note) of a stage's record: "8 → 4", "dropped «the»"; None where there is nothing to tell."""
    render = RENDERERS.get(type(stage))
    return render(stage) if render else None


def told_span(span: TraceSpan) -> tuple[str, str, str] | None:
    """(name, flow, note) of a span, those of a question of tables included: its schema, and each attempt."""
    if span.name == "schema":
        tables = str(span.metadata.get("tables", ""))
        return tr("schema"), f"→ {len(tables.split())}", tables
    if span.name.startswith("sql_"):
        error = attempt_error(span)
        flow = "✗" if error else "✓ " + rows_told(int(span.metadata.get("rows", 0)))
        return tr("query {number}", number=span.name.removeprefix("sql_")), flow, error
    line = told(span.output)
    if line is None:
        return None
    flow, note = line
    started = span.metadata.get(EMBEDDER_START)
    start = tr("before it, the embedder started: {ms} ms", ms=f"{started:,.0f}") if started else ""
    return stage_name(span.name), flow, " · ".join(filter(None, (note, start)))


def told_ledger(parts: Ledger, named: bool = True) -> str:
    """Where the context window goes, in tokens.

    Args:
        named: each part has its name; only numbers otherwise.
    """
    if not parts.instructions:  # nothing is sent to a model: the answer quotes
        return tr("evidence {tokens}", tokens=amounts.tokens(parts.evidence))
    numbers = [f"{n:,}" for n in (parts.instructions, parts.evidence, parts.question, parts.reserve)]
    names = [tr("instructions"), tr("evidence"), tr("question"), tr("reserve")]
    split = " + ".join(f"{name} {n}" if named else n for name, n in zip(names, numbers, strict=True))
    used = ("≈ " if parts.estimated else "") + f"{parts.total:,}"
    window = f"{parts.window:,}" + (f" ({tr('assumed')})" if parts.assumed else "")
    return tr("prompt {used} / {window}: {split}", used=used, window=window, split=split)


def stage_name(name: str) -> str:
    """A span's name in the interface's language."""
    return _stage_names(language()).get(name, name)


@cache
def _stage_names(_language: str) -> dict[str, str]:
    """Span → its name, made once a language: every key asks for several."""
    return {
        "analysis": tr("terms"),
        "filter": tr("filter"),
        "lexical": tr("lexical"),
        "dense": tr("dense"),
        "fusion": tr("fusion"),
        "rerank": tr("rerank"),
        "context": tr("context"),
        "prompt": tr("prompt"),
        "generation": tr("answer"),
        "citations": tr("citations"),
        "decision": tr("decision"),
        "follow": tr("follow"),
        "spelling": tr("spelling"),
        "languages": tr("languages"),
        "split": tr("split"),
        "multi": tr("multi"),
        "hyde": tr("hyde"),
        "evidence": tr("evidence"),
        "retry": tr("retry"),
        "judge": tr("judge"),
    }


def _analysis(stage: Analysis) -> tuple[str, str]:
    kept = len(stage.terms)
    dropped = " ".join(f"«{w}»" for w in stage.dropped)
    return f"{kept + len(stage.dropped)} → {kept}", tr("dropped {words}", words=dropped) if dropped else ""


def _filter(stage: FilterResult) -> tuple[str, str]:
    parts = [stage.mandatory and tr("always: {filter}", filter=stage.mandatory), stage.expression]
    flow = f"{stage.total:,} → {stage.matching:,}"
    retired = tr("{count} retired", count=f"{stage.retired:,}") if stage.retired else ""
    return flow, " · ".join([f"σ {stage.selectivity:.2f}", *filter(None, [*parts, retired])])


def _lane(stage: LaneResult) -> tuple[str, str]:
    return f"→ {len(stage.hits)}", tr("skipped: {reason}", reason=stage.skipped) if stage.skipped else ""


def _fusion(stage: FusionResult) -> tuple[str, str]:
    how = f"RRF k₀ {stage.k0}" if stage.method == "rrf" else " ".join(f"{lane} {w:g}" for lane, w in stage.weights)
    return f"→ {len(stage.hits)}", how


def _rerank(stage: RerankResult) -> tuple[str, str]:
    if stage.skipped:
        return "", tr("skipped: {reason}", reason=stage.skipped)
    moved = sum(hit.rank != hit.before for hit in stage.hits)
    gain = describe_gain(stage.gain) if stage.gain else ""
    notes = ["" if stage.mode == LATE else stage.mode, stage.note, gain, *_pairs(stage)]
    return tr("{count} · {moved} moved", count=len(stage.hits), moved=moved), " · ".join(filter(None, notes))


def _pairs(stage: RerankResult) -> list[str]:
    """The closest matches of the first hit: "matrícula→tasas 0.81"."""
    matches = sorted(stage.hits[0].matches, key=lambda match: -match.cosine) if stage.hits else []
    return [f"{m.query}→{m.passage} {m.cosine:.2f}" for m in matches[:PAIRS_SHOWN]]


def _context(stage: Context) -> tuple[str, str]:
    reasons = {"duplicate": tr("duplicate"), "budget": tr("over the budget"), "limit": tr("beyond the best")}
    cut = Counter(reasons[d.reason] for d in stage.dropped)
    kept = len(stage.evidence)
    return f"{kept + len(stage.dropped)} → {kept}", "✂ " + ", ".join(f"{n} {r}" for r, n in cut.items()) if cut else ""


def _prompt(stage: Prompt) -> tuple[str, str]:
    return f"{len(stage.messages)}", tr("{count} characters as sent", count=f"{len(stage.rendered):,}")


def _generation(stage: Generation) -> tuple[str, str]:
    near = "≈ " if stage.estimated else ""
    speeds = [
        stage.ttft_ms is not None and f"TTFT {stage.ttft_ms:,.0f} ms",
        stage.decode_tps and f"{near}{stage.decode_tps:.1f} t/s",
        stage.stop_reason,
    ]
    return near + amounts.tokens(stage.output_tokens), " · ".join(str(s) for s in speeds if s)


def _decision(stage: Decision) -> tuple[str, str]:
    sign = "≥" if stage.support >= stage.threshold else "<"
    names = {"coverage": tr("coverage"), "likeness": tr("likeness"), "agreement": tr("agreement")}
    parts = " · ".join(f"{names.get(name, name)} {value:.2f}" for name, value in stage.parts)
    return f"s {stage.support:.2f} {sign} τ {stage.threshold:.2f}", parts


RENDERERS: Final[dict[type, Callable[[Any], tuple[str, str]]]] = {
    Analysis: _analysis,
    FilterResult: _filter,
    LaneResult: _lane,
    FusionResult: _fusion,
    RerankResult: _rerank,
    Context: _context,
    Prompt: _prompt,
    Generation: _generation,
    Decision: _decision,
    FollowUp: query_stages.follow_up,
    Transformed: query_stages.transformed,
    EvidenceCheck: query_stages.evidence_check,
    Judged: query_stages.judged,
}
"""A stage's record → (flow, note)."""
