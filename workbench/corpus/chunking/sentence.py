"""One sentence per chunk; a table row, a list item, a record or a code fence counts as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.corpus.chunking.material import Material
from workbench.corpus.chunking.oversize import PROSE
from workbench.corpus.chunking.oversize import split as split_oversize
from workbench.records.corpus import Block, Span
from workbench.text.sentences import sentences


def split(material: Material) -> list[Span]:
    """A heading goes with the sentence that follows it when both fit; what is larger than a chunk is cut."""
    spans: list[Span] = []
    for span in _units(material):
        before = spans[-1] if spans and spans[-1].kind == "heading" else None
        if before and material.tokens.count(before.start, span.end) <= material.budget(span.header):
            spans[-1] = replace(span, start=before.start)
        else:
            spans.append(span)
    return spans


def _units(material: Material) -> Iterator[Span]:
    for block in material.blocks:
        header = material.header_for(block)
        for start, end in _parts(material, block):
            for a, b in split_oversize(material, block.kind, start, end, material.budget(header)):
                yield Span(a, b, header, block.kind)


def _parts(material: Material, block: Block) -> list[tuple[int, int]]:
    if block.kind in PROSE and block.kind != "heading":
        return sentences(material.text, block.start, block.end)
    return [(block.start, block.end)]
