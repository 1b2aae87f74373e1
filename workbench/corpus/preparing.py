"""Between the stored and the read: which tasks an ingest gives its child, and what becomes of their results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.corpus.metadata import kind_of, other_kind
from workbench.corpus.sources import Source, path_of, uri_of
from workbench.corpus.tasks import Cut, CutStored, Described, ReadFile, Refused, Result, Task, Unchanged
from workbench.errors import DocumentError, EngineError, NotFoundError, WorkbenchError
from workbench.i18n import tr
from workbench.ports import CorpusRepository, DocumentState, PackedTokens, Vector
from workbench.records.corpus import Chunk, Index, IngestAction, IngestOutcome, Metadata


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source ready to be stored.

    Attributes:
        outcome: what will have become of it once it is stored.
        pending: its chunks that have no vector yet.
        store: writes it, given the vectors and token vectors of ``pending`` by chunk id; None when nothing is to be
            written.
    """

    outcome: IngestOutcome
    pending: tuple[Chunk, ...] = ()
    store: Callable[[Mapping[str, Vector], Mapping[str, PackedTokens]], None] | None = None


class Preparer:
    """Knows what is stored in the index of one ingest.

    Attributes:
        present: ids of the stored documents and new sources that were met.
    """

    def __init__(self, corpus: CorpusRepository, index: Index) -> None:
        self.present: set[str] = set()
        self._corpus, self._index = corpus, index
        self._states = corpus.document_states(index.collection, index.id)
        self._by_uri: defaultdict[str, list[DocumentState]] = defaultdict(list)
        for state in self._states.values():
            self._by_uri[state.uri].append(state)
        self._claimed: dict[str, str] = {}
        self._kinds = {name: set(kinds) for name, kinds in corpus.field_kinds(index.collection).items()}

    def knows(self, source: Source) -> bool:
        """Something of that file is stored."""
        return uri_of(source.path) in self._by_uri

    def reading(self, source: Source) -> ReadFile:
        """The task to read a file."""
        uri = uri_of(source.path)
        stored = tuple(self._by_uri.get(uri, ()))
        self.present.update(state.source_id for state in stored)
        names = [state.source_id for state in stored]
        own_name = source.source_id if source.source_id in names or not names else names[0]
        known = stored[0] if stored else self._states.get(own_name)
        return ReadFile(source.path, uri, own_name, stored, known.given if known else {})

    def cutting(self, states: Sequence[DocumentState]) -> Iterator[CutStored]:
        """The tasks to cut documents again from their stored text; one that was deleted meanwhile is passed over."""
        for state in states:
            try:
                document, parsed = (
                    self._corpus.document(state.document_id),
                    self._corpus.parsed_document(state.document_id),
                )
            except NotFoundError:
                continue
            yield CutStored(document, parsed)

    def prepared(self, task: Task, result: Result) -> Prepared:
        """What is to be stored of a result. Raises EngineError when the file that stores it fails."""
        try:
            match result:
                case Unchanged():
                    return self._replacing(task, self._unchanged(task, result.state))
                case Described():
                    return self._replacing(task, self._described(task, result))
                case Cut():
                    return self._replacing(task, self._cut(task, result))
                case Refused():
                    return Prepared(IngestOutcome(task.source_id, "failed", 0, 0, result.reason, result.remedy))
        except EngineError:
            raise
        except WorkbenchError as error:
            return failed(task.source_id, error)

    def _unchanged(self, task: Task, state: DocumentState) -> Prepared:
        """Tells of a document that was retired here, not by its own metadata: it may have come back."""
        self._claim(state.source_id, task)
        if state.status == "current" or "status" in self._corpus.document(state.document_id).metadata:
            return Prepared(IngestOutcome(state.source_id, "unchanged"))
        reason, remedy = tr("It is retired, so no question finds it."), tr("Restore it if it is valid again.")
        return Prepared(IngestOutcome(state.source_id, "unchanged", reason=reason, remedy=remedy))

    def _described(self, task: Task, result: Described) -> Prepared:
        state = result.state
        self._claim(state.source_id, task)
        return Prepared(
            IngestOutcome(state.source_id, "metadata", reason=self._new_kinds(result.metadata)),
            store=lambda *_: self._corpus.update_metadata(
                state.document_id, result.metadata, result.metadata_hash, result.given
            ),
        )

    def _cut(self, task: Task, result: Cut) -> Prepared:
        document, parsed, chunks = result.document, result.parsed, result.chunks
        self._claim(document.source_id, task)
        known = self._states.get(document.source_id)
        if known and "status" not in document.metadata:
            document = replace(document, status=known.status)
        have = self._corpus.embedded_chunks(self._index.id, document.id) if known else frozenset()
        pending = tuple(chunk for chunk in chunks if chunk.id not in have)
        action: IngestAction = "updated" if known else "added"
        told = (*document.warnings, result.told, self._new_kinds(document.metadata))
        return Prepared(
            IngestOutcome(document.source_id, action, len(chunks), len(pending), reason=" ".join(filter(None, told))),
            pending,
            lambda vectors, tokens: self._corpus.put_document(self._index, document, parsed, chunks, vectors, tokens),
        )

    def _new_kinds(self, metadata: Metadata) -> str:
        """A warning where a field has a type here that it had in no document before, else ""."""
        told: list[str] = []
        for field, value in metadata.items():
            known = self._kinds.setdefault(field, set())
            told.append(other_kind(field, value, known))
            known.add(kind_of(value))
        return " ".join(filter(None, told))

    def _replacing(self, task: Task, item: Prepared) -> Prepared:
        """A file is one document: what it was under another name goes once it is stored under this one."""
        stored = task.stored if isinstance(task, ReadFile) else ()
        before = [state for state in stored if state.source_id != item.outcome.source_id]
        if not before:
            return item

        def store(vectors: Mapping[str, Vector], tokens: Mapping[str, PackedTokens]) -> None:
            if item.store:
                item.store(vectors, tokens)
            self._corpus.delete_documents([state.document_id for state in before])

        told = tr("It replaces {names}.", names=", ".join(f"“{state.source_id}”" for state in before))
        outcome = replace(item.outcome, reason=f"{item.outcome.reason} {told}".strip())
        return replace(item, outcome=outcome, store=store)

    def _claim(self, source_id: str, task: Task) -> None:
        """Takes the name for a file. Raises DocumentError when another file has it."""
        if not isinstance(task, ReadFile):
            return
        known = self._states.get(source_id)
        other = self._claimed.setdefault(source_id, task.uri)
        if other == task.uri and known and known.uri != task.uri and path_of(known.uri).is_file():
            other = known.uri
        if other != task.uri:
            raise DocumentError(
                tr("The name is taken"),
                tr("“{name}” is already the name of {file}.", name=source_id, file=other),
                tr("Give one of them another source_id in its metadata, or ingest a folder that holds both."),
            )
        self.present.add(source_id)


def failed(source_id: str, error: WorkbenchError) -> Prepared:
    """A source that can't be taken in, and why."""
    return Prepared(IngestOutcome(source_id, "failed", reason=error.message, remedy=error.remedy))
