"""Distributions of a collection: how long its chunks and documents are, in which languages, from which years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.health.checks import day_of
from workbench.i18n import tr
from workbench.ports import ChunkFact
from workbench.records.corpus import Document
from workbench.records.health import Histogram


def histograms(chunks: Sequence[ChunkFact], documents: Sequence[Document]) -> tuple[Histogram, ...]:
    """Lengths of chunks and documents, languages, years."""
    languages = Counter(chunk.language or "–" for chunk in chunks)
    years = Counter(str(day.year) if (day := day_of(d.metadata.get("date"))) else "–" for d in documents)
    return (
        _by_size("chunk-tokens", tr("Tokens of a chunk"), [c.tokens for c in chunks]),
        _by_size("document-characters", tr("Characters of a document"), [d.characters for d in documents]),
        Histogram("languages", tr("Languages of the chunks"), *_columns(languages.most_common())),
        Histogram("years", tr("Years of the documents"), *_columns(sorted(years.items()))),
    )


def _by_size(key: str, title: str, values: Sequence[int]) -> Histogram:
    """Classes whose bounds double."""
    bins = Counter(max(0, value).bit_length() for value in values)
    classes = range(min(bins, default=0), max(bins, default=-1) + 1)
    return Histogram(
        key, title, tuple(f"{1 << k >> 1:,}–{(1 << k) - 1:,}" for k in classes), tuple(bins[k] for k in classes)
    )


def _columns(pairs: Sequence[tuple[str, int]]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return tuple(label for label, _ in pairs), tuple(n for _, n in pairs)
