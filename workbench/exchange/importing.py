"""Reads an export into a file, in one transaction: all of it, or nothing."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np

from workbench.errors import Cancelled, DocumentError, WorkbenchError, reason_of
from workbench.exchange import jsonl, parquet
from workbench.exchange.exporting import MANIFEST
from workbench.exchange.following import Tell
from workbench.exchange.renaming import Numbered, renamed_chunks, renamed_documents
from workbench.exchange.rows import bad_row, changed_file, unreadable_file
from workbench.exchange.tables import CASES, DOCUMENTS, chunk_columns, token_bytes
from workbench.i18n import tr
from workbench.indexing.forms import check_form
from workbench.ports import Cancel, Store
from workbench.ports.exchange import ExchangeWriting
from workbench.records.cases import Case
from workbench.records.codec import decode
from workbench.records.corpus import Component, EmbedderInfo, Index, Recipe, RecipeName, Rescore, TokenForm
from workbench.records.exchange import (
    EXPORT,
    EXPORT_VERSION,
    ExchangeProgress,
    ExportColumn,
    ExportedFile,
    ExportForm,
    ExportManifest,
    ExportRow,
    IndexStamp,
    Received,
)
from workbench.retrieval.filters import parse_filter

_MOST_DIMENSIONS: Final = 8192
"""Of sqlite-vec."""
_LARGEST_MANIFEST: Final = 16 << 20
_TOLD: Final = 100
_UNIT: Final = 1e-3
"""How far the length of a float32 vector may be from 1."""


def receive(store: Store, folder: Path, collection: str, tell: Tell, cancel: Cancel) -> Received:
    """Brings an export in. What is there already with the same text stays as it is.

    Args:
        collection: its name in this file, "" for the export's own.

    Raises:
        DocumentError: it is no export, or from a newer version, or changed since; or a row can't come in (named).
        UsageError: a dataset of one of its names asks about another collection; Parquet isn't installed.
        FileError, Cancelled. Nothing has come in then.
    """
    began = time.perf_counter()
    manifest = read_manifest(folder)
    if manifest.form == "parquet":
        parquet.require()
    try:
        received = store.exchange.write(lambda to: _Import(manifest, folder, collection, to, tell, cancel).run())
    except OSError as error:
        raise unreadable_file(folder, reason_of(error)) from error
    return replace(received, seconds=time.perf_counter() - began)


def read_manifest(folder: Path) -> ExportManifest:
    """Raises DocumentError when there is none, it can't be one, or a newer version wrote it."""
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            values = json.loads(file.read(_LARGEST_MANIFEST))
    except OSError as error:
        raise unreadable_file(path, reason_of(error)) from error
    except (ValueError, RecursionError):
        raise unreadable_file(path, tr("it is no JSON")) from None
    if not isinstance(values, dict) or values.get("format") != EXPORT:
        raise unreadable_file(path, tr("it speaks of something else"))
    if values.get("version") != EXPORT_VERSION:
        raise DocumentError(
            tr("The export is of another version"),
            tr("“{path}” has version {version}, and this Workbench reads {known}.", path=folder,
               version=values.get("version"), known=EXPORT_VERSION),
            tr("Update Workbench, or export again with this one."),
        )  # fmt: skip
    try:
        manifest = decode(ExportManifest, values)
        _check_manifest(manifest)
    except WorkbenchError as error:
        raise unreadable_file(path, error.message.rstrip(".")) from None
    except (TypeError, ValueError, KeyError, AttributeError):
        raise unreadable_file(path, tr("a part of it is missing or wrong")) from None
    return manifest


def _check_manifest(manifest: ExportManifest) -> None:
    """Raises WorkbenchError or ValueError; types decode() doesn't check raise where they are used."""
    parse_filter(manifest.mandatory_filter)
    listed = all(isinstance(file.name, str) and type(file.rows) is int for file in manifest.files)
    known = listed and manifest.form in get_args(ExportForm) and bool(manifest.collection.strip())
    recipes = [manifest.recipe, *(stamp.recipe for stamp in manifest.indexes)]
    if not known or not all(map(_is_recipe, recipes)) or not all(map(_is_stamp, manifest.indexes)):
        raise ValueError


def _is_recipe(recipe: Recipe) -> bool:
    sizes = (recipe.size, recipe.overlap, recipe.parent_size)
    named = recipe.name in get_args(RecipeName) and recipe.token_vectors in get_args(TokenForm)
    return named and all(type(size) is int and size >= 0 for size in sizes)


