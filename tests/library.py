"""A small real workbench file for tests of retrieval and answers: real ingest of real files, and a cheap embedder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
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
_FOLDER = tempfile.TemporaryDirectory(prefix="library-")
DOCUMENTS = {"enrolment.md": ENROLMENT, "borrowing.md": BORROWING, "coffee.md": COFFEE}


def open_library(
    folder: Path,
    documents: Mapping[str, str] = DOCUMENTS,
    *,
    embedder: Embedder | None = None,
    recipe: Recipe | None = None,
) -> Store:
    """A new file in ``folder`` with ``documents`` ingested into the collection ``NAME``."""
    chosen = recipe or Recipe(size=64)
    if embedder is None:
        return open_store(Path(shutil.copy(_made(tuple(documents.items()), chosen), folder)))
    return _ingested(folder, documents, embedder, chosen)


@cache
def _made(documents: tuple[tuple[str, str], ...], recipe: Recipe) -> Path:
    """A file that tests get copies of: an ingest starts a process, which takes longer than most of them."""
    folder = Path(tempfile.mkdtemp(dir=_FOLDER.name))
    _ingested(folder, dict(documents), HashEmbedder(), recipe).close()
    return folder / "library.db"


def _ingested(folder: Path, documents: Mapping[str, str], embedder: Embedder, recipe: Recipe) -> Store:
    sources = folder / "sources"
    sources.mkdir()
    for name, text in documents.items():
        sources.joinpath(name).write_text(text, "utf-8")
    store = open_store(folder / "library.db")
    store.corpus.create_collection(NAME, recipe)
    for _ in Ingester(store.corpus, embedder).run(IngestRequest((str(sources),), NAME)):
        pass
    return store
