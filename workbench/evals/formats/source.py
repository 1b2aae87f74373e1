"""What a reader is given, what it gives back, and what a format is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from workbench.errors import DocumentError, reason_of
from workbench.i18n import tr
from workbench.records.cases import Case, GoldSpan, RowProblem

Found: TypeAlias = tuple[int, Case] | RowProblem
"""A case and the line it begins on, or what is wrong with a row."""

Locate: TypeAlias = Callable[[str], GoldSpan | None]
"""Where a passage stands in the collection's documents, None when nowhere (``evals.gold.anchors.Locator``)."""

TextOf: TypeAlias = Callable[[str], str]
"""A document's stored text by its source_id, "" when there is none."""


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset as it lies on disk: a file with its text, or a folder ("" and ``folder`` set).

    Attributes:
        notes: what had to be guessed to read the text.
    """

    path: Path
    text: str
    folder: bool = False
    notes: tuple[str, ...] = ()

    @property
    def first_line(self) -> str:
        """The first line that isn't blank."""
        return next((line for line in self.text.split("\n") if line.strip()), "")


@dataclass(frozen=True, slots=True)
class Passage:
    """A document that a dataset brings along.

    Attributes:
        name: what the gold calls it.
        title: "" when it has none.
        metadata: as the file gives it, not yet checked.
    """

    name: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a dataset down.

    Attributes:
        read: yields what each row gives; it names bad rows and raises DocumentError only when nothing can be read.
        write: all cases to a path.
        recognises: whether a source is in this format, by its content.
        keeps: fields of ``Case`` that survive writing and reading.
        documents: the documents that a source brings along, None where the format holds none.
        loses: what of these cases doesn't survive all the same, as people read it.
    """

    name: str
    read: Callable[[Source, Locate | None], Iterator[Found]]
    recognises: Callable[[Source], bool]
    keeps: frozenset[str]
    write: Callable[[Sequence[Case], Path, TextOf], None]
    documents: Callable[[Source], Iterator[Passage | RowProblem]] | None = None
    loses: Callable[[Sequence[Case], TextOf], Collection[str]] = lambda _cases, _text_of: ()


def open_source(path: Path) -> Source:
    """The file or folder at ``path``; Windows encodings are read too, and said.

    Raises:
        DocumentError: it isn't there, can't be read, or is no text.
    """
    if path.is_dir():
        return Source(path, "", folder=True)
    try:
        data = path.read_bytes()
        return Source(path, data.decode("utf-8-sig"))
    except OSError as error:
        raise unreadable(path, reason_of(error)) from error
    except UnicodeDecodeError:
        pass
    from workbench.corpus.parse.decoding import decode  # it brings the parsers along

    try:
        text, notes = decode(data)
    except DocumentError as error:
        raise unreadable(path, error.message) from error
    return Source(path, text, notes=notes)


def unreadable(path: Path, reason: str) -> DocumentError:
    """For a source that gives nothing at all."""
    return DocumentError(
        tr("The dataset can't be read"), f"{path}: {reason}", tr("Give a UTF-8 file that can be read.")
    )
