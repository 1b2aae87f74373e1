"""Ingest: from files to stored, searchable chunks. Commits per document; killed anywhere, it goes on from there.

Three steps run at once: one child process reads and cuts the next documents, the embedder's embeds, and the caller's
thread stores what is done. Ids are deterministic and each document is one transaction, so a second run does
what the first one left and nothing twice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from workbench.corpus.chunking import describe_recipe, recipe_from
from workbench.corpus.embedding import ChunkEmbedder
from workbench.corpus.preparing import Prepared, Preparer, failed
from workbench.corpus.progress import Meter
from workbench.corpus.sources import Source, find_sources, is_folder, is_gone, uri_of
from workbench.corpus.tasks import Setup, Task
from workbench.corpus.workshop import Workshop
from workbench.errors import Cancelled, EngineError, UsageError
from workbench.i18n import language, tr
from workbench.ports import Cancel, CorpusRepository, DocumentState, Embedder, PackedTokens, Vector
from workbench.records.corpus import (
    SERVER_POOLING,
    Index,
    IngestOutcome,
    IngestProgress,
    IngestRequest,
    Metadata,
    Recipe,
)

TIME_LIMIT_S: Final = 600.0
"""For reading and cutting one document: generous, because the largest take minutes."""


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
            UsageError: a path doesn't exist (and never held a document that ``on_missing`` could settle), or the recipe
                differs from the collection's and ``rechunk`` is off.
            EngineError: the embedder failed; what was committed stays.
        """
        cancel = cancel or threading.Event()
        sources = find_sources(self._without_gone(request))
        index = self._open_index(request)
        with closing(self._open_workshop(index, request.metadata, cancel)) as workshop:
            yield from self._run(request, sources, index, workshop, cancel)

    def complete(self, index: Index, cancel: Cancel | None = None) -> Iterator[IngestProgress]:
        """Cuts and embeds into ``index``, from their stored text, the documents that aren't whole in it yet.

        Commits per document, so a later call goes on where this one ended. Queries meet the same index as before.
        Raises EngineError; what was committed stays.
        """
        cancel = cancel or threading.Event()
        with closing(self._open_workshop(index, {}, cancel)) as workshop:
            yield from self._run(IngestRequest((), index.collection), (), index, workshop, cancel, switch=False)

    def _run(
        self,
        request: IngestRequest,
        sources: Sequence[Source],
        index: Index,
        workshop: Workshop,
        cancel: Cancel,
        *,
        switch: bool = True,
    ) -> Iterator[IngestProgress]:
        preparer = Preparer(self._corpus, index)
        uris = {uri_of(source.path) for source in sources}
        others = [state for state in self._incomplete(index) if state.uri not in uris]
        if others or not all(preparer.knows(source) for source in sources):
            self._start_embedder()
        meter = Meter(request.collection, len(sources) + len(others), [source.size for source in sources])

        chunks = ChunkEmbedder(self._corpus, self._embedder, index)

        def take_in(tasks: Iterator[Task]) -> Iterator[IngestProgress]:
            batches = workshop.results(tasks, cancel)
            prepared = ([preparer.prepared(*pair) for pair in batch] for batch in batches)
            return self._take_in(prepared, chunks, meter, cancel)

        try:
            yield from take_in(map(preparer.reading, sources))
            yield meter.progress(*self._settle_missing(request, index, sources, preparer.present))
            others = self._incomplete(index)
            meter.total = meter.done + len(others)
            yield from take_in(preparer.cutting(others))
            if switch and index.status != "current" and not self._incomplete(index):
                self._corpus.switch_index(index.id)
        except Cancelled:
            yield meter.last(cancelled=True)
        else:
            yield meter.last()

    def _without_gone(self, request: IngestRequest) -> Sequence[str]:
        """The given paths but those that are gone and held documents: what becomes of these ``on_missing`` says."""
        if request.on_missing == "keep" or request.collection not in self._corpus.collection_names():
            return request.paths
        uris = [document.uri for document in self._corpus.documents(request.collection) if document.uri]
        return [
            path
            for path in request.paths
            if not path or not is_gone(Path(path)) or not any(_lies_in(uri, [Path(uri_of(path))]) for uri in uris)
        ]

    def _open_workshop(self, index: Index, given: Metadata, cancel: Cancel) -> Workshop:
        setup = Setup(
            collection=index.collection,
            recipe=index.recipe,
            embedder=self._embedder.info,
            tokenizer=self._embedder.tokenizer,
            given=given,
            language=language(),
            time_limit_s=TIME_LIMIT_S,
        )
        return Workshop(setup, lambda texts: self._embedder.embed_passages(texts, cancel))

    def _start_embedder(self) -> None:
        """In a thread: its child loads the model while the first document is read and cut."""

        def start() -> None:
            with suppress(EngineError):  # asking it for a vector will raise the same, where it can be told
                self._embedder.start()

        threading.Thread(target=start, name="start embedder", daemon=True).start()

    def _open_index(self, request: IngestRequest) -> Index:
        """The index that documents go to; makes the collection when it is new."""
        found = {c.name: c for c in self._corpus.collections()}.get(request.collection)
        if found is None:
            recipe = request.recipe or recipe_from("structure")
            if self._embedder.info.pooling == SERVER_POOLING:  # there will be no token vectors to keep
                recipe = replace(recipe, token_vectors="none")  # noqa: S106 -- not a password
            found = self._corpus.create_collection(request.collection, recipe)
        elif request.recipe and request.recipe != found.recipe:
            if found.documents and not request.rechunk:
                raise _other_recipe(request.collection, found.recipe, request.recipe)
            found = self._corpus.set_recipe(found.name, request.recipe)
        return self._corpus.open_index(found.name, self._embedder.info, found.recipe)

    def _incomplete(self, index: Index) -> list[DocumentState]:
        states = self._corpus.document_states(index.collection, index.id)
        return [state for state in states.values() if not state.complete]

    def _take_in(
        self, batches: Iterator[list[Prepared]], chunks: ChunkEmbedder, meter: Meter, cancel: Cancel
    ) -> Iterator[IngestProgress]:
        """Embeds and stores, in order."""
        for batch in batches:
            if not batch and meter.due:
                yield meter.progress()
            for item in batch:
                meter.expect(len(item.pending))
            yield from self._embed_and_store(batch, chunks, meter, cancel)

    def _embed_and_store(
        self, batch: list[Prepared], chunks: ChunkEmbedder, meter: Meter, cancel: Cancel
    ) -> Iterator[IngestProgress]:
        """One stream for the whole batch: the child goes on embedding while a document is being committed."""
        texts = [chunk.indexed_text for item in batch for chunk in item.pending]
        embedded = chunks.embed(texts, cancel)
        for item in batch:
            if cancel.is_set():
                raise Cancelled
            meter.current = item.outcome.source_id
            vectors: dict[str, Vector] = {}
            tokens: dict[str, PackedTokens] = {}
            for chunk in item.pending:
                vectors[chunk.id], packed = next(embedded)
                if packed is not None:
                    tokens[chunk.id] = packed
                meter.embedded()
                if meter.due:
                    yield meter.progress()
            yield meter.finished(_store(item, vectors, tokens))

    def _settle_missing(
        self, request: IngestRequest, index: Index, sources: Sequence[Source], present: set[str]
    ) -> list[IngestOutcome]:
        """Retires or deletes documents that came from the given paths and aren't there any more.

        What lay in a folder that can't be listed now isn't known to be gone.
        """
        if request.on_missing == "keep":
            return []
        roots = [Path(uri_of(path)) for path in request.paths]
        closed = [Path(uri_of(source.path)) for source in sources if is_folder(source.path)]
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


def _store(item: Prepared, vectors: Mapping[str, Vector], tokens: Mapping[str, PackedTokens]) -> IngestOutcome:
    """Writes it, and what became of it. A vector that can't be stored is this document's failure alone."""
    try:
        if item.store:
            item.store(vectors, tokens)
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
