"""The doctor: runs every check on a collection, and repairs what needs no decision."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final

from workbench.corpus.embedding import ChunkEmbedder
from workbench.corpus.ingest import Ingester
from workbench.corpus.sources import path_of
from workbench.errors import Cancelled, NotFoundError
from workbench.health import checks
from workbench.health.histograms import histograms
from workbench.health.near import near_duplicates
from workbench.i18n import language, tr
from workbench.ports import Cancel, Embedder, Store
from workbench.records.codec import decode, encode
from workbench.records.corpus import (
    Document,
    EmbedderInfo,
    Index,
    IngestAction,
    IngestOutcome,
    IngestProgress,
    IngestRequest,
)
from workbench.records.health import Health, HealthCheck, Repair, RepairProgress, SpaceMap

SAFE_REPAIRS: Final[tuple[Repair, ...]] = ("strays", "words", "recut", "embed", "ingest")
"""Repairs that lose nothing, in the order they are made; ``retire`` waits for a person's word."""

HEALTH_SETTING: Final = "health.{collection}"

_EMBEDDED: Final = 16
"""Chunks embedded and stored at a time by a repair."""


class Doctor:
    """The health of one file's collections. Long work iterates in a worker thread.

    Args:
        installed: the embedder that a collection's questions are embedded with, None when there is none.
        embedder: the same, able to embed. Raises MissingModelError.
        ingest: reads sources again.
    """

    def __init__(
        self,
        store: Store,
        installed: Callable[[str], EmbedderInfo | None],
        embedder: Callable[[str], Embedder],
        ingest: Callable[[IngestRequest, Cancel | None], Iterator[IngestProgress]],
    ) -> None:
        self._store = store
        self._installed = installed
        self._embedder = embedder
        self._ingest = ingest

    def examine(self, collection: str, cancel: Cancel | None = None) -> Iterator[Health]:
        """Every check in turn; the last ``Health`` is whole. Raises NotFoundError, Cancelled."""
        start = time.perf_counter()
        version = self._store.corpus.collection(collection).version
        patient = _Patient(self._store, collection, self._installed, cancel)
        health = Health(
            collection, (), (), 0, len(patient.steps), version=version, at=datetime.now(UTC), language=language()
        )
        for done, (title, step) in enumerate(patient.steps):
            yield replace(health, done=done, running=title)
            if cancel is not None and cancel.is_set():
                raise Cancelled
            health = replace(health, checks=(*health.checks, *step()))
        yield replace(
            health,
            histograms=histograms(patient.chunks, patient.documents),
            done=health.total,
            duration_ms=(time.perf_counter() - start) * 1000,
        )

    def keep(self, health: Health) -> None:
        """Remembers it as the collection's last examination."""
        self._store.settings.set(HEALTH_SETTING.format(collection=health.collection), json.dumps(encode(health)))

    def last(self, collection: str) -> Health | None:
        """The examination that was kept last, None where it was told in another language than the interface's.

        Another ``version`` than the collection's: something changed since.
        """
        kept = self._store.settings.get(HEALTH_SETTING.format(collection=collection))
        try:
            health = decode(Health, json.loads(kept)) if kept else None
        except (ValueError, TypeError, KeyError):
            return None  # written by another version of the program
        return health if health and health.language == language() else None

    def repair(
        self, health: Health, repair: Repair, cancel: Cancel | None = None, *, only: str = ""
    ) -> Iterator[RepairProgress]:
        """Makes a repair that checks of ``health`` propose; what is done is committed as it goes.

        Args:
            only: key of the check whose findings are meant, whatever it proposes; "" for all that propose it.

        Raises:
            NotFoundError: the collection has no index any more.
            MissingModelError, EngineError: the embedder that it needs isn't there, or failed.
            Cancelled: ``cancel`` was set.
        """
        wanted = [check for check in health.checks if (check.key == only if only else check.repair == repair)]
        index = _current(self._store, health.collection)
        match repair:
            case "words":
                yield RepairProgress(repair, 0, 1)
                self._store.health.rebuild_words(index.id)
                yield RepairProgress(repair, 1, 1, tr("The full-text table was made anew."), finished=True)
            case "strays":
                yield RepairProgress(repair, 0, 1)
                count = self._store.health.remove_strays(index.id)
                yield RepairProgress(repair, 1, 1, tr("Rows deleted: {count}.", count=count), finished=True)
            case "embed":
                yield from self._embed(index, cancel)
            case "recut":
                yield from self._cut_again(index, wanted, cancel)
            case "ingest":
                yield from self._read_again(health.collection, wanted, cancel)
            case "retire":
                ids = [finding.id for check in wanted for finding in check.findings]
                count = self._store.corpus.set_status(ids, "retired")
                yield RepairProgress(
                    repair, count, len(ids), tr("Documents retired: {count}.", count=count), finished=True
                )
            case "":
                return

    def space(self, cancel: Cancel | None = None) -> SpaceMap:
        """Where the file's bytes are. Raises Cancelled."""
        return self._store.health.space(cancel)

    def compact(self, tell: Callable[[str, int, int], None]) -> int:
        """Makes vector tables with gaps anew, then rewrites the file without free pages; returns the bytes given back.

        Args:
            tell: called with a collection's name, the vectors done and those there are; with "" while the file is
                rewritten.
        """
        before = self._store.path.stat().st_size
        for collection in self._store.corpus.collection_names():
            for index in self._store.corpus.indexes(collection):
                if index.status != "retired":
                    self._store.health.rebuild_vectors(index, partial(tell, collection))
        tell("", 0, 0)
        self._store.health.vacuum()
        return before - self._store.path.stat().st_size

    def _embed(self, index: Index, cancel: Cancel | None) -> Iterator[RepairProgress]:
        """Of all chunks without a vector or with a bad one, not only of those that a check still shows."""
        health = self._store.health
        ids = [
            *health.without_vector(index.id),
            *(name for name, _ in checks.bad_rows(health.vector_batches(index.id))),
        ]
        embedder = ChunkEmbedder(self._store.corpus, self._embedder(index.collection), index)
        for done in range(0, len(ids), _EMBEDDED):
            yield RepairProgress("embed", done, len(ids))
            chunks = self._store.corpus.chunks_by_id(ids[done : done + _EMBEDDED])
            found = list(embedder.embed([chunk.indexed_text for chunk in chunks], cancel or Cancel()))
            vectors = {chunk.id: vector for chunk, (vector, _) in zip(chunks, found, strict=True)}
            tokens = {chunk.id: packed for chunk, (_, packed) in zip(chunks, found, strict=True) if packed is not None}
            health.put_vectors(index, vectors, tokens)
        told = tr("Chunks embedded: {count}.", count=len(ids))
        yield RepairProgress("embed", len(ids), len(ids), told, finished=True)

    def _cut_again(
        self, index: Index, wanted: Sequence[HealthCheck], cancel: Cancel | None
    ) -> Iterator[RepairProgress]:
        """From the stored text, by the index's own recipe: a chunk of the same text and place stays the same chunk.

        What is interrupted is completed by the next ingest; until then the chunks that were there are found.
        """
        embedder = self._embedder(index.collection)
        self._store.health.mark_uncut(index.id, [finding.id for check in wanted for finding in check.findings])
        outcomes: list[IngestOutcome] = []
        for progress in Ingester(self._store.corpus, embedder).complete(index, cancel):
            outcomes += progress.outcomes
            if progress.cancelled:
                return
            yield RepairProgress("recut", progress.done, progress.total)
        told = tr(
            "Documents cut again: {count}. Chunks as they were: {kept}; new ones: {new}.",
            count=sum(outcome.action != "failed" for outcome in outcomes),
            kept=sum(outcome.chunks - outcome.embedded for outcome in outcomes),
            new=sum(outcome.embedded for outcome in outcomes),
        )
        failures = "".join(f" {outcome.source_id}: {outcome.reason}" for outcome in outcomes if outcome.reason)
        yield RepairProgress("recut", len(outcomes), len(outcomes), told + failures, finished=True)

    def _read_again(
        self, collection: str, wanted: Sequence[HealthCheck], cancel: Cancel | None
    ) -> Iterator[RepairProgress]:
        ids = [finding.id for check in wanted for finding in check.findings]
        sources = [self._store.corpus.document(name).uri for name in ids]
        paths = tuple(str(path) for path in map(path_of, sources) if path.is_file())
        became: Counter[IngestAction] = Counter()
        for progress in self._ingest(IngestRequest(paths, collection), cancel) if paths else ():
            became.update(outcome.action for outcome in progress.outcomes)
            yield RepairProgress("ingest", progress.done, progress.total)
        unchanged, gone = became["unchanged"], len(sources) - len(paths)
        told = [tr("Sources read again: {count}.", count=became.total() - unchanged)]
        if unchanged:
            told.append(tr("As they were: {count}; mend them first.", count=unchanged))
        if gone:
            told.append(tr("Sources gone: {count}. Retire or delete their documents.", count=gone))
        yield RepairProgress("ingest", len(paths), len(paths), " ".join(told), finished=True)


