"""The stages of a search or an answer as lines: what went in, what came out, how long it took, what was dropped.

What each one tells is in ``workbench.traces.telling``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.content import Content

from screens.style import Line, Tone, content, milliseconds
from screens.widgets.facts import Fact
from workbench.i18n import tr
from workbench.records.answers import Stage, Trace, TraceSpan
from workbench.records.keystrokes import Keystroke
from workbench.records.rerankers import NONE
from workbench.records.retrieval import Lane, SearchResult
from workbench.traces.telling import stage_name, told, told_span


@dataclass(frozen=True, slots=True)
class StageLine:
    """One stage: its flow ("8 → 4"), its time ("" when it takes none worth telling) and a note."""

    name: str
    flow: str
    ms: str
    note: str = ""


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
    return [*_lines(stages), *_left(lane for lane in asked if lane not in lanes)]


def of_keystroke(keystroke: Keystroke) -> list[StageLine]:
    """The stages of a saved keystroke as far as it holds them: lanes, fusion and reranking of the hits it keeps."""
    found = {"lexical": 0, "dense": 0}
    for hit in keystroke.hits:
        found["lexical"] += hit.lexical_rank is not None
        found["dense"] += hit.dense_rank is not None
    lanes = {lane.lane: lane for lane in keystroke.lanes}
    lines = [StageLine(stage_name("analysis"), "–", "", tr("terms and filter are not saved with a keystroke"))]
    for name, lane in lanes.items():
        note = tr("skipped: {reason}", reason=lane.skipped) if lane.skipped else ""
        lines.append(StageLine(stage_name(name), f"→ {found[name]}", milliseconds(lane.duration_ms), note))
    lines += _left(lane for lane in keystroke.asked if lane not in lanes)
    _, how = told(keystroke.fusion) or ("", "")
    lines.append(
        StageLine(stage_name("fusion"), f"→ {len(keystroke.hits)}", milliseconds(keystroke.fusion.duration_ms), how)
    )
    if keystroke.rerank != NONE:
        lines.append(StageLine(stage_name("rerank"), "", "", keystroke.rerank))
    return lines


def _left(lanes: Iterable[Lane]) -> list[StageLine]:
    return [StageLine(stage_name(lane), "–", "", tr("the next key came first")) for lane in lanes]


def of_trace(trace: Trace) -> list[StageLine]:
    """The stages that a trace has so far."""
    return [line for span in trace.spans if (line := span_line(span))]


def span_line(span: TraceSpan) -> StageLine | None:
    """One stage of a trace, None where there is nothing to tell of it."""
    told = told_span(span)
    return StageLine(told[0], told[1], milliseconds(span.duration_ms), told[2]) if told else None


def _lines(stages: Iterable[tuple[str, Stage, float | None]]) -> Iterable[StageLine]:
    for name, stage, ms in stages:
        if line := told(stage):
            yield StageLine(stage_name(name), line[0], "" if ms is None else milliseconds(ms), line[1])


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
