"""The model files in the folders a person names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.engine.gguf_header import SPLIT_NAME, read_header
from workbench.records.models import ModelFile


def scan(folders: Sequence[Path]) -> tuple[ModelFile, ...]:
    """Every GGUF file in and under ``folders``, by name.

    A split file is listed once, a file reached by two ways once, a damaged or unreadable one with its ``problem``.
    Folders that aren't there hold nothing.
    """
    found: dict[Path, Path] = {}
    for folder in folders:
        for path in _gguf_files(folder):
            found.setdefault(path.resolve(), path)
    shown: dict[str, Path] = {}
    for path in sorted(found.values()):
        shown.setdefault(SPLIT_NAME.sub("", str(path).removesuffix(".gguf")), path)
    files = (read_header(path) for path in shown.values())
    return tuple(sorted(files, key=lambda file: (file.name.casefold(), file.path)))


def _gguf_files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if name.lower().endswith(".gguf"))
