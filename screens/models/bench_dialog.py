"""The dialog of a new bench: which models, and what is measured of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from textual.widget import Widget

from screens.fields import chosen, field, number, pick, whole, written
from screens.models.order_dialog import OrderDialog
from screens.style import count, size
from screens.widgets.grid import Column, Grid, Row
from workbench.i18n import tr
from workbench.records.benchmarks import BenchPlan
from workbench.records.models import KvType, LoadSettings, ModelFile

DEFAULT_PLAN = BenchPlan(load=LoadSettings())


@dataclass(frozen=True, slots=True)
class Order:
    """What a new bench measures, and of which files."""

    paths: tuple[str, ...]
    plan: BenchPlan


class BenchDialog(OrderDialog[Order]):
    """Asks for models and tests; begins with the marked models and what the last bench measured."""

    def __init__(self, files: Sequence[ModelFile], marked: Sequence[str], plan: BenchPlan) -> None:
        super().__init__()
        self._files = [f for f in files if not f.problem]
        self._marked, self._plan = marked, plan

    def _heading(self) -> str:
        return tr("New bench")

    def _columns(self) -> Sequence[Column]:
        ends = [Column(tr("ctx"), 7, "right", keep=60), Column(tr("size"), 8, "right")]
        return [Column("", 1), Column(tr("model"), 0), Column(tr("quant"), 8), *ends]

    def _fields(self) -> Iterable[Widget]:
        plan, load = self._plan, self._plan.load
        felt = [("all", tr("everything")), ("speed", tr("speed only"))]
        yield field("prompt", tr("pp tokens"), str(plan.prompt))
        yield field("generate", tr("tg tokens"), str(plan.generate))
        yield field("depths", tr("Depths"), ", ".join(map(str, plan.depths)))
        yield field("repetitions", tr("Repetitions"), str(plan.repetitions))
        yield field("cooldown", tr("Pause, seconds"), f"{plan.cooldown_s:g}")
        yield pick("felt", tr("Measure"), felt, "all" if plan.felt else "speed")
        yield field("context", tr("Context"), str(load.context))
        yield field("threads", tr("Threads, 0 = auto"), str(load.threads))
        yield pick("kv", tr("KV type"), [(kind, kind) for kind in get_args(KvType)], load.kv_type)

    def on_mount(self) -> None:
        """The models come first."""
        grid = self.query_one(Grid)
        grid.show([_row(f) for f in self._files])
        grid.marked = {path for path in self._marked if any(f.path == path for f in self._files)}
        if self._marked:
            grid.go_to(self._marked[0])
        grid.focus()

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
            cooldown_s=number(written(self, "cooldown"), tr("Pause, seconds")),
            load=load,
        )
        return Order(paths, plan)


def _row(file: ModelFile) -> Row:
    context = count(file.context) if file.context else "–"
    return Row(file.path, ("◦", file.name, file.quantization or "–", context, size(file.size)))


def read_depths(words: str) -> tuple[int, ...]:
    """ "0, 512" → (0, 512), each once, shallowest first. Raises ValueError with a sentence."""
    parts = words.replace(",", " ").split()
    if not parts or not all(part.isdecimal() for part in parts):
        raise ValueError(tr("Depths are whole numbers with commas between: 0, 512"))
    return tuple(sorted({int(part) for part in parts}))
