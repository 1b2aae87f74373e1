"""The context builder: which of the chunks that were found the model gets to see, and what became of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.errors import BudgetError
from workbench.i18n import amounts, tr
from workbench.ports import CorpusRepository
from workbench.records.answers import AskOptions, Context, Dropped, DropReason, Evidence, EvidenceOrder, Ledger
from workbench.records.corpus import Chunk
from workbench.records.retrieval import FusedHit
from workbench.text.words import fold, words

SHINGLE: Final = 5
"""Words per shingle for near-duplicates."""
NEAR_DUPLICATE: Final = 0.8
"""A chunk with this share of its shingles in one that is kept says nothing new."""

Shingles = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Budget:
    """What has to fit in the window together.

    Attributes:
        measure: tokens of a piece of evidence as the prompt shows it.
        window: n_ctx of the model; None when nothing limits it (no model).
        instructions, question: tokens of what stands around the evidence, the chat template's own included.
        reserve: tokens kept for the answer.
        tokenizer: whose tokens these are.
        most: tokens that the evidence may take at most, None for all that the window leaves.
        estimated, assumed: as ``Ledger`` has them.
    """

    measure: Callable[[Evidence], int]
    window: int | None
    instructions: int
    question: int
    reserve: int
    tokenizer: str
    most: int | None = None
    estimated: bool = False
    assumed: bool = False

    @property
    def room(self) -> float:
        """Tokens for the evidence."""
        taken = self.instructions + self.question + self.reserve
        left = float("inf") if self.window is None else self.window - taken
        return left if self.most is None else min(left, self.most)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a hit would deliver, without label and tokens, and what tells that it repeats another.

    Attributes:
        tokens: of the chunk by its index's embedder, 0 where a larger span is delivered in its place.
    """

    evidence: Evidence
    hash: str
    shingles: Shingles
    tokens: int = 0


def build_context(hits: Sequence[FusedHit], corpus: CorpusRepository, budget: Budget, options: AskOptions) -> Context:
    """As many pieces of evidence as asked for at most, best first, within the budget; other hits are in ``dropped``.

    A hit is a duplicate when its text is a kept one's, its span lies within a kept one of the same document (two chunks
    of one section deliver it once), or nearly all its word shingles do. Evidence is never cut: what doesn't fit is left
    out whole, and smaller evidence after it may still go in.

    Raises:
        BudgetError: not even one piece of evidence fits.
    """
    found = candidates([hit.chunk_id for hit in hits], corpus, parents=options.parents is not False)
    return fill(found, budget, options.evidence, duplicates=bool(options.duplicates))


def fill(offered: Iterable[Candidate], budget: Budget, limit: int, *, duplicates: bool = False) -> Context:
    """As ``build_context``, from candidates that are at hand already; ``duplicates``: they are kept too."""
    builder = _Builder(budget, limit, duplicates)
    for candidate in offered:
        builder.offer(candidate)
    return builder.context()


def ordered(evidence: Sequence[Evidence], order: EvidenceOrder) -> tuple[Evidence, ...]:
    """``evidence``, which is best first, as a prompt shows it; "edges": 1, 3, 5, 6, 4, 2, the worst in the middle."""
    if order == "best_first":
        return tuple(evidence)
    backwards = tuple(reversed(evidence))
    if order == "best_last":
        return backwards
    return (*evidence[::2], *reversed(evidence[1::2]))


def shingles(text: str) -> Shingles:
    """Every run of ``SHINGLE`` folded words of ``text``; of a shorter text, the whole."""
    folded = [fold(word) for word in words(text)]
    return frozenset(tuple(folded[i : i + SHINGLE]) for i in range(max(1, len(folded) - SHINGLE + 1)))


