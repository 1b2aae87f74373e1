"""The stages of a search or an answer as lines: what went in, what came out, how long it took, what was dropped.

A new stage is one more entry in ``RENDERERS``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from textual.content import Content

from screens.style import Line, Tone, content, count, milliseconds
from screens.widgets import query_stages
from screens.widgets.facts import Fact
from workbench.i18n import language, tr
from workbench.records.answers import Context, Decision, Generation, Judged, Prompt, Stage, Trace, TraceSpan
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.rerankers import LATE
from workbench.records.retrieval import (
    Analysis,
    FilterResult,
    FusionResult,
    Lane,
    LaneResult,
    RerankResult,
    SearchResult,
    Transformed,
)
from workbench.retrieval.rerank import describe_gain
from workbench.sqltools.words import rows_told
from workbench.traces.outcomes import attempt_error, of_tables

PAIRS_SHOWN: Final = 4
"""Token matches of the first hit that the rerank stage tells."""


@dataclass(frozen=True, slots=True)
class StageLine:
    """One stage: its flow ("8 → 4"), its time ("" when it takes none worth telling) and a note."""

    name: str
    flow: str
    ms: str
    note: str = ""


def _analysis(stage: Analysis) -> tuple[str, str]:
    kept = len(stage.terms)
    dropped = " ".join(f"«{w}»" for w in stage.dropped)
    return f"{kept + len(stage.dropped)} → {kept}", tr("dropped {words}", words=dropped) if dropped else ""


def _filter(stage: FilterResult) -> tuple[str, str]:
    parts = [stage.mandatory and tr("always: {filter}", filter=stage.mandatory), stage.expression]
    flow = f"{count(stage.total)} → {count(stage.matching)}"
    retired = tr("{count} retired", count=count(stage.retired)) if stage.retired else ""
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
    return f"{len(stage.messages)}", tr("{count} characters as sent", count=count(len(stage.rendered)))


def _generation(stage: Generation) -> tuple[str, str]:
    speeds = [
        stage.ttft_ms is not None and f"TTFT {stage.ttft_ms:,.0f} ms",
        stage.decode_tps and f"{stage.decode_tps:.1f} t/s",
        stage.stop_reason,
    ]
    return tr("{count} tokens", count=stage.output_tokens), " · ".join(str(s) for s in speeds if s)


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


def of_search(result: SearchResult, asked: Iterable[Lane] = ()) -> list[StageLine]:
    """The stages of a search that left no trace; lanes of ``asked`` that it lacks were left when the next key came."""
    lanes = {lane.lane: lane for lane in result.lanes}
    stages: list[tuple[str, Stage, float | None]] = [
        ("analysis", result.analysis, None),
        ("filter", result.filter, None),
        *((name, lane, lane.duration_ms) for name, lane in lanes.items()),
        ("fusion", result.fusion, result.fusion.duration_ms),
    ]
    if result.rerank:
        stages.append(("rerank", result.rerank, result.rerank.duration_ms))
    left = [StageLine(stage_name(lane), "–", "", tr("the next key came first")) for lane in asked if lane not in lanes]
    return [*_lines(stages), *left]


def of_trace(trace: Trace) -> list[StageLine]:
    """The stages that a trace has so far."""
    if of_tables(trace):
        return [span_line(span) for span in trace.spans]
    return list(_lines((span.name, span.output, span.duration_ms) for span in trace.spans))


def span_line(span: TraceSpan) -> StageLine:
    """A stage of a question of tables: those of the schema that the model was told of, or one of its attempts."""
    ms = milliseconds(span.duration_ms)
    if span.name == "schema":
        tables = str(span.metadata.get("tables", ""))
        return StageLine(tr("schema"), f"→ {len(tables.split())}", ms, tables)
    error = attempt_error(span)
    flow = "✗" if error else "✓ " + rows_told(int(span.metadata.get("rows", 0)))
    return StageLine(tr("query {number}", number=span.name.removeprefix("sql_")), flow, ms, error)


def _lines(stages: Iterable[tuple[str, Stage, float | None]]) -> Iterable[StageLine]:
    for name, stage, ms in stages:
        render = RENDERERS.get(type(stage))
        if render:
            flow, note = render(stage)
            yield StageLine(stage_name(name), flow, "" if ms is None else milliseconds(ms), note)


def legend() -> list[Fact]:
    """The signs of Ask, each with what it means."""
    return [
        ("lex  dense", tr("rank in the words lane, rank in the meaning lane; – not found there")),
        ("▲ ▼ new out", tr("places gained or lost since the ranking before or the pinned one; new, and gone")),
        ("keys ▁▂▅[▇]◆", tr("how much the ranking changed with each keystroke; the one looked at, the pinned one")),
        ("1/61 + 1/63", tr("score of RRF: the sum of 1/(60 + rank) over the lanes")),
        ("σ", tr("share of the chunks that pass the filters")),
        ("✂", tr("chunks found but not given to the answer, and why")),
        ("s ≥ τ", tr("support s from 0 to 1; below the threshold τ nothing is answered")),
        (tr("coverage"), tr("how much of the question's weight in words the best passage holds")),
        (tr("likeness"), tr("how close the closest sentence is in meaning")),
        (tr("agreement"), tr("1 when both lanes put the same chunk first")),
        ("✓ ~ ✗", tr("the cited passage says the claim, says part of it, does not say it")),
        ("[F1]", tr("the evidence that backs the sentence before it; enter on its row opens the source there")),
        (tr("prompt"), tr("tokens used of the window: instructions + evidence + question + reserve for the answer")),
    ]


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


def draw(lines: Iterable[StageLine], width: int) -> Content:
    """Stages as a small table, a dim note under those that have one."""
    flow_width = max(12, width - 12 - 8)
    out: list[Line] = [(f"{tr('stage'):<11}{tr('in → out'):<{flow_width}}{tr('ms'):>7}", Tone.DIM)]
    for line in lines:
        out.append(("\n" + f"{line.name:<11}", Tone.ACCENT))
        out.append(f"{line.flow:<{flow_width}}{line.ms:>7}")
        if line.note:
            out.append(("\n  " + line.note, Tone.DIM))
    return content(*out)
