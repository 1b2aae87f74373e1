"""The dialog that asks for a new run's settings, and the fields that it shares with one case's rerun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Static

from screens.dialogs import HELP
from screens.fields import (
    LANES,
    chosen,
    field,
    fraction,
    fusion_pick,
    lanes_key,
    lanes_pick,
    number,
    pick,
    tell_problem,
    whole,
    written,
)
from screens.style import content
from workbench.errors import UsageError
from workbench.evals.reporting.naming import layer_title, model_name
from workbench.evals.running.values import check_values
from workbench.i18n import tr
from workbench.records.evals import Layer, RunConfig
from workbench.records.models import ModelFile
from workbench.records.retrieval import FusionMethod

LAYERS: tuple[Layer, ...] = ("retrieval", "generation", "chain", "model")
SEGMENT_FIELDS = ("type", "language", "difficulty", "tag")


def read_settings(dialog: DOMNode, base: RunConfig) -> RunConfig:
    """``base`` with what the form says, as far as it has the fields. Raises ValueError."""
    asked = {widget.id for widget in dialog.query("Input, Select")}
    search, ask = base.search, base.ask
    if "lanes" in asked:
        search = replace(
            search,
            lanes=LANES[chosen(dialog, "lanes")],
            fusion=cast(FusionMethod, chosen(dialog, "fusion")),
            candidates=whole(dialog, "candidates", tr("Candidates"), 1),
            filter=written(dialog, "filter"),
        )
    if "evidence" in asked:
        passages = whole(dialog, "evidence", tr("Passages"), 1)
        ask = replace(ask, evidence=passages, threshold=fraction(dialog, "threshold", "τ"))
    if "temperature" in asked:
        tokens = whole(dialog, "max_output", tr("Output tokens"), 1)
        ask = replace(ask, max_output=tokens, temperature=number(written(dialog, "temperature"), tr("Temperature")))
    return replace(base, search=search, ask=ask, model=chosen(dialog, "model") if "model" in asked else base.model)


def settings_of(config: RunConfig) -> dict[str, str]:
    """What the fields that ``read_settings`` reads show of a configuration, by their names."""
    search, ask = config.search, config.ask
    return {
        "lanes": lanes_key(search.lanes),
        "fusion": search.fusion,
        "candidates": str(search.candidates),
        "filter": search.filter,
        "evidence": str(ask.evidence),
        "threshold": "" if ask.threshold is None else f"{ask.threshold:g}",
        "model": config.model,
        "max_output": str(ask.max_output),
        "temperature": f"{ask.temperature:g}",
    }


def settings_fields(config: RunConfig, models: Sequence[ModelFile], *others: str) -> dict[str, Widget]:
    """The fields that ``read_settings`` reads, by name; ``others`` are models to choose from beside the files."""
    told = settings_of(config)
    files = {m.path: m.name.removesuffix(".gguf") for m in models if not m.problem}
    away = {path: model_name(path) for path in (config.model, *others) if path and path not in files}
    return {
        "model": pick("model", tr("Model"), [("", tr("none: extractive")), *(files | away).items()], config.model),
        "lanes": lanes_pick(config.search.lanes),
        "fusion": fusion_pick(config.search.fusion),
        "candidates": field("candidates", tr("Candidates"), told["candidates"]),
        "evidence": field("evidence", tr("Passages"), told["evidence"]),
        "threshold": field("threshold", "τ", told["threshold"], tr("the collection's")),
        "filter": field("filter", tr("Filter"), told["filter"], tr("e.g. {example}", example="year >= 2026")),
        "max_output": field("max_output", tr("Output tokens"), told["max_output"]),
        "temperature": field("temperature", tr("Temperature"), told["temperature"]),
    }


class RunDialog(ModalScreen[RunConfig]):
    """Asks what to run; begins with the settings of ``config``, so that one of them can be changed."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="evalrun.close"),
        Binding("ctrl+s", "start", "Start", id="evalrun.start"),
        *HELP,
    ]

    def __init__(self, config: RunConfig, models: Sequence[ModelFile]) -> None:
        super().__init__()
        self._config, self._models = config, models

    def compose(self) -> ComposeResult:
        """A form in columns."""
        config, settings = self._config, settings_fields(self._config, self._models)
        segment = "=".join(config.segment) if config.segment else ""
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("Run {dataset}", dataset=config.dataset))
            box.border_subtitle = content(tr("enter goes on · ctrl+s starts · esc closes"))
            with Container(classes="form"):
                yield field("title", tr("Title"), "", tr("tells it apart"))
                yield pick("layer", tr("Layer"), [(layer, layer_title(layer)) for layer in LAYERS], config.layer)
                yield from (settings[name] for name in ("model", "lanes", "fusion", "candidates"))
                yield field("k", tr("k of metrics"), str(config.k))
                yield from (settings[name] for name in ("evidence", "threshold", "filter"))
                yield field("segment", tr("Only cases"), segment, tr("e.g. {example}", example="type=table"))
                yield field("limit", tr("Limit (0: all)"), str(config.limit))
            yield Static("", classes="problem")
            with Horizontal(classes="buttons"):
                yield Button(content(tr("Start")), id="start")

    def on_mount(self) -> None:
        """The layer is what matters most."""
        self.query_one("#layer").focus()

    def on_input_submitted(self) -> None:
        """Enter goes on; from the last field it starts."""
        if self.focused is self.query_one("#limit"):
            self.action_start()
        else:
            self.focus_next()

    @on(Button.Pressed)
    def action_start(self) -> None:
        """Dismisses with the configuration, or says what is wrong with it."""
        try:
            config = self._read()
            check_values(config)
        except (ValueError, UsageError) as error:
            tell_problem(self, error)
        else:
            self.dismiss(config)

    def _read(self) -> RunConfig:
        return replace(
            read_settings(self, self._config),
            layer=cast(Layer, chosen(self, "layer")),
            k=whole(self, "k", tr("k of metrics"), 1),
            limit=whole(self, "limit", tr("Limit (0: all)"), 0),
            segment=read_segment(written(self, "segment")),
            title=written(self, "title"),
        )

    def action_leave(self) -> None:
        """Nothing runs."""
        self.dismiss(None)


def read_segment(words: str) -> tuple[str, str] | None:
    """ "type=table" → ("type", "table"); None for "". Raises ValueError with a sentence."""
    if not words:
        return None
    name, sign, value = (part.strip() for part in words.partition("="))
    if not sign or not value or name not in SEGMENT_FIELDS:
        raise ValueError(tr("Write one of {names}, =, and a value.", names=", ".join(SEGMENT_FIELDS)))
    return name, value
