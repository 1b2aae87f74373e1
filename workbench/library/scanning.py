"""The model files there are: in folders a person names, and in what other tools keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from workbench.engine.gguf_header import SPLIT_NAME, read_header
from workbench.i18n import tr
from workbench.library.keepers import Found, in_folder
from workbench.paths import is_gone
from workbench.records.models import ModelFile, Place


def scan(folders: Sequence[Path], kept: Iterable[Found] = ()) -> tuple[ModelFile, ...]:
    """Every GGUF file in and under ``folders``, and those ``kept`` by other tools, by name.

    A split file is listed once. A file that is reached in several ways (the same path, a link of either kind) is listed
    once with all its places; the first folder's comes first. A damaged or unreadable one has its ``problem``. Folders
    that aren't there hold nothing.
    """
    wholes: dict[str, Found] = {}
    for found in chain(*map(in_folder, folders), kept):
        whole = SPLIT_NAME.sub("", found.place.path.removesuffix(".gguf"))
        known = wholes.setdefault(f"{found.place.name}\0{whole}", found)
        if found.place.path < known.place.path:  # the first part of a split file stands for it
            wholes[f"{found.place.name}\0{whole}"] = found
    files: dict[object, list[Found]] = {}
    for found in wholes.values():
        files.setdefault(_identity(found.place.path), []).append(found)
    described = (_describe(ways) for ways in files.values())
    return tuple(sorted(described, key=lambda file: (file.name.casefold(), file.path)))


def _identity(path: str) -> object:
    """The same for all links to one file."""
    try:
        status = Path(path).stat()
    except OSError:
        return path
    return status.st_dev, status.st_ino


def _describe(ways: Sequence[Found]) -> ModelFile:
    first = ways[0]
    file = read_header(Path(first.place.path))
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


def _with_first(places: tuple[Place, ...], path: str) -> tuple[Place, ...]:
    """The place of ``path`` first."""
    return tuple(sorted(places, key=lambda place: place.path != path))
