"""A run in figures: each metric with its interval, against the other run, by segment; one line of it when there is
no room for more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from screens.evals.columns import in_columns
from screens.evals.reading import JUDGES, RunView
from screens.evals.words import change_line, estimate_parts
from screens.style import Line, Tone, content, count, duration, plain, shorten
from workbench.evals.measuring.compare import verdict
from workbench.evals.measuring.scoring import describe
from workbench.evals.measuring.statistics import FEW, Agreement
from workbench.evals.reporting.naming import layer_title, run_words
from workbench.evals.reporting.reports import headline_metrics, judged_text, no_kappa
from workbench.i18n import tr
from workbench.records.evals import (
    Estimate,
    Run,
    RunComparison,
    RunReport,
    Segment,
)

SEGMENTS_SHOWN: Final = 8
"""Values of a field that are named; the report has them all."""
SEGMENT_WIDTH: Final = 20
"""Cells that a value of a field may take."""


class Figures(VerticalScroll):
    """Follows one run; draws anew when its width or the terminal's kind changes. One line where that is narrow, and the
    whole when it is zoomed; what is longer than its room scrolls."""

    def __init__(self) -> None:
        super().__init__(id="figures", classes="pane")
        self._view: RunView | None = None
        self._progress = ""

    def compose(self) -> ComposeResult:
        """The lines."""
        yield Static(id="figures-lines")

    def show(self, view: RunView | None, progress: str = "") -> None:
        """Another run, or the same one further on."""
        self._view, self._progress = view, progress
        self._draw()

    def on_resize(self) -> None:
        """Fits the columns to the new width."""
        self._draw()

    def _draw(self) -> None:
        view, lines = self._view, self.query_one("#figures-lines", Static)
        width = lines.content_size.width or 60
        narrow = self.screen.has_class("-narrow") and self.screen.maximized is not self
        self.border_title = content(headline(view)) if view else ""
        if view is None:
            lines.update("")
        elif narrow:
            lines.update(one_line(view, width, self._progress))
        else:
            lines.update(Content("\n").join(content(line) for line in all_lines(view, width, self._progress)))


def headline(view: RunView) -> str:
    """ "12 e5 rrf against 11 bm25 ── xquad-es · 1,190 cases · retrieval"."""
    dataset = f"{view.dataset.name} · {tr('{count} cases', count=count(view.dataset.cases))}"
    if view.run is None:
        return dataset
    name = f"{view.run.id} {run_words(view.run)}"
    against = f" {tr('against')} {view.other.id} {run_words(view.other)}" if view.other else ""
    return f"{name}{against} ── {dataset} · {layer_title(view.run.config.layer)}"


def one_line(view: RunView, width: int, progress: str) -> Content:
    """What matters most, as far as whole figures fit."""
    parts: list[Line] = [(progress, Tone.ACCENT)] if progress else []
    if view.comparison:
        parts.append(_flips(view.comparison))
    if view.report:
        metrics = view.report.overall.metrics
        parts += [(f"{_title(name)} ", _value(name, metrics[name])) for name in _headlines(view)]
    elif view.run:
        parts.append((_unfigured(view.run), Tone.DIM))
    else:
        waiting: Line = (tr("{count} wait", count=count(view.waiting)), Tone.WARN)
        parts += [view.dataset.name, *([waiting] if view.waiting else []), _answerable(view), _runs_it()]
    joined: list[Line] = []
    for part in parts:
        width -= cell_len(plain(part)) + (2 if joined else 0)
        if width < 0 and joined:
            break
        joined += ["  " if joined else "", part]
    return content(*joined)


def all_lines(view: RunView, width: int, progress: str) -> Iterable[Line]:
    """Progress, metrics in columns, the comparison's verdict, segments, warnings."""
    if progress:
        yield (progress, Tone.ACCENT)
    if view.run is None:
        yield from _of_dataset(view)
        return
    if view.report is None:
        yield (_unfigured(view.run), Tone.DIM)
        return
    yield from in_columns([_cell(view.report, view.comparison, name) for name in _headlines(view)], width)
    if view.comparison:
        yield ((verdict_mark(view.comparison)), verdict(view.comparison))
    yield from _segments(view.report.segments, _leading(view), width)
    if view.agreement:
        yield _agreement(view.agreement)
    yield from ((("⚖ ", Tone.ACCENT), judged_text(told)) for told in view.judged[:JUDGES])
    yield from ((("~ ", Tone.WARN), (warning, Tone.DIM)) for warning in _warnings(view))


def _warnings(view: RunView) -> Iterable[str]:
    """The run's, then the comparison's; that there are few cases is told once."""
    compared = view.comparison.warnings if view.comparison else ()
    told = [
        words
        for words in (view.report.warnings if view.report else ())
        if not any(words != other and words.endswith(other) for other in compared)  # what both say of the baseline
    ]
    if view.run and view.comparison:
        paired = view.comparison.paired
        few = tr("Only {n} cases: under {few}, gross failures show and little else.", n=paired, few=FEW)
        told += [words for words in view.comparison.warnings if view.run.done >= FEW or words != few]
    return dict.fromkeys(told)


def _unfigured(run: Run) -> str:
    return tr("working out the intervals…") if run.done else tr("No case has a result yet.")


def verdict_mark(comparison: RunComparison) -> Line:
    """▲ or ▼ where the flips are significant, ≈ where they may be chance."""
    if comparison.p_value >= 0.05:
        return ("≈ ", Tone.DIM)
    better = len(comparison.fixed) > len(comparison.broken)
    return ("▲ ", Tone.GOOD) if better else ("▼ ", Tone.BAD)


