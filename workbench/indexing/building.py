"""Building an index beside the current one: from the stored texts, a document at a time, resumable anywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from workbench.corpus.ingest import Ingester
from workbench.corpus.progress import Meter
from workbench.engine.token_mean import SAMPLE
from workbench.errors import Cancelled, UsageError
from workbench.i18n import tr
from workbench.indexing.catalogue import cuts
from workbench.indexing.forms import check_form, shortened
from workbench.ports import Cancel, Embedder, Store, Vector
from workbench.records.corpus import EmbedderInfo, Index, IngestOutcome, IngestProgress, Recipe, VectorForm
from workbench.records.indexes import BuildProgress
from workbench.records.retrieval import AllOf

_PROBE: Final = "probe"


class Builder:
    """Builds indexes of one file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, collection: str, embedder: Embedder, recipe: Recipe, form: VectorForm) -> Index:
        """The index to build, made when it isn't there yet; one that was begun goes on.

        A recipe loses its token vectors where the embedder has none to give.

        Raises:
            NotFoundError: no such collection.
            UsageError: the form doesn't fit the embedder.
            EngineError: the embedder failed.
        """
        check_form(form, embedder.info)
        _check_cut(form, embedder.info)
        if recipe.keeps_tokens and not self._gives_tokens(collection, embedder):
            recipe = replace(recipe, token_vectors="none")  # noqa: S106 -- as above
        centre = self._centre(collection, embedder, form) if form.component == "bit" else None
        return self._store.indexes.open(collection, embedder.info, recipe, form, centre)

    def fill(self, index: Index, embedder: Embedder, cancel: Cancel | None = None) -> Iterator[BuildProgress]:
        """What is missing in it: copied where another index has the very vectors, else cut and embedded.

        Raises EngineError; what was committed stays.
        """
        source = self._source(index)
        if source:
            there = self._whole(index)
            for progress in self._copy(source, index, cancel or threading.Event()):
                yield BuildProgress(index, progress, copied=True, there=there)
                if progress.cancelled:
                    return
        there = self._whole(index)
        for progress in Ingester(self._store.corpus, embedder).complete(index, cancel):
            yield BuildProgress(index, progress, there=there)

    def _gives_tokens(self, collection: str, embedder: Embedder) -> bool:
        """Known from an index of it that keeps token vectors, else found out."""
        for index in self._store.corpus.indexes(collection):
            if index.embedder.fingerprint == embedder.info.fingerprint and index.recipe.keeps_tokens:
                return True
        return len(next(embedder.embed_passage_tokens([_PROBE])).tokens) > 0

    def missing(self, index: Index) -> int:
        """Documents that it doesn't hold whole."""
        states = self._store.corpus.document_states(index.collection, index.id)
        return sum(not state.complete for state in states.values())

    def _whole(self, index: Index) -> int:
        states = self._store.corpus.document_states(index.collection, index.id)
        return sum(state.complete for state in states.values())

    def _source(self, index: Index) -> Index | None:
        """An index of the same embedder and recipe with whole float vectors."""
        return next((other for other in exact_indexes(self._store, index) if other.id != index.id), None)

    def _copy(self, source: Index, index: Index, cancel: Cancel) -> Iterator[IngestProgress]:
        corpus = self._store.corpus
        mean = corpus.token_mean(source.id)
        if mean is not None:
            corpus.fix_token_mean(index.id, mean)
        there = corpus.document_states(source.collection, source.id)
        left = [
            state
            for name, state in corpus.document_states(index.collection, index.id).items()
            if not state.complete and there[name].complete
        ]
        meter = Meter(index.collection, len(left))
        for state in left:
            if cancel.is_set():
                yield meter.last(cancelled=True)
                return
            meter.current = state.source_id
            yield meter.finished(self._copy_document(source, index, state.document_id, meter))
        yield replace(meter.last(), finished=False)

    def _copy_document(self, source: Index, index: Index, document_id: str, meter: Meter) -> IngestOutcome:
        corpus, search = self._store.corpus, self._store.search
        document, chunks = corpus.document(document_id), corpus.chunks(document_id, source.id)
        ids = [chunk.id for chunk in chunks]
        meter.expect(len(chunks))
        vectors, tokens = search.vectors(source.id, ids), search.token_vectors(source, ids).packed
        corpus.put_document(index, document, corpus.parsed_document(document_id), chunks, vectors, tokens)
        for _ in chunks:
            meter.embedded()
        return IngestOutcome(document.source_id, "updated", len(chunks), 0)

    def _centre(self, collection: str, embedder: Embedder, form: VectorForm) -> Vector:
        """The mean vector of what is stored of that embedder, else of the passages its token mean is taken of."""
        for other in self._store.corpus.indexes(collection):
            same = other.embedder.fingerprint == embedder.info.fingerprint
            if same and other.status != "retired" and other.vectors and has_floats(other):
                found = self._store.indexes.matrix(other, AllOf(()))[1]
                break
        else:
            found = np.stack(list(embedder.embed_passages(SAMPLE)))
        mean: Vector = shortened(found, form.dimension).mean(axis=0, dtype=np.float32)
        return mean


def exact_indexes(store: Store, index: Index) -> list[Index]:
    """Indexes of the same embedder and recipe that keep whole float vectors, ``index`` itself first where it does."""
    found = [
        other
        for other in store.corpus.indexes(index.collection)
        if other.status != "retired"
        and (other.embedder.fingerprint, other.recipe) == (index.embedder.fingerprint, index.recipe)
        and has_floats(other)
        and other.vectors
    ]
    return sorted(found, key=lambda other: other.id != index.id)


def has_floats(index: Index) -> bool:
    """It keeps every component of its vectors as float32."""
    return "float32" in (index.form.component, index.form.rescore) and index.dimension == index.embedder.dimension


def stop_if(cancel: Cancel | None) -> None:
    """Raises Cancelled when it is set."""
    if cancel is not None and cancel.is_set():
        raise Cancelled


def _check_cut(form: VectorForm, info: EmbedderInfo) -> None:
    """Raises UsageError for a dimension that the model wasn't trained to be cut to."""
    known = cuts(info.name, info.dimension, info.matryoshka)
    if form.dimension in (0, *known):
        return
    raise UsageError(
        tr("The vectors can't be cut"),
        tr("{name} can be cut to {dimensions}.", name=info.name, dimensions=", ".join(map(str, known)))
        if known
        else tr(
            "{name} isn't known to be trained for it (Matryoshka).",
            name=info.name,
        ),
        tr("Leave the dimension out, or choose another embedder: workbench embedders list tells which can be cut."),
    )
