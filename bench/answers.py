"""Extractive answers and abstention on XQuAD, through the product, in English and Spanish.

First every fourth question, its article in the corpus: how often the known answer lies in the first sentence, and
in all that is quoted. Then 200 questions against a corpus without every second article, half of them about those left
out: correct and wrong abstentions at the default τ, and the τ that would separate best. Last the same 200 in the whole
corpus but for the one paragraph that answers: the article's others speak of the same things and don't say it. Nothing
is tuned to that one.

Run: python -m bench.answers [LANGUAGE]…
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench.xquad import COLLECTION, Question, corpus, load
from workbench import paths
from workbench.answers.ask import Asker
from workbench.answers.support import THRESHOLD
from workbench.records.answers import Answer, AskOptions
from workbench.records.retrieval import SearchOptions

SAMPLE = 200


def ask(asker: Asker, question: Question, threshold: float | None = None, expression: str = "") -> Answer:
    """The answer to one question."""
    search = SearchOptions(COLLECTION, filter=expression)
    *_, last = asker.ask(question.text, AskOptions("extractive", threshold=threshold), search)
    assert last.answer is not None
    return last.answer


def extraction(language: str, asker: Asker, questions: Sequence[Question]) -> str:
    """How often the known answer was quoted."""
    first = anywhere = quotes = characters = 0
    for question in questions:
        quoted = [claim.text for claim in ask(asker, question, threshold=0.0).claims]
        known = [" ".join(answer.split()) for answer in question.answers]
        first += any(answer in quoted[0] for answer in known)
        anywhere += any(answer in text for answer in known for text in quoted)
        quotes += len(quoted)
        characters += sum(map(len, quoted))
    n = len(questions)
    return (
        f"{language} extraction  n={n}  answer in first sentence {first / n:.3f}  in quoted text {anywhere / n:.3f}  "
        f"sentences {quotes / n:.2f}  characters {characters / n:.0f}"
    )


def abstention(language: str, asker: Asker, questions: Sequence[Question]) -> str:
    """How often τ decides rightly; questions of odd articles can't be answered."""
    supports = [(ask(asker, question).support, question.article % 2 == 0) for question in questions]
    answerable = sorted(s for s, known in supports if known)
    foreign = sorted(s for s, known in supports if not known)

    def rates(tau: float) -> tuple[float, float]:
        return sum(s < tau for s in foreign) / len(foreign), sum(s < tau for s in answerable) / len(answerable)

    best = max((s for s, _ in supports), key=lambda tau: rates(tau)[0] - rates(tau)[1])
    lines = [
        f"{language} abstention  n={len(supports)}  τ={tau:.2f} {name}  correct {right:.3f}  wrong {wrong:.3f}"
        for name, tau in (("default", THRESHOLD), ("best", best))
        for right, wrong in [rates(tau)]
    ]
    return "\n".join(lines)


def near_misses(language: str, asker: Asker, questions: Sequence[Question]) -> str:
    """How often it abstains when only the paragraph that answers is left out."""
    supports = [ask(asker, q, expression=f'source_id != "{q.source_id}"').support for q in questions]
    right = sum(s < THRESHOLD for s in supports) / len(supports)
    return f"{language} near misses n={len(supports)}  τ={THRESHOLD:.2f} default  correct {right:.3f}"


def main(languages: Sequence[str]) -> None:
    """Prints both."""
    paths.go_offline()
    for language in languages:
        paragraphs, questions = load(language)
        halves = [[q for q in questions if q.article % 2 == side] for side in (0, 1)]
        sample = [q for half in halves for q in half[:: len(half) * 2 // SAMPLE][: SAMPLE // 2]]
        with corpus(paragraphs) as (store, searcher):
            asker = Asker(store, searcher, lambda: None)
            print(extraction(language, asker, questions[::4]), flush=True)
            print(near_misses(language, asker, sample), flush=True)
        kept = {question.source_id for question in questions if question.article % 2 == 0}
        with corpus({name: text for name, text in paragraphs.items() if name in kept}) as (store, searcher):
            print(abstention(language, Asker(store, searcher, lambda: None), sample), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["en", "es"])
