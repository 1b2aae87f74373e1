"""Plots in plain characters: metrics with their intervals, and the risk–coverage curve with τ to pick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import HELP
from screens.evals.reading import RunView, read_figures
from screens.evals.words import estimate_parts, share
from screens.style import Line, Tone, content, shorten
from workbench.evals.deciding.threshold import threshold_text
from workbench.evals.measuring.scoring import describe
from workbench.evals.measuring.statistics import wilson
from workbench.evals.reporting.naming import run_words
from workbench.i18n import tr
from workbench.records.evals import Estimate, ThresholdPoint

if TYPE_CHECKING:
    from workbench.desk import Desk

AXIS: Final = 6
"""Cells left of a curve for its scale."""


@dataclass(frozen=True, slots=True)
class Plotted:
    """A run with its figures, and its curve: empty for one that only retrieved."""

    view: RunView
    curve: tuple[ThresholdPoint, ...] = ()
    stored: float = 0.0
    """τ of the run's collection at present."""


def read_plots(desk: Desk, view: RunView) -> Plotted:
    """What is plotted of a run; its figures are worked out if they aren't yet."""
    figured = view if view.report else read_figures(desk, view)
    if view.run is None or view.run.config.layer not in {"generation", "chain"}:
        return Plotted(figured)
    stored = desk.evals.threshold(view.run.manifest.collection)
    return Plotted(figured, desk.evals.threshold_curve(view.run.id), stored)


@dataclass(frozen=True, slots=True)
class Bar:
    """One estimate of a share, and the other run's beneath it."""

    label: str
    name: str
    estimate: Estimate
    other: Estimate | None = None


def bars(view: RunView) -> list[Bar]:
    """Every share that the run has, then the pass rate of its segments."""
    if view.report is None:
        return []
    changes = {c.metric: c.a for c in view.comparison.metrics} if view.comparison else {}
    found = [
        Bar(describe(name).title, name, estimate, changes.get(name))
        for name, estimate in view.report.overall.metrics.items()
        if describe(name).bounded
    ]
    return found + [
        Bar(f"{tr(segment.field)}: {segment.value}", "pass_rate", segment.metrics["pass_rate"])
        for segment in view.report.segments[1:]
        if "pass_rate" in segment.metrics
    ]


def draw_bars(rows: Sequence[Bar], width: int) -> Content:
    """Each as ``label ────────├──●──┤── .82 ±.12`` on a scale from 0 to 1; the other run as ○ beneath."""
    label = min(28, max((cell_len(row.label) for row in rows), default=0))
    room = max(10, width - label - 24)
    scale = f"{'0':<{room // 2}}{'½':<{room - room // 2 - 1}}1"
    lines: list[Line] = [(" " * (label + 2) + scale, Tone.DIM)]
    for row in rows:
        value, margin = estimate_parts(row.name, row.estimate)
        told = f"  {value} {margin} n={row.estimate.n:,}"
        lines.append((f"{shorten(row.label, label):<{label}}  ", whisker(row.estimate, room, "●"), (told, Tone.DIM)))
        if row.other:
            lines.append((" " * (label + 2), whisker(row.other, room, "○", Tone.DIM)))
    return Content("\n").join(content(line) for line in lines)


def whisker(estimate: Estimate, width: int, dot: str, tone: Tone = Tone.ACCENT) -> Line:
    """A share with its interval on ``width`` cells."""
    low, at, high = (round(max(0.0, min(1.0, v)) * (width - 1)) for v in (estimate.low, estimate.value, estimate.high))
    cells = ["·"] * width
    cells[low : high + 1] = ["─"] * (high + 1 - low)
    cells[low], cells[high] = "├", "┤"
    cells[at] = dot
    return (
        ("".join(cells[:low]), Tone.DIM),
        ("".join(cells[low : high + 1]), tone),
        ("".join(cells[high + 1 :]), Tone.DIM),
    )


