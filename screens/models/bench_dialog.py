"""The dialogs of the Bench tab: what a new bench measures, and rows side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast, get_args

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from screens.dialogs import HELP
from screens.evals.fields import chosen, field, pick, tell_problem, whole, written
from screens.models.bench_rows import side_by_side
from screens.style import content, size
from screens.widgets.grid import Column, Grid, Row
from workbench.i18n import tr
from workbench.records.benchmarks import BenchComparison, BenchPlan
from workbench.records.models import KvType, LoadSettings, ModelFile


@dataclass(frozen=True, slots=True)
class Order:
    """What a new bench measures, and of which files."""

    paths: tuple[str, ...]
    plan: BenchPlan


class BenchDialog(ModalScreen[Order]):
    """Asks for models and tests; begins with what the last bench measured."""

    CSS_PATH = ["bench.tcss", "../evals/evals.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="benchrun.close"),
        Binding("ctrl+s", "start", "Start", id="benchrun.start"),
        *HELP,
    ]

    def __init__(self, files: Sequence[ModelFile], marked: Sequence[str], plan: BenchPlan) -> None:
        super().__init__()
        self._files = [f for f in files if not f.problem]
        self._marked, self._plan = marked, plan

    def compose(self) -> ComposeResult:
        """The models over a form in columns."""
        plan, load = self._plan, self._plan.load
        felt = [("all", tr("everything")), ("speed", tr("speed only"))]
        with Vertical(classes="dialog bench") as box:
            box.border_title = content(tr("New bench"))
            box.border_subtitle = content(tr("space marks models · ctrl+s starts · esc closes"))
            yield Grid(
                [Column("", 1), Column(tr("model"), 0), Column(tr("quant"), 8), Column(tr("size"), 8, "right")],
                marks=True,
            )
            with Container(classes="form"):
                yield field("prompt", tr("pp tokens"), str(plan.prompt))
                yield field("generate", tr("tg tokens"), str(plan.generate))
                yield field("depths", tr("Depths"), ", ".join(map(str, plan.depths)))
                yield field("repetitions", tr("Repetitions"), str(plan.repetitions))
                yield field("cooldown", tr("Pause, seconds"), f"{plan.cooldown_s:g}")
                yield pick("felt", tr("Measure"), felt, "all" if plan.felt else "speed")
                yield field("context", tr("Context"), str(load.context))
                yield field("threads", tr("Threads, 0 = auto"), str(load.threads))
                yield pick("kv", tr("KV type"), [(kind, kind) for kind in get_args(KvType)], load.kv_type)
            yield Static("", classes="problem")
            with Horizontal(classes="buttons"):
                yield Button(content(tr("Start")), id="start")

    def on_mount(self) -> None:
        """The models come first."""
        grid = self.query_one(Grid)
        grid.show([Row(f.path, ("◦", f.name, f.quantization or "–", size(f.size))) for f in self._files])
        grid.marked = {path for path in self._marked if any(f.path == path for f in self._files)}
        if self._marked:
            grid.go_to(self._marked[0])
        grid.focus()

    def on_grid_opened(self) -> None:
        """Enter on a model goes on to the form."""
        self.query_one("#prompt").focus()

    def on_input_submitted(self) -> None:
        """Enter goes on."""
        self.focus_next()

    @on(Button.Pressed)
    def action_start(self) -> None:
        """Dismisses with the order, or says what is wrong with it."""
        try:
            self.dismiss(self._read())
        except ValueError as error:
            tell_problem(self, error)

    def _read(self) -> Order:
        grid = self.query_one(Grid)
        paths = tuple(f.path for f in self._files if f.path in grid.marked) or tuple(filter(None, [grid.key]))
        if not paths:
            raise ValueError(tr("There is no model to measure."))
        load = replace(
            self._plan.load,
            context=whole(self, "context", tr("Context"), 1),
            threads=whole(self, "threads", tr("Threads, 0 = auto"), 0),
            kv_type=cast(KvType, chosen(self, "kv")),
        )
        plan = BenchPlan(
            prompt=whole(self, "prompt", tr("pp tokens"), 0),
            generate=whole(self, "generate", tr("tg tokens"), 0),
            depths=read_depths(written(self, "depths")),
            repetitions=whole(self, "repetitions", tr("Repetitions"), 1),
            felt=chosen(self, "felt") == "all",
            cooldown_s=float(whole(self, "cooldown", tr("Pause, seconds"), 0)),
            load=load,
        )
        return Order(paths, plan)

    def action_leave(self) -> None:
        """Nothing runs."""
        self.dismiss(None)


def read_depths(words: str) -> tuple[int, ...]:
    """ "0, 512" → (0, 512), each once, shallowest first. Raises ValueError with a sentence."""
    parts = words.replace(",", " ").split()
    if not parts or not all(part.isdecimal() for part in parts):
        raise ValueError(tr("Depths are whole numbers with commas between: 0, 512"))
    return tuple(sorted({int(part) for part in parts}))


class CompareDialog(ModalScreen[None]):
    """Rows side by side."""

    CSS_PATH = "bench.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", id="benchcompare.close"),
        *HELP,
    ]

    def __init__(self, found: BenchComparison) -> None:
        super().__init__()
        self._found = found

    def compose(self) -> ComposeResult:
        """A line per figure."""
        with VerticalScroll(classes="dialog bench", can_focus=True) as box:
            box.border_title = content(tr("Side by side"))
            box.border_subtitle = content(tr("▲ faster, ▼ slower than the first; = can't be told apart · esc closes"))
            yield Static()

    def on_resize(self, event: events.Resize) -> None:
        """Draws to the new size."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        width = self.query_one(".dialog").content_size.width
        self.query_one(Static).update(side_by_side(self._found, width))


DEFAULT_PLAN = BenchPlan(load=LoadSettings())
