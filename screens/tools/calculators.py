"""Calculators: each a handful of lines, its formula, and what it comes to as one types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens.dialogs import CLOSE, HELP
from screens.fields import field, written
from screens.style import Line, Tone, content, count, size
from screens.tools.form import Answers, number
from screens.tools.form import Line as FormLine
from workbench.decisions.utility import value_of_information
from workbench.decisions.writing import read_pairs
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.money.costs import amount, cache_plan, tco
from workbench.money.money import price_name
from workbench.money.times import effective_success, in_system
from workbench.money.vectors import Component, vector_bytes
from workbench.records.money import Price

ACTIONS: Final = ("say yes: yes=10, no=-20", "say no: yes=-20, no=10", "abstain: yes=2, no=2")
"""What each action is worth in each state: an example to overwrite."""


@dataclass(frozen=True, slots=True)
class Calculator:
    """A sum: its title, what it is for, its formula, the lines that it takes, and what they come to.

    Attributes:
        reckon: the result as it is shown; it raises ValueError or WorkbenchError for what can't be reckoned with.
        across: lines that stand side by side.
    """

    title: str
    purpose: str
    formula: str
    lines: tuple[FormLine, ...]
    reckon: Callable[[Answers], Line]
    across: int = 2


class CalculatorDialog(ModalScreen[None]):
    """A calculator's lines over its result, which follows every key."""

    CSS_PATH = ["../dialogs.tcss", "tools.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE,
        Binding("enter", "app.focus_next", "Next line", id="calculator.next"),
        *HELP,
    ]

    def __init__(self, calculator: Calculator) -> None:
        super().__init__()
        self._calculator = calculator

    def compose(self) -> ComposeResult:
        """Purpose, formula, lines, result."""
        made = self._calculator
        with VerticalScroll(classes="dialog calculator", can_focus=False) as box:
            box.border_title = content(made.title)
            box.border_subtitle = content(tr("enter goes on · esc closes"))
            yield Static(content((made.purpose, Tone.DIM)))
            yield Static(content((made.formula, Tone.ACCENT)))
            with Container(classes="lines") as lines:
                lines.styles.grid_size_columns = made.across
                for line in made.lines:
                    yield field(line.name, line.label, line.value, line.hint)
            yield Static("", id="result")

    def on_mount(self) -> None:
        """The first line first, and what the figures that stand there come to."""
        self.query(Input).first().focus()
        self._reckon()

    @on(Input.Submitted)
    def _go_on(self) -> None:
        self.focus_next()

    @on(Input.Changed)
    def _reckon(self) -> None:
        told = self.query_one("#result", Static)
        try:
            result = self._calculator.reckon({line.name: written(self, line.name) for line in self._calculator.lines})
        except OverflowError:
            result = (("✗ ", Tone.BAD), tr("The figures are too large."))
        except ValueError as error:
            result = (("✗ ", Tone.BAD), str(error))
        except WorkbenchError as error:
            result = (("✗ ", Tone.BAD), f"{error.message} {error.remedy}")
        told.update(content(result))


def money_calculators(price: Price | None, seconds: float | None) -> dict[str, Calculator]:
    """By name: those of the Money tab, with a price of one's own and the ledger's mean seconds where there are any."""
    return {"cache": _cache(price), "tco": _ownership(), "capacity": _capacity(seconds), "vectors": _vectors()}


def _cache(known: Price | None) -> Calculator:
    price = known or Price("", "", "", 2.0, 8.0, date.today(), 0.5, 2.5)
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    lines = (
        FormLine("prefix", tr("Fixed prefix, tokens"), "12000"),
        FormLine("fresh", tr("Fresh tokens"), "8000"),
        FormLine("output", tr("Output tokens"), "700"),
        FormLine("calls", tr("Calls in all"), "10"),
        FormLine("input", tr("Input price"), f"{price.input:g}"),
        FormLine("written", tr("Output price"), f"{price.output:g}"),
        FormLine("read", tr("Cache read price"), f"{read:g}"),
        FormLine("write", tr("Cache write price"), f"{write:g}"),
    )
    labels = {line.name: line.label for line in lines}

    def reckon(answers: Answers) -> Line:
        prefix, fresh, output, calls = (
            _whole(answers, name, labels[name]) for name in ("prefix", "fresh", "output", "calls")
        )
        costs = {name: number(answers, name, labels[name]) for name in ("input", "written", "read", "write")}
        typed = Price("", "", "", costs["input"], costs["written"], price.checked, costs["read"], costs["write"])
        plan = cache_plan(prefix, fresh, output, typed)
        told = [
            (f"C_0 {tr('without cache')}", plan.full),
            (f"C_w {tr('first call, which writes')}", plan.write),
            (f"C_r {tr('later ones, which read')}", plan.read),
        ]
        if calls:
            told.append((f"    {tr('mean of {calls} calls', calls=count(calls))}", plan.mean(calls)))
        pays = tr("It never pays at these prices.")
        if plan.break_even is not None:
            pays = tr("It pays from {calls} calls on.", calls=count(plan.break_even))
        return _table([(name, f"{amount(cost)} {price.currency}".rstrip()) for name, cost in told]), (pays, Tone.STRONG)

    whose = price_name(known) if known else tr("an example")
    purpose = tr("What caching a fixed prefix saves; prices per million tokens: {whose}", whose=whose)
    return Calculator(tr("Prompt cache"), purpose, "N > (C_w − C_r) / (C_0 − C_r)", lines, reckon)


