"""How the next answer is sampled, and the schema that it has to fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from screens.dialogs import HELP
from screens.fields import field as line
from screens.fields import tell_problem, written
from screens.style import Tone, content
from workbench.errors import WorkbenchError, reason_of
from workbench.i18n import tr
from workbench.playground.structured import INVOICE, SchemaCheck
from workbench.records.models import GenerationSettings

N = TypeVar("N", int, float)

STOP: Final = re.compile(r'"((?:\\"|[^"])*)"|(\S+)')
"""One of the stop strings as the form has them: between quotes, or without spaces."""
EXAMPLE: Final = "invoice"
"""Written in place of a file, the example schema."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What the dialog gives: settings, and the schema with the name it was given by."""

    settings: GenerationSettings = field(default_factory=lambda: GenerationSettings(max_tokens=512, temperature=0.7))
    schema: str = ""
    schema_name: str = ""


class SamplingDialog(ModalScreen[Sampling | None]):
    """A line for each setting; dismisses with them, None when left."""

    CSS_PATH = "../dialogs.tcss"
    DEFAULT_CSS = "SamplingDialog .sampling { layout: grid; grid-size: 2; grid-rows: 3; height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="sampling.close"),
        Binding("ctrl+s", "take", "Take", id="sampling.take", priority=True),
        *HELP,
    ]

    def __init__(self, sampling: Sampling) -> None:
        super().__init__()
        self._sampling = sampling

    def compose(self) -> ComposeResult:
        """The lines, two beside each other."""
        now = self._sampling.settings
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("Sampling"))
            box.border_subtitle = tr("ctrl+s or enter takes it · esc closes")
            with Vertical(classes="sampling"):
                yield line("temperature", tr("Temperature: 0 repeats"), f"{now.temperature:g}")
                yield line("max_tokens", tr("Longest answer, tokens"), str(now.max_tokens))
                yield line("top_p", tr("Top-p: likeliest share"), f"{now.top_p:g}")
                yield line("top_k", tr("Top-k: 0 is all"), str(now.top_k))
                yield line("min_p", tr("Min-p: share of the best"), f"{now.min_p:g}")
                yield line("repeat_penalty", tr("Repeat penalty: 1 is none"), f"{now.repeat_penalty:g}")
                yield line("seed", tr("Seed"), str(now.seed))
                yield line("stop", tr('Stop strings: a "b c"'), stops_line(now.stop))
            yield line("schema", tr("JSON Schema: a file, or invoice"), self._sampling.schema_name, tr("none"))
            yield Static(content((tr("What doesn't fit is asked for again, three times at most."), Tone.DIM)))
            yield Static("", classes="problem")

    def on_input_submitted(self) -> None:
        """As ctrl+s."""
        self.action_take()

    def action_take(self) -> None:
        """Takes what is written when it can be."""
        try:
            self.dismiss(self._read())
        except (ValueError, WorkbenchError) as error:
            tell_problem(self, error)

    def action_leave(self) -> None:
        """Nothing changes."""
        self.dismiss(None)

    def _read(self) -> Sampling:
        settings = GenerationSettings(
            max_tokens=self._number("max_tokens", int, 1, 100_000),
            temperature=self._number("temperature", float, 0, 10),
            top_p=self._number("top_p", float, 0, 1),
            top_k=self._number("top_k", int, 0, 1_000_000),
            seed=self._number("seed", int, 0, 2**32 - 1),
            stop=read_stops(written(self, "stop")),
            min_p=self._number("min_p", float, 0, 1),
            repeat_penalty=self._number("repeat_penalty", float, 0.1, 10),
        )
        name = written(self, "schema")
        sampling = replace(self._sampling, settings=settings, schema_name=name, schema=_schema(name))
        if sampling.schema:
            SchemaCheck(sampling.schema)
        return sampling

    def _number(self, name: str, kind: Callable[[str], N], low: float, high: float) -> N:
        value = written(self, name).replace(",", ".")
        try:
            number = kind(value)
        except ValueError:
            number = kind("-1")
        if not low <= number <= high:
            label = self.query_one(f"#{name}").border_title or name
            raise ValueError(tr("{field}: give a number from {low} to {high}.", field=label, low=low, high=high))
        return number


def stops_line(stops: Sequence[str]) -> str:
    """As they are written in the form: between quotes where they hold spaces, a new line as ``\\n``."""

    def written_so(stop: str) -> str:
        shown = stop.replace('"', '\\"').replace("\n", "\\n")
        return f'"{shown}"' if not stop or any(map(str.isspace, shown)) else shown

    return " ".join(map(written_so, stops))


def read_stops(text: str) -> tuple[str, ...]:
    """The strings that ``stops_line`` writes so."""
    found = (quoted or bare for quoted, bare in STOP.findall(text))
    return tuple(stop.replace('\\"', '"').replace("\\n", "\n") for stop in found)


def _schema(name: str) -> str:
    if name in ("", EXAMPLE):
        return INVOICE if name else ""
    try:
        return Path(name).expanduser().read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ValueError(tr("The schema can't be read") + f": {reason_of(error)}") from error
