"""What-if: switches between the lanes' hits and the prompt, and at once the ranking and evidence they would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import HELP
from screens.style import Line, Tone, content, count, milliseconds
from screens.widgets.grid import Column, Grid, Row
from screens.work import Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.answers import AskOptions, Decision, Trace
from workbench.records.rerankers import NONE
from workbench.records.retrieval import SearchOptions
from workbench.records.traces import Move, WhatIf, WhatIfResult
from workbench.traces.changes import nothing_ranked, parse_changes
from workbench.traces.stages import cached_rerankings, stage

if TYPE_CHECKING:
    from workbench.desk import Desk

_SHOWN: Final = 40
"""Ranks shown at most."""
_TENTHS: Final = tuple(n / 10 for n in range(11))
_TAUS: Final = tuple(n / 20 for n in range(21))


@dataclass(frozen=True, slots=True)
class Tuning:
    """Settings that differ from what a question was asked with, for the questions that follow in this session.

    Attributes:
        changes: (name, value) by the names of ``WhatIf``, weights as "lexical" and "dense".
    """

    changes: tuple[tuple[str, Any], ...]

    def search(self, options: SearchOptions) -> SearchOptions:
        """``options`` with what is changed of them."""
        told = dict(self.changes)
        lanes = tuple(lane for lane in options.lanes if told.get(f"{lane}_k", 1))
        depth = tuple((lane, told[f"{lane}_k"]) for lane in lanes if f"{lane}_k" in told)
        weights = tuple((lane, told.get(lane, weight)) for lane, weight in options.weights)
        rerank = told.get("rerank", options.rerank)
        plain = {name: told[name] for name in ("fusion", "k0", "k") if name in told}
        return replace(
            options, lanes=lanes or options.lanes, lane_candidates=depth, weights=weights, rerank=rerank, **plain
        )

    def ask(self, options: AskOptions) -> AskOptions:
        """``options`` with what is changed of them."""
        names = ("evidence", "mmr", "budget", "order", "duplicates", "parents", "threshold")
        return replace(options, **{name: value for name, value in self.changes if name in names})

    def words(self) -> str:
        """ "k₀ 10 · evidence 8"."""
        switches = {switch.name: switch for switch in all_switches()}
        return " · ".join(f"{switches[name].label} {switches[name].shown(value)}" for name, value in self.changes)


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting with the values that the arrows go through."""

    name: str
    label: str
    values: tuple[Any, ...]

    def shown(self, value: object) -> str:
        """A value as a person reads it."""
        words = {
            None: {"threshold": tr("its own"), "parents": tr("on")}.get(self.name, tr("off")),
            NONE: tr("off"),
            "rrf": "RRF",
            "weights": tr("weights"),
            "best_first": tr("best first"),
            "best_last": tr("best last"),
            "edges": tr("both ends"),
        }
        if isinstance(value, bool):
            return tr("on") if value else tr("off")
        if self.name.endswith("_k") and value == 0:
            return tr("off")
        if isinstance(value, float):
            return f"{value:.2f}"
        return words.get(value, str(value)) if value is None or isinstance(value, str) else count(int(str(value)))

    def step(self, value: Any, by: int) -> Any:
        """The next of the values in that direction; the last one stays."""
        order: list[Any] = list(self.values)
        if value not in order:
            numbers = [v for v in order if v is not None] + [value]
            order = [v for v in order if v is None] + sorted(numbers)
        return order[max(0, min(len(order) - 1, order.index(value) + by))]


