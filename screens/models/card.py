"""The card of a model file, and its line in the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Final

from textual.content import Content

from screens.models.served import SERVED, Served
from screens.style import Line, Tone, content, count, gauge, size
from screens.widgets.facts import Fact
from screens.widgets.grid import Column, Row
from screens.widgets.memory import fit_cell
from workbench.i18n import tr
from workbench.library.notes import fallback_words, place_words
from workbench.library.variants import copies, variants_words, wasted
from workbench.records.library import HashProgress, ModelNote
from workbench.records.models import MemoryFit, ModelFile, parameter_count

LOADED, PROBLEM, OVERDUE, COPY, PLAIN, ADAPTER = "●", "✗", "⚑", "≡", "◦", "+"
HASH_SHOWN: Final = 16


@dataclass(slots=True)
class Shelf:
    """What the screen knows of the files: by path, in the library's order.

    Attributes:
        hashing: how far the hash of a file is that is being read.
        served: models of servers, by URL#NAME.
    """

    files: dict[str, ModelFile] = field(default_factory=dict)
    fits: Mapping[str, MemoryFit] = field(default_factory=dict)
    notes: Mapping[str, ModelNote] = field(default_factory=dict)
    hashing: dict[str, float] = field(default_factory=dict)
    served: dict[str, Served] = field(default_factory=dict)
    _alike: Mapping[str, tuple[ModelFile, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._alike = copies(self.listed)

    def hash_moved(self, progress: HashProgress) -> None:
        """The hash of a file comes on, or is known."""
        if not progress.hash:
            self.hashing[progress.path] = progress.fraction
            return
        self.hashing.pop(progress.path, None)
        if file := self.files.get(progress.path):
            self.files[file.path] = replace(file, hash=progress.hash)
            self._alike = copies(self.listed)

    @property
    def listed(self) -> Sequence[ModelFile]:
        """All files."""
        return tuple(self.files.values())

    def copies_of(self, file: ModelFile) -> tuple[ModelFile, ...]:
        """The other files with the same bytes."""
        return tuple(f for f in self._alike.get(file.hash, ()) if f.path != file.path)


def title(shelf: Shelf, shown: int, there: int) -> str:
    """ "Library ── 4", and what copies waste."""
    words = f"{tr('Library')} ── {there if shown == there else f'{shown}/{there}'}"
    octets = wasted(shelf.listed)
    return f"{words} · {tr('{size} in copies', size=size(octets))}" if octets else words


def columns() -> list[Column]:
    """Of the library."""
    return [
        Column("", 1),
        Column(tr("name"), 0),
        Column(tr("quant"), 7),
        Column(tr("size"), 8, "right", keep=48),
        Column(tr("params"), 8, "right", keep=80),
        Column(tr("ctx"), 7, "right", keep=80),
        Column(tr("fits"), 10, keep=40),
    ]


def row(file: ModelFile, loaded: str, shelf: Shelf) -> Row:
    """A file's line."""
    cells: tuple[Line, ...] = (
        _mark(file, loaded, shelf),
        file.name.removesuffix(".gguf"),
        file.quantization or "–",
        size(file.size),
        parameter_count(file.parameters),
        count(file.context) if file.context else "–",
    )
    return Row(file.path, (*cells, fit_cell(file, shelf.fits.get(file.path))))


def _mark(file: ModelFile, loaded: str, shelf: Shelf) -> Line:
    note = shelf.notes.get(file.path)
    if file.path == loaded:
        return (LOADED, Tone.GOOD)
    if file.problem:
        return (PROBLEM, Tone.BAD)
    if (fraction := shelf.hashing.get(file.path)) is not None:
        return (gauge(fraction), Tone.ACCENT)
    if note and note.overdue(date.today()):
        return (OVERDUE, Tone.WARN)
    if file.kind != "model":
        return (ADAPTER, Tone.DIM)
    return (COPY, Tone.WARN) if shelf.copies_of(file) else (PLAIN, Tone.DIM)


