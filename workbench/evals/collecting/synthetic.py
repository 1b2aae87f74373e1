"""Questions that the loaded model makes from chunks, and the queue in which a person accepts, edits or rejects them.

What a model asks about a passage measures the model as much as the system: nothing counts before someone said yes, and
questions from real use are worth more (after RAGAS's test set generation, Es et al., arXiv 2309.15217).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.answers.prompt import answer_language, neutral, plain
from workbench.errors import BudgetError
from workbench.evals.gold.anchors import anchor_chunk
from workbench.i18n import tr
from workbench.ports import Cancel, CorpusRepository, DatasetRepository, Generator
from workbench.records.answers import Generation, Message
from workbench.records.cases import Candidate, Case, Dataset
from workbench.records.corpus import Chunk
from workbench.records.models import GenerationSettings
from workbench.records.retrieval import AllOf, Comparison
from workbench.retrieval.filters import combine, format_filter, parse_filter
from workbench.text.language import detect
from workbench.text.words import fold, stems, words

TAG: Final = "synthetic"
_INSTRUCTIONS: Final = (
    "You write questions for a test of a search system. Write one question in English that the passage answers, as "
    "somebody would ask it who has never seen the passage. Name what you ask about; use your own words."
)
_FEWEST_TOKENS: Final = 24  # of a chunk that a question can be asked about
_MAX_TOKENS: Final = 64
_ALIKE: Final = 0.8  # shared stems over all stems: from here on two questions are one
_COPIED: Final = 0.7  # share of a question's words that stand in the passage in the same order, together
_COPIED_WORDS: Final = 5
_SELF: Final = re.compile(
    r"\b(?:passage|pasaje|fragmento|this text|este texto|the question|la pregunta)\b", re.IGNORECASE
)
# The question mark is the grammar's, so an output without one was cut. No line ends, no marks that a template reads.
_GRAMMAR: Final = r"""root ::= {opening}start body "?"
start ::= [^\[\]<>\n\r\t ?¿!¡.,:;"`]
body ::= [^\[\]<>\n\r\t?¿!¡"`]{{10,180}}
"""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of one chunk: a case, or why there is none.

    Attributes:
        origin: model, seed and chunk, for the candidate.
    """

    chunk_id: str
    text: str
    origin: str
    case: Case | None = None
    dropped: str = ""


class QuestionMaker:
    """Makes questions with one model, greedily: the same model and chunks give the same questions.

    Args:
        temperature: over 0, ``seed`` decides: for other questions about the same chunks.
        known: questions there are already; a new one that says the same is dropped.
    """

    def __init__(
        self, generator: Generator, *, temperature: float = 0.0, seed: int = 0, known: Iterable[str] = ()
    ) -> None:
        self._generator = generator
        self._temperature = temperature
        self._seed = seed
        self._known = [frozenset(stems(question, detect(question))) for question in known]

    def propose(self, chunks: Iterable[Chunk], cancel: Cancel | None = None) -> Iterator[Proposal]:
        """One proposal a chunk, as each is ready; stops where ``cancel`` is set.

        Raises:
            EngineError: the model is gone.
        """
        for number, chunk in enumerate(chunks):
            if cancel and cancel.is_set():
                return
            origin = f"{self._generator.model.file.name} · seed {self._seed + number} · {chunk.id}"
            try:
                generation = self._ask(chunk, self._seed + number, cancel)
            except BudgetError as error:
                yield Proposal(chunk.id, "", origin, dropped=error.message)
                continue
            if generation.state == "cancelled":
                return
            yield self._judge(chunk, " ".join(generation.text.split()), origin)

    def _ask(self, chunk: Chunk, seed: int, cancel: Cancel | None) -> Generation:
        language = answer_language(chunk.language)
        messages = (
            Message("system", tr(_INSTRUCTIONS, language)),
            Message("user", tr("Passage:\n{passage}\n\nOne question:", language, passage=_passage(chunk))),
        )
        generator = self._generator
        has_template = bool(generator.model.file.chat_template)
        prompt = generator.render(messages) if has_template else plain(messages, language)
        grammar = _GRAMMAR.format(opening='"¿" ' if language == "es" else "")
        settings = GenerationSettings(_MAX_TOKENS, self._temperature, seed=seed, grammar=grammar)
        *_, last = generator.generate(prompt, settings, cancel)
        return last

    def _judge(self, chunk: Chunk, text: str, origin: str) -> Proposal:
        dropped = self._reason(chunk, text)
        if dropped:
            return Proposal(chunk.id, text, origin, dropped=dropped)
        self._known.append(frozenset(stems(text, chunk.language)))
        digest = hashlib.sha256(f"{chunk.source_id}\n{text}".encode()).hexdigest()
        case = Case(
            id=f"syn-{digest[:10]}",
            question=text,
            gold=(anchor_chunk(chunk),),
            type="direct",
            language=chunk.language,
            tags=(TAG,),
        )
        return Proposal(chunk.id, text, origin, case)

    def _reason(self, chunk: Chunk, text: str) -> str:
        """Why a question is worth nobody's time, "" when it may be worth some."""
        asked = frozenset(stems(text, chunk.language))
        if not text.endswith("?"):
            return tr("it doesn't end in a question")
        if len(asked) < 2:
            return tr("it names nothing to look for")
        if _SELF.search(text):
            return tr("it speaks of the passage, which nobody who asks has seen")
        if _repeats(text):
            return tr("it repeats itself")
        if not asked & frozenset(stems(_passage(chunk), chunk.language)):
            return tr("it has no word of the passage")
        if copies(text, chunk.text):
            return tr("it copies the passage")
        alike = any(len(asked & other) >= _ALIKE * len(asked | other) for other in self._known)
        return tr("it says the same as another question") if alike else ""


class ReviewQueue:
    """The candidates of one dataset: a person decides, and ``join`` brings what was accepted into the dataset."""

    def __init__(self, datasets: DatasetRepository, dataset: str) -> None:
        self._datasets = datasets
        self._dataset = dataset

    def add(self, proposals: Iterable[Proposal]) -> tuple[Candidate, ...]:
        """Those of ``proposals`` that have a case, as waiting; one whose id is there already isn't added again."""
        there = {candidate.case.id for candidate in self._datasets.candidates(self._dataset)}
        fresh = {p.case.id: (p.case, p.origin) for p in proposals if p.case and p.case.id not in there}
        return self._datasets.add_candidates(self._dataset, list(fresh.values()))

    def keep(self, case: Case, origin: str) -> Candidate:
        """A case that a person saved outright: accepted as it is, and here to be edited or rejected later."""
        known = next((candidate for candidate in self.all() if candidate.case.id == case.id), None)
        made = known or self._datasets.add_candidates(self._dataset, [(case, origin)])[0]
        return self.accept(made.id, case)

    def all(self) -> tuple[Candidate, ...]:
        """Every candidate there was, in the order they came."""
        return self._datasets.candidates(self._dataset)

    def waiting(self) -> tuple[Candidate, ...]:
        """Nobody has decided on these."""
        return self._datasets.candidates(self._dataset, "waiting")

    def accept(self, candidate_id: int, edited: Case | None = None) -> Candidate:
        """It may join, as it is or as ``edited``. Raises NotFoundError."""
        return self._datasets.set_candidate(candidate_id, "accepted", edited)

    def reject(self, candidate_id: int) -> Candidate:
        """It stays out, and in the file, so that it isn't proposed again. Raises NotFoundError."""
        return self._datasets.set_candidate(candidate_id, "rejected")

    def undo(self, candidate_id: int) -> Candidate:
        """It waits again. Raises NotFoundError."""
        return self._datasets.set_candidate(candidate_id, "waiting")

    def restore(self, candidate: Candidate) -> Candidate:
        """State and case as ``candidate`` has them: takes a decision back, edited words too. Raises NotFoundError."""
        return self._datasets.set_candidate(candidate.id, candidate.state, candidate.case)

    def join(self, collection: str) -> Dataset | None:
        """Makes the dataset's next version: its cases without this queue's, then the accepted ones.

        One version for a whole sitting, and none when nothing changed. None when there is nothing to make one of.
        """
        queued = self._datasets.candidates(self._dataset)
        names = {candidate.case.id for candidate in queued}
        known = next((d for d in self._datasets.datasets() if d.name == self._dataset), None)
        kept = [case for case in self._datasets.cases(self._dataset) if case.id not in names] if known else []
        accepted = {c.case.id: c.case for c in queued if c.state == "accepted"}
        cases = [*kept, *accepted.values()]
        if not cases and known is None:
            return None
        asked = (known.collection if known else "") or collection  # one of model tasks alone asks about none yet
        return self._datasets.put(self._dataset, asked, cases)


def choose_chunks(corpus: CorpusRepository, collection: str, count: int, seed: int = 0) -> tuple[Chunk, ...]:
    """Up to ``count`` chunks of current documents, spread over them: no document twice before each had its turn.

    The order is a shuffle that depends on ``seed`` and on the chunks' ids alone. Chunks too short to ask about are left
    out. Raises NotFoundError for the collection.
    """
    documents = [d for d in corpus.documents(corpus.collection(collection).name) if d.status == "current"]
    turns: list[tuple[int, str, Chunk]] = []
    for document in documents:
        long_enough = [chunk for chunk in corpus.chunks(document.id) if chunk.tokens >= _FEWEST_TOKENS]
        shuffled = sorted(long_enough, key=lambda chunk: _shuffle(seed, chunk.id))
        turns += [(turn, _shuffle(seed, chunk.id), chunk) for turn, chunk in enumerate(shuffled)]
    return tuple(chunk for _, _, chunk in sorted(turns, key=lambda item: item[:2])[:count])


def unanswerable(case: Case) -> Case:
    """``case`` with its gold's documents left out by its filter: asked so, abstaining is right.

    The filter says ``source_id != "…"`` for each of them, in front of the case's own. Another document may hold the
    answer all the same, which is why these wait for a person too.

    Raises:
        ValueError: the case names no gold to leave out.
    """
    sources = dict.fromkeys(span.source_id for span in case.gold if span.grade)
    if not sources:
        raise ValueError("a case without gold has no document to leave out")
    without = AllOf(tuple(Comparison("source_id", "!=", name) for name in sources))
    return replace(
        case,
        id=f"{case.id}-without",
        answerable=False,
        gold=(),
        answers=(),
        citations=(),
        negatives=(),
        type="unanswerable",
        filter=format_filter(combine(without, parse_filter(case.filter))),
        tags=tuple(dict.fromkeys((*case.tags, TAG))),
        criterion=tr("Abstain: the documents that answer are left out.", answer_language(case.language)),
    )


def copies(question: str, passage: str) -> bool:
    """Most of the question stands in the passage word for word: it would test string search, and nothing else."""
    asked, said = [fold(word) for word in words(question)], [fold(word) for word in words(passage)]
    needed = max(_COPIED_WORDS, round(_COPIED * len(asked)))
    runs = {tuple(said[i : i + needed]) for i in range(len(said) - needed + 1)}
    return any(tuple(asked[i : i + needed]) in runs for i in range(len(asked) - needed + 1))


def proposals_without(cases: Sequence[Case]) -> tuple[Proposal, ...]:
    """``unanswerable`` of each answerable case with gold, as proposals for the queue."""
    asked = [case for case in cases if case.answerable and any(span.grade for span in case.gold)]
    return tuple(Proposal("", c.question, f"unanswerable · {c.id}", unanswerable(c)) for c in asked)


def _passage(chunk: Chunk) -> str:
    heading = " › ".join(chunk.heading)
    return neutral("\n".join(filter(None, (heading, chunk.indexed_text))))


def _repeats(text: str) -> bool:
    """Three words in a row stand in it twice, as when a small model gets stuck."""
    said = [fold(word) for word in words(text)]
    runs = [tuple(said[i : i + 3]) for i in range(len(said) - 2)]
    return len(set(runs)) < len(runs)


def _shuffle(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()