def all_switches(lexical: int = 50, dense: int = 50, rerankers: Sequence[str] = ()) -> list[Switch]:
    """Every setting that needs no new search, for lanes that hold so many hits and rerankers that have scored them."""
    depths = (0, 1, 3, 5, 10, 20, 30, 50, 100, 200)
    return [
        Switch("lexical_k", tr("k lexical"), (*(n for n in depths if n < lexical), lexical)),
        Switch("dense_k", tr("k dense"), (*(n for n in depths if n < dense), dense)),
        Switch("fusion", tr("fusion"), ("rrf", "weights")),
        Switch("k0", "k₀", (0, 1, 3, 10, 20, 30, 60, 120, 240, 1000)),
        Switch("lexical", tr("weight lexical"), _TENTHS),
        Switch("dense", tr("weight dense"), _TENTHS),
        Switch("rerank", tr("reranker"), (NONE, *rerankers)),
        Switch("k", tr("hits offered"), (1, 3, 5, 8, 10, 15, 20, 30, 50)),
        Switch("mmr", "MMR λ", (None, *reversed(_TENTHS))),
        Switch("duplicates", tr("duplicates"), (None, True)),
        Switch("parents", tr("parents"), (False, None)),
        Switch("evidence", tr("pieces kept"), tuple(range(1, 21))),
        Switch("budget", tr("token budget"), (None, 64, 128, 256, 512, 1024, 2048, 4096)),
        Switch("order", tr("order"), ("best_first", "best_last", "edges")),
        Switch("threshold", tr("least support τ"), (None, *_TAUS)),
    ]


def values_of(settings: WhatIf) -> dict[str, Any]:
    """Settings by the names of the switches."""
    whole = {one.name: getattr(settings, one.name) for one in fields(settings) if one.name != "weights"}
    return whole | dict(settings.weights)


def settings_from(values: dict[str, Any]) -> WhatIf:
    """The other way round."""
    told = {name: value for name, value in values.items() if name not in ("lexical", "dense")}
    return WhatIf(**told, weights=(("lexical", values["lexical"]), ("dense", values["dense"])))


