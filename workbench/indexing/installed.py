"""Installed embedders listed, and others put beside them: an ONNX folder, a GGUF file, one of fastembed's own."""

from __future__ import annotations

from workbench import paths
from workbench.engine.embedding import read_card
from workbench.errors import WorkbenchError
from workbench.indexing.catalogue import known_model
from workbench.indexing.embedders import Embedders
from workbench.ports import Store
from workbench.records.indexes import InstalledEmbedder


def installed_embedders(store: Store, embedders: Embedders) -> tuple[InstalledEmbedder, ...]:
    """By name, from their cards alone: no model is loaded or read."""
    names = store.corpus.collection_names()
    used = [index.embedder.name for name in names for index in store.corpus.indexes(name) if index.status != "retired"]
    return tuple(_installed(name, embedders.default(), used.count(name)) for name in embedders.names())


def _installed(name: str, default: str, indexes: int) -> InstalledEmbedder:
    try:
        card = read_card(paths.embedders_folder() / name)
    except WorkbenchError as error:
        return InstalledEmbedder(name, "", 0, 0, "", "", known_model(name), problem=error.message)
    return InstalledEmbedder(
        name,
        card.runtime,
        card.dimension,
        card.max_tokens,
        card.query_prefix,
        card.passage_prefix,
        known_model(card.name),
        name == default,
        indexes,
    )
