"""Markdown: the source text is kept, its structure is marked. YAML or TOML front matter becomes metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from workbench.corpus.metadata import from_document, read_toml, read_yaml
from workbench.corpus.parse.blocks import cover, line_starts, stem
from workbench.corpus.parse.decoding import decode, empty
from workbench.i18n import tr
from workbench.records.corpus import Block, BlockKind, MetaValue, ParsedDocument

_FRONT_MATTER: Final = re.compile(
    r"(---|\+\+\+)[^\S\n]*\n(.*?)^(?:\1|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_ENDLESS: Final = re.compile(r"(?:---[^\S\n]*\n[^\W\d][\w-]*:|\+\+\+[^\S\n]*\n[^\W\d][\w-]* *=)\s")
"""The beginning of front matter; what is known to have no end."""
_LONGEST_HEADING: Final = 500  # characters; inline parsing takes more than linear time on hostile text
_KINDS: Final[dict[str, BlockKind]] = {
    "paragraph_open": "paragraph",
    "blockquote_open": "quote",
    "fence": "code",
    "code_block": "code",
    "html_block": "paragraph",
}


def parse(data: bytes, name: str) -> ParsedDocument:
    """Markdown with tables. The stored text is what follows the front matter; a ``#`` in a fence is no heading.

    Raises:
        DocumentError: empty, binary, or badly encoded.
    """
    source, warnings = decode(data)
    text, metadata, problems = _split_front_matter(source)
    if not text.strip():
        raise empty()
    blocks = cover(text, _blocks(text))
    title = str(metadata.get("title") or next((b.label for b in blocks if b.kind == "heading" and b.label), stem(name)))
    return ParsedDocument(text, title, "text/markdown", blocks, metadata=metadata, warnings=(*warnings, *problems))


def _split_front_matter(source: str) -> tuple[str, dict[str, MetaValue], tuple[str, ...]]:
    """The text after the front matter, its fields, and what was wrong with it. Without a mapping, it is text."""
    found = _FRONT_MATTER.match(source)
    if not found:
        endless = _ENDLESS.match(source)
        return source, {}, (tr("The front matter has no end and was kept as text."),) if endless else ()
    form, read = ("TOML", read_toml) if found[1] == "+++" else ("YAML", read_yaml)
    try:
        fields = read(found[2])
    except ValueError as error:
        told = tr(
            "The front matter is not valid {language} and was kept as text: {reason}", language=form, reason=error
        )
        return source, {}, (told,)
    if fields is None:
        return source, {}, ()
    return source[found.end() :], *from_document(fields)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable("inline")  # only headings need their inline content


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _blocks(text: str) -> Iterator[Block]:
    starts = line_starts(text)

    def span(token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return starts[min(first, len(starts) - 1)], starts[min(last, len(starts) - 1)]

    tokens = _parser().parse(text)
    header = ""
    for i, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            yield Block(*span(token), "heading", level=int(token.tag[1]), label=_plain(tokens[i + 1].content))
        elif token.type == "list_item_open" and token.level == 1:
            yield Block(*span(token), "list", level=1)
        elif token.type == "table_open" and token.level == 0:
            head, rows = _table_rows(tokens, i)
            start, end = span(head)[0], span(rows[0])[0] if rows else span(token)[1]
            header = text[start:end].strip()
            yield Block(start, end, "table")
            yield from (Block(*span(row), "row", header=header) for row in rows)
        elif token.type in _KINDS and token.level == 0:
            label = token.info.split()[0] if token.info.split() else ""
            yield Block(*span(token), _KINDS[token.type], label=label)


def _table_rows(tokens: Sequence[Token], at: int) -> tuple[Token, list[Token]]:
    """The header row's token (whose span with the delimiter row ends at the first body row) and the body rows'."""
    rows: list[Token] = []
    while tokens[at].type != "table_close":
        if tokens[at].type == "tr_open":
            rows.append(tokens[at])
        at += 1
    return rows[0], rows[1:]


def _plain(markdown: str) -> str:
    """Inline Markdown without its marks: ``The `parse` *function*`` → "The parse function". Very long ones stay."""
    if len(markdown) > _LONGEST_HEADING:
        return " ".join(markdown.split())
    children = (child for token in _inline_parser().parseInline(markdown) for child in token.children or ())
    pieces = (" " if child.type in ("softbreak", "hardbreak") else child.content for child in children)
    return " ".join("".join(pieces).split())