class WhatIfScreen(ModalScreen[Tuning]):
    """Switches on the left, what they do on the right. Dismisses with the settings to go on with, or None.

    Args:
        tuning: that is in force for the next questions; ``change``: to begin with, as ``--what-if`` takes it.
    """

    CSS_PATH: ClassVar = ["../dialogs.tcss", "ask.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "turn(-1)", "Less", show=False, id="whatif.less"),
        Binding("right,l", "turn(1)", "More", show=False, id="whatif.more"),
        Binding("0,backspace", "reset(False)", "This one as it was", show=False, id="whatif.one"),
        Binding("r", "reset(True)", "All as they were", id="whatif.all"),
        Binding(
            "enter",
            "use",
            "Use",
            id="whatif.use",
            priority=True,
            tooltip="For the questions that follow, until they are reset",
        ),
        Binding("d", "defaults", "Defaults", id="whatif.defaults", tooltip="Nothing differs for the next questions"),
        Binding("escape,q", "leave", "Close", id="whatif.close"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, trace: Trace, tuning: Tuning | None, change: str = "") -> None:
        super().__init__()
        self._desk, self._trace, self._change = desk, trace, change
        claims = trace.answer.claims if trace.answer else ()
        self._cited = {cited.chunk_id: cited.label for claim in claims for cited in claim.citations}
        self._tuning = tuning
        self._switches: dict[str, Switch] = {}
        self._before: dict[str, Any] = {}
        self._now: dict[str, Any] = {}
        self._texts: dict[str, str] = {}
        self._jobs = jobs
        self._support: float | None = None  # of what the last search delivered; an earlier one's may have counted
        self._latest: Latest[WhatIf, WhatIfResult] = Latest(jobs, self, self._call, self._draw, self._failed)
        self._weighing: Latest[WhatIfResult, WhatIfResult] = Latest(jobs, self, self._weigh, self._tell, self._failed)

    def compose(self) -> ComposeResult:
        """Switches beside ranking and evidence."""
        with Vertical(classes="dialog full whatif") as box:
            box.border_title = content(tr("What if"))
            box.border_subtitle = content(tr("←→ change · 0 r reset · enter uses them from now on · d defaults · esc"))
            with Horizontal():
                yield Grid(
                    [Column(tr("setting"), 15), Column(tr("now"), 0), Column(tr("was"), 11, keep=40)], id="switches"
                )
                with Vertical(id="outcome"):
                    yield Grid(_columns(), id="would-rank")
                    yield Static("", id="would-tell")
                    yield Grid([*_columns(), Column(tr("cited"), 6)], id="would-show")

    def on_mount(self) -> None:
        """Reads the settings that the trace was made with."""
        self.query_one("#switches", Grid).focus()
        self._jobs.read(self, lambda: self._desk.inspector.settings(self._trace), self._begin)

    def _begin(self, settings: WhatIf) -> None:
        self._before = values_of(settings)
        self._now = self._before | (dict(self._tuning.changes) if self._tuning else {})
        if self._change:
            self._now |= values_of(parse_changes(self._change, settings))
        self._switches = {
            switch.name: switch
            for switch in all_switches(settings.lexical_k, settings.dense_k, list(cached_rerankings(self._trace)))
            if switch.name != "rerank" or len(switch.values) > 1
        }
        self._submit()

    # -- turning ---------------------------------------------------------------------------------------------------

    def action_turn(self, by: int) -> None:
        """The switch under the cursor, one step; weights switch the fusion to weights."""
        name = self.query_one("#switches", Grid).key
        if name not in self._switches:
            return
        wanted = self._now | {name: self._switches[name].step(self._now[name], by)}
        if name in ("lexical", "dense"):
            wanted["fusion"] = "weights"
        if wanted["evidence"] > wanted["k"]:  # no more is kept than is offered
            wanted |= {"evidence": wanted["k"]} if name == "k" else {"k": wanted["evidence"]}
        if problem := nothing_ranked(settings_from(wanted)):
            self.notify(problem, severity="warning", timeout=3)
            return
        self._now = wanted
        self._submit()

    def action_reset(self, every: bool) -> None:
        """The switch under the cursor, or all of them, as the question was asked."""
        name = self.query_one("#switches", Grid).key
        self._now = dict(self._before) if every else self._now | {name: self._before.get(name)}
        self._submit()

    def action_use(self) -> None:
        """From now on; with nothing changed, the defaults again."""
        self.dismiss(Tuning(self._changes()))

    def action_defaults(self) -> None:
        """What was in force is so no longer."""
        self.dismiss(Tuning(()))

    def action_leave(self) -> None:
        """The settings of the next question stay."""
        self.dismiss(None)

    def _changes(self) -> tuple[tuple[str, Any], ...]:
        """Against the defaults: what the question was asked with counts where it differs from them."""
        in_force = dict(self._tuning.changes) if self._tuning else {}
        moved = {name: value for name, value in self._now.items() if value != self._before[name]}
        kept = {name: value for name, value in in_force.items() if self._now.get(name) == value}
        return tuple((kept | moved).items())

    # -- what it does ----------------------------------------------------------------------------------------------

    def _submit(self) -> None:
        self.query_one("#switches", Grid).show([self._switch_row(switch) for switch in self._switches.values()])
        self._latest.submit(settings_from(self._now))

    def _switch_row(self, switch: Switch) -> Row:
        now, was = self._now[switch.name], self._before[switch.name]
        tone = Tone.ACCENT if now != was else Tone.PLAIN
        mark = "◆ " if now != was else "  "
        return Row(switch.name, (switch.label, (mark + switch.shown(now), tone), (switch.shown(was), Tone.DIM)))

    def _call(self, settings: WhatIf) -> WhatIfResult:
        result = self._desk.inspector.what_if(self._trace, settings)
        new = [move.chunk_id for move in result.ranking[:_SHOWN] if move.chunk_id not in self._texts]
        self._texts |= {chunk_id: chunk.text for chunk_id, chunk in self._desk.inspector.chunks(new).items()}
        return result

    def _draw(self, _: WhatIf, result: WhatIfResult) -> None:
        ranking, evidence = self.query_one("#would-rank", Grid), self.query_one("#would-show", Grid)
        ranking.show([_move_row(move, self._texts.get(move.chunk_id, "")) for move in result.ranking[:_SHOWN]])
        evidence.show([self._evidence_row(move) for move in result.evidence_moves])
        self.query_one("#would-tell", Static).update(content(*self._told(result, weighing=True)))
        self._weighing.submit(result)
        self.query_one(".dialog").border_title = content(
            f"{tr('What if')} ── {milliseconds(result.duration_ms)} ms ── {summary(result.evidence_moves)}"
        )

    def _evidence_row(self, move: Move) -> Row:
        """With the label by which the answer cites it: what moves or goes of those may change what it says."""
        row = _move_row(move, self._texts.get(move.chunk_id, ""))
        label = self._cited.get(move.chunk_id, "")
        return Row(row.key, (*row.cells, (label, Tone.BAD if move.after is None else Tone.ACCENT)))

    def _weigh(self, result: WhatIfResult) -> WhatIfResult:
        return self._desk.inspector.weighed(self._trace, result)

    def _tell(self, _: WhatIfResult, result: WhatIfResult) -> None:
        if result.decision and result.settings == settings_from(self._before):
            self._support = result.decision.support
        self.query_one("#would-tell", Static).update(content(*self._told(result)))

    def _failed(self, error: WorkbenchError) -> None:
        self.query_one("#would-tell", Static).update(content(("✗ ", Tone.BAD), error.message))

    def _told(self, result: WhatIfResult, *, weighing: bool = False) -> list[Line]:
        """The evidence in a line, what can't be told, and the decision, unless its support is still being weighed."""
        lines: list[Line] = [(summary(result.evidence_moves), Tone.STRONG)]
        gone = [self._cited[m.chunk_id] for m in result.evidence_moves if m.after is None and m.chunk_id in self._cited]
        if gone:
            lines.append(("  " + tr("gone, and cited: {labels}", labels=" ".join(gone)), Tone.BAD))
        if result.context:
            near = "≈ " if result.estimated else ""
            lines.append((f"  {near}{count(result.context.ledger.evidence)} {tr('tokens')}", Tone.DIM))
        lines += [("\ns …", Tone.DIM)] if weighing else self._verdict(result.decision)
        lines += [("\n✗ " + result.problem, Tone.BAD)] if result.problem else []
        lines += [("\n" + note, Tone.DIM) for note in result.notes]
        return lines

    def _verdict(self, made: Decision | None) -> list[Line]:
        """The support of this evidence against τ, and what it was."""
        if made is None:
            return []
        enough = made.support >= made.threshold
        sign, verdict = ("≥", tr("answers")) if enough else ("<", tr("abstains"))
        now, then = f"{made.support:.2f}", stage(self._trace, "decision", Decision)
        before = then.support if then and then.parts else made.support
        was = f"{before if self._support is None else self._support:.2f}"
        told: list[Line] = [(f"\ns {now} {sign} τ {made.threshold:.2f}: {verdict}", Tone.GOOD if enough else Tone.WARN)]
        return [*told, ("  " + tr("s was {support}", support=was), Tone.DIM)] if was != now else told


def summary(moves: Sequence[Move]) -> str:
    """ "+2 −1, 3 moved" of the evidence, or that it is the same."""
    kinds = [move.kind for move in moves]
    entered, left = kinds.count("entered"), kinds.count("left")
    moved = kinds.count("up") + kinds.count("down")
    parts = [
        f"+{entered}" if entered else "",
        f"−{left}" if left else "",
        tr("{count} moved", count=moved) if moved else "",
    ]
    told = " ".join(filter(None, parts))
    return tr("evidence: {moves}", moves=told) if told else tr("evidence: the same")


def _columns() -> list[Column]:
    return [
        Column("#", 3, "right"),
        Column("", 5),
        Column(tr("was"), 3, "right"),
        Column(tr("source"), 0, tail=True, fit=True),
        Column(tr("text"), 0, keep=60, fold=True),
    ]


def _move_row(move: Move, text: str) -> Row:
    signs: dict[str, Line] = {
        "entered": (tr("new"), Tone.GOOD),
        "left": (tr("gone"), Tone.BAD),
        "same": "",
    }
    if move.kind in ("up", "down") and move.before and move.after:
        step = abs(move.before - move.after)
        sign: Line = (f"▲{step}", Tone.GOOD) if move.kind == "up" else (f"▼{step}", Tone.WARN)
    else:
        sign = signs[move.kind]
    gone = move.after is None
    cells: tuple[Line, ...] = (
        "–" if gone else str(move.after),
        sign,
        (str(move.before) if move.before else "–", Tone.DIM),
        (move.source_id or move.chunk_id, Tone.DIM if gone else Tone.PLAIN),
        (" ".join(text[:160].split()), Tone.DIM),
    )
    return Row(move.chunk_id, cells)
