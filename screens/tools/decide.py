"""Decide: sheets, decisions and symptoms in one list, each told in full beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from screens.dialogs import ChoiceDialog
from screens.style import Line, Tone, content
from screens.tools.calculators import CalculatorDialog, information
from screens.tools.form import Answers, FormDialog
from screens.tools.form import Line as FormLine
from screens.tools.loads import LoadTestsDialog
from screens.tools.sheet import SheetDialog
from screens.tools.tab import ToolTab
from screens.tools.times import Times, read_times, times_dialog
from screens.widgets.grid import Column, Grid, ListPane, Row
from workbench.decisions.decisions import next_review, overdue
from workbench.decisions.measurements import links_in
from workbench.decisions.symptoms import Symptom, symptoms
from workbench.decisions.writing import evidence_of, firmness
from workbench.errors import WorkbenchError
from workbench.evals.reporting.reports import verdict_title
from workbench.i18n import tr
from workbench.records.decisions import Scored, Sheet, Verdict
from workbench.records.evals import DecisionRecord

if TYPE_CHECKING:
    from screens.app import WorkbenchApp

BAR: Final = 20


@dataclass(frozen=True, slots=True)
class Judged:
    """A sheet with its verdict, or with why it has none."""

    sheet: Sheet
    verdict: Verdict | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A decision as it is written down."""

    title: str
    choice: str
    context: str
    reason: str
    conditions: str
    review: str


Thing = Judged | DecisionRecord | Symptom


