"""Evidence and terms made by hand."""

from __future__ import annotations

from workbench.answers.terms import Term, question_terms
from workbench.answers.units import Unit, units
from workbench.corpus.parse import parse_bytes
from workbench.corpus.places import Places
from workbench.records.answers import Evidence
from workbench.records.corpus import Block, ParsedDocument
from workbench.retrieval.analysis import analyse


def evidence(text: str, label: str = "F1", *, start: int = 0, header: str = "", language: str = "en") -> Evidence:
    """A piece of evidence whose span begins at ``start``."""
    return Evidence(
        label=label,
        chunk_id=f"chunk-{label}",
        document_id="doc",
        source_id="doc.md",
        title="Doc",
        heading=("Part", "Section"),
        page=3,
        page_label="iii",
        start=start,
        end=start + len(text),
        text=f"{header}\n{text}" if header else text,
        tokens=len(text.split()),
        header=header,
        language=language,
    )


def terms(question: str, frequency: dict[str, int] | None = None, total: int = 100) -> tuple[Term, ...]:
    """The terms of a question; words are in no other chunk unless ``frequency`` says so."""
    return question_terms(analyse(question), frequency or {}, total)


def plain_units(piece: Evidence) -> tuple[Unit, ...]:
    """The units of a piece whose document is one paragraph."""
    block = Block(piece.start, piece.end, "paragraph", header=piece.header)
    return units(piece, Places(ParsedDocument(" " * piece.start + piece.body, "Doc", "text/plain", (block,))))


def parsed_units(text: str, name: str, start: int = 0, end: int | None = None) -> tuple[Unit, ...]:
    """The units of ``text[start:end]`` in a file of that name; each is an exact span of the stored text."""
    document = parse_bytes(text.encode(), name)
    piece = evidence(document.text[start:end], start=start)
    found = units(piece, Places(document))
    assert all(document.text[unit.start : unit.end] == unit.text for unit in found)
    return found
