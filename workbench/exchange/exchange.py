"""``desk.exchange``: exports, imports, copies and moves of collections, and snapshots of the file."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from workbench.errors import FileError, NotFoundError, UsageError, reason_of
from workbench.exchange.exporting import export
from workbench.exchange.following import Tell, follow
from workbench.exchange.importing import read_manifest, receive
from workbench.i18n import tr
from workbench.ports import Cancel, Store
from workbench.records.corpus import Index
from workbench.records.exchange import Copied, ExchangeProgress, ExportManifest, ExportRequest, Snapshot

_NAME: Final = re.compile(r"\w(?:[\w .+-]{0,78}[\w+-])?")
_ENDING: Final = ".db"
_NAMED: Final = 3
"""Snapshots that are told by name."""


def keepers(snapshots: Sequence[Snapshot]) -> str:
    """A sentence on the snapshots that keep what is deleted from the file, "" when there are none."""
    names = ", ".join(f"“{snapshot.name}”" for snapshot in snapshots[:_NAMED])
    more = len(snapshots) - _NAMED
    if more > 0:
        return tr("Snapshots keep what they hold: {names} and {count} more.", names=names, count=more)
    return tr("Snapshots keep what they hold: {names}.", names=names) if names else ""


class Exchange:
    """What goes out of the file and comes into it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def export(self, request: ExportRequest, cancel: Cancel | None = None) -> Iterator[ExchangeProgress]:
        """Writes a collection, or a part of it, into a new folder; the last progress has an ``Exported``.

        Raises:
            UsageError: the folder is there already, or Parquet isn't installed.
            NotFoundError: no such collection, or nothing of it is among what was chosen.
            FilterError, FileError, Cancelled; no folder is there then.
        """

        def work(tell: Tell, stop: Cancel) -> ExchangeProgress:
            done = export(self._store, request, tell, stop)
            return ExchangeProgress("", 1, 1, done)

        return follow(work, cancel)

    def look(self, folder: str) -> ExportManifest:
        """What an export says of itself. Raises DocumentError."""
        return read_manifest(Path(folder))

    def receive(self, folder: str, cancel: Cancel | None = None, *, collection: str = "") -> Iterator[ExchangeProgress]:
        """Brings an export into this file, whole or not at all; the last progress has a ``Received``.

        Ids, offsets and vectors are those of the export. Documents that are there with the same text stay as they are,
        and an index with another stamp than any here becomes an index of its own. Other writers wait meanwhile.

        Args:
            collection: its name here, "" for the export's own. Under another name, ids are those that an ingest into
                that collection would give, and a dataset's name that is taken gets the collection's appended.

        Raises:
            DocumentError: it is no export, from another version, changed, or a row can't come in (named).
            UsageError, FileError, Cancelled.
        """

        def work(tell: Tell, stop: Cancel) -> ExchangeProgress:
            return ExchangeProgress("", 1, 1, receive(self._store, Path(folder), collection, tell, stop))

        return follow(work, cancel)

    def copy(
        self,
        collection: str,
        file: str,
        *,
        traces: bool = False,
        remove: bool = False,
        cancel: Cancel | None = None,
    ) -> Iterator[ExchangeProgress]:
        """Copies a collection with everything in it into another workbench file; the last progress has a ``Copied``.

        Args:
            file: made where there is none.
            traces: its questions and answers too.
            remove: moves it: once every table was read back the same from both files, it is deleted here. Its datasets
                stay, as evaluation runs speak of them.

        Raises:
            UsageError, NotFoundError, FileError, Cancelled; nothing was copied and nothing removed then.
        """

        def work(tell: Tell, stop: Cancel) -> ExchangeProgress:
            began, target = time.perf_counter(), Path(file).expanduser().absolute()
            before = self._state(collection)
            checks = self._store.exchange.copy(collection, target, traces=traces, tell=tell, cancel=stop)
            if remove:
                self._remove(collection, before)
            done = Copied(collection, target, checks, remove, time.perf_counter() - began)
            return ExchangeProgress("", 1, 1, done)

        return follow(work, cancel)

    def _state(self, collection: str) -> tuple[int, tuple[Index, ...]]:
        """What a change of the collection's documents, or of any of its indexes, changes."""
        return self._store.corpus.collection(collection).version, self._store.corpus.indexes(collection)

    def _remove(self, collection: str, before: tuple[int, tuple[Index, ...]]) -> None:
        if self._state(collection) != before:
            raise UsageError(
                tr("Changed meanwhile"),
                tr("“{name}” was changed while it was copied, so it was not removed here.", name=collection),
                tr("Delete the copy and move it again, or keep both."),
            )
        self._store.corpus.delete_collection(collection)

    # -- snapshots -------------------------------------------------------------------------------------------------

    def snapshots(self, folder: str = "") -> tuple[Snapshot, ...]:
        """Newest first; ``folder``: where they are, beside the file when it is ""."""
        place = self._folder(folder)
        found = place.glob(f"*{_ENDING}") if place.is_dir() else ()
        known = (_snapshot(path) for path in found if path.is_file() and _NAME.fullmatch(path.stem))
        return tuple(sorted(known, key=lambda snapshot: (snapshot.created, snapshot.name), reverse=True))

    def take_snapshot(self, name: str = "", folder: str = "", cancel: Cancel | None = None) -> Snapshot:
        """Copies the whole file as it is now, under ``name`` (the time when it is "").

        It keeps what is in it: what is deleted later is still there. Raises UsageError, FileError, Cancelled.
        """
        path = self._path(name or f"{datetime.now():%Y-%m-%d %H.%M.%S}", folder)
        if path.exists():
            raise UsageError(
                tr("The name is taken"),
                tr("There is a snapshot “{name}” already.", name=path.stem),
                tr("Choose another name."),
            )
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise _refused(path.parent, error) from error
        self._store.exchange.snapshot(path, cancel)
        return _snapshot(path)

    def restore_snapshot(self, name: str, folder: str = "") -> Snapshot:
        """Puts the file back to what it was; returns the snapshot of what it was until now, taken first.

        Raises:
            NotFoundError: no such snapshot.
            FileError: it is damaged or no workbench file, or the file is in use; the file is as it was.
        """
        path = self._there(name, folder)
        before = self.take_snapshot(tr("before restoring") + f" {datetime.now():%Y-%m-%d %H.%M.%S.%f}", folder)
        try:
            self._store.exchange.restore(path)
        except BaseException:
            before.path.unlink(missing_ok=True)  # nothing has changed, so nothing needs keeping
            raise
        return before

    def delete_snapshot(self, name: str, folder: str = "") -> None:
        """Raises NotFoundError, FileError."""
        path = self._there(name, folder)
        try:
            path.unlink()
        except OSError as error:
            raise _refused(path, error) from error

    def _folder(self, folder: str) -> Path:
        here = self._store.path
        return Path(folder).expanduser().absolute() if folder else here.with_name(f"{here.stem}.snapshots")

    def _path(self, name: str, folder: str) -> Path:
        """Raises UsageError for a name that could lead elsewhere."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                tr("No name for a snapshot"),
                tr("“{name}” can't be a snapshot's name.", name=name),
                tr("Take letters, digits, spaces and . + - _, at most 80, beginning with a letter or digit."),
            )
        return self._folder(folder) / f"{name}{_ENDING}"

    def _there(self, name: str, folder: str) -> Path:
        path = self._path(name, folder)
        if not path.is_file():
            names = ", ".join(snapshot.name for snapshot in self.snapshots(folder))
            raise NotFoundError(
                tr("No such snapshot"),
                tr("There is no snapshot “{name}” in {folder}.", name=name, folder=path.parent),
                tr("There are: {names}.", names=names) if names else tr("Take one: workbench snapshot take NAME"),
            )
        return path


def _snapshot(path: Path) -> Snapshot:
    found = path.stat()
    return Snapshot(path.stem, path, datetime.fromtimestamp(found.st_mtime, UTC), found.st_size)


def _refused(path: Path, error: OSError) -> FileError:
    return FileError(
        tr("The snapshot can't be written"),
        tr("Writing “{path}” failed: {reason}.", path=path, reason=reason_of(error)),
        tr("Check the disk and your permissions, or choose another folder."),
    )
