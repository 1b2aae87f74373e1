"""What an exchange needs of the file: a consistent reading, one transaction to write in, and copies of whole parts.

Rows are those of ``workbench.exchange.tables``: a value per column, JSON as text, vectors as the bytes that are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from workbench.ports.runtimes import Cancel
from workbench.records.cases import Case
from workbench.records.corpus import Index, Recipe
from workbench.records.exchange import CopyCheck, ExchangeProgress, ExportRow, IndexStamp
from workbench.records.retrieval import FilterNode

T = TypeVar("T")


class ExchangeReading(Protocol):
    """One state of a collection, however long it is read."""

    def indexes(self) -> Sequence[tuple[int, IndexStamp]]:
        """Those that hold vectors, the current one first, each with its id."""
        ...

    def passing(self, index_id: int, where: FilterNode) -> tuple[str, ...]:
        """Ids of the documents with a chunk that passes."""
        ...

    def documents(self, document_ids: Sequence[str] | None) -> Iterator[ExportRow]:
        """With text and structure, in a fixed order; all of them for None. ``indexes`` holds ids."""
        ...

    def chunks(self, index_id: int, document_ids: Sequence[str] | None) -> Iterator[ExportRow]:
        """Of an index with their vectors, in the documents' order."""
        ...

    def count_chunks(self, index_id: int, document_ids: Sequence[str] | None) -> int:
        """How many rows ``chunks`` has."""
        ...


class ExchangeWriting(Protocol):
    """A transaction: what is done with it is stored whole, or not at all."""

    def collection(self, name: str, recipe: Recipe, mandatory_filter: str) -> None:
        """Makes the collection where there is none; one that is there stays as it is."""
        ...

    def index(self, stamp: IndexStamp) -> tuple[Index, bool]:
        """The index with exactly that stamp, and whether it was made now."""
        ...

    def document(self, row: ExportRow) -> bool:
        """Stores a document's text and metadata; False when it is there already, with the same text.

        Raises:
            ValueError: in words; its id or name is another document's, or it is there with another text.
        """
        ...

    def holds(self, index: Index, document_id: str) -> bool:
        """Whether the index has that document."""
        ...

    def chunks(self, index: Index, document: ExportRow, rows: Sequence[ExportRow]) -> None:
        """Puts a stored document's chunks and vectors into the index.

        Raises:
            ValueError: in words; a chunk's id is another's.
        """
        ...

    def asked_by(self, dataset: str) -> str:
        """The collection that a dataset of the file asks about, "" where there is no such dataset."""
        ...

    def dataset(self, name: str, cases: Sequence[Case]) -> None:
        """Makes ``cases`` its current version. Raises UsageError when the dataset asks about another collection."""
        ...


class ExchangeRepository(Protocol):
    """Whole collections and whole files."""

    def reading(self, collection: str, cancel: Cancel | None) -> AbstractContextManager[ExchangeReading]:
        """Raises NotFoundError; Cancelled while it is read."""
        ...

    def write(self, work: Callable[[ExchangeWriting], T]) -> T:
        """Runs ``work`` in one transaction. Raises FileError, and whatever ``work`` raises, with nothing stored."""
        ...

    def copy(
        self,
        collection: str,
        file: Path,
        *,
        traces: bool,
        tell: Callable[[ExchangeProgress], None],
        cancel: Cancel | None,
    ) -> tuple[CopyCheck, ...]:
        """Copies a collection into another workbench file, in one transaction that is committed when all checks agree.

        Raises:
            UsageError: it is this file, or has a collection or dataset of that name.
            FileError: it can't be opened or written, or what was read back isn't the same.
            NotFoundError, Cancelled.
        """
        ...

    def snapshot(self, to: Path, cancel: Cancel | None) -> None:
        """Writes a compact copy of the file's present state. Raises FileError, Cancelled; nothing half is left."""
        ...

    def restore(self, snapshot: Path) -> None:
        """Puts the content of ``snapshot`` in place of the file's, in one transaction: readers see the old or the new.

        Raises:
            FileError: it is damaged, or no workbench file, or the file is locked or read-only; nothing has changed.
        """
        ...
