"""A person's notes about models, and the card that holds them beside what the file says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from workbench.i18n import tr
from workbench.library.keepers import KEEPER_NAMES
from workbench.library.variants import copies, variants_words
from workbench.ports import LibraryRepository
from workbench.records.library import ModelNote
from workbench.records.models import FEWEST_PARAMETERS, ModelFile, Place, parameter_count


class Notes:
    """Notes in the file, by a model's hash, or by its path until that is known. Any thread may call."""

    def __init__(self, stored: LibraryRepository) -> None:
        self._stored = stored

    def of(self, file: ModelFile) -> ModelNote:
        """An empty one where nothing was written."""
        return self._find(file)[1]

    def for_all(self, files: Sequence[ModelFile]) -> dict[str, ModelNote]:
        """By path, the notes of those files that have one."""
        known = self._stored.notes()
        found = {f.path: known.get(f.hash) or known.get(f.path) for f in files}
        return {path: note for path, note in found.items() if note}

    def save(self, file: ModelFile, note: ModelNote) -> None:
        """In place of what was there; an empty note is dropped. Copies of the file share it."""
        key, _ = self._find(file)
        if key:
            self._stored.delete_note(key)
        if not note.empty:
            self._stored.put_note(file.hash or file.path, note)

    def _find(self, file: ModelFile) -> tuple[str, ModelNote]:
        known = self._stored.notes()
        key = next((key for key in (file.hash, file.path) if key and key in known), "")
        return key, known.get(key, ModelNote())


def card_markdown(file: ModelFile, note: ModelNote, files: Sequence[ModelFile], today: date) -> str:
    """The model's card: what the header says, where the file is, and the person's notes."""
    rows = "\n".join(f"| {name} | {_cell(value)} |" for name, value in card_rows(file, files) if value)
    return f"# {file.name}\n\n| | |\n|---|---|\n{rows}\n\n{_notes_markdown(note, today)}"


def card_rows(file: ModelFile, files: Sequence[ModelFile] = ()) -> list[tuple[str, str]]:
    """Name and value of each line of a card; a value is empty where nothing is known."""
    return [
        (tr("problem"), file.problem),
        (tr("kind"), "" if file.kind == "model" else file.kind),
        (tr("architecture"), file.architecture),
        (tr("parameters"), parameters_words(file)),
        (tr("quantization"), quantization_words(file)),
        (tr("tensors"), ", ".join(f"{n} {kind}" for kind, n in file.tensor_types)),
        (tr("context"), f"{file.context:,}" if file.context else ""),
        (tr("tokenizer"), file.tokenizer),
        (tr("chat template"), _template_words(file)),
        (tr("licence"), file.licence),
        (tr("origin"), file.origin),
        ("SHA-256", file.hash),
        (tr("file"), file.path),
        (tr("also at"), ", ".join(map(place_words, file.places[1:]))),
        (tr("kept by"), _keeper_words(file)),
        (tr("copies"), copies_words(file, files)),
        (tr("variants"), variants_words(file, files)),
    ]


def parameters_words(file: ModelFile) -> str:
    """ "134.5 M", and for a mixture of experts those that act on a token."""
    if file.parameters < FEWEST_PARAMETERS:
        return ""
    total = parameter_count(file.parameters)
    if not 0 < file.active_parameters < file.parameters:
        return total
    return tr("{total}, of which {active} act on a token", total=total, active=parameter_count(file.active_parameters))


def quantization_words(file: ModelFile) -> str:
    """What it is called, how many bits a weight really has, and what fell back."""
    if not file.bits_per_weight:
        return file.quantization
    words = f"{file.quantization} · {file.bits_per_weight:.2f} {tr('bits per weight')}".removeprefix(" · ")
    fallen = fallback_words(file)
    return f"{words} · {fallen}" if fallen else words


def fallback_words(file: ModelFile) -> str:
    """ "180 of 272 tensors fell back to larger types", "" when none did."""
    if not file.fallbacks:
        return ""
    total = sum(count for _, count in file.tensor_types)
    return tr("{count} of {total} tensors fell back to larger types", count=file.fallbacks, total=total)


def copies_words(file: ModelFile, files: Sequence[ModelFile]) -> str:
    """Where the same bytes are once more, and how many they waste."""
    others = [f for f in copies(files).get(file.hash, ()) if f.path != file.path] if file.hash else []
    if not others:
        return ""
    mebibytes = sum(f.size for f in others) / (1 << 20)
    paths = ", ".join(f.path for f in others)
    return tr("{paths}: {size} MiB twice on the disk", paths=paths, size=f"{mebibytes:,.0f}")


def place_words(place: Place) -> str:
    """ "Ollama smollm2:135m", or the path."""
    return f"{KEEPER_NAMES[place.keeper]} {place.name}" if place.name else place.path


def _keeper_words(file: ModelFile) -> str:
    return place_words(file.places[0]) if file.places and file.places[0].name else ""


def _template_words(file: ModelFile) -> str:
    return tr("yes") if file.chat_template else tr("none") if not file.problem else ""


def _notes_markdown(note: ModelNote, today: date) -> str:
    if note.empty:
        return tr("No notes.") + "\n"
    parts = [
        f"## {title}\n\n{text.strip()}\n"
        for title, text in (
            (tr("Chosen for"), note.chosen_for),
            (tr("Discarded alternatives"), note.alternatives),
            (tr("Limits"), note.limits),
        )
        if text.strip()
    ]
    if note.review:
        overdue = f" ({tr('overdue')})" if note.overdue(today) else ""
        parts.append(f"## {tr('Next review')}\n\n{note.review.isoformat()}{overdue}\n")
    return "\n".join(parts)


def _cell(value: str) -> str:
    """A value in a Markdown table."""
    return value.replace("|", "\\|").replace("\n", " ")
