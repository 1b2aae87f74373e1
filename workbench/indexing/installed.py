"""The embedders that are installed, and what is known of them."""

from __future__ import annotations

from workbench import paths
from workbench.engine.embedding import EmbedderCard, list_embedders, read_card
from workbench.engine.gguf_header import HeaderError, read_pooling
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.indexing.catalogue import cuts, known_model
from workbench.indexing.embedders import Embedders
from workbench.ports import Store
from workbench.records.corpus import EmbedderInfo
from workbench.records.indexes import InstalledEmbedder


def installed_embedders(store: Store, embedders: Embedders) -> tuple[InstalledEmbedder, ...]:
    """By name, from their cards alone: no model is loaded or asked."""
    names = store.corpus.collection_names()
    used = [index.embedder.name for name in names for index in store.corpus.indexes(name) if index.status != "retired"]
    local = list_embedders(paths.embedders_folder())
    default = embedders.default()
    found: list[InstalledEmbedder] = []
    for name in embedders.names():
        try:
            card = read_card(paths.embedders_folder() / name) if name in local else embedders.named(name).info
        except WorkbenchError as error:
            found.append(InstalledEmbedder(name, "", 0, 0, "", "", known_model(name), problem=error.message))
        else:
            found.append(_installed(name, card, default=name == default, indexes=used.count(card.name)))
    return tuple(found)


def _installed(name: str, card: EmbedderCard | EmbedderInfo, *, default: bool, indexes: int) -> InstalledEmbedder:
    kind = card.kind or card.name if isinstance(card, EmbedderCard) else card.name
    known = known_model(kind)
    return InstalledEmbedder(
        name,
        card.runtime if isinstance(card, EmbedderCard) else tr("server"),
        card.dimension,
        card.max_tokens,
        card.query_prefix,
        card.passage_prefix,
        known,
        default,
        indexes,
        cuts=cuts(kind, card.dimension, card.matryoshka),
        pooled=known is not None or not isinstance(card, EmbedderCard) or _says_how_it_pools(name, card),
    )


def _says_how_it_pools(name: str, card: EmbedderCard) -> bool:
    """A chat model's GGUF file doesn't; an ONNX model is no chat model."""
    try:
        return card.runtime != "gguf" or bool(read_pooling(paths.embedders_folder() / name / card.model_file))
    except (HeaderError, OSError):  # a file that is gone is told where it is opened
        return True
