"""What became of documents between two traces, all of their changes taken together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from workbench.records.corpus import DocumentChange

Fate: TypeAlias = DocumentChange | Literal["again", "anew"]
"""``again``: deleted and ingested again, with whatever text; ``anew``: not a document, but the whole collection was."""

Fates: TypeAlias = Mapping[Fate, tuple[str, ...]]
"""source_ids by what became of them."""


def fates(changes: Mapping[str, Sequence[DocumentChange]]) -> dict[Fate, tuple[str, ...]]:
    """``changes``: what happened to each document, in order. What came and went in between is left out."""
    found: dict[Fate, tuple[str, ...]] = {}
    for source_id, kinds in changes.items():
        if fate := _fate(kinds):
            found[fate] = (*found.get(fate, ()), source_id)
    return found


def _fate(kinds: Sequence[DocumentChange]) -> Fate | None:
    there = kinds[0] != "added"
    if kinds[-1] == "gone":
        return "gone" if there else None
    if not there:
        return "added"
    last = kinds[len(kinds) - kinds[::-1].index("gone") :] if "gone" in kinds else kinds
    turns: list[DocumentChange] = [kind for kind in last if kind in ("retired", "restored")]
    if len(turns) % 2:
        return turns[-1]
    if last is not kinds:
        return "again"
    if "changed" in kinds:
        return "changed"
    return "metadata" if "metadata" in kinds else None
