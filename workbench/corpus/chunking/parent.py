"""Small chunks are found, the whole section around them is delivered."""

from __future__ import annotations

from dataclasses import replace

from workbench.corpus.chunking import structure
from workbench.corpus.chunking.material import Material
from workbench.records.corpus import Span


def split(material: Material) -> list[Span]:
    """Sections by the structure recipe at ``parent_size``, each cut again at ``size``; no chunk crosses a section."""
    sections = replace(material, recipe=replace(material.recipe, size=material.recipe.parent_size), overhead=0)
    return [
        replace(chunk, parent_start=section.start, parent_end=section.end)
        for section in structure.split(sections)
        for chunk in structure.pack(material, material.between(section.start, section.end))
    ]
