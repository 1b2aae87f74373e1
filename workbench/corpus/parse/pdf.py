"""PDF: text page by page, paragraphs from the lines' geometry, the outline as headings."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from statistics import median
from typing import Any, Final

from workbench.corpus.parse.blocks import cover, stem
from workbench.corpus.parse.text import prose
from workbench.errors import DocumentError
from workbench.i18n import tr
from workbench.records.corpus import Block, MetaValue, Page, ParsedDocument

MEDIA_TYPE: Final = "application/pdf"

_PDFIUM: Final = threading.Lock()  # the library is not thread-safe
_ERROR_PASSWORD: Final = 4  # FPDF_ERR_PASSWORD
_HYPHEN: Final = "\ufffe"  # what pdfium puts for a hyphen at a line's end; it joins the lines
_UNSTORED: Final = {code: None for code in range(32) if chr(code) not in "\t\n\r"} | {0xFFFF: None}
_SENTENCE_END: Final = re.compile(r"[.!?:;…][\"'”’»)\]]*\s*$")
_PROPERTIES: Final = {"Title": "title", "Author": "author", "CreationDate": "created", "ModDate": "modified"}
_DATE: Final = re.compile(r"D:(\d{4})(\d{2})(\d{2})")
_NUMBERING: Final = r"(?:(?:\d+|[IVXLC]+|[A-Z])(?:\.\d+)*[.)]?\s+)?"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a page and where it lies, in points from the page's left and bottom edge.

    Attributes:
        left, bottom: of its first character.
        right, last_bottom: of its last one, which is a line below where a hyphen was joined.
        size: the font's, of the first character.
    """

    text: str
    left: float
    bottom: float
    right: float
    last_bottom: float
    size: float


@dataclass(frozen=True, slots=True)
class _Outlined:
    """An entry of the outline: ``page`` counts from 0."""

    title: str
    level: int
    page: int


@dataclass(frozen=True, slots=True)
class _Raw:
    """What pdfium tells of a file; whether it has images only where it has no text."""

    pages: tuple[str, ...]
    labels: tuple[str, ...]
    outline: tuple[_Outlined, ...]
    properties: dict[str, str]
    has_images: bool


def recognises(data: bytes) -> bool:
    """Whether the bytes begin as a PDF does."""
    return data[:64].lstrip().startswith(b"%PDF-")


def parse(data: bytes, name: str) -> ParsedDocument:
    """A PDF with a text layer. Lines stay lines; words that were hyphenated at a line's end are joined.

    Raises:
        DocumentError: locked, damaged, or only images.
    """
    with _PDFIUM:
        raw = _read(data)
    empty = [number for number, page in enumerate(raw.pages, 1) if not page.strip()]
    if len(empty) == len(raw.pages):
        raise _no_text(raw)
    text, pages = _join(raw)
    headings = list(_headings(text, pages, raw.outline))
    blocks = cover(text, [*headings, *_prose(text, headings)])
    metadata = _metadata(raw.properties)
    warnings = tuple(_losses(empty, len(raw.outline), len(headings)))
    unnumbered = (heading.label for heading in headings[:1] if not heading.label[0].isdigit())  # "1 Introduction"
    title = str(metadata.get("title") or next(unnumbered, stem(name)))
    return ParsedDocument(text, title, MEDIA_TYPE, blocks, pages, metadata, warnings)


def _losses(empty: list[int], outlined: int, found: int) -> Iterator[str]:
    if empty:
        yield tr("Pages without text (images?): {pages}.", pages=", ".join(map(str, empty)))
    if found < outlined:
        yield tr(
            "Outline entries that stand as no line on their page, and so are no headings: {count} of {all}.",
            count=outlined - found,
            all=outlined,
        )


def _read(data: bytes) -> _Raw:
    import pypdfium2  # deferred: heavy, and only needed here

    try:
        with closing(pypdfium2.PdfDocument(data)) as document:
            labels = tuple(_told(document.get_page_label, i) or str(i + 1) for i in range(len(document)))
            pages = tuple(_page_text(document, i, label) for i, label in enumerate(labels))
            return _Raw(
                pages=pages,
                labels=labels,
                outline=tuple(_outline(document)),
                properties={key: _told(document.get_metadata_value, key) for key in _PROPERTIES},
                has_images=not any(page.strip() for page in pages) and _has_images(document),
            )
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _ERROR_PASSWORD:
            raise DocumentError(
                tr("Locked PDF"),
                tr("It is protected by a password."),
                tr("Save a copy without a password and ingest that."),
            ) from error
        raise DocumentError(
            tr("Damaged PDF"),
            tr("It can't be opened as a PDF."),
            tr("Open it in a PDF reader and save it again, or fetch it anew."),
        ) from error


def _has_images(document: Any) -> bool:
    import pypdfium2.raw as pdfium  # deferred: heavy, and only needed here

    return any(True for page in document for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE]))


def _no_text(raw: _Raw) -> DocumentError:
    if raw.has_images:
        return DocumentError(
            tr("No text in the PDF"),
            tr("None of its pages ({count}) has a text layer: they are images.", count=len(raw.pages)),
            tr("Run OCR on it first (for example with OCRmyPDF) and ingest the result."),
        )
    return DocumentError(
        tr("No text in the PDF"),
        tr("None of its pages ({count}) has text or an image: it is damaged, blank or drawn.", count=len(raw.pages)),
        tr("Open it in a PDF reader: if it shows text, run OCR on it; if it doesn't, fetch it anew."),
    )


