"""Benchmarks of the marked models: rows that fill while they are measured, plots, comparison, earlier benches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Static

from screens.messages import BenchMoved
from screens.models.bench_dialog import DEFAULT_PLAN, BenchDialog, Order
from screens.models.bench_plots import bars, scatter
from screens.models.bench_rows import SORTINGS, columns, details, rows, side_by_side
from screens.models.measured import MeasuredRoom
from screens.models.side_by_side import SideBySideDialog
from screens.style import Line, Tone, bar, content, duration
from screens.widgets.facts import Fact, lay_out
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.work import Job, Jobs
from workbench.benchmarks.compare import bench_title
from workbench.benchmarks.exports import ExportFormat
from workbench.i18n import tr
from workbench.records.benchmarks import Bench as BenchRecord
from workbench.records.benchmarks import BenchComparison, BenchProgress, BenchReport
from workbench.records.models import ModelFile

if TYPE_CHECKING:
    from workbench.benchmarks.benchmarks import Benchmarks
    from workbench.desk import Desk

Side: TypeAlias = Literal["details", "bars", "scatter"]
SIDES: Final[tuple[Side, ...]] = ("details", "bars", "scatter")


@dataclass(frozen=True, slots=True)
class Known:
    """What is read for the tab: every bench, the figures of the one in view, the other process that measures (or 0)."""

    benches: tuple[BenchRecord, ...]
    report: BenchReport | None
    elsewhere: int


class Bench(MeasuredRoom[BenchReport, BenchProgress]):
    """A table of the models of one bench beside what is known of the one under the cursor, or a plot."""

    kind = "bench"
    moved_by = BenchMoved
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", id="bench.new", tooltip="Choose models and tests, and measure"),
        Binding("o", "side", "Plot", id="bench.plot", tooltip="Figures of the row, bars, speed over memory"),
        Binding("s", "sort", "Sort", id="bench.sort", tooltip="By the next figure"),
        Binding("t", "depth", "Depth", id="bench.depth", tooltip="Speeds after the next number of tokens"),
        Binding("equals_sign", "compare", "Compare", key_display="=", id="bench.compare", tooltip="Marked rows"),
        Binding("h", "history", "History", id="bench.history", tooltip="Earlier benches; marks stay when you change"),
        Binding(
            "g",
            "resume",
            "Go on",
            id="bench.resume",
            tooltip="Measure what the bench still lacks; try again what failed",
        ),
        Binding("x", "export", "Export", id="bench.export", tooltip="As JSON, CSV or Markdown"),
        Binding("d", "delete", "Delete", id="bench.delete", tooltip="The bench in view"),
        Binding("S", "stop", "Stop", id="bench.stop", tooltip="What is measured so far stays; g goes on"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._benches: tuple[BenchRecord, ...] = ()
        self._marked: dict[str, None] = {}
        self._side: Side = "details"
        self._sorting = 0
        self._depth = 0
        self._file = ""

    def _wanted(self) -> str:
        return tr("Mark models with space, then measure them side by side here.")

    def _columns(self) -> list[Column]:
        return columns()

    def file_changed(self, file: ModelFile | None) -> None:
        """What is measured when nothing is marked."""
        self._file = file.path if file else ""

    def legend(self) -> list[Fact]:
        """Ranks, flags and the front."""
        return [
            ("#", tr("rank; models whose 95 % intervals overlap the best one's share it")),
            ("±", tr("sample standard deviation of the repetitions")),
            ("~", tr("something may have disturbed it: see its flags")),
            ("✗", tr("it couldn't be measured: see its figures")),
            ("◆", tr("Pareto front: no other needs less memory and is faster; passed cases count where all have them")),
        ]

    @property
    def _stored(self) -> Benchmarks:
        return self.desk.benchmarks

    def _number(self, report: BenchReport) -> int:
        return report.bench.id

    # -- what is in view -------------------------------------------------------------------------------------------

    def _read(self, number: int) -> None:
        """Reads every bench, and the figures of one; 0 for the newest."""

        def read() -> Known:
            found = self.desk.benchmarks.benches()
            wanted = number or (found[0].id if found else 0)
            report = self.desk.benchmarks.report(wanted) if wanted else None
            return Known(found, report, self.desk.benchmarks.elsewhere())

        self.jobs.read(self, read, self._show)

    def _show(self, known: Known) -> None:
        self._benches, self._report, self._elsewhere = known.benches, known.report, known.elsewhere
        self._draw()

    def _draw(self) -> None:
        """Table, line and side, to what is known now."""
        report = self._report
        self.set_class(report is None, "-unmeasured")
        grid, pane = self.query_one("#bench-rows-grid", Grid), self.query_one("#bench-rows", ListPane)
        stop = tr("S stop · o plot · s sort · space = compare · h history · x export")
        rest = tr("n new · o plot · s sort · space = compare · h history · x export")
        pane.border_subtitle = content(stop if self._job else rest)
        if report:
            self._depth = self._depth if self._depth in report.bench.plan.depths else min(report.bench.plan.depths)
            made = rows(report, self._depth, SORTINGS[self._sorting])
            grid.marked = {row.key for row in made if row.key in self._marked}
            pane.show(made)
            if self.query_one("#bench-side").has_focus and not self.has_class("-side"):
                grid.focus()  # there was no table to begin from
        self._draw_line()
        self._draw_side()
        self.refresh_bindings()

    def _title(self, shown: int, there: int) -> str:
        if self._report is None:
            return tr("Bench")
        told = [tr("Bench {id}", id=self._report.bench.id)]
        if len(self._report.bench.plan.depths) > 1:
            told.append(tr("after {count} tokens", count=self._depth))
        if self._sorting:
            told.append(tr("by {name}", name=tr(SORTINGS[self._sorting].name)))
        elsewhere = len(self._marked) - sum(key.startswith(f"{self._report.bench.id}:") for key in self._marked)
        if elsewhere:
            told.append(tr("{count} marked elsewhere", count=elsewhere))
        return " · ".join(told)

    def _draw_line(self) -> None:
        self.query_one("#bench-line", Static).update(content(self._line()))

    def _line(self) -> Line:
        if self._job:
            now = self._progress
            if now is None:
                return (tr("starting…"), Tone.DIM)
            bench = now.report.bench
            share = bench.done / bench.total if bench.total else 0.0
            left = f" · {tr('{time} left', time=duration(now.left_s))}" if now.left_s else ""
            return ((bar(share, 16), Tone.ACCENT), f" {bench.done}/{bench.total}{left} · ", (now.now, Tone.DIM))
        if self._report is None:
            return ""
        bench = self._report.bench
        told: Line = (bench_title(bench), Tone.DIM)
        if not bench.complete:
            if self._elsewhere:
                return (told, self._waits())
            stopped = tr("stopped at {done} of {total}", done=bench.done, total=bench.total)
            return (told, (f" · ~ {stopped}", Tone.WARN), (" · g ", Tone.ACCENT), (tr("goes on"), Tone.DIM))
        if self._report.failed:
            failed = tr("{count} failed", count=self._report.failed)
            return (told, (f" · ✗ {failed}", Tone.BAD), (" · g ", Tone.ACCENT), (tr("tries again"), Tone.DIM))
        return told

    # -- the side --------------------------------------------------------------------------------------------------

    def _draw_side(self) -> None:
        pane = self.query_one("#bench-side")
        width, height = pane.content_size.width - 1, pane.content_size.height
        drawn, report = self.query_one("#bench-drawn", Static), self._report
        if report is None:
            pane.border_title = content(tr("Bench"))
            drawn.update(self._beginning())
        elif self._side == "bars":
            pane.border_title = content(tr("Speed, 95 % intervals"))
            drawn.update(bars(report, self._depth, width))
        elif self._side == "scatter":
            pane.border_title = content(tr("Speed over memory · ◆ Pareto front"))
            drawn.update(scatter(report, self._depth, width, height))
        else:
            pane.border_title = content(tr("Figures"))
            place = self._place()
            facts = details(report, place) if place is not None else []
            drawn.update(lay_out(facts, max(20, width)))

    def _place(self) -> int | None:
        """Where in the bench the row under the cursor is."""
        key = self.query_one("#bench-rows-grid", Grid).key
        return int(key.partition(":")[2]) if key else None

    @on(Grid.Highlighted, "#bench-rows-grid")
    def highlighted(self) -> None:
        """The figures follow the cursor."""
        if self._side == "details":
            self._draw_side()

    @on(Grid.Opened, "#bench-rows-grid")
    def opened(self, event: Grid.Opened) -> None:
        """The figures of the row, where there is no room for them beside it."""
        event.stop()
        self._turn("details", shown=not self.has_class("-side"))

    def action_side(self) -> None:
        """The next of figures, bars, scatter; on a narrow screen the table comes round too."""
        if not self.screen.has_class("-narrow"):
            self._turn(SIDES[(SIDES.index(self._side) + 1) % len(SIDES)], shown=True)
        elif not self.has_class("-side"):
            self._turn("bars", shown=True)
        else:
            self._turn("scatter", shown=self._side != "scatter")

    def _turn(self, side: Side, *, shown: bool) -> None:
        self._side = side
        self._show_side(shown=shown)

    def action_sort(self) -> None:
        """By the next figure."""
        self._sorting = (self._sorting + 1) % len(SORTINGS)
        self._draw()

    def action_depth(self) -> None:
        """Speeds after the next number of tokens."""
        if self._report:
            depths = self._report.bench.plan.depths
            self._depth = depths[(depths.index(self._depth) + 1) % len(depths)]
            self._draw()

    # -- measuring -------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that can't act now is shown dim, or not at all."""
        match action:
            case "stop":
                return self._job is not None
            case "new":
                return None if self._job else True
            case "resume":
                report = self._report
                return self._job is None and report is not None and bool(not report.bench.complete or report.failed)
            case "depth":
                return self._report is not None and len(self._report.bench.plan.depths) > 1
            case "delete":
                return None if self._report is None or self._job else True
            case "compare":
                return True if len(self._marked) > 1 else None
            case "side" | "sort" | "export":
                return None if self._report is None else True
        return True

    def action_new(self) -> None:
        """Asks what to measure; begins with the library's marks and the last bench's tests."""
        marked = sorted(self.screen.query_one("#library-grid", Grid).marked) or [self._file]
        plan = self._benches[0].plan if self._benches else DEFAULT_PLAN
        self.jobs.open(
            self,
            self.desk.library.files,
            lambda files: self.app.push_screen(BenchDialog(files, marked, plan), self._start),
        )

    def _start(self, order: Order | None) -> None:
        if order and self._job is None:
            one = len(order.paths) == 1
            named = tr("bench of {name}", name=Path(order.paths[0]).name)
            title = named if one else tr("bench of {count} models", count=len(order.paths))
            self._run(title, lambda cancel: self.desk.benchmarks.run(order.paths, order.plan, cancel))

    def action_resume(self) -> None:
        """Measures what the bench in view still lacks."""
        if self._report:
            number = self._report.bench.id
            self._run(tr("bench {id}", id=number), lambda cancel: self.desk.benchmarks.resume(number, cancel))

    def _describe(self, job: Job, step: BenchProgress) -> None:
        bench = step.report.bench
        job.fraction = bench.done / bench.total if bench.total else None
        job.detail = f"{bench.done}/{bench.total}"

    @on(BenchMoved)
    def moved(self, event: BenchMoved) -> None:
        """The rows fill."""
        self._progress, self._report = event.progress, event.progress.report
        self._draw()

    # -- done with benches -----------------------------------------------------------------------------------------

    @on(Grid.Marked)
    def marks_changed(self) -> None:
        """Marks are kept when another bench comes into view."""
        grid = self.query_one("#bench-rows-grid", Grid)
        for row in grid.rows:
            if row.key in grid.marked:
                self._marked[row.key] = None
            else:
                self._marked.pop(row.key, None)
        self.refresh_bindings()

    def action_compare(self) -> None:
        """The marked rows side by side, of this bench and others."""
        pairs = [tuple(map(int, key.split(":"))) for key in self._marked]
        chosen = [(bench, place) for bench, place in pairs]
        self.jobs.open(self, lambda: self.desk.benchmarks.compare(chosen), self._compared)

    def _compared(self, found: BenchComparison) -> None:
        legend = tr("▲ faster, ▼ slower, = can't be told apart")
        self.app.push_screen(SideBySideDialog(side_by_side(found), legend))

    def action_history(self) -> None:
        """Chooses another bench."""
        self.jobs.open(self, self.desk.benchmarks.benches, self._offer)

    def _offer(self, benches: tuple[BenchRecord, ...]) -> None:
        self._choose(tr("Benches"), [Row(str(one.id), (bench_title(one), _told(one))) for one in benches])

    def _forms(self) -> tuple[tuple[ExportFormat, str], ...]:
        return (
            ("markdown", tr("two tables with their circumstances")),
            ("csv", tr("a line per figure")),
            ("json", tr("everything, each repetition too")),
        )

    def _farewell(self, report: BenchReport) -> tuple[str, str]:
        question = tr("Delete {bench} with all its repetitions?", bench=bench_title(report.bench))
        return tr("Delete the bench"), question

    def _delete(self, yes: bool | None) -> None:
        if yes and self._report:
            gone = f"{self._report.bench.id}:"
            self._marked = {key: None for key in self._marked if not key.startswith(gone)}
        super()._delete(yes)


def _told(bench: BenchRecord) -> Line:
    """How much of it has a value, where not all has, and whose figures they are."""
    names = ", ".join(model.name for model in bench.models)
    if bench.measured == bench.total:
        return names
    mark, tone = ("✗", Tone.BAD) if bench.failed else ("~", Tone.WARN)
    return ((f"{mark} {bench.measured}/{bench.total} · ", tone), names)