class _Patient:
    """A collection as it was when the examination began, and the steps of it, in order."""

    def __init__(
        self, store: Store, collection: str, installed: Callable[[str], EmbedderInfo | None], cancel: Cancel | None
    ) -> None:
        self._store, self._installed, self._cancel = store, installed, cancel
        self.index = _current(store, collection)
        self.documents = store.corpus.documents(collection)
        self.chunks = list(store.health.chunk_facts(self.index.id))
        self._by_id = {chunk.id: chunk for chunk in self.chunks}
        self._current = [document for document in self.documents if document.status == "current"]

    @property
    def steps(self) -> Sequence[tuple[str, Callable[[], list[HealthCheck]]]]:
        """Each with what to say while it runs."""
        by_id = {document.id: document for document in self.documents}
        searched = [chunk for chunk in self.chunks if chunk.status == "current"]
        return (
            (
                tr("chunks"),
                lambda: [
                    checks.truncated(searched, self.index.embedder),
                    checks.tiny(searched),
                    checks.copies(searched),
                    checks.mixed_languages(searched, by_id),
                ],
            ),
            (
                tr("documents"),
                lambda: [
                    checks.unread(self.documents),
                    checks.document_copies(self.documents),
                    checks.missing_metadata(self.documents),
                    checks.outside_validity(self.documents, date.today()),
                    checks.retired(self.documents),
                ],
            ),
            (tr("indexes"), self._indexed),
            (
                tr("vectors"),
                lambda: [checks.bad_vectors(self._store.health.vector_batches(self.index.id), self._by_id)],
            ),
            (tr("texts"), self._texts),
            (tr("near-duplicates"), self._near),
            (tr("sources on disk"), lambda: [checks.changed_sources(self._current, self._hashes())]),
        )

    def _indexed(self) -> list[HealthCheck]:
        health = self._store.health
        missing = health.without_vector(self.index.id), health.without_words(self.index.id)
        used = self._installed(self.index.collection)
        return [
            *checks.unindexed(*missing, self._by_id),
            checks.strays(self.index.collection, health.strays(self.index.id)),
            checks.foreign_embedder(self.index, used),
        ]

    def _texts(self) -> list[HealthCheck]:
        spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for chunk in self.chunks:
            spans[chunk.document_id].append((chunk.start, chunk.end))
        return [
            checks.coverage(self._read(), spans),
            checks.damaged_encoding(self._read()),
            checks.mixed_chunks(self._chunk_texts(), self._by_id),
        ]

    def _chunk_texts(self) -> Iterator[tuple[str, str]]:
        for found in self._store.health.chunk_texts(self.index.id):
            if self._cancel is not None and self._cancel.is_set():
                raise Cancelled
            yield found

    def _read(self) -> Iterator[tuple[Document, str]]:
        """The current documents with their texts; one that was deleted meanwhile is passed over."""
        for document in self._current:
            if self._cancel is not None and self._cancel.is_set():
                raise Cancelled
            try:
                yield document, self._store.corpus.document_text(document.id)
            except NotFoundError:
                continue

    def _near(self) -> list[HealthCheck]:
        found = {chunk.id for chunk in self.chunks if chunk.status == "current"}  # retired ones compete with nothing
        texts = self._firsts(one for one in self._store.health.chunk_texts(self.index.id) if one[0] in found)
        groups = near_duplicates(texts, self._told_elsewhere, self._cancel)
        return [checks.near(groups, self._by_id, len(found))]

    def _firsts(self, texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """One of each text: copies have a check of their own."""
        seen: set[str] = set()
        for name, text in texts:
            chunk = self._by_id.get(name)
            if chunk and chunk.hash not in seen:
                seen.add(chunk.hash)
                yield name, text

    def _told_elsewhere(self, a: str, b: str) -> bool:
        """Neighbours share what their recipe makes them share."""
        one, other = self._by_id[a], self._by_id[b]
        return one.document_id == other.document_id and one.start < other.end and other.start < one.end

    def _hashes(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for document in self._current:
            if self._cancel is not None and self._cancel.is_set():
                raise Cancelled
            if document.uri:
                found[document.id] = _file_hash(path_of(document.uri))
        return found


def _file_hash(path: Path) -> str | None:
    """SHA-256 of the file, None when it can't be read any more."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _current(store: Store, collection: str) -> Index:
    index = store.corpus.current_index(store.corpus.collection(collection).name)
    if index is None:
        raise NotFoundError(
            tr("Nothing to examine"),
            tr("“{name}” has no index yet.", name=collection),
            tr("Bring documents in: workbench ingest PATH"),
        )
    return index
