"""A collection copied into another workbench file: rows as they are, their integer keys moved on by one offset.

Both files are of the newest schema, so that columns are copied by name, whichever there are. All of it happens in one
transaction of the other file, which is committed when every table read back from both sides is the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from storage.driver import BUSY_SECONDS, Connection, Error, as_file_error, connect, storable
from storage.indexes import BOUND, create_tables, originals_table, vectors_table, words_table
from storage.opening import can_write, prepare
from storage.token_vectors import keeps_tokens, tokens_table
from workbench.errors import Cancelled, FileError, NotFoundError, UsageError
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.codec import decode
from workbench.records.corpus import EmbedderInfo, Recipe, VectorForm
from workbench.records.exchange import CopyCheck, ExchangeProgress

if TYPE_CHECKING:
    from hashlib import _Hash as Digest

_BATCH: Final = 200
"""Documents copied between two looks at whether to stop."""
Tell = Callable[[ExchangeProgress], None]


def copy_collection(
    source: Path, collection: str, file: Path, *, traces: bool, tell: Tell, cancel: Cancel | None
) -> tuple[CopyCheck, ...]:
    """See ``workbench.ports.exchange.ExchangeRepository.copy``."""
    if file.exists() and file.samefile(source):
        raise UsageError(
            tr("The same file"), tr("“{path}” is the file the collection is in.", path=file), tr("Name another file.")
        )
    there = file.exists()
    try:
        prepare(file, read_only=False, create=True, timeout=BUSY_SECONDS)
        connection = connect(file, "write")
        try:
            connection.execute("ATTACH ? AS source", (_read_only(source),))
            return _Copy(connection, collection, traces=traces, tell=tell, cancel=cancel).run()
        finally:
            connection.close()
    except BaseException as error:
        if not there:
            file.unlink(missing_ok=True)
        if isinstance(error, Error):
            raise as_file_error(error, file) or error from error
        raise


def _read_only(path: Path) -> str:
    """Attached so, the source is only read: a transaction that writes doesn't lock it."""
    return f"{path.absolute().as_uri()}?mode=ro" + ("" if can_write(path) else "&immutable=1")


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with rows of documents.

    Attributes:
        old, new: its name in our file and in the other.
        moved: columns of keys, each with what is added to it on the way; the first ones tell the rows' order.
        columns: all others.
        rows: which rows are of the documents whose keys are bound as a JSON array; ``{schema}`` and ``{index}`` differ.
        index: id of its index in our file and in the other.
        taken: how a column is inserted, where that isn't its name.
        filled: triggers fill it.
    """

    old: str
    new: str
    moved: Mapping[str, int]
    columns: Sequence[str]
    rows: str
    index: tuple[int, int] = (0, 0)
    taken: Mapping[str, str] = field(default_factory=dict)
    filled: bool = False

    def insert(self) -> str:
        """Copies the rows of some documents."""
        names = ", ".join((*self.moved, *self.columns))
        values = ", ".join(
            (*(f"{name} + {by:d}" for name, by in self.moved.items()), *(self.taken.get(c, c) for c in self.columns))
        )
        rows = self.rows.format(schema="source", index=self.index[0])
        return f"INSERT INTO main.{self.new} ({names}) SELECT {values} FROM source.{self.old} WHERE {rows}"

    def select(self, *, copied: bool) -> str:
        """Reads them back from either side, with the keys they have in our file."""
        keys = (f"{name} - {by if copied else 0:d}" for name, by in self.moved.items())
        values = (*keys, *self.columns)
        schema, name, index = ("main", self.new, self.index[1]) if copied else ("source", self.old, self.index[0])
        order = ", ".join(map(str, range(1, len(values) + 1)))
        rows = self.rows.format(schema=schema, index=index)
        return f"SELECT {', '.join(values)} FROM {schema}.{name} WHERE {rows} ORDER BY {order}"


_OF_DOCUMENTS: Final = "document_key IN (SELECT value FROM json_each(?))"
_IN_INDEX: Final = f"index_id = {{index}} AND {_OF_DOCUMENTS}"
_OF_CHUNKS: Final = f"IN (SELECT key FROM {{schema}}.chunk WHERE {_IN_INDEX})"


class _Copy:
    """One copy on its way. ``main`` is the other file, ``source`` ours."""

    def __init__(
        self, connection: Connection, collection: str, *, traces: bool, tell: Tell, cancel: Cancel | None
    ) -> None:
        self._c, self._name = connection, storable(collection)
        self._traces, self._tell, self._cancel = traces, tell, cancel
        self._offset = 0

    def run(self) -> tuple[CopyCheck, ...]:
        """Raises UsageError, NotFoundError, FileError, Cancelled; then nothing was written."""
        self._c.execute("BEGIN IMMEDIATE")
        try:
            self._refuse_names()
            checks = self._copied()
            _refuse_differences(checks)
            self._c.execute("COMMIT")
        except BaseException:
            if self._c.in_transaction:
                self._c.execute("ROLLBACK")
            raise
        return checks

    def _refuse_names(self) -> None:
        if not self._rows("SELECT 1 FROM source.collection WHERE name = ?", self._name):
            raise NotFoundError(
                tr("No such collection"),
                tr("There is no collection “{name}”.", name=self._name),
                tr("workbench collections lists them."),
            )
        taken = self._rows("SELECT name FROM main.collection WHERE name = ?", self._name) or self._rows(
            "SELECT d.name FROM main.dataset d JOIN source.dataset s ON s.name = d.name WHERE s.collection = ?",
            self._name,
        )
        if taken:
            raise UsageError(
                tr("The name is taken"),
                tr("The other file has a collection or a dataset “{name}” already.", name=taken[0][0]),
                tr("Choose another file, or export the collection and import it there."),
            )

    def _copied(self) -> tuple[CopyCheck, ...]:
        tables, keys = self._corpus()
        for done in range(0, len(keys), _BATCH):
            self._look_up("documents", done, len(keys))
            batch = json.dumps(keys[done : done + _BATCH])
            for table in tables:
                if not table.filled:
                    self._c.execute(table.insert(), (batch,))
        self._copy_changes()
        self._copy_datasets()
        if self._traces:
            self._copy_traces()
        return (*(self._check(table, keys) for table in tables), *self._check_others())

    # -- documents, chunks, vectors --------------------------------------------------------------------------------

    def _corpus(self) -> tuple[list[_Table], list[int]]:
        """The tables in the order in which they can be filled, and the documents' keys."""
        ((old,),) = self._rows("SELECT id FROM source.collection WHERE name = ?", self._name)
        new = self._insert_row("collection", {}, old)
        ((documents, chunks),) = self._rows(
            "SELECT (SELECT coalesce(max(key), 0) FROM main.document), "
            "coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = 'chunk'), 0)"
        )
        self._offset = documents
        of_documents = _OF_DOCUMENTS.replace("document_key", "key")
        tables = [
            self._plain("document", {"key": documents, "collection_id": new - old}, of_documents),
            self._plain("document_text", {"document_key": documents}, _OF_DOCUMENTS),
        ]
        for row in self._rows(
            "SELECT id, embedder, recipe, form FROM source.corpus_index "
            "WHERE collection_id = ? AND status <> 'retired' ORDER BY id",
            old,
        ):
            tables += self._index(row, new, documents, chunks)
        tables.append(self._plain("field", {"document_key": documents, "chunk_key": chunks}, _OF_DOCUMENTS))
        found = self._rows("SELECT key FROM source.document WHERE collection_id = ? ORDER BY key", old)
        return tables, [key for (key,) in found]

    def _index(self, row: tuple[Any, ...], collection_id: int, documents: int, chunks: int) -> Iterator[_Table]:
        """Makes the index in the other file, and tells its tables."""
        old, embedder, recipe_text, form_text = row
        new = self._insert_row("corpus_index", {"collection_id": collection_id}, old)
        form, recipe = decode(VectorForm, json.loads(form_text)), decode(Recipe, json.loads(recipe_text))
        dimension = form.dimension or decode(EmbedderInfo, json.loads(embedder)).dimension
        create_tables(self._c, new, form, dimension, tokens=keeps_tokens(recipe))
        pair, moved = (old, new), {"index_id": new - old, "document_key": documents}
        yield self._plain("indexed_document", moved, _IN_INDEX, pair)
        yield self._plain("chunk", {"key": chunks, **moved}, _IN_INDEX, pair)

        def beside(name: Callable[[int], str], key: str, *columns: str, filled: bool = False) -> _Table:
            taken = {"embedding": BOUND[form.component].replace("?", "embedding")}
            rows = f"{key} {_OF_CHUNKS}"
            return _Table(name(old), name(new), {key: chunks}, columns, rows, pair, taken, filled)

        yield beside(lambda number: f"{words_table(number)}_docsize", "id", "sz", filled=True)
        yield beside(vectors_table, "rowid", "embedding")
        if form.rescore != "none":
            yield beside(originals_table, "key", "vector")
        if keeps_tokens(recipe):
            yield beside(tokens_table, "key", "count", "vectors")

    def _plain(self, name: str, moved: Mapping[str, int], rows: str, index: tuple[int, int] = (0, 0)) -> _Table:
        return _Table(name, name, moved, self._columns(name, moved), rows, index)

    def _copy_changes(self) -> None:
        """What became of documents here, in the place of what their copying made of it there."""
        there = "(SELECT id FROM main.collection WHERE name = ?1)"
        self._c.execute(f"DELETE FROM main.document_change WHERE collection_id = {there}", (self._name,))
        self._c.execute(
            "INSERT INTO main.document_change (collection_id, version, source_id, kind) "
            f"SELECT {there}, version, source_id, kind FROM source.document_change "
            "WHERE collection_id = (SELECT id FROM source.collection WHERE name = ?1) ORDER BY key",
            (self._name,),
        )

    # -- datasets, settings, traces --------------------------------------------------------------------------------

    def _copy_datasets(self) -> None:
        """In all their versions, with candidates; and what is remembered of the collection."""
        for (old,) in self._rows("SELECT id FROM source.dataset WHERE collection = ?", self._name):
            new = self._insert_row("dataset", {}, old)
            columns = ", ".join(self._columns("dataset_version", ("dataset_id",)))
            self._c.execute(
                f"INSERT INTO main.dataset_version (dataset_id, {columns}) "
                f"SELECT ?, {columns} FROM source.dataset_version WHERE dataset_id = ?",
                (new, old),
            )
        columns = ", ".join(self._columns("candidate", ("id",)))
        self._c.execute(
            f"INSERT INTO main.candidate ({columns}) SELECT {columns} FROM source.candidate "
            "WHERE dataset IN (SELECT name FROM source.dataset WHERE collection = ?) ORDER BY id",
            (self._name,),
        )
        self._c.execute(
            "INSERT OR IGNORE INTO main.setting SELECT key, value FROM source.setting "
            "WHERE substr(key, -length(?1)) = ?1",
            (f".{self._name}",),
        )

    def _copy_traces(self) -> None:
        """Those that the other file has already stay as they are there."""
        spans = ", ".join(self._columns("trace_span", ("trace_key",)))
        found = self._rows(
            "SELECT key FROM source.trace WHERE collection = ? AND id NOT IN (SELECT id FROM main.trace) ORDER BY key",
            self._name,
        )
        for done, (old,) in enumerate(found):
            if done % _BATCH == 0:
                self._look_up("traces", done, len(found))
            new = self._insert_row("trace", {}, old)
            self._c.execute(
                f"INSERT INTO main.trace_span (trace_key, {spans}) "
                f"SELECT ?, {spans} FROM source.trace_span WHERE trace_key = ?",
                (new, old),
            )

    # -- reading back ----------------------------------------------------------------------------------------------

    def _check(self, table: _Table, keys: Sequence[int]) -> CopyCheck:
        found = []
        for copied in (False, True):
            digest, rows = hashlib.sha256(), 0
            statement, moved = table.select(copied=copied), self._offset if copied else 0
            for done in range(0, len(keys), _BATCH):
                self._look_up(table.old, done, len(keys))
                batch = json.dumps([key + moved for key in keys[done : done + _BATCH]])
                rows += _hash(digest, self._c.execute(statement, (batch,)))
            found.append((rows, digest.hexdigest()))
        (rows, digest_of), (copied_rows, copied_digest) = found
        return CopyCheck(table.old, rows, copied_rows, digest_of, copied_digest)

    def _check_others(self) -> Iterator[CopyCheck]:
        statements = {
            "dataset": "SELECT v.hash, v.created, v.body, d.name FROM {0}.dataset_version v "
            "JOIN {0}.dataset d ON d.id = v.dataset_id WHERE d.collection = ?1 ORDER BY d.name, v.hash"
        }
        if self._traces:
            statements["trace"] = (
                "SELECT id, body FROM {0}.trace WHERE collection = ?1 "
                "AND id IN (SELECT id FROM source.trace WHERE collection = ?1) ORDER BY id"
            )
        for name, statement in statements.items():
            (rows, digest), (copied_rows, copied_digest) = (
                self._read(statement.format(schema)) for schema in ("source", "main")
            )
            yield CopyCheck(name, rows, copied_rows, digest, copied_digest)

    def _read(self, statement: str) -> tuple[int, str]:
        digest = hashlib.sha256()
        rows = _hash(digest, self._c.execute(statement, (self._name,)))
        return rows, digest.hexdigest()

    # -- behind ----------------------------------------------------------------------------------------------------

    def _insert_row(self, table: str, given: Mapping[str, int], old: int) -> int:
        """Copies one row but for its key, and for the columns in ``given``; returns the key it has there."""
        key = "key" if table == "trace" else "id"
        columns = self._columns(table, (key, *given))
        names, bound = ", ".join((*given, *columns)), "".join("?, " for _ in given)
        row = self._c.execute(
            f"INSERT INTO main.{table} ({names}) SELECT {bound}{', '.join(columns)} FROM source.{table} "
            f"WHERE {key} = ? RETURNING {key}",
            (*given.values(), old),
        ).fetchone()
        return int(row[0])

    def _columns(self, table: str, left_out: Collection[str]) -> list[str]:
        names = (name for _, name, *_ in self._rows(f"PRAGMA main.table_info({table})"))
        return [name for name in names if name not in left_out]

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._c.execute(statement, values).fetchall()

    def _look_up(self, stage: str, done: int, total: int) -> None:
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled
        self._tell(ExchangeProgress(stage, done, total))


def _refuse_differences(checks: Sequence[CopyCheck]) -> None:
    bad = [check.table for check in checks if not check.same]
    if bad:
        raise FileError(
            tr("The copy isn't the same"),
            tr("What was read back differs in: {tables}.", tables=", ".join(bad)),
            tr("Nothing was kept of it. Check the disk, then try again."),
        )


def _hash(digest: Digest, rows: Iterable[tuple[Any, ...]]) -> int:
    """Adds rows to ``digest``; returns how many there were."""
    count = 0
    for row in rows:
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
        count += 1
    return count
