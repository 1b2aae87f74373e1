"""Gold spans and chunks: which chunks of an index hold a span, so that gold outlives every way of cutting documents.

The rule, in characters that aren't white space: a chunk holds a span when it covers at least half of the span, or the
span covers at least half of the chunk. Where no chunk of the document does (a span cut in many small parts), the one
that covers most of it does. A span without extent is its whole document: every chunk of it holds it, and the first
that is found counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.ports import CorpusRepository
from workbench.records.cases import GoldSpan
from workbench.records.corpus import Chunk, Document, Index

Loss: TypeAlias = Literal["not_in_collection", "outside_text", "retired"]

CENTRAL: Final = 3
_UNSEEN: Final = {ord(character): None for character in "\ufeff\u200b\u2060"}  # marks that copies gain and lose


@dataclass(frozen=True, slots=True)
class MissingGold:
    """A gold span that no query can find any more."""

    span: GoldSpan
    loss: Loss

    @property
    def reason(self) -> str:
        """In a sentence."""
        name = self.span.source_id
        match self.loss:
            case "not_in_collection":
                return tr("“{name}” is not in the collection", name=name)
            case "outside_text":
                return tr("“{name}” is shorter now: {start}–{end} lies outside of it", name=name,
                          start=self.span.start, end=self.span.end)  # fmt: skip
            case "retired":
                return tr("“{name}” is retired", name=name)


def is_whole(span: GoldSpan) -> bool:
    """The span stands for its whole document."""
    return span.start == span.end == 0


def grade_of(chunk: Chunk, gold: Iterable[GoldSpan], text: str = "") -> int:
    """The best grade among the gold that ``chunk`` holds, 0 for none.

    Args:
        text: the document's, which makes the count exact where a span goes on beyond the chunk; without it, what lies
            outside is taken to hold as much white space as the chunk.
    """
    return max((span.grade for span in gold if holds(chunk, span, text)), default=0)


def holds(chunk: Chunk, span: GoldSpan, text: str = "") -> bool:
    """Whether ``chunk`` holds ``span``, by the rule above; ``text`` as for ``grade_of``."""
    if chunk.source_id != span.source_id:
        return False
    if is_whole(span):
        return True
    inside = _shared(chunk, span)
    return inside > 0 and (2 * inside >= _weight_of(span, chunk, text) or 2 * inside >= _visible(chunk.text))


def anchor_chunk(chunk: Chunk, grade: int = CENTRAL) -> GoldSpan:
    """The chunk as gold: for saving what a query found as a case."""
    return GoldSpan(chunk.source_id, chunk.start, chunk.end, grade)


class Anchors:
    """The gold of a dataset in one index. Documents are read once, and kept while a run lasts."""

    def __init__(self, corpus: CorpusRepository, index: Index) -> None:
        self._corpus = corpus
        self._index = index
        self._holders: dict[GoldSpan, tuple[Chunk, ...]] = {}

    @cached_property
    def _documents(self) -> dict[str, Document]:
        return {document.source_id: document for document in self._corpus.documents(self._index.collection)}

    def holders(self, span: GoldSpan) -> tuple[Chunk, ...]:
        """The chunks that hold ``span``, in order of the text; none when its document isn't in the index."""
        if span not in self._holders:
            self._holders[span] = self._find(span)
        return self._holders[span]

    def held(self, chunk_id: str, gold: Sequence[GoldSpan]) -> tuple[int, ...]:
        """Which of ``gold`` the chunk holds, by position."""
        return tuple(i for i, span in enumerate(gold) if any(chunk.id == chunk_id for chunk in self.holders(span)))

    def grades(self, gold: Iterable[GoldSpan]) -> dict[str, int]:
        """Graded judgements of chunks: every chunk that holds gold, with the best grade it holds."""
        best: dict[str, int] = {}
        for span in gold:
            for chunk in self.holders(span):
                best[chunk.id] = max(span.grade, best.get(chunk.id, 0))
        return best

    def missing(self, gold: Iterable[GoldSpan]) -> tuple[MissingGold, ...]:
        """Spans that can't be found whatever is asked, and why."""
        found = ((span, loss_of(span, self._documents.get(span.source_id))) for span in gold)
        return tuple(MissingGold(span, loss) for span, loss in found if loss)

    def _find(self, span: GoldSpan) -> tuple[Chunk, ...]:
        document = self._documents.get(span.source_id)
        if document is None:
            return ()
        chunks = self._corpus.chunks(document.id, self._index.id)
        if is_whole(span):
            return chunks
        text = self._corpus.document_text(document.id)
        found = tuple(chunk for chunk in chunks if holds(chunk, span, text))
        if found:
            return found
        nearest = max(chunks, key=lambda chunk: _shared(chunk, span), default=None)
        return (nearest,) if nearest and _shared(nearest, span) else ()