def legend() -> list[Fact]:
    """The marks of the library, for the help."""
    return [
        (LOADED, tr("loaded")),
        (PROBLEM, tr("can't be used; the card says why")),
        ("▂▅█", tr("its SHA-256 is being computed")),
        (OVERDUE, tr("its review is overdue")),
        (COPY, tr("the same bytes lie elsewhere too")),
        (ADAPTER, tr("an adapter or another part, no model")),
        (SERVED, tr("a server has it: the last column says where")),
    ]


def card(file: ModelFile, shelf: Shelf) -> list[Fact]:
    """What the header says, where the file is, and the person's notes."""
    note = _note(shelf.notes.get(file.path, ModelNote()))
    if file.problem:
        return [(PROBLEM, (file.problem, Tone.BAD)), (tr("file"), file.path), *note]
    heads = tr("{heads} heads, {kv} for keys and values", heads=file.heads, kv=file.kv_heads)
    fallen = fallback_words(file)
    return [
        *note,
        (tr("kind"), "" if file.kind == "model" else file.kind),
        (tr("architecture"), f"{file.architecture} · {_parameters(file)}"),
        (tr("prompts"), _template(file)),
        (tr("context"), tr("{count} tokens", count=count(file.context)) if file.context else ""),
        (tr("quantization"), f"{file.quantization} · {file.bits_per_weight:.2f} {tr('bits per weight')}".lstrip(" ·")),
        ("", (fallen, Tone.WARN) if fallen else ""),
        (tr("tensors"), ", ".join(f"{n} {kind}" for kind, n in file.tensor_types)),
        (tr("layers"), f"{file.layers} × {file.embedding}" if file.layers else ""),
        (tr("attention"), f"{heads} × {file.head_dimension}" if file.heads else ""),
        (tr("tokenizer"), file.tokenizer),
        (tr("licence"), file.licence),
        (tr("origin"), file.origin),
        (tr("kept by"), place_words(file.places[0]) if file.places and file.places[0].name else ""),
        (tr("file"), f"{size(file.size)} · {Path(file.path).parent}"),
        (tr("also at"), ", ".join(map(place_words, file.places[1:]))),
        ("SHA-256", _hash(file, shelf)),
        (tr("copies"), _copies(file, shelf)),
        (tr("variants"), variants_words(file, shelf.listed)),
    ]


def _note(note: ModelNote) -> list[Fact]:
    review: Line = note.review.isoformat() if note.review else ""
    if note.overdue(date.today()):
        review = (f"{OVERDUE} {review} {tr('overdue')}", Tone.WARN)
    return [
        (tr("chosen for"), (note.chosen_for, Tone.STRONG) if note.chosen_for else ""),
        (tr("discarded"), note.alternatives),
        (tr("limits"), note.limits),
        (tr("review"), review),
    ]


def _parameters(file: ModelFile) -> str:
    if 0 < file.active_parameters < file.parameters:
        active = parameter_count(file.active_parameters)
        return tr("{total}, {active} of them active", total=parameter_count(file.parameters), active=active)
    return parameter_count(file.parameters)


def _template(file: ModelFile) -> Line:
    if file.kind != "model":
        return ""
    return ("✓ " + tr("chat template"), Tone.GOOD) if file.chat_template else ("~ " + tr("no template"), Tone.WARN)


def _hash(file: ModelFile, shelf: Shelf) -> Line:
    if (fraction := shelf.hashing.get(file.path)) is not None:
        return (f"{gauge(fraction)} {fraction:.0%}", Tone.ACCENT)
    return f"{file.hash[:HASH_SHOWN]}…" if file.hash else ""


def _copies(file: ModelFile, shelf: Shelf) -> Line:
    others = shelf.copies_of(file)
    paths = ", ".join(f.path for f in others)
    return (f"{size(sum(f.size for f in others))} · {paths}", Tone.WARN) if others else ""


def nothing() -> Content:
    """What stands in the card while there is no file."""
    return content(
        (tr("No GGUF files yet."), Tone.STRONG),
        "\n\n",
        ("a", Tone.ACCENT),
        " " + tr("adds a folder that holds some; or, in a shell, workbench starter fetches a small one."),
        "\n\n",
        (tr("Answers work without a model: they quote the best sentences."), Tone.DIM),
    )
