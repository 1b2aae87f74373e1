"""From a file to its text and structure: one parser for each family of formats, chosen by ``FORMATS``.

A parser is a function from bytes and a name to a ``ParsedDocument``. It raises DocumentError and nothing else, reads no
file, and knows nothing of collections, chunks or indexes. A new format is one line in the table.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from workbench.corpus.parse import code, docx, html, json_, markdown, pdf, table, text
from workbench.errors import DocumentError, reason_of
from workbench.i18n import tr
from workbench.records.corpus import ParsedDocument

Parser: TypeAlias = Callable[[bytes, str], ParsedDocument]

MAX_BYTES: Final = 200 * 2**20


@dataclass(frozen=True, slots=True)
class Format:
    """A family of formats.

    Attributes:
        extensions: lower case, without the dot.
        recognises: tells its files from their bytes, when their extension is unknown.
    """

    name: str
    parser: Parser
    extensions: tuple[str, ...]
    recognises: Callable[[bytes], bool] = lambda data: False


FORMATS: Final = (
    Format("PDF", pdf.parse, ("pdf",), pdf.recognises),
    Format("Word", docx.parse, ("docx", "docm", "doc"), docx.recognises),
    Format("HTML", html.parse, ("html", "htm", "xhtml"), html.recognises),
    Format("Markdown", markdown.parse, ("md", "markdown", "mdown", "mkd")),
    Format("CSV", table.parse, ("csv", "tsv")),
    Format("JSON", json_.parse, ("json", "geojson", "ipynb")),
    Format("JSON Lines", json_.parse_lines, ("jsonl", "ndjson")),
    Format("source code", code.parse, tuple(code.LANGUAGES)),
    Format("text", text.parse, ("txt", "text", "log", "rst")),
)
_BY_EXTENSION: Final = {extension: format_ for format_ in FORMATS for extension in format_.extensions}
_PLAIN: Final = _BY_EXTENSION["txt"]


def parse(path: Path, name: str = "") -> ParsedDocument:
    """The text and structure of a file.

    Args:
        name: what the document is known by (its source id), the file's name when "".

    Raises:
        DocumentError: it can't be read: too large, empty, binary, locked, damaged, only images, badly encoded.
    """
    check_readable(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unreadable(error) from error
    return parse_bytes(data, name or path.name)


def check_readable(path: Path) -> None:
    """Raises DocumentError when opening it may never end, or it is too large. A folder fails by itself."""
    try:
        found = path.stat()
    except OSError as error:
        raise _unreadable(error) from error
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise DocumentError(tr("Unreadable file"), tr("It is a pipe or a device."), tr("Save what it gives in a file."))
    if found.st_size > MAX_BYTES:
        raise DocumentError(
            tr("Document too large"),
            tr("It takes {size} MB; the limit is {limit}.", size=found.st_size >> 20, limit=MAX_BYTES >> 20),
            tr("Split it into smaller files."),
        )


def _unreadable(error: OSError) -> DocumentError:
    return DocumentError(
        tr("Unreadable file"),
        tr("It can't be read: {reason}.", reason=reason_of(error)),
        tr("Check that it is there and that you may read it."),
    )


def parse_bytes(data: bytes, name: str) -> ParsedDocument:
    """The same for bytes at hand; the format is told from the extension of ``name`` and from how the bytes begin.

    Raises:
        DocumentError: as ``parse``.
    """
    chosen = format_of(data, name)
    try:
        return chosen.parser(data, name)
    except DocumentError:
        raise
    except Exception as error:  # one source that breaks a parser must not end the ingest of the others
        raise DocumentError(
            tr("Unreadable document"),
            tr("Reading it as {format} failed: {reason}", format=chosen.name, reason=error or type(error).__name__),
            tr("Convert it to another format, or leave it out."),
        ) from error


def format_of(data: bytes, name: str) -> Format:
    """By extension; by the bytes when it is unknown, and for a PDF whatever its name says."""
    known = _BY_EXTENSION.get(Path(name).suffix[1:].lower())
    if known is None or pdf.recognises(data):
        return next((candidate for candidate in FORMATS if candidate.recognises(data)), known or _PLAIN)
    return known
