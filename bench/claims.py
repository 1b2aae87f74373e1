"""The claim check on XQuAD: what it says of claims that a text says, and of those that it doesn't.

A claim is a question with its answer, or the sentence that has the answer. It is held against that sentence, or its
translation, and against another sentence of the same article; then against the whole paragraphs of both. Prints the
area under the ROC curve (AUC) of the words alone and with the meaning, and the shares that come out supported and at
least weak. "Other answer": the right sentence, and the answer of another question about its paragraph.

Then how many sentences are off topic of a question: those with its answer, others of the paragraph, of the article and
of other articles.

Run: OPENBLAS_NUM_THREADS=1 python -m bench.claims [EVERY [FIRST]]   (each second question from the first on; scales and
thresholds were chosen on those, "2 1" asks the others)
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bench.xquad import Question, load
from workbench import paths
from workbench.answers.claims import ClaimSupport, claim_support
from workbench.answers.meaning import Meaning, Vectors
from workbench.answers.relevance import OFF_TOPIC, Relevance
from workbench.answers.terms import Term, question_terms
from workbench.engine.embedding import open_embedder
from workbench.ports import Embedder
from workbench.records.answers import SupportLevel
from workbench.retrieval.analysis import analyse
from workbench.text.sentences import sentences
from workbench.text.words import stems

PAIRS: Final = (("en", "en"), ("es", "es"), ("es", "en"), ("en", "es"))
LANGUAGES: Final = ("en", "es")


@dataclass(frozen=True, slots=True)
class Half:
    """XQuAD in one language: paragraphs, their sentences, the questions, and in how many paragraphs each stem is."""

    language: str
    paragraphs: dict[str, str]
    sentences: dict[str, list[str]]
    questions: list[Question]
    frequency: Counter[str]

    def place(self, number: int) -> int | None:
        """Which sentence of its paragraph has the answer of a question; None when it isn't just one."""
        question = self.questions[number]
        found = [
            place
            for place, sentence in enumerate(self.sentences[question.source_id])
            if any(answer in sentence for answer in question.answers)
        ]
        return found[0] if len(found) == 1 else None

    def terms(self, question: str) -> tuple[Term, ...]:
        """The question's content words."""
        return question_terms(analyse(question), self.frequency, len(self.paragraphs))


