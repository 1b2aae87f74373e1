"""What a source needs before it is embedded: is it known, has it changed, and into which chunks is it cut?"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from workbench.corpus.chunking import chunks_of
from workbench.corpus.identity import document_id
from workbench.corpus.metadata import merge, metadata_hash, sidecar
from workbench.corpus.parse import parse
from workbench.corpus.sources import Source
from workbench.errors import Cancelled, DocumentError, EngineError, WorkbenchError
from workbench.i18n import tr
from workbench.ports import Cancel, CorpusRepository, DocumentState, Embedder, Vector
from workbench.records.corpus import Chunk, Document, Index, IngestAction, IngestOutcome, Metadata, ParsedDocument
from workbench.text.language import detect


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source ready to be stored.

    Attributes:
        outcome: what will have become of it once it is stored.
        pending: its chunks that have no vector yet.
        store: writes it, given the vectors of ``pending`` by chunk id; None when nothing is to be written.
    """

    outcome: IngestOutcome
    pending: tuple[Chunk, ...] = ()
    store: Callable[[Mapping[str, Vector]], None] | None = None


def uri_of(path: Path | str) -> str:
    """Where a file is, the same however it was named; links are not resolved."""
    return os.path.abspath(path)  # noqa: PTH100 -- Path.absolute keeps "..", Path.resolve follows links