def draw_curve(points: Sequence[ThresholdPoint], chosen: int, width: int, height: int) -> Content:
    """Risk over coverage, each a share; the chosen point is ◆."""
    across, down = max(10, width - AXIS - 1), max(5, height - 2)
    top = max(0.05, *(p.risk for p in points))
    cells = [[" "] * across for _ in range(down)]
    for number in sorted(range(len(points)), key=lambda n: n == chosen):
        point = points[number]
        column, row = round(point.coverage * (across - 1)), round((1 - point.risk / top) * (down - 1))
        cells[row][column] = "◆" if number == chosen else "●"
    ticks = {round(part * (down - 1) / 4) for part in range(5)}
    lines: list[Line] = []
    for row, drawn in enumerate(cells):
        scale = share(top * (1 - row / (down - 1)), 2) if row in ticks else ""
        before, mark, after = "".join(drawn).partition("◆")
        lines.append(
            (f"{scale:>{AXIS - 1}} ", ("│", Tone.DIM), (before, Tone.ACCENT), (mark, Tone.WARN), (after, Tone.ACCENT))
        )
    lines.append((" " * AXIS, ("└" + "─" * across, Tone.DIM)))
    feet = f"{'0':<{across // 2}}{tr('coverage'):<{max(1, across - across // 2 - 1)}}1"
    lines.append((" " * (AXIS + 1), (feet, Tone.DIM)))
    return Content("\n").join(content(line) for line in lines)


def point_line(point: ThresholdPoint) -> Line:
    """What τ would do, each share with Wilson's interval and its n."""
    rates = (
        (tr("coverage"), point.coverage, point.cases),
        (tr("risk"), point.risk, point.answered),
        (tr("correct abstention"), point.correct_abstention, point.unanswerable),
        (tr("unsupported"), point.unsupported, point.unanswerable),
    )
    told: list[Line] = [(("◆ ", Tone.WARN), (f"τ {threshold_text(point.threshold)}", Tone.STRONG))]
    for name, value, n in rates:
        if value is not None:
            found = wilson(value, n)
            told += [(f"   {name} ", Tone.DIM), share(value)]
            told.append((f" [{share(found.low)}, {share(found.high)}] n={n:,}", Tone.DIM))
    return tuple(told)


class PlotsScreen(ModalScreen[float]):
    """The two plots of a run; dismisses with a τ to store, None when left."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="plots.close"),
        Binding("o", "turn", "Other plot", id="plots.turn"),
        Binding("left", "pick(1)", "Less coverage", id="plots.less", tooltip="A higher τ"),
        Binding("right", "pick(-1)", "More coverage", id="plots.more", tooltip="A lower τ"),
        Binding("enter", "store", "Store τ", id="plots.store"),
        *HELP,
    ]

    def __init__(self, plotted: Plotted) -> None:
        super().__init__()
        self._view, self._curve, self._stored = plotted.view, plotted.curve, plotted.stored
        held_to = (n for n, point in enumerate(self._curve) if point.threshold >= plotted.stored)
        self._at = next(held_to, max(0, len(self._curve) - 1))
        self._curved = bool(self._curve)

    def compose(self) -> ComposeResult:
        """One plot fills the dialog."""
        with Vertical(classes="dialog wide"), VerticalScroll(id="plot"):
            yield Static("", id="plot-drawn")

    def on_resize(self, event: events.Resize) -> None:
        """Draws to the new size."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        area, box = self.query_one("#plot"), self.query_one(".dialog")
        width, height = area.content_size.width, area.content_size.height
        name = run_words(self._view.run) if self._view.run else ""
        drawn = self.query_one("#plot-drawn", Static)
        if self._curved:
            stored = tr("stored τ {value}", value=threshold_text(self._stored))
            box.border_title = content(f"{tr('Risk over coverage')} ── {name} ── {stored}")
            box.border_subtitle = content(tr("←→ picks τ · enter stores it · o metrics · esc closes"))
            told = content(point_line(self._curve[self._at]))
            curve = draw_curve(self._curve, self._at, width, height - len(told.wrap(max(1, width))) - 1)
            drawn.update(Content("\n\n").join([told, curve]))
        else:
            box.border_title = content(f"{tr('Metrics with 95 % intervals')} ── {name}")
            other = tr("o risk and coverage · esc closes")
            box.border_subtitle = content(other if self._curve else tr("esc closes"))
            drawn.update(draw_bars(bars(self._view), width))

    def action_turn(self) -> None:
        """The other plot, where there is one."""
        self._curved = bool(self._curve) and not self._curved
        self._draw()

    def action_pick(self, step: int) -> None:
        """The next point of the curve."""
        if self._curved:
            self._at = max(0, min(self._at + step, len(self._curve) - 1))
            self._draw()

    def action_store(self) -> None:
        """Dismisses with the chosen τ."""
        if self._curved:
            self.dismiss(self._curve[self._at].threshold)

    def action_leave(self) -> None:
        """Nothing is stored."""
        self.dismiss(None)