def _is_stamp(stamp: IndexStamp) -> bool:
    """Raises UsageError when the form doesn't fit the embedder."""
    form, embedder = stamp.form, stamp.embedder
    if not (form.component in get_args(Component) and form.rescore in get_args(Rescore) and _is_embedder(embedder)):
        return False
    check_form(form, embedder)
    means = [(stamp.centre, stamp.dimension), (stamp.token_mean, embedder.dimension)]
    return all(not text or _is_mean(text, dimension) for text, dimension in means)


def _is_embedder(embedder: EmbedderInfo) -> bool:
    numbers = (embedder.dimension, embedder.max_tokens)
    texts = (embedder.name, embedder.fingerprint, embedder.query_prefix, embedder.passage_prefix, embedder.pooling)
    right = all(type(number) is int for number in numbers) and all(isinstance(text, str) for text in texts)
    return right and 0 < embedder.dimension <= _MOST_DIMENSIONS


def _is_mean(text: str, dimension: int) -> bool:
    mean = base64.b64decode(text, validate=True)
    return len(mean) == 4 * dimension and bool(np.isfinite(np.frombuffer(mean, "<f4")).all())


class _Import:
    """One import on its way, within a transaction."""

    def __init__(
        self,
        manifest: ExportManifest,
        folder: Path,
        collection: str,
        target: ExchangeWriting,
        tell: Tell,
        cancel: Cancel,
    ) -> None:
        self._manifest, self._folder, self._target = manifest, folder, target
        self._collection = collection.strip() or manifest.collection.strip()
        self._renamed = self._collection != manifest.collection.strip()
        self._tell, self._cancel = tell, cancel
        self._listed = {file.name: file for file in manifest.files}
        self._seen: set[str] = set()

    def run(self) -> Received:
        manifest, target = self._manifest, self._target
        target.collection(self._collection, manifest.recipe, manifest.mandatory_filter)
        # The current one first: in a new collection the first index that is opened is the one that queries meet.
        opened = [target.index(stamp) for stamp in manifest.indexes]
        indexes = [index for index, _ in opened]
        tables = [
            _Chunks(self, f"chunks-{place}", index, stamp)
            for place, (index, stamp) in enumerate(zip(indexes, manifest.indexes, strict=True), start=1)
        ]
        added = present = 0
        path, total = self.path("documents"), self._file("documents").rows
        documents = self.rows("documents", DOCUMENTS)
        for line, row in renamed_documents(documents, self._collection) if self._renamed else documents:
            if self._cancel.is_set():
                raise Cancelled
            if (added + present) % _TOLD == 0:
                self._tell(ExchangeProgress("documents", added + present, total))
            new = self._document(path, line, row)
            came = [table.take(row) for table in self._held(path, line, row, tables)]
            if new or any(came):
                added += 1
            else:
                present += 1
        for table in tables:
            table.finish()
        made = [index for index, new in opened if new]
        return Received(
            collection=self._collection,
            added=added,
            present=present,
            chunks=sum(table.stored for table in tables),
            indexes=tuple(index.id for index in indexes),
            made=tuple(index.id for index in made),
            beside=tuple(index.id for index in made if index.status != "current"),
            datasets=self._datasets(),
        )

    def path(self, table: str) -> Path:
        """Names in the manifest are no paths: which file is read is told by its table alone."""
        return self._folder / f"{table}.{self._manifest.form}"

    def chunks(self, table: str, stamp: IndexStamp) -> Iterator[Numbered]:
        """Rows of an index's table. Raises DocumentError as ``rows``."""
        rows = self.rows(table, chunk_columns(stamp))
        return renamed_chunks(rows, self._collection) if self._renamed else rows

    def rows(self, table: str, columns: Sequence[ExportColumn]) -> Iterator[Numbered]:
        """Raises DocumentError where there are more or fewer than the manifest says, or a row can't be one."""
        path, expected = self.path(table), self._file(table)
        read = parquet.read if self._manifest.form == "parquet" else jsonl.read
        count = 0
        for count, row in read(path, columns, expected):
            yield count, row
        if count != expected.rows:
            raise changed_file(path)

    def _file(self, table: str) -> ExportedFile:
        path = self.path(table)
        if path.name not in self._listed:
            raise unreadable_file(self._folder / MANIFEST, tr("it doesn't list {file}", file=path.name))
        return self._listed[path.name]

    def _document(self, path: Path, line: int, row: ExportRow) -> bool:
        document_id = str(row["id"])
        if document_id in self._seen:
            raise bad_row(path, line, tr("the id {id} is there twice", id=document_id))
        self._seen.add(document_id)
        try:
            return self._target.document(row)
        except ValueError as error:
            raise bad_row(path, line, str(error)) from None

    def _held(self, path: Path, line: int, row: ExportRow, tables: Sequence[_Chunks]) -> list[_Chunks]:
        """The tables that have the document's chunks."""
        places = json.loads(str(row["indexes"]))
        known = isinstance(places, list) and all(type(p) is int and 0 < p <= len(tables) for p in places)
        if not known or len(set(places)) < len(places):
            raise bad_row(path, line, tr("“{column}” is not what it should be", column="indexes"))
        return [tables[place - 1] for place in places]

    def _datasets(self) -> tuple[str, ...]:
        """Their cases, a dataset after the other. Raises UsageError, DocumentError."""
        names: list[str] = []
        path = self.path("cases")
        for exported, found in groupby(self.rows("cases", CASES), key=lambda numbered: str(numbered[1]["dataset"])):
            name, cases = self._dataset_name(exported), dict[str, Case]()
            for line, row in found:
                case = _case(path, line, row)
                if case.id in cases or name in names:
                    raise bad_row(path, line, tr("the id {id} is there twice", id=case.id))
                cases[case.id] = case
            self._target.dataset(name, list(cases.values()))
            names.append(name)
        return tuple(names)

    def _dataset_name(self, name: str) -> str:
        """Under another collection's name, one that is taken gets that name too."""
        taken = self._renamed and self._target.asked_by(name) not in ("", self._collection)
        return f"{name}-{self._collection}" if taken else name


