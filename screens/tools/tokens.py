"""Tokens: a text under every tokenizer, the window's budget, two prompts side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import Input, Static, TextArea

from screens.dialogs import NoteDialog
from screens.fields import field
from screens.style import Line, Tone, content, count
from screens.tools.form import Answers, FormDialog
from screens.tools.form import Line as FormLine
from screens.tools.tab import ToolTab
from screens.widgets.keys import with_alt
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError, reason_of
from workbench.i18n import tr
from workbench.records.answers import Context
from workbench.records.tokens import PARTS, Cut, PrefixReport, WindowBudget
from workbench.tokens.window import budget_of
from workbench.tokens.words import break_text, part_name, untold_words, window_words

if TYPE_CHECKING:
    from workbench.desk import Desk

SHOWN: Final = 300
"""Pieces of a text that are drawn."""
Call = Callable[[str], tuple[Cut, ...]]
FIELDS: Final = ("window", *PARTS)
EXAMPLE: Final = WindowBudget(4096, instructions=600, documents=2000, question=50, output=256)


class TokensTab(ToolTab):
    """The text above its cuts, the budget below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *with_alt(
            "x", "compare", "Compare prompts", id="tools.compare", tooltip="Where they part, and what that costs"
        ),
        *with_alt(
            "b", "budget", "Budget of the last question", id="tools.budget", tooltip="Its parts, as it was asked"
        ),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        quick: Call = partial(desk.tokens.cuts, kinds=("model", "encoding"))
        slow: Call = partial(desk.tokens.cuts, kinds=("embedder",))  # its process takes seconds to start
        self._cutting = tuple(
            Latest(jobs, self, call, partial(self._show, place), self._failed)
            for place, call in enumerate((quick, slow))
        )
        self._cuts: list[tuple[Cut, ...]] = [(), ()]
        self._taken = EXAMPLE

    def compose(self) -> ComposeResult:
        """Text, cuts, budget."""
        area = TextArea("", id="token-text", classes="pane", tab_behavior="focus")
        area.border_title = content(tr("Text"))
        yield area
        with VerticalScroll(classes="pane", id="cuts", can_focus=True) as box:
            box.border_title = content(tr("Tokens"))
            yield Static(
                content((tr("Type or paste a text above: it is cut by every tokenizer that is here."), Tone.DIM))
            )
        with Container(id="budget"):
            for name in FIELDS:
                label = tr("window") if name == "window" else part_name(name)
                yield field(f"budget-{name}", label, str(getattr(EXAMPLE, name)))
        yield Static("", id="budget-sum")

    def on_mount(self) -> None:
        """The sum of what stands there."""
        self._sum()

    def reload(self) -> None:
        """Another model may be loaded."""
        self._cut()

    def entered(self) -> None:
        """The text."""
        self.query_one(TextArea).focus()

    @on(TextArea.Changed)
    def _cut(self) -> None:
        if text := self.query_one(TextArea).text:
            for latest in self._cutting:
                latest.submit(text)

    def _show(self, place: int, text: str, found: tuple[Cut, ...]) -> None:
        self._cuts[place] = found
        cuts = [cut for part in self._cuts for cut in part]
        lines: list[Line] = []
        for cut in cuts:
            each = f"{len(text) / cut.count:.2f}" if cut.count else "–"
            told = tr(
                "1 token, {each} characters" if cut.count == 1 else "{count} tokens, {each} characters each",
                count=count(cut.count),
                each=each,
            )
            lines += [
                (cut.tokenizer, Tone.STRONG),
                f"  {told if cut.told else untold_words()}\n",
                *_pieces(cut),
                "\n\n",
            ]
        shown = content(*lines) if cuts else content((tr("No tokenizer is here. Run: workbench starter"), Tone.DIM))
        self.query_one("#cuts Static", Static).update(shown)

    def _failed(self, error: WorkbenchError) -> None:
        self.query_one("#cuts Static", Static).update(content((f"✗ {error.title}: {error.message}", Tone.BAD)))

    @on(Input.Changed)
    def _sum(self) -> None:
        told = {name: self.query_one(f"#budget-{name}", Input).value.strip() or "0" for name in FIELDS}
        line = self.query_one("#budget-sum", Static)
        wrong = next((name for name, value in told.items() if not value.isdecimal()), None)
        if wrong or not int(told["window"]):
            line.update(content((tr("Give whole numbers of tokens."), Tone.BAD)))
            return
        numbers: dict[str, Any] = {name: int(value) for name, value in told.items()}
        found = WindowBudget(**numbers)
        if self._taken == replace(found, estimated=self._taken.estimated, assumed=self._taken.assumed):
            found = self._taken
        near = "≈ " if found.estimated else ""
        sum_ = f"{near}{count(found.input)} + {count(found.output)} = {near}{count(found.total)} "
        if found.fits:
            left = near + tr("{left} left", left=count(found.left))
            line.update(content(("✓ ", Tone.GOOD), sum_, f"≤ {window_words(found)} · ", left))
        else:
            over = near + tr("{over} too many", over=count(-found.left))
            line.update(content(("✗ ", Tone.BAD), sum_, f"> {window_words(found)} · ", (over, Tone.BAD)))

    def action_budget(self) -> None:
        """The parts of the newest question."""
        self.jobs.read(self, self._read_budget, self._take_budget)

    def _read_budget(self) -> WindowBudget | None:
        newest = self.desk.traces(1)
        span = self.desk.trace(newest[0].id).span("context") if newest else None
        if span is None or not isinstance(span.output, Context):
            return None
        return budget_of(span.output.ledger)

    def _take_budget(self, found: WindowBudget | None) -> None:
        if found is None:
            self.notify(tr("No question with a context was asked yet."), timeout=4)
            return
        self._taken = found
        for name in FIELDS:
            self.query_one(f"#budget-{name}", Input).value = str(getattr(found, name))
        self._sum()

    def action_compare(self) -> None:
        """Asks for two files, then tells."""
        lines = (
            FormLine("first", tr("First prompt"), hint=tr("a text file")),
            FormLine("second", tr("Second prompt"), hint=tr("sent right after it")),
        )
        note = tr("A cache serves the beginning that both share.")
        self.app.push_screen(FormDialog(tr("Compare two prompts"), lines, _texts, note), self._compare)

    def _compare(self, texts: tuple[str, str] | None) -> None:
        if texts:
            self.jobs.read(self, lambda: self.desk.tokens.compare(*texts), self._told)

    def _told(self, report: PrefixReport) -> None:
        self.app.push_screen(NoteDialog(tr("Two prompts"), content(*prefix_lines(report))))