def _flips(comparison: RunComparison) -> Line:
    return (
        verdict_mark(comparison),
        tr("{fixed} fixed {broken} broken", fixed=len(comparison.fixed), broken=len(comparison.broken)),
    )


def _headlines(view: RunView) -> tuple[str, ...]:
    return headline_metrics(view.report.overall.metrics, 10) if view.report else ()


def _leading(view: RunView) -> str:
    """The metric that segments are told by."""
    names = _headlines(view)
    retrieval = view.run is not None and view.run.config.layer == "retrieval"
    return next((n for n in names if n.startswith("recall@")), "pass_rate") if retrieval else "pass_rate"


def _title(name: str) -> str:
    return describe(name).title


def _value(name: str, estimate: Estimate) -> Line:
    value, margin = estimate_parts(name, estimate)
    return (value, (f" {margin}", Tone.DIM))


def _cell(report: RunReport, comparison: RunComparison | None, name: str) -> tuple[Line, Line, Line, Line]:
    """Title, value, margin with n, change."""
    estimate = report.overall.metrics[name]
    value, margin = estimate_parts(name, estimate)
    changes = {change.metric: change for change in comparison.metrics} if comparison else {}
    change: Line = change_line(changes[name]) if name in changes else ""
    return _title(name), (value, Tone.STRONG), (f"{margin} n={count(estimate.n)}", Tone.DIM), change


def _segments(segments: Sequence[Segment], name: str, width: int) -> Iterable[Line]:
    """Per field "by type: direct .99 ±.02 n=400   multi-hop .81 ±.05 n=90 ▼"; ▼: its interval lies below the whole.

    Of the fields after the first, only those with a drop are told.
    """
    overall = segments[0].metrics.get(name)
    if overall is None:
        return
    for field, members in groupby(segments[1:], key=lambda s: s.field):
        known = [(segment, segment.metrics[name]) for segment in members if name in segment.metrics]
        dropped = any(e.high < overall.value for _, e in known)
        if len(known) < 2 or not (dropped or field == segments[1].field):
            continue
        told: list[Line] = [_part(segment.value, name, e, overall) for segment, e in known[:SEGMENTS_SHOWN]]
        more = len(known) - SEGMENTS_SHOWN
        yield from _flowing(
            tr("by {field}", field=tr(field)) + ": ", told + [(f"+{more}", Tone.DIM)] * (more > 0), width
        )


def _part(value: str, name: str, estimate: Estimate, overall: Estimate) -> Line:
    """A value of the field, its figure, margin and n, and ▼ where it lies below the whole."""
    figure, margin = estimate_parts(name, estimate)
    drop: Line = (" ▼", Tone.BAD) if estimate.high < overall.value else ""
    return (shorten(value, SEGMENT_WIDTH), " ", figure, (f" {margin} n={count(estimate.n)}", Tone.DIM), drop)


def _flowing(lead: str, parts: Sequence[Line], width: int) -> Iterable[Line]:
    """Parts after a lead, as many on a line as fit whole."""
    line: list[Line] = [(lead, Tone.DIM)]
    used = cell_len(lead)
    for number, part in enumerate(parts):
        wide = cell_len(plain(part)) + 3
        if number and used + wide > width:
            yield tuple(line)
            line, used = [" " * cell_len(lead)], cell_len(lead)
        line += [part, "   "]
        used += wide
    yield tuple(line)


def _agreement(found: Agreement) -> Line:
    raw, margin = estimate_parts("pass_rate", found.raw)
    kappa = no_kappa(found.raw.n) if found.kappa is None else " ".join(estimate_parts("kappa", found.kappa))
    told = tr("labels agree with scores {share} n={n} · κ {kappa}", share=f"{raw} {margin}", n=found.raw.n, kappa=kappa)
    return (("± ", Tone.ACCENT), told)


def _answerable(view: RunView) -> str:
    dataset = view.dataset
    return tr("{answerable} of {all} answerable", answerable=count(dataset.answerable), all=count(dataset.cases))


def _runs_it() -> Line:
    return (("R", Tone.ACCENT), " " + tr("runs it."))


def _of_dataset(view: RunView) -> Iterable[Line]:
    d = view.dataset
    about = f"{_answerable(view)} · {d.collection}" if d.collection else tr("model tasks")
    yield f"{about} · {d.created:%Y-%m-%d} · sha {d.hash[:8]}"
    fields: dict[str, dict[str, int]] = {}
    for item in view.items:
        for field, value in item.segments:
            values = fields.setdefault(field, {})
            values[value] = values.get(value, 0) + 1
    for field, values in fields.items():
        largest = sorted(values.items(), key=lambda entry: -entry[1])[:SEGMENTS_SHOWN]
        yield ((f"{tr(field)}: ", Tone.DIM), "   ".join(f"{value} {count(n)}" for value, n in largest))
    yield from ((("~ ", Tone.WARN), (caution, Tone.DIM)) for caution in view.cautions)
    if view.waiting:
        told = tr("{count} candidates wait: none counts before you accepted it.", count=count(view.waiting))
        yield (("v", Tone.ACCENT), f" {tr('reviews them.')} ", (told, Tone.WARN))
    yield _runs_it()


def progress_text(run: Run, eta_s: float | None) -> str:
    """How far a run is."""
    left = f" · {tr('{time} left', time=duration(eta_s))}" if eta_s is not None else ""
    return f"{count(run.done)}/{count(run.total)}{left}"