class _Chunks:
    """The chunks of one exported index, taken document by document."""

    def __init__(self, parent: _Import, table: str, index: Index, stamp: IndexStamp) -> None:
        self._path, self._index, self._stamp = parent.path(table), index, stamp
        self._target = parent._target
        self._groups = groupby(parent.chunks(table, stamp), key=lambda numbered: numbered[1]["document_id"])
        self._waiting: tuple[object, list[Numbered]] | None = None
        self.stored = 0

    def take(self, document: ExportRow) -> bool:
        """Stores the document's chunks; False when the index has the document already. Raises DocumentError."""
        numbered = self._next(document["id"])
        if self._target.holds(self._index, str(document["id"])):
            return False
        text = str(document["text"])
        for line, row in numbered:
            if reason := _problem(row, text, self._stamp):
                raise bad_row(self._path, line, reason)
        try:
            self._target.chunks(self._index, document, [row for _, row in numbered])
        except ValueError as error:
            raise bad_row(self._path, numbered[0][0] if numbered else 0, str(error)) from None
        self.stored += len(numbered)
        return True

    def finish(self) -> None:
        """Raises DocumentError when chunks are left that no document took."""
        self._peek()
        if self._waiting is not None:
            line = self._waiting[1][0][0]
            raise bad_row(self._path, line, tr("its document isn't there, or has its chunks elsewhere"))

    def _next(self, document_id: object) -> list[Numbered]:
        """The chunks of that document; none where the next ones are another's."""
        self._peek()
        if self._waiting is None or self._waiting[0] != document_id:
            return []
        _, rows = self._waiting
        self._waiting = None
        return rows

    def _peek(self) -> None:
        if self._waiting is None and (found := next(self._groups, None)):
            self._waiting = (found[0], list(found[1]))


def _problem(row: ExportRow, text: str, stamp: IndexStamp) -> str:
    """Why a chunk can't be one of a document with that ``text``, "" when it can."""
    cells: dict[str, Any] = row
    if not 0 <= cells["start"] <= cells["end"] <= len(text) or text[cells["start"] : cells["end"]] != cells["text"]:
        return tr("its text isn't what the document has there")
    if (vector := cells["vector"]) is not None and not _is_vector(vector, stamp.form.component):
        return tr("its vector is zero or of the wrong length")
    if (original := cells.get("original")) is not None and not _is_vector(original, stamp.form.rescore):
        return tr("its vector is zero or of the wrong length")
    if ((cells["vector"] is None) is not (original is None)) and stamp.form.rescore != "none":
        return tr("“{column}” is missing", column="original")
    if len(cells.get("token_vectors") or b"") != (cells.get("token_count") or 0) * token_bytes(stamp):
        return tr("its token vectors aren't as many as it says")
    return ""


def _is_vector(stored: bytes, component: str) -> bool:
    if component == "bit":
        return True
    if component == "int8":
        return any(stored)
    return bool(abs(np.linalg.norm(np.frombuffer(stored, "<f4").astype(np.float64)) - 1) < _UNIT)


def _case(path: Path, line: int, row: ExportRow) -> Case:
    try:
        case = decode(Case, json.loads(str(row["case"])))
    except (TypeError, ValueError, KeyError, AttributeError):
        case = None
    if case is None or not (isinstance(case.id, str) and isinstance(case.question, str)):
        raise bad_row(path, line, tr("“{column}” is not what it should be", column="case"))
    return case
