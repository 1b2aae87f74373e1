"""Reading and cutting one source, away from the file that stores it: this is what ingest's child process does."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

from workbench.corpus.chunking import chunks_of
from workbench.corpus.chunking.losses import damage, lost_headers, truncation
from workbench.corpus.chunking.material import Similarity
from workbench.corpus.identity import document_id
from workbench.corpus.metadata import merge, metadata_hash, sidecar
from workbench.corpus.parse import check_readable, parse
from workbench.corpus.sources import written
from workbench.corpus.tasks import Cut, Described, ReadFile, Refused, Result, Setup, Task, Unchanged
from workbench.errors import DocumentError, WorkbenchError, reason_of
from workbench.i18n import tr
from workbench.records.corpus import Document, Metadata, ParsedDocument
from workbench.text.language import detect


class Cutter:
    """Does the tasks of one ingest, one after the other.

    Args:
        similarity: gives the semantic recipe the vectors of its sentences.
    """

    def __init__(self, setup: Setup, similarity: Similarity) -> None:
        self._setup = setup
        self._similarity = similarity

    def do(self, task: Task) -> Result:
        """What becomes of it. Raises nothing: whatever a parser trips over, the other documents go on."""
        try:
            return self._read(task) if isinstance(task, ReadFile) else self._cut(task.document, task.parsed)
        except WorkbenchError as error:
            return Refused(error.message, error.remedy)
        except Exception as error:  # noqa: BLE001 -- see above
            unexpected = _unexpected(error)
            return Refused(unexpected.message, unexpected.remedy)

    def _read(self, task: ReadFile) -> Result:
        check_readable(task.path)
        with task.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        beside = sidecar(task.path)
        given = {key: value for key, value in {**task.given, **self._setup.given}.items() if value != ""}
        given_hash = metadata_hash(merge({}, beside, given))
        known = [state for state in task.stored if state.complete and state.hash == digest]
        for state in known:
            if state.metadata_hash == given_hash and state.given == given:
                return Unchanged(state)
        parsed = parse(task.path, task.source_id)
        metadata = merge(parsed.metadata, beside, given)
        source_id = str(metadata.get("source_id", task.source_id))
        for state in known:
            if state.source_id == source_id:
                return Described(state, metadata, given_hash, given)
        document = self._document(task, source_id, parsed, metadata, digest, given_hash, given)
        return self._cut(document, parsed)

    def _document(
        self,
        task: ReadFile,
        source_id: str,
        parsed: ParsedDocument,
        metadata: Metadata,
        digest: str,
        given_hash: str,
        given: Metadata,
    ) -> Document:
        return Document(
            id=document_id(self._setup.collection, source_id),
            collection=self._setup.collection,
            source_id=source_id,
            uri=task.uri,
            title=str(metadata.get("title") or parsed.title or written(task.path.stem)),
            media_type=parsed.media_type,
            language=str(metadata.get("language") or detect(parsed.text)),
            status="retired" if metadata.get("status") == "retired" else "current",
            hash=digest,
            metadata_hash=given_hash,
            characters=len(parsed.text),
            metadata=metadata,
            ingested=datetime.now(UTC),
            given=given,
        )

    def _cut(self, document: Document, parsed: ParsedDocument) -> Cut:
        setup = self._setup
        chunks = chunks_of(document, parsed, setup.recipe, setup.tokenizer, setup.embedder, similarity=self._similarity)
        warnings = tuple(filter(None, (*parsed.warnings, lost_headers(parsed, chunks))))
        told = " ".join(filter(None, (truncation(chunks, setup.embedder), damage(parsed.text))))
        return Cut(replace(document, warnings=warnings), parsed, chunks, told)


def _unexpected(error: Exception) -> DocumentError:
    reason = reason_of(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
    return DocumentError(
        tr("Document can't be read"),
        tr("It can't be read: {reason}.", reason=reason),
        tr("Check that it opens in another program, or leave it out."),
    )
