"""From a file to its text and structure: one parser for each family of formats, chosen by ``FORMATS``.

A parser is a function from bytes and a name to a ``ParsedDocument``. It raises DocumentError and nothing else, reads no
file, and knows nothing of collections, chunks or indexes. A new format is one line in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from workbench.corpus.parse import code, docx, html, json_, markdown, pdf, table, text
from workbench.errors import DocumentError
from workbench.i18n import tr
from workbench.records.corpus import ParsedDocument

Parser: TypeAlias = Callable[[bytes, str], ParsedDocument]

MAX_BYTES: Final = 200 * 2**20


@dataclass(frozen=True, slots=True)
class Format:
    """A family of formats.

    Attributes:
        extensions: lower case, without the dot.
        magic: how its files begin, in lower case, when their extension is unknown or wrong.
    """

    name: str
    parser: Parser
    extensions: tuple[str, ...]
    magic: tuple[bytes, ...] = ()


FORMATS: Final = (
    Format("PDF", pdf.parse, ("pdf",), magic=(b"%pdf-",)),
    Format("Word", docx.parse, ("docx", "docm", "doc"), magic=(b"pk\x03\x04", b"\xd0\xcf\x11\xe0")),
    Format("HTML", html.parse, ("html", "htm", "xhtml"), magic=(b"<!doctype html", b"<html")),
    Format("Markdown", markdown.parse, ("md", "markdown", "mdown", "mkd")),
    Format("CSV", table.parse, ("csv", "tsv", "tab")),
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
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DocumentError(
                tr("Document too large"),
                tr("It takes {size} MB; the limit is {limit}.", size=size >> 20, limit=MAX_BYTES >> 20),
                tr("Split it into smaller files."),
            )
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(
            tr("Unreadable file"),
            tr("It can't be read: {reason}.", reason=error.strerror or error),
            tr("Check that it is there and that you may read it."),
        ) from error
    return parse_bytes(data, name or path.name)


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
    """By extension; a known beginning decides when the extension is unknown, or says text and the bytes say PDF."""
    by_extension = _BY_EXTENSION.get(Path(name).suffix[1:].lower())
    head = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    by_magic = next((format_ for format_ in FORMATS if format_.magic and head.startswith(format_.magic)), None)
    if by_magic is not None and (by_extension is None or by_magic.name == "PDF"):
        return by_magic
    return by_extension or _PLAIN
