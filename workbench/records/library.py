"""Records of what a person keeps about models: notes, presets; and of hashing files."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

from workbench.records.answers import Message
from workbench.records.models import GenerationSettings, LoadSettings

Parameter: TypeAlias = tuple[str, str]
"""A name and a value, as a Modelfile writes them."""


@dataclass(frozen=True, slots=True)
class ModelNote:
    """What a person wrote about a model; each text may be empty.

    Attributes:
        alternatives: what was considered and discarded, and why.
        limits: what it isn't good at.
        review: when to look at the choice again.
    """

    chosen_for: str = ""
    alternatives: str = ""
    limits: str = ""
    review: date | None = None

    @property
    def empty(self) -> bool:
        """Nothing is written."""
        return self == ModelNote()

    def overdue(self, today: date) -> bool:
        """The review's day has come."""
        return self.review is not None and self.review <= today


@dataclass(frozen=True, slots=True)
class Preset:
    """How a model is loaded and asked, under a name.

    Attributes:
        model: path or name of the model it is meant for, "" for any.
        template: Ollama's template, which is in Go's language: kept for exports, while the model file's own renders.
        messages: that each conversation begins with.
        other: parameters that nothing here acts on; kept for exports.
    """

    name: str
    model: str = ""
    load: LoadSettings = field(default_factory=LoadSettings)
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    system: str = ""
    template: str = ""
    licences: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    other: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Modelfile:
    """An Ollama Modelfile: its instructions in order of kind.

    Attributes:
        parameters: names may repeat ("stop").
        unknown: instructions it has that are none of these, each as its line.
    """

    model: str = ""
    parameters: tuple[Parameter, ...] = ()
    template: str = ""
    system: str = ""
    adapters: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedPreset:
    """A preset out of a Modelfile, and what of it has no effect here, in words."""

    preset: Preset
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HashProgress:
    """How far the hashing of files is.

    Attributes:
        path: the file that is being read.
        fraction: of it, 0–1; 1 when its hash is known.
        left: files that follow.
        hash: its SHA-256 once it is known.
        differs: the name of the file, or what was known before, claims another hash.
    """

    path: str
    fraction: float
    left: int
    hash: str = ""
    differs: bool = False