def _ownership() -> Calculator:
    lines = (
        FormLine("tokens", tr("Tokens"), "0", tr("what is paid per token")),
        FormLine("infrastructure", tr("Infrastructure"), "80", tr("machines, storage, network")),
        FormLine("operation", tr("Operation"), "0", tr("people who keep it running")),
        FormLine("change", tr("Change"), "0", tr("new versions, migrations, evaluations")),
    )

    def reckon(answers: Answers) -> Line:
        parts = [number(answers, line.name, line.label, otherwise=0.0) for line in lines]
        total = tco(*parts)
        sums = " + ".join(f"{part:,.2f}" for part in parts)
        year = tr("a year {cost}", cost=f"{12 * total:,.2f}")
        return f"{sums} = ", (f"{total:,.2f}", Tone.STRONG), (f"  {year}", Tone.DIM)

    purpose = tr("What a month costs in all: tokens, machines, the people who run it, and new versions")
    return Calculator(tr("Total cost of ownership"), purpose, "TCO = C_t + C_i + C_o + C_c", lines, reckon)


def _capacity(seconds: float | None) -> Calculator:
    lines = (
        FormLine("rate", f"λ {tr('Requests a second')}", "5"),
        FormLine("seconds", f"W {tr('Seconds each')}", f"{2 if seconds is None else round(seconds, 3):g}"),
        FormLine("success", f"p {tr('Tries that succeed, 0–1')}", "0.9"),
        FormLine("attempts", f"k {tr('Tries at most')}", "3"),
    )
    labels = {line.name: line.label for line in lines}

    def reckon(answers: Answers) -> Line:
        rate, each, success = (number(answers, name, labels[name]) for name in ("rate", "seconds", "success"))
        attempts = _whole(answers, "attempts", labels["attempts"])
        if success > 1:
            raise ValueError(tr("{field}: give a number between 0 and 1.", field=labels["success"]))
        at_once = (tr("{requests} at once", requests=f"{in_system(rate, each):g}"), Tone.STRONG)
        reached = (f"{effective_success(success, attempts):g}", Tone.STRONG)
        return f"{rate:g}/s × {each:g} s = ", at_once, f"\n1 − (1 − {success:g})^{attempts} = ", reached

    whose = tr("an example") if seconds is None else tr("the ledger's mean call")
    purpose = tr("How many requests are in a server at once, and what retries bring; seconds: {whose}", whose=whose)
    return Calculator(tr("Capacity"), purpose, "L = λ·W, 1 − (1 − p)^k", lines, reckon)


def _vectors() -> Calculator:
    lines = (
        FormLine("count", f"N {tr('Vectors')}", "10000000"),
        FormLine("dimension", f"d {tr('Dimensions')}", "768"),
        FormLine("replicas", tr("Copies"), "1"),
    )

    def reckon(answers: Answers) -> Line:
        vectors, dimension, replicas = (_whole(answers, line.name, line.label) for line in lines)
        kinds: tuple[Component, ...] = get_args(Component)
        sized = [(kind, vector_bytes(vectors, dimension, kind, replicas)) for kind in kinds]
        return _table([(kind, f"{octets / 1e9:,.3f} GB  {size(int(octets)):>10}") for kind, octets in sized])

    purpose = tr("Vectors alone, by the type of their components: no index, no texts")
    return Calculator(tr("Vectors' memory"), purpose, "M = N · d · b", lines, reckon, across=3)


def information() -> Calculator:
    """What it is worth to know the state before one acts."""
    lines = (
        FormLine("states", tr("States and their probabilities"), "yes=0.6, no=0.4"),
        *(
            FormLine(f"action-{n}", tr("Action {number}", number=n), said, tr("name: state=worth, …"))
            for n, said in enumerate((*ACTIONS, "", ""), 1)
        ),
    )

    def reckon(answers: Answers) -> Line:
        said = [answers[line.name].rpartition(":") for line in lines[1:] if answers[line.name]]
        actions = {name.strip(): read_pairs(rest) for name, _, rest in said}
        found = value_of_information(read_pairs(answers["states"]), actions)
        worth = (f"{found.with_evidence:g} − {found.without:g} = {found.value:g}", Tone.STRONG)
        best = (f"  {tr('without')}: {found.action}", Tone.DIM)
        rows = [(action, f"{utility:g}") for action, utility in found.utilities.items()]
        return ("E[U]\n", Tone.DIM), _table(rows), "VoI = ", worth, best

    purpose = tr("What knowing the state is worth, before one pays for it")
    return Calculator(tr("Value of information"), purpose, "VoI = E[max U] − max E[U]", lines, reckon)


def _table(rows: list[tuple[str, str]]) -> str:
    """Names on the left, figures at the right of their column, each row ended by its line's end."""
    names, figures = (max(len(row[n]) for row in rows) for n in (0, 1))
    return "".join(f"{name:<{names}}  {figure:>{figures}}\n" for name, figure in rows)


def _whole(answers: Answers, name: str, label: str) -> int:
    """Raises ValueError with a sentence."""
    if not answers[name].isdecimal():
        raise ValueError(tr("{field}: give a whole number from {low} on.", field=label, low=0))
    return int(answers[name])
