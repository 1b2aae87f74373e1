"""Running one case again, with its run's settings or those in force now, beside what the run made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Select, Static

from screens.dialogs import HELP
from screens.evals.case import outcome
from screens.evals.launch import read_settings, settings_fields, settings_of
from screens.evals.words import result_mark, value_text
from screens.fields import chosen, pick, tell_problem
from screens.style import Line, Tone, content, milliseconds
from screens.widgets.facts import Fact, Facts
from workbench.errors import UsageError
from workbench.evals.measuring.compare import changed_settings
from workbench.evals.measuring.scoring import describe
from workbench.evals.reporting.naming import model_name
from workbench.evals.reporting.reports import stage_title
from workbench.evals.running.values import check_values
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.answers import AskOptions
from workbench.records.evals import CaseResult, Layer, Ranked, RunConfig
from workbench.records.models import ModelFile
from workbench.records.retrieval import SearchOptions

if TYPE_CHECKING:
    from workbench.desk import Desk

RANKS: Final = 10
_SEARCHED: Final = ("lanes", "fusion", "candidates", "filter")
_WRITTEN: Final = ("max_output", "temperature")
_ANSWERED: Final = ("evidence", "threshold", *_WRITTEN)
FIELDS: Final[dict[Layer, tuple[str, ...]]] = {
    "retrieval": _SEARCHED,
    "generation": ("model", *_ANSWERED),
    "chain": ("model", *_SEARCHED, *_ANSWERED),
    "model": ("model", *_WRITTEN),
}
"""What each layer can be asked again with."""
RUN, NOW = "run", "now"
"""Whose settings the form begins with."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a case can be run again with: its run's settings, those in force now, and the model files there are."""

    run: RunConfig
    now: RunConfig
    models: Sequence[ModelFile]


def read_choices(desk: Desk, config: RunConfig, search: SearchOptions, ask: AskOptions) -> Choices:
    """What is in force now: Ask's ``search`` and ``ask``, as far as the run's layer uses them, and the loaded model."""
    now, model = config, desk.model
    if config.layer in ("retrieval", "chain"):
        now = replace(now, search=replace(search, collection=config.search.collection))
    if config.layer != "retrieval":
        now = replace(now, ask=ask, model=model.file.path if model else "")
        now = replace(now, load=model.settings) if model else now
    return Choices(config, desk.evals.settled(now), desk.library.files())


class RerunDialog(ModalScreen[RunConfig]):
    """Asks with which settings to run one case again; begins with those of its run."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="rerun.close"),
        Binding("ctrl+s", "start", "Start", id="rerun.start"),
        *HELP,
    ]

    def __init__(self, case_id: str, choices: Choices) -> None:
        super().__init__()
        self._case_id, self._choices = case_id, choices

    def compose(self) -> ComposeResult:
        """The settings that the run's layer uses."""
        known = self._choices
        fields = settings_fields(known.run, known.models, known.now.model)
        whose = [(RUN, tr("of the run")), (NOW, tr("in force now: Ask's, and the loaded model"))]
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("Run {case} again", case=self._case_id))
            box.border_subtitle = content(tr("enter runs it · esc closes"))
            yield pick("whose", tr("Settings"), whose, RUN)
            with Container(classes="form"):
                yield from (fields[name] for name in FIELDS[known.run.layer])
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """Enter runs it as it is."""
        self.query(Input).first().focus()

    @on(Select.Changed, "#whose")
    def fill(self) -> None:
        """The form shows those settings."""
        told = settings_of(self._base)
        for line in self.query(Input):
            line.value = told[line.id or ""]
        for choice in self.query(Select).exclude("#whose"):
            choice.value = told[choice.id or ""]

    @property
    def _base(self) -> RunConfig:
        return self._choices.now if chosen(self, "whose") == NOW else self._choices.run

    @on(Input.Submitted)
    def action_start(self) -> None:
        """Dismisses with the settings, or says what is wrong with them."""
        try:
            config = read_settings(self, self._base)
            check_values(config)
        except (ValueError, UsageError) as error:
            tell_problem(self, error)
        else:
            self.dismiss(config)

    def action_leave(self) -> None:
        """Nothing runs."""
        self.dismiss(None)


@dataclass(frozen=True, slots=True)
class Again:
    """A case then and now, and with which configurations."""

    before: CaseResult
    after: CaseResult
    run: RunConfig
    now: RunConfig


