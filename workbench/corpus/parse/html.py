"""HTML: the readable text with its structure; the stored text is what was extracted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from workbench.corpus.metadata import from_document
from workbench.corpus.parse.blocks import Writer, stem
from workbench.corpus.parse.decoding import decode, empty
from workbench.errors import DocumentError
from workbench.i18n import tr
from workbench.records.corpus import BlockKind, MetaValue, ParsedDocument

Event: TypeAlias = Literal["enter", "text", "table", "leave"]

_DROPPED: Final = frozenset(
    """
    head script style noscript template nav svg canvas iframe object embed audio video map
    button select input textarea option datalist dialog menu -comment
    """.split()
)
_INLINE: Final = frozenset(
    """
    a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math
    meter output picture progress q rp rt ruby s samp small span strike strong sub sup time tt u var wbr
    """.split()
)
_UNITS: Final[dict[str, BlockKind]] = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
    "li": "list",
    "blockquote": "quote",
    "pre": "code",
}
_LANGUAGE_CLASS: Final = re.compile(r"\b(?:language|lang|highlight-source)-([\w+#.-]+)")
_HIDING_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_CHARSET: Final = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{2,30})""", re.I)
_META_KEYS: Final = {
    "author": "author",
    "dc.creator": "author",
    "article:author": "author",
    "description": "description",
    "og:description": "description",
    "date": "date",
    "dc.date": "date",
    "dcterms.date": "date",
    "article:published_time": "date",
}
# The parser's time grows with the square of the nesting depth: 200,000 open elements take more than a minute.
_MAX_DEPTH: Final = 5_000
_TAG: Final = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_NEVER_NESTED: Final = frozenset(
    b"area base br col embed hr img input link meta source track wbr p li dt dd tr td th option".split()
)


def recognises(data: bytes) -> bool:
    """Whether the bytes begin as HTML does."""
    return data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))


def parse(data: bytes, name: str) -> ParsedDocument:
    """HTML, however malformed. Scripts, styles, navigation, forms and hidden elements are left out.

    Raises:
        DocumentError: no readable text, binary, badly encoded, or elements nested without end.
    """
    declared = _CHARSET.search(data[:2048])
    source, warnings = decode(data, declared[1].decode("ascii") if declared else "")
    _refuse_endless_nesting(data)
    tree = LexborHTMLParser(source)
    reader = _Reader()
    if tree.body is not None:
        reader.read(tree.body)
    text, blocks = reader.writer.finish()
    if not text:
        raise empty()
    metadata, left_out = from_document(_metadata(tree))
    first_heading = next((block.label for block in blocks if block.kind == "heading"), "")
    title = str(metadata.get("title") or first_heading or stem(name))
    return ParsedDocument(text, title, "text/html", blocks, metadata=metadata, warnings=(*warnings, *left_out))


def _refuse_endless_nesting(data: bytes) -> None:
    depth = 0
    for tag in _TAG.finditer(data):
        if tag[2].lower() not in _NEVER_NESTED:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _MAX_DEPTH:
            raise DocumentError(
                tr("Unreadable document"),
                tr("Its elements are nested more than {depth} deep.", depth=_MAX_DEPTH),
                tr("Check that the file is the page you meant to save."),
            )


def _metadata(tree: LexborHTMLParser) -> dict[str, MetaValue]:
    found: dict[str, MetaValue] = {}
    title = tree.css_first("head > title")
    if title is not None and (words := " ".join(title.text().split())):
        found["title"] = words
    root = tree.css_first("html")
    if root is not None and (language := root.attributes.get("lang")):
        found["language"] = language
    for node in tree.css("meta"):
        key = _META_KEYS.get((node.attributes.get("name") or node.attributes.get("property") or "").lower())
        if key and (content := (node.attributes.get("content") or "").strip()):
            found.setdefault(key, content)
    return found


