"""A small real workbench file for tests of retrieval and answers: real ingest of real files, and a cheap embedder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from storage import open_store
from tests.embedders import HashEmbedder
from workbench.corpus.ingest import Ingester
from workbench.ports import Embedder, Store
from workbench.records.corpus import IngestRequest, Recipe

NAME = "library"

ENROLMENT = """---
title: Enrolment rules
roles: [student, staff]
year: 2026
---
# Enrolment

The enrolment office opens on 3 September 2026 at nine in the morning. Students may change courses until 17 October.

# Fees

The enrolment fee is 118.50 euros. It is not refunded after the first week of classes.
"""
BORROWING = """---
title: Borrowing
roles: [student]
year: 2025
---
# Loans

A reader may borrow six books for thirty days. Loans are renewed twice unless another reader has asked for the book.
"""
COFFEE = """---
title: Norma interna
roles: [staff]
year: 2024
---
# Cafetería

La cafetería abre de ocho a veinte horas. El menú del día cuesta nueve euros y no incluye bebida.
"""
DOCUMENTS = {"enrolment.md": ENROLMENT, "borrowing.md": BORROWING, "coffee.md": COFFEE}


def open_library(
    folder: Path,
    documents: Mapping[str, str] = DOCUMENTS,
    *,
    embedder: Embedder | None = None,
    recipe: Recipe | None = None,
) -> Store:
    """A new file in ``folder`` with ``documents`` ingested into the collection ``NAME``."""
    sources = folder / "sources"
    sources.mkdir()
    for name, text in documents.items():
        sources.joinpath(name).write_text(text, "utf-8")
    store = open_store(folder / "library.db")
    store.corpus.create_collection(NAME, recipe or Recipe(size=64))
    for _ in Ingester(store.corpus, embedder or HashEmbedder()).run(IngestRequest((str(sources),), NAME)):
        pass
    return store