class DiffScreen(ModalScreen[str]):
    """Then and now: what was set otherwise, whether it passes, what changed in scores, ranks and answer; dismisses with
    the new trace, where it is asked for."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", id="diff.close"),
        Binding("t", "trace", "Trace", id="diff.trace", tooltip="This time's trace in Ask"),
        *HELP,
    ]

    def __init__(self, again: Again) -> None:
        super().__init__()
        self._again = again

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        with VerticalScroll(classes="dialog full", can_focus=True) as box:
            box.border_title = content(tr("{case} run again", case=self._again.after.case_id))
            told = tr("nothing is stored but the trace: t · esc closes")
            box.border_subtitle = content(told if self._again.after.trace_id else tr("nothing is stored · esc closes"))
            yield Facts(id="diff")

    def on_mount(self) -> None:
        """Draws it."""
        self.query_one("#diff", Facts).show(list(diff(self._again)), label=12)

    def action_trace(self) -> None:
        """The new trace, where the layer leaves one."""
        if self._again.after.trace_id:
            self.dismiss(self._again.after.trace_id)


def diff(again: Again) -> Iterable[Fact]:
    """The settings and the verdict first; what stayed the same is told in one line."""
    before, after = again.before, again.after
    changed = [_setting(*change) for change in changed_settings(again.run, again.now)]
    yield from _named(tr("settings"), changed or [(tr("as in the run"), Tone.DIM)], gap=False)
    yield tr("then"), _verdict(before)
    yield tr("now"), _verdict(after)
    yield from _named(tr("scores"), _scores(before, after))
    yield from _named(tr("time"), [f"{milliseconds(before.duration_ms)} → {milliseconds(after.duration_ms)} ms"])
    yield from _named(tr("ranks"), _moves(before.ranked, after.ranked))
    then, now = list(outcome(before)), list(outcome(after))
    yield from _named(tr("then"), then)
    yield from _named(tr("now"), [(tr("the same"), Tone.DIM)] if then == now else now)
    if after.advice and not after.passed:
        yield tr("try first"), ("→ ", (retold(after.advice), Tone.ACCENT))


def _setting(name: str, then: object, now: object) -> Line:
    """ "lanes  lexical+dense → lexical"."""
    told = [model_name(str(value)) or "–" if name == "model" else _value(value) for value in (then, now)]
    return ((f"{name}  ", Tone.DIM), told[0], " → ", (told[1], Tone.STRONG))


def _value(value: object) -> str:
    if isinstance(value, list):
        return "+".join(map(_value, value)) or "–"
    return "–" if value in (None, "") else f"{value:g}" if isinstance(value, float) else str(value)


def _named(name: str, lines: Sequence[Line], *, gap: bool = True) -> Iterable[Fact]:
    if gap:
        yield " ", " "
    for number, line in enumerate(lines):
        yield ("" if number else name), line


def _verdict(result: CaseResult) -> Line:
    stage = stage_title(result.failure) if result.failure or result.passed else tr("unscored")
    return (result_mark(result), f" {stage}", (f"  {retold(result.reason)}" if result.reason else "", Tone.DIM))


def _scores(before: CaseResult, after: CaseResult) -> list[Line]:
    lines: list[Line] = []
    for name in dict.fromkeys([*before.scores, *after.scores]):
        then, now = before.scores.get(name), after.scores.get(name)
        metric = describe(name)
        if then == now or not metric.bounded:
            continue
        better = (now or 0.0) > (then or 0.0)
        told = [value_text(name, value) if value is not None else "–" for value in (then, now)]
        arrow: Line = ("▲", Tone.GOOD) if better == metric.higher_is_better else ("▼", Tone.BAD)
        lines.append((f"{metric.title:<22}{told[0]:>6} → {told[1]:>6} ", arrow))
    return lines or [(tr("the same"), Tone.DIM)]


def _moves(before: tuple[Ranked, ...], after: tuple[Ranked, ...]) -> list[Line]:
    places = {r.chunk_id: r.rank for r in before}
    lines: list[Line] = []
    for ranked in after:
        was = places.get(ranked.chunk_id)
        if was == ranked.rank or not (ranked.grade or ranked.rank <= RANKS):
            continue
        came = tr("new") if was is None else f"{was}"
        star: Line = ("★ ", Tone.GOOD) if ranked.grade else "  "
        lines.append(
            (f"{came:>4} → {ranked.rank:<4}", star, ranked.source_id, (f"  {ranked.start:,}–{ranked.end:,}", Tone.DIM))
        )
    there = {r.chunk_id for r in after}
    lost = [r for r in before if r.grade and r.chunk_id not in there]
    lines += [(f"{r.rank:>4} → {tr('gone'):<4}", ("★ ", Tone.BAD), r.source_id) for r in lost]
    return lines or [(tr("the same"), Tone.DIM)]