def missing_gold(corpus: CorpusRepository, collection: str, gold: Iterable[GoldSpan]) -> tuple[MissingGold, ...]:
    """Spans of ``gold`` that no query to the collection can find, and why. Raises NotFoundError for the collection."""
    documents = {document.source_id: document for document in corpus.documents(corpus.collection(collection).name)}
    found = ((span, loss_of(span, documents.get(span.source_id))) for span in dict.fromkeys(gold))
    return tuple(MissingGold(span, loss) for span, loss in found if loss)


def lost_spans(corpus: CorpusRepository, collection: str, gold: Iterable[GoldSpan]) -> frozenset[GoldSpan]:
    """Those of ``gold`` that no query to the collection can find. Raises NotFoundError for the collection."""
    return frozenset(missing.span for missing in missing_gold(corpus, collection, gold))


def left_out_told(count: int) -> str:
    """So many questions aren't measured, as no search can find their gold."""
    return tr("{count} left out: their gold is gone from the collection, or retired", count=f"{count:,}")


def no_gold_left(dataset: str, collection: str) -> UsageError:
    """For questions of which nothing can be found any more."""
    return UsageError(
        tr("Nothing to measure"),
        tr("No gold of “{name}” is in “{collection}” any more.", name=dataset, collection=collection),
        tr("Ingest its documents again, or choose another dataset."),
    )


def loss_of(span: GoldSpan, document: Document | None) -> Loss | None:
    """Why ``span`` can't be found in its document, None when it can."""
    if document is None:
        return "not_in_collection"
    if span.end > document.characters:
        return "outside_text"
    return "retired" if document.status == "retired" else None


class Locator:
    """Finds where a passage stands in documents, whatever white space it was copied with.

    Args:
        documents: gives (source_id, text) of each; called at the first question only.
    """

    def __init__(self, documents: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self._read = documents

    @cached_property
    def _documents(self) -> list[tuple[str, str, str]]:
        return [(name, text, _bare(text)) for name, text in self._read()]

    def __call__(self, passage: str) -> GoldSpan | None:
        """The first document that holds all of ``passage``, and its span there; None when none does."""
        wanted = _bare(passage)
        if not wanted:
            return None
        for name, text, bare in self._documents:
            at = bare.find(wanted)
            if at >= 0:
                start, end = _places(text, at, at + len(wanted) - 1)
                return GoldSpan(name, start, end + 1)
        return None


def _places(text: str, *visible: int) -> list[int]:
    """Offsets in ``text`` of the characters that have these places in ``_bare(text)``; ``visible`` is in order."""
    found, seen, wanted = [], -1, list(visible)
    for offset, character in enumerate(text):
        seen += not character.isspace() and ord(character) not in _UNSEEN
        while wanted and seen == wanted[0]:
            found.append(offset)
            wanted.pop(0)
        if not wanted:
            break
    return found


def _bare(text: str) -> str:
    return "".join(text.split()).translate(_UNSEEN)


def _visible(text: str) -> int:
    return len(_bare(text))


def _shared(chunk: Chunk, span: GoldSpan) -> int:
    """Characters of the span in the chunk, white space left out."""
    start, end = max(chunk.start, span.start), min(chunk.end, span.end)
    return _visible(chunk.text[start - chunk.start : end - chunk.start]) if start < end else 0


def _weight_of(span: GoldSpan, chunk: Chunk, text: str) -> float:
    """Characters of the span, white space left out."""
    if text:
        return _visible(text[span.start : span.end])
    outside = max(0, chunk.start - span.start) + max(0, span.end - chunk.end)
    share = _visible(chunk.text) / len(chunk.text) if chunk.text else 1.0
    return _shared(chunk, span) + outside * share