class DecideTab(ToolTab):
    """The list beside what is under its cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New sheet", id="tools.sheet.new", tooltip="Criteria with weights, options with values"),
        Binding("e", "edit", "Edit", id="tools.sheet.edit", tooltip="The sheet under the cursor"),
        Binding(
            "r", "record", "Decide", id="tools.record", tooltip="Writes a decision down; on the sheet under the cursor"
        ),
        Binding("o", "evidence", "Evidence", id="tools.evidence", tooltip="What was measured, where it was measured"),
        Binding(
            "v",
            "information",
            "Information",
            id="tools.information",
            tooltip="What knowing is worth before one acts",
        ),
        Binding("c", "copy", "Copy", id="tools.copy", tooltip="The decision as Markdown, to the clipboard"),
    ]

    def compose(self) -> ComposeResult:
        """List and detail."""
        self._things: dict[str, Thing] = {}
        self._wanted = ""
        with Horizontal(id="decide"):
            yield ListPane(
                lambda shown, there: tr("Sheets, decisions, symptoms: {shown} of {there}", shown=shown, there=there),
                [Column("", 1), Column(""), Column("", 16, keep=40)],
                id="things",
            )
            with VerticalScroll(classes="pane", id="thing", can_focus=True):
                yield Static("")

    def reload(self) -> None:
        """Sheets judged anew, decisions, symptoms."""

        def read() -> dict[str, Thing]:
            decisions = self.desk.decisions
            sheets: dict[str, Thing] = {f"sheet {s.title}": self._read_judged(s) for s in decisions.sheets()}
            records: dict[str, Thing] = {f"record {d.id}": d for d in decisions.records()}
            return sheets | records | {f"symptom {n}": row for n, row in enumerate(symptoms())}

        self.jobs.read(self, read, self._show)

    def _read_judged(self, sheet: Sheet) -> Judged:
        try:
            return Judged(sheet, self.desk.decisions.judge(sheet.title))
        except WorkbenchError as error:
            return Judged(sheet, None, error.message)

    def _show(self, things: dict[str, Thing]) -> None:
        self._things = things
        self.query_one(ListPane).show([Row(key, _cells(thing), _words(thing)) for key, thing in things.items()])
        self.query_one("#things-grid", Grid).go_to(self._wanted)
        self._wanted = ""
        first = next_review([thing for thing in things.values() if isinstance(thing, DecisionRecord)])
        told = tr("Next review: {day}, {title}", day=first.review, title=first.title) if first else ""
        late = first is not None and overdue(first)
        self.query_one(ListPane).border_subtitle = content((told, Tone.BAD if late else Tone.DIM))

    def entered(self) -> None:
        """The list."""
        self.query_one("#things-grid", Grid).focus()

    @property
    def _under_cursor(self) -> Thing | None:
        return self._things.get(self.query_one("#things-grid", Grid).key)

    @on(Grid.Highlighted, "#things-grid")
    def _tell(self) -> None:
        thing, box = self._under_cursor, self.query_one("#thing", VerticalScroll)
        box.border_title = content(_title(thing)) if thing else ""
        self.query_one("#thing Static", Static).update(content(*_lines(thing)) if thing else "")
        box.scroll_home(animate=False)

    def action_new(self) -> None:
        """Writes a sheet."""
        self.app.push_screen(SheetDialog(self.desk), self._written)

    def action_edit(self) -> None:
        """Writes the sheet under the cursor anew."""
        if isinstance(thing := self._under_cursor, Judged):
            self.app.push_screen(SheetDialog(self.desk, thing.sheet), self._written)

    def _written(self, sheet: Sheet | None) -> None:
        if sheet:
            self._wanted = f"sheet {sheet.title}"
            self.reload()

    def action_record(self) -> None:
        """Asks for the decision."""
        thing = self._under_cursor
        judged = thing if isinstance(thing, Judged) else None
        winner = judged.verdict.winner if judged and judged.verdict else ""
        lines = (
            FormLine("title", tr("Title"), judged.sheet.title if judged else "", tr("what is decided, in a few words")),
            FormLine("choice", tr("Choice"), winner, tr("the option that is taken")),
            FormLine("context", tr("Context"), "", tr("what it is about")),
            FormLine("reason", tr("Reason"), "", tr("why")),
            FormLine("conditions", tr("Conditions"), "", tr("what would change it")),
            FormLine("review", tr("Next review"), "", tr("e.g. {example}", example="2027-01-31")),
        )
        note = tr("Options and evidence are written down from the sheet.") if judged else ""
        sheet = judged.sheet.title if judged else ""
        self.app.push_screen(FormDialog(tr("A decision"), lines, _draft, note), lambda made: self._store(made, sheet))

    def _store(self, draft: Draft | None, sheet: str) -> None:
        if draft is None:
            return

        def store() -> DecisionRecord:
            return self.desk.decisions.decide(
                draft.title,
                draft.choice,
                sheet=sheet,
                context=draft.context,
                reasons=(draft.reason,),
                conditions=draft.conditions,
                review=draft.review,
            )

        self.jobs.read(self, store, lambda _: self.reload())

    def action_evidence(self) -> None:
        """Opens what stands behind the thing under the cursor; asks which, of several."""
        found = _links(self._under_cursor)
        if not found:
            self.notify(tr("No measurement stands behind it."), timeout=3)
        elif len(found) == 1:
            self._open(next(iter(found)))
        else:
            rows = [Row(link, (said, (link, Tone.DIM))) for link, said in found.items()]
            self.app.push_screen(ChoiceDialog(tr("Evidence"), rows), self._open)

    def _open(self, link: str | None) -> None:
        kind, _, rest = (link or "").partition(":")
        whose, _, _ = rest.partition(":") if kind in ("run", "bench") else rest.rpartition(":")
        if kind == "run":
            self.jobs.read(self, lambda: self._read_dataset(int(whose)), lambda name: self._go_to_run(name, int(whose)))
        elif kind == "bench":
            self._leave_for(self._front.show_bench, int(whose))
        elif kind == "calls":
            self.jobs.open(self, lambda: read_times(self.desk, whose.rpartition("#")[2]), self._tell_times)
        elif kind == "load":
            loads = self.desk.servers.loads
            self.jobs.open(
                self, loads.all, lambda found: self.app.push_screen(LoadTestsDialog(self.desk, self.jobs, found))
            )
        elif kind == "cost":
            self._front.action_tools("money")

    def _read_dataset(self, run_id: int) -> str:
        return next((run.config.dataset for run in self.desk.evals.runs() if run.id == run_id), "")

    def _go_to_run(self, dataset: str, run_id: int) -> None:
        if dataset:
            self._leave_for(self._front.show_run, dataset, run_id)
        else:
            self.notify(tr("Run {id} is no longer here.", id=run_id), timeout=3)

    def _tell_times(self, times: Times) -> None:
        self.app.push_screen(times_dialog(times))

    @property
    def _front(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    def _leave_for(self, shown: Callable[..., Awaitable[None]], *place: object) -> None:
        self.screen.dismiss(None)
        self.app.call_later(shown, *place)

    def action_information(self) -> None:
        """The calculator of expected utility and the value of information."""
        self.app.push_screen(CalculatorDialog(information()))

    def action_copy(self) -> None:
        """The decision under the cursor."""
        thing = self._under_cursor
        if isinstance(thing, DecisionRecord):
            self.jobs.read(self, lambda: self.desk.decisions.export(thing.id), self._copied)

    def _copied(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify(tr("Copied."), timeout=2)


def _draft(answers: Answers) -> Draft:
    """Raises ValueError."""
    if not all(answers[name] for name in ("title", "choice", "reason")):
        raise ValueError(tr("A decision has a title, a choice and a reason."))
    return Draft(**answers)


def _cells(thing: Thing) -> tuple[Line, ...]:
    match thing:
        case Judged():
            return ("▦", Tone.ACCENT), thing.sheet.title, (thing.verdict.winner if thing.verdict else "–", Tone.DIM)
        case DecisionRecord():
            late: Line = (tr("overdue"), Tone.BAD) if overdue(thing) else (thing.review, Tone.DIM)
            return ("●", Tone.GOOD), thing.title, late
        case Symptom():
            return "→", thing.symptom, (thing.layer, Tone.DIM)


def _words(thing: Thing) -> str:
    return " ".join(thing.words) if isinstance(thing, Symptom) else ""


def _links(thing: Thing | None) -> dict[str, str]:
    """The links to measurements behind a thing, each with what it is the evidence of."""
    match thing:
        case Judged():
            return links_in(evidence_of(thing.sheet))
        case DecisionRecord():
            linked = links_in(thing.evidence)
            told = {link.split(":")[1] for link in linked if link.startswith("run:")}
            return {f"run:{run}": f"{tr('Run')} {run}" for run in thing.runs if str(run) not in told} | linked
        case _:
            return {}


def _title(thing: Thing) -> str:
    match thing:
        case Judged():
            return thing.sheet.title
        case DecisionRecord():
            return thing.title
        case Symptom():
            return thing.layer


def _lines(thing: Thing) -> list[Line]:
    match thing:
        case Judged():
            return _sheet_lines(thing)
        case DecisionRecord():
            return _record_lines(thing)
        case Symptom():
            then: list[Line] = [(f"\n\n{tr('then')}\n", Tone.DIM), thing.otherwise] if thing.otherwise else []
            first: list[Line] = [(thing.symptom, Tone.STRONG), (f"\n\n{tr('first move')}\n", Tone.DIM), thing.move]
            return [*first, (f"\n\n{tr('measure')}\n", Tone.DIM), thing.metric, *then]


def _sheet_lines(judged: Judged) -> list[Line]:
    if judged.verdict is None:
        return [(judged.problem, Tone.WARN), "\n\n", tr("e fills it in.")]
    lines = [part for scored in judged.verdict.ranking for part in _scored(scored)]
    lines += [(f"\n{told}", Tone.WARN) for told in firmness(judged.verdict)]
    if told := evidence_of(judged.sheet):
        lines += [(f"\n\n{tr('Evidence')}\n", Tone.DIM), "\n".join(told)]
    return lines


def _scored(one: Scored) -> list[Line]:
    if one.out:
        return [("✗ ", Tone.BAD), one.option.name, (f"  {one.out}\n", Tone.DIM)]
    score = one.score or 0.0
    front: Line = (" Pareto", Tone.GOOD) if one.on_front else (" ≺ " + ", ".join(one.dominated_by), Tone.DIM)
    bar = "█" * max(0, round(score * BAR))
    shares = " + ".join(f"{name} {share:.2f}" for name, share in one.shares.items())
    shares += f" − {one.option.penalty:g}" if one.option.penalty else ""
    return [
        (f"{one.option.name:<12}", Tone.STRONG),
        f" {score:.3f} ",
        (bar, Tone.ACCENT),
        front,
        (f"\n  {shares}\n", Tone.DIM),
    ]


def _record_lines(record: DecisionRecord) -> list[Line]:
    choice = record.choice or verdict_title(record.verdict)
    lines: list[Line] = [(choice, Tone.STRONG), (f"  {record.created:%Y-%m-%d}", Tone.DIM)]
    parts = (
        (tr("Context"), record.context),
        (tr("Criteria"), "\n".join(record.criteria)),
        (tr("Options"), "\n".join(record.options)),
        (tr("Sensitivity"), "\n".join(record.sensitivity)),
        (tr("Reasons"), "\n".join(record.reasons)),
        (tr("Evidence"), "\n".join(record.evidence)),
        (tr("Conditions"), record.conditions),
        (tr("Review"), record.review + (f" · {tr('overdue')}" if overdue(record) else "")),
    )
    for name, text in parts:
        lines += [(f"\n\n{name}\n", Tone.DIM), text] if text else []
    return lines
