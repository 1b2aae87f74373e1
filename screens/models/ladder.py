"""One model in several quantizations: made, measured, plotted, compared, decided on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Static

from screens.ask.words import write_text
from screens.dialogs import NoteDialog
from screens.messages import LadderMoved
from screens.models.ladder_dialog import Decided, LadderDecisionDialog, LadderDialog, Offer
from screens.models.ladder_plots import scatter
from screens.models.ladder_rows import columns, details, place_of, rows, side_by_side
from screens.models.measured import MeasuredRoom
from screens.models.side_by_side import SideBySideDialog
from screens.style import Line, Tone, bar, content
from screens.widgets.facts import Fact, lay_out
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.work import Job, Jobs
from workbench import paths
from workbench.benchmarks.exports import ExportFormat
from workbench.i18n import tr
from workbench.ladders.deciding import Sentence
from workbench.ladders.exports import front_words, stage_words
from workbench.ladders.kinds import KINDS
from workbench.records.evals import DecisionRecord
from workbench.records.ladders import Ladder as LadderRecord
from workbench.records.ladders import LadderPlan, LadderProgress, LadderReport, Preview, Stage
from workbench.records.models import ModelFile

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ladders.ladders import Ladders
    from workbench.ports import Cancel


class Ladder(MeasuredRoom[LadderReport, LadderProgress]):
    """A table of one ladder's rungs beside what is known of the one under the cursor, or a plot."""

    kind = "ladder"
    moved_by = LadderMoved
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", id="ladder.new", tooltip="Choose quantizations, and measure what they lose"),
        Binding("o", "side", "Plot", id="ladder.plot", tooltip="Figures of the rung, or KL over file size"),
        Binding("d", "decide", "Decide", id="ladder.decide", tooltip="Write down why this quantization, with evidence"),
        Binding("equals_sign", "compare", "Compare", key_display="=", id="ladder.compare", tooltip="Marked rungs"),
        Binding("h", "history", "History", id="ladder.history", tooltip="Earlier ladders"),
        Binding(
            "g", "resume", "Go on", id="ladder.resume", tooltip="Do what the ladder still lacks; try again what failed"
        ),
        Binding("x", "export", "Export", id="ladder.export", tooltip="As JSON, CSV or Markdown"),
        Binding("D", "delete", "Delete", id="ladder.delete", tooltip="The ladder in view; its model files stay"),
        Binding("S", "stop", "Stop", id="ladder.stop", tooltip="What is measured so far stays; g goes on"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._plotted = False
        self._file: ModelFile | None = None

    def _wanted(self) -> str:
        return tr("Put the cursor on an F16 or Q8_0 file above, then make its smaller quantizations here.")

    def _columns(self) -> list[Column]:
        return columns()

    def file_changed(self, file: ModelFile | None) -> None:
        """What a new ladder is made of."""
        self._file = file
        self.refresh_bindings()

    def legend(self) -> list[Fact]:
        """What stands beside a rung, and what the intervals are."""
        return [
            ("◆", tr("Pareto front: no other rung is at least as good in all and better in one")),
            ("*", tr("some tensors couldn't have their type")),
            ("✗", tr("it couldn't be made or measured: see its figures")),
            ("[–]", tr("too little text for an interval")),
            ("±", tr("sample standard deviation of the repetitions")),
        ]

    @property
    def _stored(self) -> Ladders:
        return self.desk.ladders

    def _number(self, report: LadderReport) -> int:
        return report.ladder.id

    # -- what is in view -------------------------------------------------------------------------------------------

    def _read(self, number: int) -> None:
        """Reads the figures of a ladder; 0 for the newest."""

        def read() -> tuple[LadderReport | None, int]:
            wanted = number or next((one.id for one in self.desk.ladders.ladders()), 0)
            return self.desk.ladders.report(wanted) if wanted else None, self.desk.ladders.elsewhere()

        self.jobs.read(self, read, self._show)

    def _show(self, known: tuple[LadderReport | None, int]) -> None:
        self._report, self._elsewhere = known
        self._draw()

    def _draw(self) -> None:
        """Table, line and side, to what is known now."""
        report = self._report
        self.set_class(report is None, "-unmeasured")
        pane = self.query_one("#ladder-rows", ListPane)
        stop = tr("S stop · o plot · space = compare · h history · x export")
        rest = tr("n new · o plot · d decide · space = compare · h history · x export")
        pane.border_subtitle = content(stop if self._job else rest)
        if report:
            pane.show(rows(report))
            if self.query_one("#ladder-side").has_focus and not self.has_class("-side"):
                self.query_one("#ladder-rows-grid").focus()  # there was no table to begin from
        self.query_one("#ladder-line", Static).update(content(self._line()))
        self._draw_side()
        self.refresh_bindings()

    def _title(self, shown: int, there: int) -> str:
        return f"{tr('Ladder')} {self._report.ladder.id}" if self._report else tr("Ladder")

    def _line(self) -> Line:
        now, report = self._progress, self._report
        if self._job:
            return _steps(now) if now else (tr("starting…"), Tone.DIM)
        if report is None:
            return ""
        told: Line = (f"{report.ladder.created.astimezone():%Y-%m-%d %H:%M}", Tone.DIM)
        left = ", ".join(map(stage_words, report.left))
        if left and self._elsewhere:
            return (told, self._waits())
        if left:
            open_end: Line = (f" · ~ {tr('not complete: {stages}', stages=left)}", Tone.WARN)
        elif report.failed:
            open_end = (f" · ✗ {tr('{count} failed', count=report.failed)}", Tone.BAD)
        else:
            words = front_words(report)
            return (told, (f" · {words}" if words else "", Tone.DIM))
        return (told, open_end, (" · g ", Tone.ACCENT), tr("goes on") if left else tr("tries again"))

    # -- the side --------------------------------------------------------------------------------------------------

    def _draw_side(self) -> None:
        pane, drawn = self.query_one("#ladder-side"), self.query_one("#ladder-drawn", Static)
        width, height = pane.content_size.width - 1, pane.content_size.height
        report, place = self._report, self._place()
        if report is None:
            pane.border_title = content(tr("Ladder"))
            drawn.update(self._beginning())
        elif self._plotted:
            pane.border_title = content(tr("KL over file size · lower left is better"))
            drawn.update(scatter(report, width, height))
        else:
            pane.border_title = content(tr("Figures"))
            drawn.update(lay_out(details(report, report.rows[place]) if place is not None else [], max(20, width)))

    def _place(self) -> int | None:
        """Of the rung under the cursor."""
        key = self.query_one("#ladder-rows-grid", Grid).key
        return place_of(key) if key else None

    @on(Grid.Highlighted, "#ladder-rows-grid")
    def highlighted(self) -> None:
        """The figures follow the cursor."""
        if not self._plotted:
            self._draw_side()
        self.refresh_bindings()

    @on(Grid.Marked)
    def marks_changed(self) -> None:
        """Two marks can be compared."""
        self.refresh_bindings()

    @on(Grid.Opened, "#ladder-rows-grid")
    def opened(self, event: Grid.Opened) -> None:
        """The figures of the rung, where there is no room for them beside it."""
        event.stop()
        self._turn(plotted=False, shown=not self.has_class("-side"))

    def action_side(self) -> None:
        """The plot or the figures; on a narrow screen the table comes round too."""
        narrow = self.screen.has_class("-narrow")
        if narrow and self.has_class("-side"):
            self._turn(plotted=self._plotted, shown=False)
        else:
            self._turn(plotted=narrow or not self._plotted, shown=True)

    def _turn(self, *, plotted: bool, shown: bool) -> None:
        self._plotted = plotted
        self._show_side(shown=shown)

    # -- climbing --------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that can't act now is shown dim, or not at all."""
        match action:
            case "stop":
                return self._job is not None
            case "new":
                return None if self._job or not self._file or self._file.problem else True
            case "resume":
                return self._job is None and self._report is not None and bool(self._report.left or self._report.failed)
            case "delete":
                return None if self._report is None or self._job else True
            case "compare":
                return True if len(self.query_one("#ladder-rows-grid", Grid).marked) > 1 else None
            case "decide":
                return True if self._report and len(self._report.rows) > 1 else None
            case "side" | "export":
                return None if self._report is None else True
        return True

    def action_new(self) -> None:
        """Asks what to make of the file under the library's cursor."""
        source = self._file
        if source is None:
            return
        marked = self.screen.query_one("#library-grid", Grid).marked - {source.path}

        def read() -> Offer:
            files = tuple(f for f in self.desk.library.files() if f.path in marked and not f.problem)
            collections = tuple(one.name for one in self.desk.collections())
            datasets = tuple(one.name for one in self.desk.evals.datasets())
            return Offer(source, files, collections, datasets, str(paths.gguf_folder()))

        self.jobs.open(self, read, self._ask)

    def _ask(self, offer: Offer) -> None:
        def preview(cancel: Cancel) -> tuple[Preview, ...]:
            return self.desk.ladders.preview(offer.source.path, KINDS, cancel)

        self.app.push_screen(LadderDialog(offer, self.jobs, preview), self._start)

    def _start(self, plan: LadderPlan | None) -> None:
        if plan and self._job is None:
            title = tr("ladder of {name}", name=Path(plan.source).name)
            self._run(title, lambda cancel: self.desk.ladders.run(plan, cancel))

    def action_resume(self) -> None:
        """Does what the ladder in view still lacks."""
        if self._report:
            number = self._report.ladder.id
            self._run(tr("ladder {id}", id=number), lambda cancel: self.desk.ladders.resume(number, cancel))

    def _describe(self, job: Job, step: LadderProgress) -> None:
        job.fraction = step.fraction
        job.detail = stage_words(step.stage) if step.stage else ""

    @on(LadderMoved)
    def moved(self, event: LadderMoved) -> None:
        """The rows fill."""
        self._progress, self._report = event.progress, event.progress.report
        self._draw()

    def _ended(self, last: LadderProgress | None) -> None:
        super()._ended(last)
        self.call_later(self.run_action, "screen.rescan")  # the library lists what was made

    # -- done with ladders -----------------------------------------------------------------------------------------

    def action_compare(self) -> None:
        """The marked rungs side by side."""
        places = sorted(map(place_of, self.query_one("#ladder-rows-grid", Grid).marked))
        if self._report and len(places) > 1:
            self.app.push_screen(SideBySideDialog(side_by_side(self._report, places)))

    def action_decide(self) -> None:
        """Asks why the rung under the cursor pays."""
        report, place = self._report, self._place()
        if report is None or place is None:
            return
        number = report.ladder.id
        others = [row.rung.place for row in report.rows if row.rung.place != place and row.rung.size]

        def read() -> list[Sentence]:
            return [self.desk.ladders.sentence(number, place, other) for other in others]

        def ask(sentences: list[Sentence]) -> None:
            if sentences:
                self.app.push_screen(LadderDecisionDialog(sentences), lambda decided: self._decide(number, decided))

        self.jobs.open(self, read, ask)

    def _decide(self, ladder_id: int, decided: Decided | None) -> None:
        if decided is None:
            return

        def store() -> tuple[DecisionRecord, Path]:
            record = self.desk.ladders.decide(ladder_id, decided.sentence, decided.because)
            path = Path.cwd() / f"decision-{record.id}.md"
            write_text(path, self.desk.evals.export_decision(record.id))
            return record, path

        self.jobs.read(self, store, self._decided)

    def _decided(self, stored: tuple[DecisionRecord, Path]) -> None:
        record, path = stored
        told: Line = ("\n\n".join(record.reasons), "\n\n", (tr("Written: {path}", path=str(path)), Tone.DIM))
        self.app.push_screen(NoteDialog(tr("Decision {id} is stored", id=record.id), content(told)))

    def action_history(self) -> None:
        """Chooses another ladder."""
        self.jobs.open(self, self.desk.ladders.ladders, self._offer)

    def _offer(self, ladders: tuple[LadderRecord, ...]) -> None:
        self._choose(
            tr("Ladders"), [Row(str(one.id), (f"{one.id} · {one.rungs[0].name}", _told(one))) for one in ladders]
        )

    def _forms(self) -> tuple[tuple[ExportFormat, str], ...]:
        return (
            ("markdown", tr("a table with its circumstances")),
            ("csv", tr("a line per figure")),
            ("json", tr("everything")),
        )

    def _farewell(self, report: LadderReport) -> tuple[str, str]:
        question = tr("Delete the figures of ladder {id}? Its model files stay.", id=report.ladder.id)
        return tr("Delete the ladder"), question


def _steps(now: LadderProgress) -> Line:
    """ "✓ quantize  bench ▓▓░░ 40%  ◦ KL …  name": every stage of the plan, done, under way or to come."""
    plan = now.report.ladder.plan
    wanted: list[tuple[Stage, bool]] = [
        ("quantize", True),
        ("bench", plan.bench is not None),
        ("quality", plan.text is not None),
        ("eval", bool(plan.dataset)),
    ]
    told: list[Line] = []
    for stage in (stage for stage, asked in wanted if asked):
        name = stage_words(stage)
        if stage == now.stage:
            share = f" {bar(now.fraction, 10)} {now.fraction:4.0%}" if now.fraction is not None else ""
            told += [(name, Tone.STRONG), (share, Tone.ACCENT), "  "]
        else:
            told += [(f"✓ {name}", Tone.GOOD) if stage not in now.report.left else (f"◦ {name}", Tone.DIM), "  "]
    return (*told, (now.now, Tone.DIM))


def _told(ladder: LadderRecord) -> Line:
    return (
        " ".join(rung.kind for rung in ladder.rungs),
        (f" · {ladder.created.astimezone():%Y-%m-%d %H:%M}", Tone.DIM),
    )
