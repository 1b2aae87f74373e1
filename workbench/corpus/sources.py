"""Which files a person means by the paths they give, and the name each one is known by."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.corpus.metadata import SIDECAR_SUFFIX
from workbench.errors import UsageError
from workbench.i18n import tr

_SQLITE: Final = b"SQLite format 3\0"
_SQLITE_COMPANIONS: Final = ("-wal", "-shm", "-journal")

_ESCAPED: Final = re.compile(r"\\x([89a-f][0-9a-f])")
_BYTE: Final = 0xDC00
"""What Python adds to a byte that is no UTF-8 (PEP 383)."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read.

    Attributes:
        path: where it is. A folder that can't be listed is a source too: reading it fails and tells why.
        source_id: relative to the folder that was given, with ``/``; the file's name when a file was given. Bytes that
            are no UTF-8 are escaped.
        size: bytes.
    """

    path: Path
    source_id: str
    size: int


def uri_of(path: Path | str) -> str:
    """Where a file is, the same however it was named; links are not resolved."""
    return written(os.path.abspath(path))  # noqa: PTH100 -- Path.absolute keeps "..", Path.resolve follows links


def written(name: str) -> str:
    """A file's name as text that can be stored: bytes that are no UTF-8 are escaped (``n_\\xff.txt``).

    Two names never become one but by being written like that themselves.
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def path_of(uri: str) -> Path:
    """The file that ``uri_of`` wrote so: the one of that very name, else the one whose bytes were escaped."""
    as_written = Path(uri)
    if not is_gone(as_written):
        return as_written
    return Path(_ESCAPED.sub(lambda byte: chr(_BYTE + int(byte[1], 16)), uri))


def find_sources(paths: Sequence[str]) -> tuple[Source, ...]:
    """Every source under ``paths``, in order, each file once.

    Inside folders these are passed over: hidden files and folders, Python's caches, sidecars, SQLite files and their
    companions, broken links, pipes and devices, and folders that were walked already (a link may lead back up). When
    two given paths have a source of the same name, the name of the folder it was found in goes before it.

    Raises:
        UsageError: a path doesn't exist, or is empty.
    """
    found: dict[Path, tuple[Path, Path]] = {}
    for given in paths:
        root = Path(given)
        if not given or is_gone(root):
            raise UsageError(
                tr("No such file or folder"),
                tr("“{path}” does not exist.", path=given),
                tr("Check the path; relative ones start at {folder}.", folder=Path.cwd()),
            )
        folder = root if is_folder(root) else root.parent
        for path in _walk(root, set()) if is_folder(root) else [root]:
            found.setdefault(path.resolve(), (path, folder))
    files = list(found.values())
    names = _names(files)
    return tuple(Source(path, written(name), _size(path)) for (path, _), name in zip(files, names, strict=True))


def is_folder(path: Path) -> bool:
    """Whether it is known to be a folder."""
    return os.path.isdir(path)  # noqa: PTH112 -- Path.is_dir raises for one in a folder that can't be entered


def is_gone(path: Path) -> bool:
    """Whether nothing is there. What can't be looked at may be there: reading it will tell."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _walk(folder: Path, walked: set[Path]) -> Iterator[Path]:
    walked.add(folder.resolve())
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError:
        yield folder
        return
    databases = {entry.name for entry in entries if entry.is_file() and _is_sqlite(entry)}
    companions = {name + suffix for name in databases for suffix in _SQLITE_COMPANIONS}
    for entry in entries:
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            if entry.resolve() not in walked:
                yield from _walk(entry, walked)
        elif entry.is_file() and not entry.name.endswith(SIDECAR_SUFFIX) and entry.name not in databases | companions:
            yield entry


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False  # reading it as a document will tell why


def _names(files: Sequence[tuple[Path, Path]]) -> list[str]:
    """A distinct name for each (path, folder): as many of the folder's last parts go before it as are needed."""
    names = [path.relative_to(folder).as_posix() for path, folder in files]
    parts = [Path(os.path.abspath(folder)).parts for _, folder in files]  # noqa: PTH100 -- links are not resolved: their names are what the person sees
    for depth in range(1, max(map(len, parts), default=0) + 1):
        shared = {name for name, count in Counter(names).items() if count > 1}
        if not shared:
            break
        names = [
            "/".join((*(p.strip("/") for p in part[-depth:]), path.relative_to(folder).as_posix()))
            if name in shared
            else name
            for name, part, (path, folder) in zip(names, parts, files, strict=True)
        ]
    return names
