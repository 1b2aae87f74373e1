"""Word documents: headings by style, paragraphs, lists, tables; the core properties become metadata."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any, Final

from workbench.corpus.metadata import from_document, typed
from workbench.corpus.parse.blocks import Writer, stem
from workbench.corpus.parse.decoding import empty
from workbench.errors import DocumentError
from workbench.i18n import tr
from workbench.records.corpus import MetaValue, ParsedDocument

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_OLE: Final = b"\xd0\xcf\x11\xe0"  # encrypted docx and the .doc of old are OLE files
_MAX_UNPACKED: Final = 500 * 2**20  # bytes; a small zip can hold far more than any memory
_HEADING: Final = re.compile(r"heading (\d)", re.IGNORECASE)
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CHARACTERS: Final = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "‑"}
_WRAPPERS: Final = frozenset(_W + name for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"))
# Deleted and moved-away text, the second copy of a text box, and properties hold no text of the document.
_SKIPPED: Final = frozenset(
    {
        f"{_W}del",
        f"{_W}moveFrom",
        f"{_W}pPr",
        f"{_W}rPr",
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    }
)


def recognises(data: bytes) -> bool:
    """Whether it is a zip with a Word document in it."""
    return data.startswith(b"PK\x03\x04") and b"word/document.xml" in data


def parse(data: bytes, name: str) -> ParsedDocument:
    """A docx file. Tracked insertions are text, deletions aren't; headers, footers and notes are left out.

    Raises:
        DocumentError: locked, of the old binary format, damaged, or without text.
    """
    document = _open(data)
    writer = Writer()
    _write(writer, document.element.body, document)
    text, blocks = writer.finish()
    if not text:
        raise empty()
    metadata, warnings = from_document(_properties(document.core_properties))
    first_heading = next((block.label for block in blocks if block.kind == "heading"), "")
    title = str(metadata.get("title") or first_heading or stem(name))
    return ParsedDocument(text, title, MEDIA_TYPE, blocks, metadata=metadata, warnings=warnings)


def _open(data: bytes) -> Any:
    import docx  # deferred: heavy, and only needed here

    if data.startswith(_OLE):
        raise DocumentError(
            tr("Locked document"),
            tr("It is protected by a password, or of the old .doc format."),
            tr("Save it as an unprotected docx."),
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked <= _MAX_UNPACKED:
            return docx.Document(io.BytesIO(data))
    except Exception as error:  # python-docx lets through whatever its zip and XML readers raise
        raise DocumentError(
            tr("Damaged document"),
            tr("It is not a docx file that can be opened."),
            tr("Open it in a word processor and save it again as docx."),
        ) from error
    raise DocumentError(
        tr("Document too large"),
        tr("Unpacked it takes {size} MB; the limit is {limit}.", size=unpacked >> 20, limit=_MAX_UNPACKED >> 20),
        tr("Split it, or leave out its images."),
    )


def _unwrapped(container: Any) -> Iterator[Any]:
    """Its children, with content controls and tracked insertions replaced by what is in them."""
    for element in container.iterchildren():
        if element.tag in _WRAPPERS:
            yield from _unwrapped(element)
        else:
            yield element


def _write(writer: Writer, body: Any, document: Any) -> None:
    for element in _unwrapped(body):
        if element.tag == f"{_W}p":
            _write_paragraph(writer, element, document)
        elif element.tag == f"{_W}tbl":
            writer.add_table(_rows(element), headed=True)


def _write_paragraph(writer: Writer, element: Any, document: Any) -> None:
    from docx.text.paragraph import Paragraph  # deferred: heavy, and only needed here

    text = "".join(_pieces(element)).strip()
    names = list(_style_names(Paragraph(element, document).style))
    heading = next((match for name in names if (match := _HEADING.match(name))), None)
    if heading or "Title" in names:
        text = " ".join(text.split())
        writer.add(text, "heading", level=min(6, int(heading[1])) if heading else 1, label=text)
    elif element.find(f"{_W}pPr/{_W}numPr") is not None or any(name.startswith("List") for name in names):
        depth = _depth(element)
        writer.add("  " * depth + "- " + text if text else "", "list", level=depth + 1)
    else:
        writer.add(text, "paragraph")


def _pieces(element: Any) -> Iterator[str]:
    for child in element.iterchildren():
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _CHARACTERS:
            yield _CHARACTERS[child.tag]
        elif child.tag not in _SKIPPED:
            yield from _pieces(child)


def _style_names(style: Any) -> Iterator[str]:
    """The style's name and those it is based on. A damaged file can make them a circle."""
    seen: set[str] = set()
    while style is not None and style.style_id not in seen:
        seen.add(style.style_id)
        yield style.name or ""
        style = style.base_style


def _depth(element: Any) -> int:
    """Nesting of a list item from 0, as its numbering properties say."""
    level = element.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
    value = level.get(f"{_W}val", "0") if level is not None else "0"
    return min(8, int(value)) if value.isdigit() else 0


def _rows(table: Any) -> Iterator[list[str]]:
    """The text of each row's cells; cells that continue one above are empty."""
    for row in _unwrapped(table):
        if row.tag == f"{_W}tr":
            yield ["".join(_cell_pieces(cell)) for cell in _unwrapped(row) if cell.tag == f"{_W}tc"]


def _cell_pieces(cell: Any) -> Iterator[str]:
    for paragraph in cell.iter(f"{_W}p"):
        yield from _pieces(paragraph)
        yield " "


def _properties(core: Any) -> dict[str, MetaValue]:
    values = {
        "title": core.title,
        "author": core.author,
        "created": core.created,
        "modified": core.modified,
        "version": core.version,
        "language": core.language,
    }
    return {key: typed(value) for key, value in values.items() if value not in (None, "")}
