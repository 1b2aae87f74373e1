"""Presets: how a model is loaded and asked, under a name, exchanged with Ollama as Modelfiles."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.library.keepers import read_manifest
from workbench.library.modelfile import read_modelfile, write_modelfile
from workbench.ports import LibraryRepository
from workbench.records.answers import Message
from workbench.records.library import ImportedPreset, Modelfile, Parameter, Preset
from workbench.records.models import Adapter, GenerationSettings, LoadSettings, ModelFile, Place

LOADING: Final = {
    "num_ctx": "context",
    "num_batch": "batch",
    "num_thread": "threads",
    "num_gpu": "gpu_layers",
    "use_mmap": "mmap",
}
"""Ollama's parameters, and the fields of ``LoadSettings`` that they are."""
ASKING: Final = {
    "num_predict": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "repeat_penalty": "repeat_penalty",
    "seed": "seed",
}
"""Likewise of ``GenerationSettings``. ``stop`` may repeat, and is none of them."""
RANGES: Final[dict[str, tuple[float, float]]] = {
    "num_ctx": (1, math.inf),
    "num_batch": (1, math.inf),
    "num_thread": (0, math.inf),
    "temperature": (0, math.inf),
    "top_p": (0, 1),
    "min_p": (0, 1),
    "repeat_penalty": (0.1, 10),
    "seed": (0, 2**32 - 1),
}
"""Least and most of those that aren't free; all are finite."""
OTHER_DEFAULTS: Final = {"num_ctx", "temperature", "top_p", "repeat_penalty"}
"""Whose defaults in Ollama are others: an export always says them."""


class Presets:
    """The presets in the file. Every method may be called from any thread."""

    def __init__(self, stored: LibraryRepository) -> None:
        self._stored = stored

    def all(self) -> tuple[Preset, ...]:
        """By name."""
        return self._stored.presets()

    def get(self, name: str) -> Preset:
        """Raises NotFoundError."""
        found = next((preset for preset in self.all() if preset.name == name), None)
        if found is None:
            raise NotFoundError(
                tr("No such preset"),
                tr("There is no preset “{name}” in this file.", name=name),
                tr("workbench models preset lists them."),
            )
        return found

    def save(self, preset: Preset) -> None:
        """In place of one of its name. Raises UsageError when it has none."""
        if not preset.name.strip():
            raise UsageError(tr("No name"), tr("A preset needs a name."), tr("Give it one."))
        self._stored.put_preset(preset)

    def delete(self, name: str) -> None:
        """Raises NotFoundError."""
        self._stored.delete_preset(self.get(name).name)

    def import_modelfile(self, path: str, name: str) -> ImportedPreset:
        """Saves what an Ollama Modelfile says under ``name``; files that lie beside it are named by their whole path.

        Raises:
            NotFoundError: there is no such file.
            UsageError: it can't be read, or a value in it makes no sense.
        """
        try:
            text = Path(path).expanduser().read_text("utf-8")
        except FileNotFoundError:
            raise NotFoundError(
                tr("No such file"), tr("There is no file {path}.", path=path), tr("Check the path.")
            ) from None
        except (OSError, UnicodeError):
            raise UsageError(
                tr("Not a Modelfile"), tr("“{path}” can't be read as text.", path=path), tr("Give a Modelfile.")
            ) from None
        imported = preset_of(_beside(Path(path).expanduser(), read_modelfile(text)), name)
        self.save(imported.preset)
        return imported

    def import_ollama(self, file: ModelFile, name: str, kept_as: str = "") -> ImportedPreset:
        """Saves what Ollama's own layers say of a model that it keeps. Raises NotFoundError when it keeps it not.

        Args:
            kept_as: Ollama's name; several of them may share one file. The first is taken where it is none of them.
        """
        kept = {place.name: place for place in reversed(file.places) if place.manifest}
        place = kept.get(kept_as) or next(reversed(kept.values()), None)
        if place is None:
            raise NotFoundError(
                tr("Not kept by Ollama"),
                tr("{name} has no layers of Ollama's.", name=file.name),
                tr("Give a Modelfile."),
            )
        imported = preset_of(replace(_layers(place), model=file.path), name)
        self.save(imported.preset)
        return imported

    def export_modelfile(self, name: str) -> str:
        """A preset as a Modelfile. Raises NotFoundError, UsageError."""
        return write_modelfile(modelfile_of(self.get(name)))


def opening(preset: Preset, system: str = "") -> tuple[Message, ...]:
    """What a conversation begins with: the system text (``system`` in its place where given), then its messages."""
    first = system or preset.system
    return (*((Message("system", first),) if first else ()), *preset.messages)


