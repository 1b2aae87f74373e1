"""Asking for a sweep: one variable of a run's configuration, and the values that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Select, Static

from screens.dialogs import HELP
from screens.fields import chosen, field, pick, tell_problem, whole, written
from screens.style import Tone, content
from workbench.corpus.chunking.recipes import describe_recipe
from workbench.errors import UsageError
from workbench.evals.reporting.naming import layer_title, run_words
from workbench.evals.running.sweep import VARIABLES, vary
from workbench.i18n import tr
from workbench.indexing.forms import form_name
from workbench.records.corpus import Index
from workbench.records.evals import Run, RunConfig
from workbench.records.models import ModelFile

VALUES: Final[dict[str, str]] = {
    "layer": "retrieval, chain",
    "k": "1, 3, 5, 10",
    "depth": "20, 100",
    "lane": "lexical, dense, both",
    "fusion": "rrf, weights",
    "k0": "10, 60, 120",
    "candidates": "20, 50, 100",
    "rerank-depth": "10, 20, 50",
    "mode": "extractive, generated",
    "evidence": "1, 3, 5, 8",
    "threshold": "0, 0.3, 0.5",
    "max-output": "64, 128, 256",
    "temperature": "0, 0.5, 1",
    "seed": "0, 1, 2",
    "context": "2048, 4096",
    "kv-type": "f16, q8_0, q4_0",
}
"""Variable → values to begin with; models, collections and rerankers are those there are."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a sweep can choose from: the readable model files; collections and rerankers by name; the collection's whole
    indexes."""

    models: Sequence[ModelFile]
    collections: Sequence[str]
    rerankers: Sequence[str]
    indexes: Sequence[Index] = ()


class SweepDialog(ModalScreen[tuple[RunConfig, ...]]):
    """Asks which variable takes which values; dismisses with one configuration a value."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="sweep.close"),
        Binding("ctrl+s", "start", "Start", id="sweep.start", priority=True),
        *HELP,
    ]

    def __init__(self, config: RunConfig, run: Run | None, choices: Choices) -> None:
        """``config`` is what all runs have in common; ``run`` the one that it was taken from."""
        super().__init__()
        self._config, self._run = config, run
        self._models = {m.name.removesuffix(".gguf"): m.path for m in choices.models if not m.problem}
        self._given = {
            "collection": ", ".join(choices.collections),
            "rerank": ", ".join(("none", *choices.rerankers)),
            "index": ", ".join(str(index.id) for index in choices.indexes),
        }
        self._indexes = "\n".join(map(index_words, choices.indexes))

    def compose(self) -> ComposeResult:
        """The variable over its values."""
        names = [(name, variable_name(name)) for name in VARIABLES]
        with Vertical(classes="dialog lined") as box:
            box.border_title = content(tr("Sweep over {dataset}", dataset=self._config.dataset))
            box.border_subtitle = content(tr("enter starts · esc closes"))
            yield Static(content((self._base(), Tone.DIM)))
            yield pick("variable", tr("What varies"), names, "k")
            yield field("values", tr("Its values, apart by commas"), VALUES["k"])
            yield field("limit", tr("Limit (0: all)"), str(self._config.limit))
            yield Static("", id="sweep-hint")
            yield Static("", classes="problem")

    def _base(self) -> str:
        layer = layer_title(self._config.layer)
        if self._run:
            named = f"{self._run.id} {run_words(self._run)}"
            return tr("All else as in run {run}; layer: {layer}.", run=named, layer=layer)
        return tr("All else as a new run has it; layer: {layer}.", layer=layer)

    def on_mount(self) -> None:
        """The variable comes first."""
        self.query_one("#variable").focus()

    @on(Select.Changed, "#variable")
    def another(self) -> None:
        """Its values to begin with, and what it is."""
        name = chosen(self, "variable")
        given = self._given | {"model": ", ".join(self._models)}
        self.query_one("#values", Input).value = given.get(name, VALUES.get(name, ""))
        told = hint(name) + (f"\n{self._indexes}" if name == "index" else "")
        self.query_one("#sweep-hint", Static).update(content((told, Tone.DIM)))

    @on(Input.Submitted)
    def action_start(self) -> None:
        """Dismisses with the configurations, or says what is wrong with them."""
        name = chosen(self, "variable")
        given = [value.strip() for value in written(self, "values").split(",") if value.strip()]
        values = [self._models.get(value, value) for value in given] if name == "model" else given
        try:
            limit = whole(self, "limit", tr("Limit (0: all)"), 0)
            configs = vary(replace(self._config, limit=limit, title=""), name, values)
        except (ValueError, UsageError) as error:
            tell_problem(self, error)
            return
        shown = zip(configs, given, strict=False) if name == "model" else ()
        named = tuple(replace(config, title=f"model={value}") for config, value in shown)
        self.dismiss(named or configs)

    def action_leave(self) -> None:
        """Nothing runs."""
        self.dismiss(None)


def variable_name(name: str) -> str:
    """The name that options and titles use, then what it is, in the interface's language, where that is known."""
    words = {
        "layer": tr("what is exercised"),
        "model": tr("model file, with its quantization"),
        "k": tr("k of metrics"),
        "depth": tr("ranks kept"),
        "collection": tr("collection"),
        "index": tr("index: chunk size, embedder, form"),
        "lane": tr("lanes"),
        "fusion": tr("how lanes are fused"),
        "k0": tr("constant of RRF"),
        "candidates": tr("hits taken from each lane"),
        "rerank": tr("reranker"),
        "rerank-depth": tr("hits ranked anew"),
        "filter": tr("filter"),
        "mode": tr("who answers"),
        "evidence": tr("passages in the context"),
        "threshold": tr("τ to abstain below"),
        "max-output": tr("tokens of an answer"),
        "temperature": tr("sampling"),
        "seed": tr("sampling"),
        "context": tr("tokens of the context window"),
        "kv-type": tr("quantization of the KV cache"),
    }
    return f"{name:<12}{words.get(name, '')}".rstrip()


def index_words(index: Index) -> str:
    """ "2  multilingual-e5-small · structure:size=200 · float32"."""
    parts = (index.embedder.name, describe_recipe(index.recipe), form_name(index.form))
    return f"{index.id}  {' · '.join(parts)}"


def hint(name: str) -> str:
    """What to know before this one is varied; "" for most."""
    hints = {
        "index": tr("Another chunk size, embedder or form: I on Corpus builds indexes beside the current one."),
        "model": tr("The layer must use a model: whole chain, generation or model tasks."),
        "k": tr("Only the cut of the metrics moves: what is retrieved stays the same."),
    }
    return hints.get(name, "")
