"""Ingest: from files to stored, searchable chunks. Commits per document; killed anywhere, it goes on from there.

Three steps run at once: a thread parses and cuts the next documents, the embedder's child process embeds, and the
caller's thread stores what is done. Ids are deterministic and each document is one transaction, so a second run does
what the first one left and nothing twice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from workbench.corpus.ahead import ahead
from workbench.corpus.chunking import describe_recipe, recipe_from
from workbench.corpus.preparing import Prepared, Preparer, failed, uri_of
from workbench.corpus.progress import Meter
from workbench.corpus.sources import Source, find_sources
from workbench.errors import Cancelled, EngineError, UsageError
from workbench.i18n import tr
from workbench.ports import Cancel, CorpusRepository, DocumentState, Embedder, Vector
from workbench.records.corpus import Index, IngestOutcome, IngestProgress, IngestRequest, Recipe


class Ingester:
    """Takes sources into the collections of one file."""

    def __init__(self, corpus: CorpusRepository, embedder: Embedder) -> None:
        self._corpus = corpus
        self._embedder = embedder

    def run(self, request: IngestRequest, cancel: Cancel | None = None) -> Iterator[IngestProgress]:
        """Ingests, yielding a progress for each document and at least two a second inside long ones.

        The collection is made when it is new. When its recipe or the embedder has changed, its other documents are cut
        and embedded again from their stored text into a new index, which replaces the old one when it is complete; any
        later run completes one that was interrupted.

        Raises:
            UsageError: a path doesn't exist, or the recipe differs from the collection's and ``rechunk`` is off.
            EngineError: the embedder failed; what was committed stays.
        """
        cancel = cancel or threading.Event()
        sources = find_sources(request.paths)
        index = self._open_index(request)
        preparer = Preparer(self._corpus, self._embedder, index, request.metadata, cancel)
        uris = {uri_of(source.path) for source in sources}
        others = [state for state in self._incomplete(index) if state.uri not in uris]
        meter = Meter(request.collection, len(sources) + len(others))
        try:
            yield from self._take_in(map(preparer.source, sources), index.recipe, meter, cancel)
            yield meter.progress(*self._settle_missing(request, index, sources, preparer.present))
            others = self._incomplete(index)
            meter.total = meter.done + len(others)
            yield from self._take_in(map(preparer.stored, others), index.recipe, meter, cancel)
            if index.status == "building" and not self._incomplete(index):
                self._corpus.switch_index(index.id)
        except Cancelled:
            yield meter.last(cancelled=True)
        else:
            yield meter.last()

    def _open_index(self, request: IngestRequest) -> Index:
        """The index that documents go to; makes the collection when it is new."""
        found = {c.name: c for c in self._corpus.collections()}.get(request.collection)
        if found is None:
            found = self._corpus.create_collection(request.collection, request.recipe or recipe_from("structure"))
        elif request.recipe and request.recipe != found.recipe:
            if found.documents and not request.rechunk:
                raise _other_recipe(request.collection, found.recipe, request.recipe)
            found = self._corpus.set_recipe(found.name, request.recipe)
        return self._corpus.open_index(found.name, self._embedder.info, found.recipe)

    def _incomplete(self, index: Index) -> list[DocumentState]:
        states = self._corpus.document_states(index.collection, index.id)
        return [state for state in states.values() if not state.complete]

    def _take_in(
        self, prepared: Iterator[Prepared], recipe: Recipe, meter: Meter, cancel: Cancel
    ) -> Iterator[IngestProgress]:
        """Embeds and stores, in order. The semantic recipe embeds while it cuts, so it doesn't work ahead."""
        with closing(ahead(prepared) if recipe.name != "semantic" else ([item] for item in prepared)) as batches:
            for batch in batches:
                if not batch:
                    yield meter.progress()
                for item in batch:
                    meter.expect(len(item.pending))
                yield from self._embed_and_store(batch, meter, cancel)

    def _embed_and_store(self, batch: list[Prepared], meter: Meter, cancel: Cancel) -> Iterator[IngestProgress]:
        """One stream for the whole batch: the child goes on embedding while a document is being committed."""
        texts = [chunk.indexed_text for item in batch for chunk in item.pending]
        vectors = self._embedder.embed_passages(texts, cancel)
        for item in batch:
            if cancel.is_set():
                raise Cancelled
            meter.current = item.outcome.source_id
            found: dict[str, Vector] = {}
            for chunk in item.pending:
                found[chunk.id] = next(vectors)
                meter.embedded()
                if meter.due:
                    yield meter.progress()
            yield meter.finished(_store(item, found))

    def _settle_missing(
        self, request: IngestRequest, index: Index, sources: Sequence[Source], present: set[str]
    ) -> list[IngestOutcome]:
        """Retires or deletes documents that came from the given paths and aren't there any more.

        What lay in a folder that can't be listed now isn't known to be gone.
        """
        if request.on_missing == "keep":
            return []
        roots = [Path(uri_of(path)) for path in request.paths]
        closed = [Path(uri_of(source.path)) for source in sources if source.path.is_dir()]
        states = self._corpus.document_states(index.collection, index.id)
        gone = [
            state
            for state in states.values()
            if state.source_id not in present and _lies_in(state.uri, roots) and not _lies_in(state.uri, closed)
        ]
        if request.on_missing == "retire":
            retired = [state for state in gone if state.status == "current"]
            self._corpus.set_status([state.document_id for state in retired], "retired")
            return [IngestOutcome(state.source_id, "retired") for state in retired]
        checks = self._corpus.delete_documents([state.document_id for state in gone])
        return [IngestOutcome(check.source_id, "deleted") for check in checks]


def _store(item: Prepared, vectors: Mapping[str, Vector]) -> IngestOutcome:
    """Writes it, and what became of it. A vector that can't be stored is this document's failure alone."""
    try:
        if item.store:
            item.store(vectors)
    except (EngineError, UsageError) as error:
        return failed(item.outcome.source_id, error).outcome
    return item.outcome


def _lies_in(uri: str, folders: Sequence[Path]) -> bool:
    return any(Path(uri).is_relative_to(folder) for folder in folders)


def _other_recipe(collection: str, have: Recipe, wanted: Recipe) -> UsageError:
    return UsageError(
        tr("The collection has another recipe"),
        tr(
            "{collection} is cut by {have}, not by {wanted}.",
            collection=collection,
            have=describe_recipe(have),
            wanted=describe_recipe(wanted),
        ),
        tr("Leave the recipe out, add --rechunk to cut the whole collection again, or choose another collection."),
    )