def preset_of(file: Modelfile, name: str) -> ImportedPreset:
    """A Modelfile as a preset, and what of it has no effect here. Raises UsageError for a value that makes no sense."""
    loading, asking, stops, other = dict[str, Any](), dict[str, Any](), list[str](), list[Parameter]()
    for key, value in file.parameters:
        if key in LOADING:
            loading[LOADING[key]] = _value(LoadSettings(), LOADING[key], key, value)
        elif key == "seed" and value.startswith("-"):  # another one each time, which no answer could be traced to
            other.append((key, value))
        elif key in ASKING:
            asking[ASKING[key]] = _value(GenerationSettings(), ASKING[key], key, value)
        elif key == "stop":
            stops.append(value)
        else:
            other.append((key, value))
    if loading.get("gpu_layers", 0) < 0:  # Ollama's −1: as it sees fit
        loading["gpu_layers"] = 0
    if asking.get("max_tokens", 1) < 1:  # −1: no end
        del asking["max_tokens"]
    preset = Preset(
        name,
        model=file.model,
        load=replace(LoadSettings(), **loading, adapters=tuple(map(Adapter, file.adapters))),
        generation=replace(GenerationSettings(), **asking, stop=tuple(stops)),
        system=file.system,
        template=file.template,
        licences=file.licences,
        messages=file.messages,
        other=tuple(other),
    )
    return ImportedPreset(preset, (*(f"PARAMETER {key} {value}" for key, value in other), *file.unknown))


def modelfile_of(preset: Preset) -> Modelfile:
    """A preset as a Modelfile: every setting that isn't Ollama's default too. An adapter's scale has no place in it."""
    parameters = [*_changed(preset.load, LoadSettings(), LOADING)]
    parameters += _changed(preset.generation, GenerationSettings(), ASKING)
    parameters += [("stop", stop) for stop in preset.generation.stop]
    return Modelfile(
        model=preset.model,
        parameters=(*parameters, *preset.other),
        template=preset.template,
        system=preset.system,
        adapters=tuple(adapter.path for adapter in preset.load.adapters),
        licences=preset.licences,
        messages=preset.messages,
    )


def _beside(path: Path, file: Modelfile) -> Modelfile:
    """Paths in a Modelfile count from where it lies; FROM may be a name, too."""

    def whole(named: str) -> str:
        lies_there = path.parent.absolute() / named
        return str(lies_there) if named and lies_there.is_file() else named

    return replace(file, model=whole(file.model), adapters=tuple(map(whole, file.adapters)))


def _changed(settings: object, default: object, names: dict[str, str]) -> list[Parameter]:
    values = [(key, getattr(settings, field), getattr(default, field)) for key, field in names.items()]
    return [(key, str(value).lower()) for key, value, usual in values if value != usual or key in OTHER_DEFAULTS]


def _value(default: object, field: str, key: str, text: str) -> int | float | bool:
    """``text`` as the field's type, in its range. Raises UsageError."""
    kind = type(getattr(default, field))
    low, high = RANGES.get(key, (-math.inf, math.inf))
    with suppress(KeyError, ValueError, OverflowError):
        if kind is bool:
            return {"true": True, "false": False, "1": True, "0": False}[text.casefold()]
        number = int(float(text)) if kind is int else float(text)
        if low <= number <= high and math.isfinite(number):
            return number
    raise UsageError(
        tr("Bad value"),
        tr("The Modelfile sets {key} to “{value}”.", key=key, value=text),
        tr("Correct it in the Modelfile."),
    )


def _layers(place: Place) -> Modelfile:
    """What Ollama keeps beside a model: template, system, parameters, licences, messages."""
    blobs = Path(place.path).parent
    read = Modelfile()
    for kind, digest in read_manifest(Path(place.manifest)):
        blob = blobs / f"sha256-{digest}"
        if kind in ("model", "projector"):
            continue
        if kind == "adapter":
            read = replace(read, adapters=(*read.adapters, str(blob)))
            continue
        try:
            text = blob.read_text("utf-8")
            body = json.loads(text) if kind in ("params", "messages") else text
        except (OSError, ValueError):
            continue
        read = _with_layer(read, kind, body)
    return read


def _with_layer(read: Modelfile, kind: str, body: Any) -> Modelfile:
    match kind, body:
        case "template", str():
            return replace(read, template=body)
        case "system", str():
            return replace(read, system=body)
        case "license", str():
            return replace(read, licences=(*read.licences, body))
        case "params", dict():
            return replace(read, parameters=tuple(_flat(body)))
        case "messages", list():
            turns = [m for m in body if isinstance(m, dict) and m.get("role") in ("system", "user", "assistant")]
            return replace(read, messages=tuple(Message(m["role"], str(m.get("content", ""))) for m in turns))
    return read


def _flat(parameters: dict[str, Any]) -> list[Parameter]:
    """Ollama's JSON of parameters, lists as repeated ones."""
    flat: list[Parameter] = []
    for key, value in parameters.items():
        each = value if isinstance(value, list) else [value]
        flat += [(str(key), str(v).lower() if isinstance(v, bool) else str(v)) for v in each]
    return flat
