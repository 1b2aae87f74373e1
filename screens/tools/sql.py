"""SQL: a query that can only read, what is said of it as it is written, and its rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from screens.dialogs import HELP, NoteDialog
from screens.messages import SqlGrew
from screens.style import Line, Tone, content, count
from screens.tools.form import Answers, FormDialog
from screens.tools.form import Line as FormLine
from screens.tools.sqlrows import ResultGrid
from screens.tools.tab import ToolTab
from screens.widgets.answer import attempt_lines
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.widgets.keys import with_alt
from screens.work import Job, Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.sql import ControlState, Policy, QueryResult, Schema, Table, Verdict
from workbench.sqltools.asking import SqlAsked
from workbench.sqltools.exporting import Form, as_text, write_new
from workbench.sqltools.words import MARKS, control_name, rows_told
from workbench.traces.outcomes import attempt_error, attempts

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ports import Cancel

LIMITS: Final = Policy()
_TONES: Final[dict[ControlState, Tone]] = {
    "kept": Tone.GOOD,
    "changed": Tone.WARN,
    "refused": Tone.BAD,
    "not_asked": Tone.DIM,
}


class SqlTab(ToolTab):
    """Tables at the left; the query, what is said of it, and its rows at the right."""

    DEFAULT_CSS = """
    SqlTab #sql { height: 1fr; }
    SqlTab #tables { width: 44; }
    SqlTab #query { height: 6; background: $background; }
    SqlTab #verdict { height: auto; max-height: 40%; }
    SqlTab #verdict Static { width: 1fr; }
    SqlTab #attempts { display: none; }
    SqlTab #rows { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "run", "Run it", id="sql.run", tooltip="Runs the query", priority=True),
        *with_alt("a", "ask", "Ask", id="sql.ask", tooltip="The loaded model writes the query for a question"),
        *with_alt("r", "history", "History", id="sql.history", tooltip="Queries that were run"),
        *with_alt("o", "open", "Another file", id="sql.open", tooltip="A SQLite file, or this workbench's own"),
        *with_alt("e", "export", "Export", id="sql.export", tooltip="Writes the rows as CSV or JSON"),
        *with_alt("y", "copy", "Copy rows", id="sql.copy", tooltip="The rows as CSV, for another program"),
        Binding("escape", "stop", "Stop", show=False, id="sql.stop", tooltip="Stops the query, or shuts the tools"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._file: Path | None = None
        self._asked, self._written = "", ""
        self._schema: Schema | None = None
        self._result: QueryResult | None = None
        self._job: Job | None = None
        self._latest: Latest[str, Verdict] = Latest(jobs, self, self._call, self._say, self._failed)

    def compose(self) -> ComposeResult:
        """Tables beside query, verdict and rows."""
        with Horizontal(id="sql"):
            columns = [Column(tr("Tables"), middle=True), Column("", align="right", whole=True)]
            yield ListPane(lambda shown, _: tr("Tables") + f" {shown}", columns, id="tables")
            with Vertical():
                area = TextArea("", id="query", classes="pane", tab_behavior="focus")
                area.border_title = content(tr("Query"))
                yield area
                with VerticalScroll(classes="pane", id="verdict", can_focus=True) as box:
                    box.border_title = content(tr("What is said of it"))
                    yield Static("", id="attempts")
                    hint = tr("ctrl+r runs the query; what can only read may run. alt+a lets a model write it.")
                    yield Static(content((hint, Tone.DIM)), id="judged")
                with Vertical(classes="pane", id="rows") as rows:
                    rows.border_title = content(tr("Rows"))
                    yield ResultGrid(id="rows-grid")

    def reload(self) -> None:
        """The schema, as it is now."""
        file = self._file
        self.jobs.read(self, lambda: self.desk.sql.schema(file), self._show)

    def entered(self) -> None:
        """The query."""
        self.query_one(TextArea).focus()
        if self._schema is None:
            self.reload()

    def _show(self, schema: Schema) -> None:
        self._schema = schema
        pane = self.query_one("#tables", ListPane)
        pane.show([Row(t.name, (t.name, count(t.rows) if t.rows is not None else "…")) for t in schema.tables])
        pane.border_subtitle = content(Path(schema.file).name)
        self._changed()

    @on(Grid.Opened, "#tables-grid")
    def tell_table(self, event: Grid.Opened) -> None:
        """Its columns."""
        if self._schema and (table := self._schema.table(event.key)):
            self.app.push_screen(NoteDialog(table.name, content(*table_lines(table))))

    # -- the query -------------------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _changed(self) -> None:
        text = self.query_one(TextArea).text
        if text != self._written:
            self._tell_attempts()
        if text.strip():
            self._latest.submit(text)

    def _call(self, text: str) -> Verdict:
        return self.desk.sql.check(text, self._file, LIMITS, schema=self._schema)

    def _say(self, _: str, verdict: Verdict) -> None:
        self.query_one("#judged", Static).update(content(*verdict_lines(verdict)))

    def _failed(self, error: WorkbenchError) -> None:
        self._job = None
        told: Line = (f"✗ {error.title}: {error.message}", Tone.BAD)
        remedy: list[Line] = [("\n→ ", Tone.ACCENT), error.remedy] if error.remedy else []
        self._tell_attempts()
        self.query_one("#judged", Static).update(content(told, *remedy))

    def action_run(self) -> None:
        """Runs it in a worker; escape stops it."""
        text, file = self.query_one(TextArea).text.strip(), self._file
        if not text or self._job:
            return

        def run(cancel: Cancel) -> Iterator[QueryResult]:
            verdict = self.desk.sql.check(text, file, LIMITS, schema=self._schema)
            found = self.desk.sql.run(verdict, file, LIMITS, cancel)
            self.desk.sql.remember(text)
            yield found

        self.query_one("#rows").border_title = content(tr("running…"))
        self._job = self.jobs.run(self, "SQL", run, then=self._ran, failed=self._failed_run)

    def _ran(self, result: QueryResult | None) -> None:
        self._job = None
        pane = self.query_one("#rows")
        pane.border_title = content(tr("Rows"))
        if result is None:
            return
        self._result = result
        self.query_one(ResultGrid).show_result(result)
        title = tr("Rows: {count} in {ms} ms", count=count(len(result.rows)), ms=f"{result.duration_ms:,.0f}")
        pane.border_title = content(title + (f" · {tr('more rows were left out')}" if result.cut else ""))

    def _failed_run(self, error: WorkbenchError) -> None:
        self.query_one("#rows").border_title = content(tr("Rows"))
        self._failed(error)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Stopping is possible while something runs; else the key shuts the tools."""
        return action != "stop" or self._job is not None

    def action_stop(self) -> None:
        """Stops the query, or the model that writes one."""
        if self._job:
            self._job.stop()

    # -- a question instead of a query -----------------------------------------------------------------------------

    def action_ask(self) -> None:
        """Asks for the question."""
        if self._job is None:
            lines = (FormLine("question", tr("Question"), self._asked, tr("of what the tables hold")),)
            note = tr("The loaded model writes the query, three attempts at most; each is checked before it runs.")
            self.app.push_screen(FormDialog(tr("Ask the tables"), lines, _question, note), self._ask)

    def _ask(self, question: str | None) -> None:
        if question is None:
            return
        self._asked, file = question, self._file
        self._tell_attempts((tr("The model writes the query… esc stops it."), Tone.DIM))
        self.query_one("#rows").border_title = content(tr("running…"))
        self._job = self.jobs.run(
            self,
            tr("asking the tables"),
            lambda cancel: self.desk.sql.ask(question, file, cancel=cancel),
            each=SqlGrew,
            then=self._answered,
            failed=self._failed_run,
        )

    @on(SqlGrew)
    def grew(self, event: SqlGrew) -> None:
        """One more attempt: how it ended, and its query to go on from."""
        trace = event.asked.trace
        tried = attempts(trace)
        if not tried:
            return
        self._written = str(tried[-1].input["sql"])
        self.query_one(TextArea).text = self._written
        told: list[Line] = [(trace.query + "\n", Tone.STRONG), *attempt_lines(trace)]
        if trace.complete and attempt_error(tried[-1]):
            told += [(tr("None can be relied on: ask more exactly, or mend the last one here."), Tone.WARN)]
        self._tell_attempts(*told)

    def _answered(self, asked: SqlAsked | None) -> None:
        self._ran(asked.result if asked else None)
        if asked is None or not asked.trace.complete:
            self._tell_attempts((tr("Stopped."), Tone.DIM))

    def _tell_attempts(self, *told: Line) -> None:
        shown = self.query_one("#attempts", Static)
        shown.display = bool(told)
        shown.update(content(*told))
        self.query_one("#verdict").scroll_home(animate=False)

    # -- rows ------------------------------------------------------------------------------------------------------

    @on(Grid.Opened, "#rows-grid")
    def tell_row(self, event: Grid.Opened) -> None:
        """Every column of a row, in full."""
        if not self._result:
            return
        lines: list[Line] = []
        for name, cell in zip(self._result.columns, self._result.rows[int(event.key)], strict=True):
            lines += [(f"{name}: ", Tone.ACCENT), "NULL" if cell is None else str(cell)[:20_000], "\n"]
        self.app.push_screen(NoteDialog(tr("Row {number}", number=int(event.key) + 1), content(*lines)))

    def action_copy(self) -> None:
        """The rows as CSV."""
        if result := self._result:
            told = tr("Copied: {rows}", rows=rows_told(len(result.rows)))
            self.jobs.read(self, lambda: as_text(result, "csv"), self.app.copy_to_clipboard)
            self.notify(told, timeout=3)

    def action_export(self) -> None:
        """Asks for a file."""
        if self._result:
            lines = (FormLine("path", tr("File"), "", tr("a new .csv or .json file")),)
            self.app.push_screen(FormDialog(tr("Export the rows"), lines, _path), self._export)

    def _export(self, path: Path | None) -> None:
        result = self._result
        if path is None or result is None:
            return
        form: Form = "json" if path.suffix == ".json" else "csv"
        done = tr("Written: {path}", path=path)
        self.jobs.read(self, lambda: write_new(path, as_text(result, form)), lambda _: self.notify(done, timeout=4))

    def action_open(self) -> None:
        """Asks for another file."""
        before = str(self._file or "")
        lines = (FormLine("path", tr("SQLite file"), before, tr("empty: the workbench's own")),)
        note = tr("It is only read.")
        self.app.push_screen(FormDialog(tr("Another file"), lines, _other, note), self._open)

    def _open(self, answered: tuple[Path | None] | None) -> None:
        if answered is None:
            return
        file = answered[0]

        def show(schema: Schema) -> None:
            self._file, self._written, self._result = file, "", None
            self.query_one(ResultGrid).show_result(QueryResult((), (), 0.0))
            self.query_one("#rows").border_title = content(tr("Rows"))
            self._show(schema)

        self.jobs.read(self, lambda: self.desk.sql.schema(file), show)  # one that can't be read changes nothing

    def action_history(self) -> None:
        """Asks which of the queries to take."""
        self.jobs.open(
            self, self.desk.sql.history, lambda found: self.app.push_screen(HistoryDialog(found), self._take)
        )

    def _take(self, sql: str | None) -> None:
        if sql:
            self.query_one(TextArea).text = sql


class HistoryDialog(ModalScreen[str]):
    """Queries that were run, newest first; dismisses with the one that is opened."""

    CSS_PATH = "../dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", id="queries.close"), *HELP]

    def __init__(self, queries: tuple[str, ...]) -> None:
        super().__init__()
        self._queries = queries

    def compose(self) -> ComposeResult:
        """The list."""
        with Vertical(classes="dialog full") as box:
            box.border_title = content(tr("Queries"))
            yield Grid(
                [Column(tr("Queries that were run") if self._queries else tr("Nothing was run yet."))], id="queries"
            )

    def on_mount(self) -> None:
        """Fills it."""
        grid = self.query_one(Grid)
        grid.show([Row(str(n), (" ".join(sql.split()),)) for n, sql in enumerate(self._queries)])
        grid.focus()

    @on(Grid.Opened)
    def take(self, event: Grid.Opened) -> None:
        """That one."""
        self.dismiss(self._queries[int(event.key)])

    def action_leave(self) -> None:
        """None."""
        self.dismiss(None)


def table_lines(table: Table) -> list[Line]:
    """Columns with types, keys and what they point to, then the indexes."""
    lines: list[Line] = []
    for column in table.columns:
        key = "PRIMARY KEY" if column.key else "UNIQUE" if column.unique else ""
        marks = [column.kind, key, "NOT NULL" if column.not_null else ""]
        points: Line = (f"  → {column.references}" if column.references else "", Tone.ACCENT)
        lines += [(column.name, Tone.STRONG), "  " + "  ".join(filter(None, marks)), points, "\n"]
    return [*lines, *((f"⌕ {index}\n", Tone.DIM) for index in table.indexes)]


def verdict_lines(verdict: Verdict) -> list[Line]:
    """What refused it, the linter's findings and the plan's warnings, then all nine controls and the plan."""
    lines: list[Line] = []
    for control in verdict.controls:
        if control.state == "refused":
            lines += [("✗ ", Tone.BAD), control.message, "\n"]
    for finding in verdict.findings:
        lines += [("⚠ ", Tone.WARN), (finding.excerpt, Tone.STRONG), f": {finding.why} "]
        lines += [(f"→ {finding.better}\n", Tone.ACCENT)]
    for warning in verdict.warnings:
        lines += [("⚠ ", Tone.WARN), warning, "\n"]
    for control in verdict.controls:
        lines += [(f"{MARKS[control.state]} ", _TONES[control.state]), f"{control_name(control.name)}  "]
    for step in verdict.plan:
        lines += [("\n" + "  " * step.depth + step.text, Tone.DIM)]
    return lines


def _question(answers: Answers) -> str:
    if not answers["question"].strip():
        raise ValueError(tr("Write a question."))
    return answers["question"].strip()


def _path(answers: Answers) -> Path:
    if not answers["path"]:
        raise ValueError(tr("Give a file."))
    return Path(answers["path"]).expanduser()


def _other(answers: Answers) -> tuple[Path | None]:
    return (Path(answers["path"]).expanduser() if answers["path"] else None,)
