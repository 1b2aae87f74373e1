"""Writes an export: a folder of tables and a manifest, which is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import workbench
from workbench.errors import Cancelled, FileError, NotFoundError, UsageError, reason_of
from workbench.evals.gold.anchors import holds
from workbench.exchange import jsonl, parquet
from workbench.exchange.following import Tell
from workbench.exchange.tables import CASES, DOCUMENTS, QRELS, chunk_columns
from workbench.i18n import tr
from workbench.ports import Cancel, ExchangeReading, Store
from workbench.records.cases import Case
from workbench.records.codec import encode
from workbench.records.corpus import Collection
from workbench.records.exchange import (
    EXPORT,
    EXPORT_VERSION,
    ExchangeProgress,
    ExportColumn,
    Exported,
    ExportedFile,
    ExportManifest,
    ExportRequest,
    ExportRow,
)
from workbench.retrieval.filters import parse_filter

MANIFEST: Final = "manifest.json"
_TOLD: Final = 200
"""Rows between two words on how far it is."""


def export(store: Store, request: ExportRequest, tell: Tell, cancel: Cancel) -> Exported:
    """Writes a collection, or a part of it, into a new folder.

    Raises:
        UsageError: the folder is there already, or there is nothing to export, or Parquet isn't installed.
        NotFoundError: no such collection.
        FilterError, FileError, Cancelled.
    """
    began = time.perf_counter()
    if request.form == "parquet":
        parquet.require()
    folder = _new_folder(Path(request.folder))
    scratch = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        scratch.mkdir()
        manifest = _Export(store, request, scratch, tell, cancel).run()
        (scratch / MANIFEST).write_text(json.dumps(encode(manifest), indent=2) + "\n", "utf-8")
        scratch.rename(folder)
    except OSError as error:
        raise FileError(
            tr("The export can't be written"),
            tr("Writing “{path}” failed: {reason}.", path=folder, reason=reason_of(error)),
            tr("Check the disk and your permissions, or choose another folder."),
        ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Exported(folder, manifest, time.perf_counter() - began)


class _Export:
    """One export on its way, into ``folder``."""

    def __init__(self, store: Store, request: ExportRequest, folder: Path, tell: Tell, cancel: Cancel) -> None:
        self._store, self._request, self._folder = store, request, folder
        self._tell, self._cancel = tell, cancel
        self._files: list[ExportedFile] = []

    def run(self) -> ExportManifest:
        name = self._request.collection
        collection = self._store.corpus.collection(name)
        with self._store.exchange.reading(name, self._cancel) as reading:
            indexes = reading.indexes()
            chosen = self._chosen(reading, [number for number, _ in indexes])
            names = self._documents(reading, [number for number, _ in indexes], chosen, collection)
            for place, (number, stamp) in enumerate(indexes, start=1):
                rows, total = reading.chunks(number, chosen), reading.count_chunks(number, chosen)
                self._write(f"chunks-{place}", chunk_columns(stamp), rows, total)
        self._judgements(names)
        return ExportManifest(
            EXPORT, EXPORT_VERSION, workbench.__version__, self._request.form, datetime.now(UTC), name,
            collection.recipe, collection.mandatory_filter, self._part(chosen), tuple(stamp for _, stamp in indexes),
            tuple(self._files),
        )  # fmt: skip

    def _chosen(self, reading: ExchangeReading, indexes: Sequence[int]) -> tuple[str, ...] | None:
        """Ids of the documents that are exported, None for all."""
        request = self._request
        if not request.filter:
            return request.document_ids or None
        where = parse_filter(request.filter, self._store.search.fields(request.collection))
        found = reading.passing(indexes[0], where) if indexes else ()
        wanted = frozenset(request.document_ids or found)
        return tuple(document_id for document_id in found if document_id in wanted)

    def _part(self, chosen: Sequence[str] | None) -> str:
        if chosen is None:
            return ""
        return self._request.filter or tr("{count} documents", count=len(chosen))

    def _documents(
        self, reading: ExchangeReading, indexes: Sequence[int], chosen: Sequence[str] | None, collection: Collection
    ) -> dict[str, str]:
        """Writes them; returns their ids by source_id."""
        places = {number: place for place, number in enumerate(indexes, start=1)}
        ids: dict[str, str] = {}

        def rows() -> Iterator[ExportRow]:
            for row in reading.documents(chosen):
                ids[str(row["source_id"])] = str(row["id"])
                held = sorted(places[number] for number in json.loads(str(row["indexes"])) if number in places)
                yield row | {"indexes": json.dumps(held)}

        self._write("documents", DOCUMENTS, rows(), collection.documents if chosen is None else len(chosen))
        if not ids:
            raise NotFoundError(
                tr("Nothing to export"),
                tr("No document of “{name}” is among what was chosen.", name=collection.name),
                tr("Choose other documents, or leave the filter out."),
            )
        return ids

    def _judgements(self, ids: dict[str, str]) -> None:
        """Cases of the datasets that ask about the collection, and their gold as qrels.

        Where a part is exported, only cases with gold in it are.
        """
        part = bool(self._request.filter or self._request.document_ids)
        asked = [d.name for d in self._store.datasets.datasets() if d.collection == self._request.collection]
        pairs = [(name, case) for name in asked for case in self._store.datasets.cases(name)]
        if part:
            pairs = [(name, case) for name, case in pairs if any(span.source_id in ids for span in case.gold)]
        cases: Iterator[ExportRow] = (
            {"dataset": name, "id": case.id, "question": case.question, "case": json.dumps(encode(case))}
            for name, case in pairs
        )
        self._write("cases", CASES, cases, len(pairs))
        self._write("qrels", QRELS, self._qrels(pairs, ids), sum(len(case.gold) for _, case in pairs))

    def _qrels(self, pairs: Sequence[tuple[str, Case]], ids: dict[str, str]) -> Iterator[ExportRow]:
        for name, case in pairs:
            for span in case.gold:
                document_id = ids.get(span.source_id)
                if document_id is None:
                    continue
                chunks = self._store.corpus.chunks(document_id)
                yield {
                    "dataset": name,
                    "query_id": case.id,
                    "document_id": document_id,
                    "source_id": span.source_id,
                    "start": span.start,
                    "end": span.end,
                    "grade": span.grade,
                    "chunk_ids": json.dumps([chunk.id for chunk in chunks if holds(chunk, span)]),
                }

    def _write(self, name: str, columns: Sequence[ExportColumn], rows: Iterator[ExportRow], total: int) -> None:
        form = self._request.form
        path = self._folder / f"{name}.{form}"
        write = parquet.write if form == "parquet" else jsonl.write
        count = write(path, columns, self._told(name, rows, total))
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._files.append(ExportedFile(path.name, count, path.stat().st_size, digest))

    def _told(self, stage: str, rows: Iterator[ExportRow], total: int) -> Iterator[ExportRow]:
        for done, row in enumerate(rows):
            if self._cancel.is_set():
                raise Cancelled
            if done % _TOLD == 0:
                self._tell(ExchangeProgress(stage, done, total))
            yield row


def _new_folder(folder: Path) -> Path:
    """Absolute. Raises UsageError when something is there, or it has no place to be made in."""
    with suppress(RuntimeError):  # no home folder: "~" is a name then
        folder = folder.expanduser()
    folder = folder.absolute()
    if folder.exists() or folder.is_symlink():
        raise UsageError(
            tr("Something is there already"),
            tr("“{path}” exists, and an export never writes over anything.", path=folder),
            tr("Choose another name."),
        )
    if not folder.parent.is_dir():
        raise UsageError(
            tr("The folder doesn't exist"),
            tr("“{path}” can't be created, since its folder isn't there.", path=folder),
            tr("Create the folder first, or choose another path."),
        )
    return folder