def _told(ask: Callable[..., str], *about: object) -> str:
    """What pdfium answers, "" when a damaged file makes it answer with no valid text."""
    try:
        return ask(*about)
    except UnicodeDecodeError:
        return ""


def _outline(document: Any) -> Iterator[_Outlined]:
    for bookmark in document.get_toc():
        destination = bookmark.get_dest()
        page = destination.get_index() if destination is not None else None
        if page is not None and (title := " ".join(_told(bookmark.get_title).split())):
            yield _Outlined(title, min(6, bookmark.level + 1), page)


def _page_text(document: Any, index: int, label: str) -> str:
    """The page's text without its printed number; a blank line stands between its paragraphs."""
    with closing(document[index]) as page, closing(page.get_textpage()) as textpage:
        lines = list(_lines(textpage))
    for edge in (-1, 0):
        if len(lines) > 1 and lines[edge].text in (label, str(index + 1)):
            del lines[edge]
    pieces: list[str] = []
    for line, is_new in zip(lines, _paragraph_starts(lines), strict=True):
        pieces.append(("\n\n" if is_new else "\n") + line.text)
    return "".join(pieces).strip()


def _lines(textpage: Any) -> Iterator[_Line]:
    import pypdfium2.raw as pdfium  # deferred: heavy, and only needed here

    text = textpage.get_text_range()
    unit = 0  # pdfium counts UTF-16 units
    for line in text.split("\r\n"):
        units = len(line.encode("utf-16-le")) // 2
        if line.strip():
            head = len(line) - len(line.lstrip())
            first = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, unit + head)
            last = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, unit + units - 1)
            left, bottom = textpage.get_charbox(max(0, first), loose=True)[:2]
            _, last_bottom, right, _ = textpage.get_charbox(max(0, last), loose=True)
            size = pdfium.FPDFText_GetFontSize(textpage, max(0, first))
            yield _Line(_stored(line), left, bottom, right, last_bottom, size)
        unit += units + 2


def _stored(line: str) -> str:
    """The line without characters that no text holds; a hyphen at a line's end goes where a small letter follows."""
    joined, *rest = line.split(_HYPHEN)
    for part in rest:
        joined += part if joined[-1:].isalpha() and part[:1].islower() else "-" + part
    return " ".join(joined.translate(_UNSTORED).split())


def _paragraph_starts(lines: list[_Line]) -> Iterator[bool]:
    """Whether each line begins a paragraph: space above, another size, an indent, or after a line that ends early."""
    pitches = [a.last_bottom - b.bottom for a, b in pairwise(lines) if a.last_bottom > b.bottom]
    pitch = median(pitches) if pitches else 0.0
    for i, line in enumerate(lines):
        above = lines[i - 1]
        drop = above.last_bottom - line.bottom
        column = [near for near in lines[max(0, i - 4) : i + 4] if abs(near.left - above.left) < 3 * above.size]
        margin = max((near.right for near in column), default=0.0)
        ended = bool(_SENTENCE_END.search(above.text))
        yield (
            i == 0
            or drop > 1.35 * pitch
            or abs(line.size - above.size) > 0.1 * max(line.size, above.size)
            or (ended and drop > 0 and line.left > above.left + 0.5 * line.size)
            or (ended and drop > 0 and above.right < margin - 0.2 * (margin - above.left))
        )


def _join(raw: _Raw) -> tuple[str, tuple[Page, ...]]:
    """The pages' text in one, and where each lies. A sentence that runs on to the next page stays one paragraph."""
    pieces: list[str] = []
    pages: list[Page] = []
    at = 0
    for number, (page, label) in enumerate(zip(raw.pages, raw.labels, strict=True), 1):
        if page and at:
            runs_on = page[0].islower() and not _SENTENCE_END.search(pieces[-1])
            pieces.append("\n" if runs_on else "\n\n")
            at += len(pieces[-1])
        pieces.append(page)
        pages.append(Page(number, label, at, at + len(page)))
        at += len(page)
    return "".join(pieces), tuple(pages)


def _headings(text: str, pages: tuple[Page, ...], outline: Iterable[_Outlined]) -> Iterator[Block]:
    """Outline entries whose title stands on a line of its own on the page they point at, numbering aside."""
    at = 0
    for entry in outline:
        if entry.page >= len(pages):
            continue
        page = pages[entry.page]
        title = r"\s+".join(map(re.escape, entry.title.split()))
        pattern = re.compile(rf"^{_NUMBERING}{title}\s*$", re.IGNORECASE | re.MULTILINE)
        if found := pattern.search(text, max(at, page.start), page.end):
            at = found.end()
            yield Block(found.start(), at, "heading", level=entry.level, label=" ".join(found[0].split()))


def _prose(text: str, headings: list[Block]) -> Iterator[Block]:
    """Paragraphs and lists between the headings."""
    edges = [0, *(edge for heading in headings for edge in (heading.start, heading.end)), len(text)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        yield from prose(text, start, end)


def _metadata(properties: dict[str, str]) -> dict[str, MetaValue]:
    found: dict[str, MetaValue] = {}
    for source, key in _PROPERTIES.items():
        value = " ".join(properties[source].translate(_UNSTORED).split())
        if not source.endswith("Date"):
            found |= {key: value} if value else {}
        elif match := _DATE.match(value):
            try:
                found[key] = date(*map(int, match.groups()))
            except ValueError:
                continue  # a date that no calendar has says nothing
    return found
