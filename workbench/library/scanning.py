"""The model files there are: in folders a person names, and in what other tools keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from workbench.engine.gguf_header import SPLIT_NAME, HeaderError, file_stamp, read_header
from workbench.i18n import tr
from workbench.library.keepers import Found, in_folder
from workbench.paths import is_gone
from workbench.records.models import ModelFile, Place


def scan(
    folders: Sequence[Path], kept: Iterable[Found] = (), known: Mapping[str, ModelFile] | None = None
) -> tuple[ModelFile, ...]:
    """Every GGUF file in and under ``folders``, and those ``kept`` by other tools, by name.

    A split file is listed once. A file that is reached in several ways (the same path, a link of either kind) is listed
    once with all its places; the first folder's comes first. A damaged or unreadable one has its ``problem``. Folders
    that aren't there hold nothing.

    Args:
        known: by path, files as they were found before; the header of one that hasn't changed since isn't read again.
    """
    wholes: dict[str, Found] = {}
    for found in chain(*map(in_folder, folders), kept):
        whole = SPLIT_NAME.sub("", found.place.path.removesuffix(".gguf"))
        first = wholes.setdefault(f"{found.place.name}\0{whole}", found)
        if found.place.path < first.place.path:  # the first part of a split file stands for it
            wholes[f"{found.place.name}\0{whole}"] = found
    files: dict[object, list[Found]] = {}
    for found in wholes.values():
        files.setdefault(_identity(found.place.path), []).append(found)
    described = (_describe(ways, known or {}) for ways in files.values())
    return tuple(sorted(described, key=lambda file: (file.name.casefold(), file.path)))


def _identity(path: str) -> object:
    """The same for all links to one file."""
    try:
        status = Path(path).stat()
    except OSError:
        return path
    return status.st_dev, status.st_ino


def _describe(ways: Sequence[Found], known: Mapping[str, ModelFile]) -> ModelFile:
    first = ways[0]
    file = _read(Path(first.place.path), known)
    places = tuple({way.place: None for way in ways})
    if first.place.keeper != "folder" and is_gone(file.path):
        file = replace(file, problem=tr("its data isn't there: a download that didn't end, or was deleted"))
    claimed = next((way.hash for way in ways if way.hash), "")
    if not file.path.lower().endswith(".gguf"):  # a blob, whose name is its digest
        name = first.place.name
        family = name.rpartition("/")[2].partition(":")[0] if file.family == file.name.casefold() else file.family
        file = replace(file, name=name, family=family)
    split = SPLIT_NAME.search(file.path.removesuffix(".gguf"))
    return replace(file, places=_with_first(places, file.path), hash="" if split or file.problem else claimed)


def _read(path: Path, known: Mapping[str, ModelFile]) -> ModelFile:
    """Reading a header takes 40–200 ms; what it said while the file was the same takes none."""
    before = known.get(str(path))
    if before and not before.problem:
        with suppress(OSError, HeaderError):
            if file_stamp(path) == (before.size, before.modified):
                return replace(before, places=(), hash="")
    return read_header(path)


def _with_first(places: tuple[Place, ...], path: str) -> tuple[Place, ...]:
    """The place of ``path`` first."""
    return tuple(sorted(places, key=lambda place: place.path != path))
