"""What became of documents between two traces, all of their changes taken together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from workbench.records.corpus import DocumentChange

Fates: TypeAlias = Mapping[DocumentChange, tuple[str, ...]]
"""source_ids by what became of them."""


def fates(changes: Mapping[str, Sequence[DocumentChange]]) -> dict[DocumentChange, tuple[str, ...]]:
    """``changes``: what happened to each document, in order. What came and went in between is left out."""
    found: dict[DocumentChange, tuple[str, ...]] = {}
    for source_id, kinds in changes.items():
        if fate := _fate(kinds):
            found[fate] = (*found.get(fate, ()), source_id)
    return found


def _fate(kinds: Sequence[DocumentChange]) -> DocumentChange | None:
    there = kinds[0] != "added"
    if kinds[-1] == "gone":
        return "gone" if there else None
    if not there:
        return "added"
    turns: list[DocumentChange] = [kind for kind in kinds if kind in ("retired", "restored")]
    if len(turns) % 2:
        return turns[-1]
    if {"changed", "added"}.intersection(kinds):
        return "changed"
    return "metadata" if "metadata" in kinds else None