class _Builder:
    """Takes candidates best first and keeps the account."""

    def __init__(self, budget: Budget, limit: int, duplicates: bool) -> None:
        self._budget = budget
        self._limit = limit
        self._duplicates = duplicates
        self._kept: list[Candidate] = []
        self._dropped: list[Dropped] = []
        self._tokens = 0
        self._smallest = 0

    def offer(self, candidate: Candidate) -> None:
        evidence = candidate.evidence
        duplicate = "" if self._duplicates else self._duplicate_of(candidate)
        if duplicate:
            self._drop(evidence, "duplicate", duplicate)
        elif len(self._kept) >= self._limit:
            self._drop(evidence, "limit")
        else:
            self._keep(candidate)

    def context(self) -> Context:
        if not self._kept and self._smallest:
            self._refuse()
        budget = self._budget
        fixed = budget.instructions + budget.question + budget.reserve
        ledger = Ledger(
            instructions=budget.instructions,
            evidence=self._tokens,
            question=budget.question,
            reserve=budget.reserve,
            window=fixed + self._tokens if budget.window is None else budget.window,
            tokenizer=budget.tokenizer,
            estimated=budget.estimated,
            assumed=budget.assumed,
        )
        return Context(tuple(kept.evidence for kept in self._kept), tuple(self._dropped), ledger)

    def _keep(self, candidate: Candidate) -> None:
        evidence = replace(candidate.evidence, label=f"F{len(self._kept) + 1}")
        evidence = replace(evidence, tokens=self._budget.measure(evidence))
        if evidence.tokens > self._budget.room - self._tokens:
            self._smallest = min(self._smallest or evidence.tokens, evidence.tokens)
            self._drop(evidence, "budget")
            return
        self._tokens += evidence.tokens
        self._kept.append(replace(candidate, evidence=evidence))

    def _drop(self, evidence: Evidence, reason: DropReason, of: str = "") -> None:
        self._dropped.append(Dropped(evidence.chunk_id, evidence.source_id, reason, of))

    def _duplicate_of(self, candidate: Candidate) -> str:
        one, grams = candidate.evidence, candidate.shingles
        for kept in self._kept:
            other = kept.evidence
            within = one.document_id == other.document_id and other.start <= one.start and one.end <= other.end
            if candidate.hash == kept.hash or within or len(grams & kept.shingles) >= NEAR_DUPLICATE * len(grams):
                return other.label
        return ""

    def _refuse(self) -> None:
        budget = self._budget
        if budget.most is not None and (budget.window is None or budget.most < replace(budget, most=None).room):
            raise BudgetError(
                tr("The evidence does not fit"),
                tr(
                    "The evidence may take {tokens}, and the smallest piece needs {smallest}.",
                    tokens=amounts.tokens(budget.most),
                    smallest=self._smallest,
                ),
                tr("Allow the evidence more tokens, or cut smaller chunks."),
            )
        raise BudgetError(
            tr("The evidence does not fit"),
            tr(
                "The context has {window} tokens: {instructions} go to the instructions, {question} to the question, "
                "{reserve} are reserved for the answer, and the smallest piece of evidence needs {smallest}.",
                window=budget.window,
                instructions=budget.instructions,
                question=budget.question,
                reserve=budget.reserve,
                smallest=self._smallest,
            ),
            tr("Load the model with a larger context, reserve less for the answer, or cut smaller chunks."),
        )


def candidates(chunk_ids: Sequence[str], corpus: CorpusRepository, *, parents: bool = True) -> Iterable[Candidate]:
    """The chunks that are (still) there as candidates, in the order asked; the spans around them where there are some
    and ``parents`` are wanted.
    """
    titles: dict[str, str] = {}
    for chunk in corpus.chunks_by_id(chunk_ids):
        if chunk.document_id not in titles:
            titles[chunk.document_id] = corpus.document(chunk.document_id).title
        around = (chunk.parent_start, chunk.parent_end) if parents else (None, None)
        evidence = _evidence(chunk, titles[chunk.document_id], corpus, *around)
        tokens = chunk.tokens if (evidence.start, evidence.end) == (chunk.start, chunk.end) else 0
        yield Candidate(evidence, chunk.hash, shingles(evidence.text), tokens)


def _evidence(chunk: Chunk, title: str, corpus: CorpusRepository, first: int | None, last: int | None) -> Evidence:
    """Of the span from ``first`` to ``last``, where it is given, else of the chunk's own."""
    start, end, body = chunk.start, chunk.end, chunk.text
    if first is not None and last is not None:
        start, end = first, last
        body = corpus.document_text(chunk.document_id)[start:end]
    return Evidence(
        label="",
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        source_id=chunk.source_id,
        title=title,
        heading=chunk.heading,
        page=chunk.page,
        page_label=chunk.page_label,
        start=start,
        end=end,
        text=f"{chunk.header}\n{body}" if chunk.header else body,
        tokens=0,
        header=chunk.header,
        language=chunk.language,
    )