def half(language: str) -> Half:
    """XQuAD in ``language``."""
    paragraphs, questions = load(language)
    cut = {name: [text[start:end] for start, end in sentences(text)] for name, text in paragraphs.items()}
    frequency = Counter(stem for text in paragraphs.values() for stem in set(stems(text, language)))
    return Half(language, paragraphs, cut, questions, frequency)


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, a text that says it, and one that doesn't say it, or doesn't say the other claim if there is one."""

    claim: str
    right: str
    wrong: str
    other: str = ""


class Bench:
    """Both halves, the questions asked, and an embedder."""

    def __init__(self, embedder: Embedder, every: int = 2, first: int = 0) -> None:
        self._halves = {language: half(language) for language in LANGUAGES}
        numbers = range(first, len(self._halves["en"].questions), every)
        self._numbers = [n for n in numbers if all(h.place(n) is not None for h in self._halves.values())]
        self._embedder = embedder
        self._vectors = Vectors(embedder.embed_passages)
        self._meaning = Meaning(embedder.info.name, lambda texts: [], self._vectors.between)

    def claims(self) -> Iterator[str]:
        """A line for each kind of pair."""
        columns = "AUC    supported: right / wrong  at least weak"
        yield f"{'claim → source':38} {'n':>4}  by words: {columns}; with the meaning: the same"
        for asked, source in PAIRS:
            for kind in ("sentence", "paragraph", "other answer"):
                yield self._line(f"{asked} question+answer → {source} {kind}", self._pairs(asked, source, kind))
            if asked != source:
                pairs = self._pairs(asked, source, "sentence", translated=True)
                yield self._line(f"{asked} sentence → {source} sentence", pairs)

    def _pairs(self, asked: str, source: str, kind: str, *, translated: bool = False) -> list[Pair]:
        mine, its = self._halves[asked], self._halves[source]
        rng, pairs = random.Random(4), []
        for number in self._numbers:
            question, name = mine.questions[number], its.questions[number].source_id
            place, at = its.place(number), mine.place(number)
            assert place is not None
            assert at is not None
            said = f"{question.text} {question.answers[0]}"
            claim = mine.sentences[question.source_id][at] if translated else said
            article = [other for other in its.paragraphs if other[:2] == name[:2]]
            if kind == "other answer":
                others = [
                    q.answers[0]
                    for q in mine.questions
                    if q.source_id == name and not any(q.answers[0] in a or a in q.answers[0] for a in question.answers)
                ]
                if others:
                    whole = its.paragraphs[name]
                    pairs.append(Pair(claim, whole, whole, f"{question.text} {rng.choice(others)}"))
            elif kind == "paragraph":
                others = [its.paragraphs[other] for other in article if other != name]
                if others:
                    pairs.append(Pair(claim, its.paragraphs[name], rng.choice(others)))
            else:
                right = its.sentences[name][place]
                others = [s for other in article for s in its.sentences[other] if s != right]
                pairs.append(Pair(claim, right, rng.choice(others)))
        return pairs

    def _line(self, name: str, pairs: Sequence[Pair]) -> str:
        told = "  ".join(
            f"{area(right, wrong):.3f}  {share(right, 'supported')} / {share(wrong, 'supported')}  "
            f"{share(right, 'supported', 'weak')} / {share(wrong, 'supported', 'weak'):6}"
            for right, wrong in (self._checked(pairs, None), self._checked(pairs, self._meaning))
        )
        return f"{name:38} {len(pairs):>4}  {told}"

    @staticmethod
    def _checked(pairs: Sequence[Pair], meaning: Meaning | None) -> tuple[list[ClaimSupport], list[ClaimSupport]]:
        return (
            [claim_support(pair.claim, pair.right, "", (), meaning) for pair in pairs],
            [claim_support(pair.other or pair.claim, pair.wrong, "", (), meaning) for pair in pairs],
        )

    def relevance(self) -> Iterator[str]:
        """Off topic, by how far a sentence is from the one that answers."""
        yield f"off topic (relevance < {OFF_TOPIC})   answers  same paragraph  same article  other article"
        for asked, source in PAIRS:
            yield f"{asked} question, {source} sentence {'':9}" + "  ".join(
                f"{sum(r < OFF_TOPIC for r in found) / len(found):>12.3f}" for found in self._distances(asked, source)
            )

    def _distances(self, asked: str, source: str) -> list[list[float]]:
        mine, its = self._halves[asked], self._halves[source]
        rng = random.Random(5)
        found: list[list[float]] = [[], [], [], []]
        for number in self._numbers:
            name, place = its.questions[number].source_id, its.place(number)
            groups: list[list[str]] = [[], [], [], []]
            for other, cut in its.sentences.items():
                for at, sentence in enumerate(cut):
                    far = 3 if other[:2] != name[:2] else 2 if other != name else 1 if at != place else 0
                    groups[far].append(sentence)
            relevance = self._relevance(mine, mine.questions[number].text)
            for at, group in enumerate(groups):
                if group:
                    found[at] += relevance.of([rng.choice(group)])
        return found

    def _relevance(self, mine: Half, question: str) -> Relevance:
        vector = self._embedder.embed_query(question)
        told = Meaning(self._embedder.info.name, lambda texts: [float(v @ vector) for v in self._vectors.of(texts)])
        return Relevance(mine.terms(question), mine.language, told)


def area(right: Sequence[ClaimSupport], wrong: Sequence[ClaimSupport]) -> float:
    """Under the ROC curve: how often a right one has the higher score, half for a tie (Fawcett 2006)."""
    pairs = len(right) * len(wrong)
    return sum((r.score > w.score) + (r.score == w.score) / 2 for r in right for w in wrong) / pairs


def share(found: Sequence[ClaimSupport], *levels: SupportLevel) -> str:
    """Of those that come out at one of the levels."""
    return f"{sum(one.level in levels for one in found) / len(found):.3f}"


def main(arguments: Sequence[str]) -> None:
    """Prints both tables."""
    paths.go_offline()
    embedder = open_embedder(paths.embedders_folder() / paths.STARTER_EMBEDDER)
    try:
        bench = Bench(embedder, *map(int, arguments))
        for lines in (bench.claims(), bench.relevance()):
            for line in lines:
                print(line, flush=True)
    finally:
        embedder.close()


if __name__ == "__main__":
    main(sys.argv[1:])