class _Reader:
    """Walks the tree once and writes blocks.

    Block elements end the paragraph that is open. Inside a *unit* (heading, outermost list item, block quote, ``pre``)
    they only break the line, and the unit becomes one block when it ends.
    """

    def __init__(self) -> None:
        self.writer = Writer()
        self._line: list[str] = []
        self._unit: int | None = None
        self._pre = 0
        self._lists = 0

    def read(self, root: LexborNode) -> None:
        """Writes everything visible below ``root``."""
        for event, node in _events(root):
            tag = node.tag or ""
            if event == "text":
                self._text(node.text_content or "")
            elif event == "table":
                self._table(node)
            elif event == "enter" and tag == "br":
                self._line.append("\n")
            elif event == "enter" and tag not in _INLINE:
                self._enter(node, tag)
            elif tag not in _INLINE:
                self._leave(node, tag)
        self._flush("paragraph")

    def _enter(self, node: LexborNode, tag: str) -> None:
        self._break()
        if self._unit is None and tag in _UNITS:
            self._unit = node.mem_id
        self._lists += tag in ("ul", "ol")
        self._pre += tag == "pre"
        if tag == "li":
            self._line.append("  " * max(0, self._lists - 1) + "- ")

    def _leave(self, node: LexborNode, tag: str) -> None:
        self._lists -= tag in ("ul", "ol")
        self._pre -= tag == "pre"
        if node.mem_id == self._unit:
            self._unit = None
            self._flush(_UNITS[tag], tag, _code_language(node) if tag == "pre" else "")
        else:
            self._break()

    def _table(self, node: LexborNode) -> None:
        self._break()
        rows = [[_visible_text(cell) for cell in _cells(row)] for row in node.css("tr")]
        caption = node.css_first("caption")
        if caption is not None:
            self._text(_visible_text(caption))
            self._break()
        if self._unit is None:
            self.writer.add_table(rows, headed=_is_headed(node))
        else:
            self._line.extend(" | ".join(row) + "\n" for row in rows)

    def _text(self, text: str) -> None:
        if not self._pre:
            text = re.sub(r"\s+", " ", text)
            if not self._line or self._line[-1].endswith((" ", "\n")):
                text = text.lstrip()
        if text:
            self._line.append(text)

    def _break(self) -> None:
        """Ends the line inside a unit, the paragraph outside."""
        if self._unit is None:
            self._flush("paragraph")
        elif self._line and not self._line[-1].endswith(("\n", "- ")):
            self._line.append("\n")

    def _flush(self, kind: BlockKind, tag: str = "", label: str = "") -> None:
        text = "".join(self._line)
        self._line.clear()
        if kind == "heading":
            text = label = " ".join(text.split())
            self.writer.add(text, kind, level=int(tag[1]), label=label)
        elif kind == "code":
            self.writer.add(text, kind, label=label)
        elif kind != "list" or text.strip(" -\n"):
            text = "\n".join(line.rstrip() for line in text.split("\n"))
            self.writer.add(text, kind, level=int(kind == "list"))


def _events(root: LexborNode) -> Iterator[tuple[Event, LexborNode]]:
    """Every visible node below ``root``: elements when they begin and end, texts, and tables of data as a whole.

    Without recursion, for pages nest deep.
    """
    open_elements: list[LexborNode] = []
    node = root.first_child
    while node is not None or open_elements:
        if node is None:
            node = open_elements.pop()
            yield "leave", node
        elif node.tag == "-text":
            yield "text", node
        elif node.tag == "table" and not _is_hidden(node) and _holds_data(node):
            yield "table", node
        elif not _is_hidden(node):
            yield "enter", node
            open_elements.append(node)
            node = node.first_child
            continue
        node = node.next


def _is_hidden(node: LexborNode) -> bool:
    if node.tag in _DROPPED:
        return True
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDING_STYLE.search(attributes.get("style") or ""))
    )


def _holds_data(table: LexborNode) -> bool:
    """Whether it is a table of data; one that holds headings, lists or tables only arranges the page."""
    if table.attributes.get("role") in ("presentation", "none"):
        return False
    arranged = sum(len(table.css(tag)) for tag in ("table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "pre"))
    return arranged <= 1 and any(len(_cells(row)) > 1 for row in table.css("tr"))  # it finds itself


def _cells(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in row.iter() if cell.tag in ("td", "th")]


def _is_headed(table: LexborNode) -> bool:
    """Whether the first row that has cells is the header: several of them, in ``thead`` or all ``th``."""
    first = next(row for row in table.css("tr") if _cells(row))
    in_head = first.parent is not None and first.parent.tag == "thead"
    cells = _cells(first)
    return len(cells) > 1 and (in_head or all(cell.tag == "th" for cell in cells))


def _visible_text(root: LexborNode) -> str:
    pieces = (
        (node.text_content or "") if event == "text" else " " if node.tag == "br" or node.tag not in _INLINE else ""
        for event, node in _events(root)
    )
    return " ".join("".join(pieces).split())


def _code_language(pre: LexborNode) -> str:
    """What a ``class="language-python"`` on it or on its ``code`` says."""
    code = pre.css_first("code")
    for node in (pre, code) if code is not None else (pre,):
        if found := _LANGUAGE_CLASS.search(node.attributes.get("class") or ""):
            return found[1]
    return ""
