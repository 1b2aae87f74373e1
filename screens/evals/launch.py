"""The dialogs that ask for settings: of a new run, and of one case's rerun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from screens.dialogs import HELP
from screens.evals.fields import (
    LANES,
    chosen,
    field,
    fraction,
    fusion_pick,
    lanes_pick,
    pick,
    tell_problem,
    whole,
    written,
)
from screens.evals.words import layer_name
from screens.style import content
from workbench.i18n import tr
from workbench.records.answers import AskOptions
from workbench.records.evals import Layer, RunConfig
from workbench.records.models import ModelFile
from workbench.records.retrieval import FusionMethod, SearchOptions

LAYERS: tuple[Layer, ...] = ("retrieval", "generation", "chain", "model")
SEGMENT_FIELDS = ("type", "language", "difficulty", "tag")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a case is asked again."""

    search: SearchOptions
    ask: AskOptions


def read_settings(dialog: DOMNode, base: RunConfig) -> Settings:
    """What the form says, over the settings of ``base`` for all that it doesn't ask. Raises ValueError."""
    search = replace(
        base.search,
        lanes=LANES[chosen(dialog, "lanes")],
        fusion=cast(FusionMethod, chosen(dialog, "fusion")),
        candidates=whole(dialog, "candidates", tr("Candidates"), 1),
        filter=written(dialog, "filter"),
    )
    ask = replace(
        base.ask,
        evidence=whole(dialog, "evidence", tr("Passages"), 1),
        threshold=fraction(dialog, "threshold", "τ"),
    )
    return Settings(search, ask)


def settings_fields(config: RunConfig) -> dict[str, Widget]:
    """The fields that ``read_settings`` reads, by name."""
    search, ask = config.search, config.ask
    threshold = "" if ask.threshold is None else f"{ask.threshold:g}"
    return {
        "lanes": lanes_pick(search.lanes),
        "fusion": fusion_pick(search.fusion),
        "candidates": field("candidates", tr("Candidates"), str(search.candidates)),
        "evidence": field("evidence", tr("Passages"), str(ask.evidence)),
        "threshold": field("threshold", "τ", threshold, tr("the collection's")),
        "filter": field("filter", tr("Filter"), search.filter, tr("e.g. {example}", example="year >= 2026")),
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
        self._config = config
        self._models = [m for m in models if not m.problem]

    def compose(self) -> ComposeResult:
        """A form in columns."""
        config, settings = self._config, settings_fields(self._config)
        models = [("", tr("none: extractive")), *((m.path, m.name.removesuffix(".gguf")) for m in self._models)]
        segment = "=".join(config.segment) if config.segment else ""
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("Run {dataset}", dataset=config.dataset))
            box.border_subtitle = content(tr("enter goes on · ctrl+s starts · esc closes"))
            with Container(classes="form"):
                yield field("title", tr("Title"), "", tr("tells it apart"))
                yield pick("layer", tr("Layer"), [(layer, layer_name(layer)) for layer in LAYERS], config.layer)
                yield pick("model", tr("Model"), models, config.model)
                yield from (settings[name] for name in ("lanes", "fusion", "candidates"))
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
            self.dismiss(self._read())
        except ValueError as error:
            tell_problem(self, error)

    def _read(self) -> RunConfig:
        settings = read_settings(self, self._config)
        return replace(
            self._config,
            layer=cast(Layer, chosen(self, "layer")),
            search=settings.search,
            ask=settings.ask,
            model=chosen(self, "model"),
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


class RerunDialog(ModalScreen[Settings]):
    """Asks with which settings to run one case again; begins with those of its run."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="rerun.close"),
        Binding("ctrl+s", "start", "Start", id="rerun.start"),
        *HELP,
    ]

    def __init__(self, case_id: str, config: RunConfig) -> None:
        super().__init__()
        self._case_id, self._config = case_id, config

    def compose(self) -> ComposeResult:
        """The settings that one question can be asked with."""
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("Run {case} again", case=self._case_id))
            box.border_subtitle = content(tr("enter runs it · esc closes"))
            with Container(classes="form"):
                yield from settings_fields(self._config).values()
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """Enter runs it as it is."""
        self.query_one("#candidates", Input).focus()

    @on(Input.Submitted)
    def action_start(self) -> None:
        """Dismisses with the settings, or says what is wrong with them."""
        try:
            self.dismiss(read_settings(self, self._config))
        except ValueError as error:
            tell_problem(self, error)

    def action_leave(self) -> None:
        """Nothing runs."""
        self.dismiss(None)
