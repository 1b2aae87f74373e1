"""An export under another collection's name: ids are those that an ingest into that collection would give."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from workbench.corpus.identity import chunk_id, document_id
from workbench.records.exchange import ExportRow

Numbered = tuple[int, ExportRow]
"""A row with the line that it stands in."""


def renamed_documents(rows: Iterable[Numbered], collection: str) -> Iterator[Numbered]:
    """Rows of ``documents`` as they are in ``collection``."""
    for line, row in rows:
        yield line, row | {"id": document_id(collection, str(row["source_id"]))}


def renamed_chunks(rows: Iterable[Numbered], collection: str) -> Iterator[Numbered]:
    """Rows of ``chunks-N``, a document's beside each other, as they are in ``collection``."""
    for _, of_document in groupby(rows, key=lambda numbered: numbered[1]["document_id"]):
        met: Counter[tuple[str, ...]] = Counter()
        for line, row in of_document:
            document = document_id(collection, str(row["source_id"]))
            heading = json.loads(str(row["heading"]))  # one that is no list is refused where the chunk is made
            path, digest = tuple(map(str, heading)) if isinstance(heading, list) else (), str(row["hash"])
            met[*path, digest] += 1
            yield line, row | {"id": chunk_id(document, path, digest, met[*path, digest]), "document_id": document}