class Preparer:
    """Prepares the sources of one ingest, one after the other.

    Attributes:
        present: ids of the stored documents and new sources that were met.
    """

    def __init__(
        self, corpus: CorpusRepository, embedder: Embedder, index: Index, given: Metadata, cancel: Cancel
    ) -> None:
        self.present: set[str] = set()
        self._corpus, self._embedder, self._index = corpus, embedder, index
        self._given, self._cancel = given, cancel
        self._states = corpus.document_states(index.collection, index.id)
        self._by_uri: defaultdict[str, list[DocumentState]] = defaultdict(list)
        for state in self._states.values():
            self._by_uri[state.uri].append(state)
        self._claimed: dict[str, str] = {}
        self._embedder_starts = False

    def source(self, source: Source) -> Prepared:
        """A file. What goes wrong with it becomes its outcome.

        Raises:
            Cancelled: the work was stopped.
            EngineError: the embedder failed.
        """
        stored = self._by_uri.get(uri_of(source.path), ())
        self.present.update(state.source_id for state in stored)
        return self._guarded(source.source_id, lambda: self._source(source, stored))

    def stored(self, state: DocumentState) -> Prepared:
        """A document of the file that isn't complete in the index, cut again from its stored text. Raises as above."""
        return self._guarded(state.source_id, lambda: self._stored(state))

    def _guarded(self, source_id: str, prepare: Callable[[], Prepared]) -> Prepared:
        if self._cancel.is_set():
            raise Cancelled
        try:
            return prepare()
        except (Cancelled, EngineError):
            raise
        except WorkbenchError as error:
            return failed(source_id, error)
        except Exception as error:  # noqa: BLE001 -- whatever a parser trips over, the other documents go on
            return failed(source_id, _unexpected(error))

    def _source(self, source: Source, stored: Sequence[DocumentState]) -> Prepared:
        with source.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        beside = sidecar(source.path)
        given_hash = metadata_hash(merge({}, beside, self._given))
        for state in stored:
            if state.complete and (state.hash, state.metadata_hash) == (digest, given_hash):
                self._claim(state.source_id, source)
                return Prepared(self._unchanged(state))
        self._start_embedder()
        own_name = min(stored, key=lambda s: s.source_id != source.source_id).source_id if stored else source.source_id
        parsed = parse(source.path, own_name)
        metadata = merge(parsed.metadata, beside, self._given)
        source_id = str(metadata.get("source_id", own_name))
        self._claim(source_id, source)
        known = self._states.get(source_id)
        if known and known.complete and (known.hash, known.uri) == (digest, uri_of(source.path)):
            return self._metadata_only(known, metadata, given_hash)
        document = self._document(source, source_id, parsed, metadata, known)
        return self._cut(replace(document, hash=digest, metadata_hash=given_hash), parsed, known)

    def _unchanged(self, state: DocumentState) -> IngestOutcome:
        """Tells of a document that was retired here, not by its own metadata: it may have come back."""
        if state.status == "current" or "status" in self._corpus.document(state.document_id).metadata:
            return IngestOutcome(state.source_id, "unchanged")
        reason, remedy = tr("It is retired, so no question finds it."), tr("Restore it if it is valid again.")
        return IngestOutcome(state.source_id, "unchanged", reason=reason, remedy=remedy)

    def _claim(self, source_id: str, source: Source) -> None:
        """Takes the name for this file. Raises DocumentError when another file has it."""
        uri, known = uri_of(source.path), self._states.get(source_id)
        other = self._claimed.setdefault(source_id, uri)
        if other == uri and known and known.uri != uri and Path(known.uri).is_file():
            other = known.uri
        if other != uri:
            raise DocumentError(
                tr("The name is taken"),
                tr("“{name}” is already the name of {file}.", name=source_id, file=other),
                tr("Give one of them another source_id in its metadata, or ingest a folder that holds both."),
            )
        self.present.add(source_id)

    def _metadata_only(self, known: DocumentState, metadata: Metadata, given_hash: str) -> Prepared:
        return Prepared(
            IngestOutcome(known.source_id, "metadata"),
            store=lambda _: self._corpus.update_metadata(known.document_id, metadata, given_hash),
        )

    def _document(
        self, source: Source, source_id: str, parsed: ParsedDocument, metadata: Metadata, known: DocumentState | None
    ) -> Document:
        status = metadata.get("status") or (known.status if known else "current")
        return Document(
            id=document_id(self._index.collection, source_id),
            collection=self._index.collection,
            source_id=source_id,
            uri=uri_of(source.path),
            title=str(metadata.get("title") or parsed.title or source.path.stem),
            media_type=parsed.media_type,
            language=str(metadata.get("language") or detect(parsed.text)),
            status="retired" if status == "retired" else "current",
            hash="",
            metadata_hash="",
            characters=len(parsed.text),
            metadata=metadata,
            ingested=datetime.now(UTC),
            warnings=parsed.warnings,
        )

    def _stored(self, state: DocumentState) -> Prepared:
        self._start_embedder()
        document = self._corpus.document(state.document_id)
        return self._cut(document, self._corpus.parsed_document(state.document_id), state)

    def _start_embedder(self) -> None:
        """Once, in a thread: its child loads the model while the first document is parsed and cut."""

        def start() -> None:
            with suppress(EngineError):  # asking it for a vector will raise the same, where it can be told
                self._embedder.start()

        if not self._embedder_starts:
            self._embedder_starts = True
            threading.Thread(target=start, name="start embedder", daemon=True).start()

    def _cut(self, document: Document, parsed: ParsedDocument, known: DocumentState | None) -> Prepared:
        def similarity(texts: Sequence[str]) -> list[Vector]:
            return list(self._embedder.embed_passages(texts, self._cancel))

        info, tokenizer = self._embedder.info, self._embedder.tokenizer
        chunks = chunks_of(document, parsed, self._index.recipe, tokenizer, info, similarity=similarity)
        have = self._corpus.embedded_chunks(self._index.id, document.id) if known else frozenset()
        pending = tuple(chunk for chunk in chunks if chunk.id not in have)
        action: IngestAction = "updated" if known else "added"
        return Prepared(
            IngestOutcome(document.source_id, action, len(chunks), len(pending), reason=" ".join(parsed.warnings)),
            pending,
            lambda vectors: self._corpus.put_document(self._index, document, parsed, chunks, vectors),
        )


def failed(source_id: str, error: WorkbenchError) -> Prepared:
    """A source that can't be taken in, and why."""
    return Prepared(IngestOutcome(source_id, "failed", reason=error.message, remedy=error.remedy))


def _unexpected(error: Exception) -> DocumentError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
    return DocumentError(
        tr("Document can't be read"),
        tr("It can't be read: {reason}.", reason=reason),
        tr("Check that it opens in another program, or leave it out."),
    )