def _pieces(cut: Cut) -> list[Line]:
    """The pieces, every other one lit, so that their ends show."""
    tones = (Tone.PLAIN, Tone.ACCENT)
    drawn: list[Line] = [(p.text.replace("\n", "⏎"), tones[n % 2]) for n, p in enumerate(cut.pieces[:SHOWN])]
    return [*drawn, ("…", Tone.DIM)] if cut.count > SHOWN else drawn


def _texts(answers: Answers) -> tuple[str, str]:
    """What stands in both files. Raises ValueError."""
    found = []
    for name in ("first", "second"):
        path = Path(answers[name]).expanduser()
        try:
            found.append(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: {reason_of(error)}") from error
    return found[0], found[1]


def prefix_lines(report: PrefixReport) -> list[Line]:
    """A report of two prompts, a sentence a line."""
    hit = tr(
        "H = {hit}: {shared} of {tokens} tokens are the same from the start on.",
        hit=f"{report.hit:.0%}",
        shared=count(report.shared),
        tokens=count(report.tokens),
    )
    lines: list[Line] = [(hit, Tone.STRONG)]
    if report.line:
        lines += ["\n" + tr("First difference: line {line}, column {column}", line=report.line, column=report.column)]
        lines += [("\n- ", Tone.BAD), report.before, ("\n+ ", Tone.GOOD), report.after, "\n"]
        lines += [
            tr(
                "{lost} tokens come after it and are read again; {again} of them stood in the first prompt too.",
                lost=count(report.lost),
                again=count(report.again),
            )
        ]
    for found in report.breaks:
        lines += [("\n✗ ", Tone.WARN), break_text(found)]
    return lines
