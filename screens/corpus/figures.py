"""Figures of indexes as text: what one is, how two compare, what each form of storage loses."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from screens.style import Line, Tone, content, count, size
from workbench.corpus.chunking import describe_recipe
from workbench.evals.gold.anchors import left_out_told
from workbench.evals.measuring.compare import p_text
from workbench.i18n import tr
from workbench.indexing.comparing import unequal_told
from workbench.indexing.forms import form_name
from workbench.records.corpus import VectorForm
from workbench.records.evals import Estimate, MetricChange
from workbench.records.indexes import FormRecall, IndexComparison, IndexState

_LABEL = 12


def described(state: IndexState) -> Content:
    """What an index is stamped with, and what was measured of its forms."""
    index, embedder = state.index, state.index.embedder
    prefixes = f"“{embedder.query_prefix}” · “{embedder.passage_prefix}”" if embedder.query_prefix else "–"
    lines: list[Line] = [
        _fact(tr("status"), _status(state)),
        _fact(tr("embedder"), f"{embedder.name} · {embedder.fingerprint[:8]} · {embedder.dimension}"),
        _fact(tr("prefixes"), prefixes),
        _fact(tr("pooling"), " · ".join((embedder.pooling, *([tr("normalised")] if embedder.normalised else [])))),
        _fact(tr("recipe"), describe_recipe(index.recipe)),
        _fact(tr("vectors"), f"{count(index.vectors)} · {form_name(index.form)} · {size(round(state.bytes))} (N·d·b)"),
        _fact(tr("built"), f"{index.created.astimezone():%Y-%m-%d %H:%M}"),
    ]
    if state.measured:
        return Content("\n").join([content(*lines, _outdated(state)), measured(state.measured, index.form)])
    return content(*lines, "\n", (tr("m measures what each form of storing vectors would lose."), Tone.DIM))


def _outdated(state: IndexState) -> Line:
    """Why the figures below aren't of the index as it is."""
    then = state.measured[0]
    if not then.outdated:
        return ""
    told = tr(
        "Outdated: measured with {then} vectors, the index holds others now. m measures again.",
        then=count(then.vectors),
    )
    return ("\n" + told, Tone.WARN)


def measured(found: Sequence[FormRecall], own: VectorForm) -> Content:
    """Recall_ANN against exact search: a line for each form, at each k."""
    if not found:
        return Content("")
    first = found[0]
    asked, passing = count(first.recall.n), count(first.passing)
    head = tr(
        "Recall_ANN against exact: {count} questions, {passing} chunks pass the filter", count=asked, passing=passing
    )
    if first.stand_in:
        head = tr(
            "Recall_ANN against exact: {count} of {passing} chunks stand in for questions", count=asked, passing=passing
        )
    lines: list[Line] = [(head + (f" · {first.filter}" if first.filter else "") + "\n", Tone.STRONG)]
    for one in found:
        mark: Line = ("✓ ", Tone.GOOD) if one.form == own else "  "
        took = f"  {one.milliseconds:.1f} ms" if one.milliseconds is not None else ""
        name = f"{form_name(one.form):<13}@{one.k:<3} "
        room = "" if one.outdated else f"  {size(round(one.bytes)):>8}"
        lines.append((mark, name, _interval(one.recall), f"{room}{took}\n"))
    return content(*lines)


def compared(found: IndexComparison) -> Content:
    """Each measure of both, the difference with its interval, and what decides."""
    head = tr("Index {second} against {first}", second=found.second.id, first=found.first.id)
    on = found.source or tr("stored questions: how far the two agree")
    lines: list[Line] = [(f"{head} · {on} · n = {count(found.cases)}\n", Tone.STRONG)]
    lines += [_change(metric) for metric in found.metrics]
    told = tr("fusion recall@1: {fixed} only right with {second}, {broken} only with {first}")
    words = told.format(fixed=found.fixed, second=found.second.id, broken=found.broken, first=found.first.id)
    gone = [left_out_told(found.left_out)] if found.left_out else []
    return content(*lines, words, *(("\n" + sentence, Tone.WARN) for sentence in (*unequal_told(found), *gone)))


def _change(metric: MetricChange) -> Line:
    tone = Tone.DIM
    if metric.significant:
        tone = Tone.GOOD if metric.difference.value > 0 else Tone.BAD
    d = metric.difference
    difference = f"{d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}]"
    values = f"{metric.metric:<17}{metric.a.value:.3f} → {metric.b.value:.3f}  "
    return (values, (difference, tone), (f"  {p_text(metric.p_value)}\n", Tone.DIM))


def _status(state: IndexState) -> Line:
    told = {
        "current": tr("questions meet it"),
        "kept": tr("was current: u goes back"),
        "ready": tr("beside: s switches to it"),
        "building": tr("not whole: b goes on"),
    }[state.standing]
    there: Line = "" if state.installed else (" · " + tr("its embedder isn't installed"), Tone.BAD)
    return (told, there)


def _fact(name: str, value: Line) -> Line:
    return ((name.ljust(_LABEL), Tone.DIM), value, "\n")


def _interval(value: Estimate) -> str:
    return f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"
