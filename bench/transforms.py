"""What transformations of the question bring on XQuAD, and what the second search of weak evidence costs.

- spelling: a seeded typo in one word of each question (never in a name or a number): R@1 before, with it, corrected.
- languages: half of the articles in English and half in Spanish; every question in one of them.
- split: two questions about different articles in one line: how often both paragraphs are among the first five.
- retry: 200 questions, half of them without their article: abstentions with no second search and with one.
- wordings: a model's other wordings (multi) and its imagined passage (hyde): R@1, R@5, what each costs a question.

Run: OPENBLAS_NUM_THREADS=1 python -m bench.transforms [spelling|languages|split|retry]…
     OPENBLAS_NUM_THREADS=1 python -m bench.transforms wordings MODEL.gguf
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench.answer_table import sample
from bench.xquad import COLLECTION, Question, corpus, load
from workbench import paths
from workbench.answers.ask import Asker
from workbench.engine.client import load_generator
from workbench.engine.gguf_header import read_header
from workbench.evals.measuring.statistics import wilson
from workbench.ports import Store
from workbench.queries.searching import search_transformed
from workbench.records.answers import AskOptions
from workbench.records.models import LoadSettings
from workbench.records.retrieval import SearchOptions, Transform
from workbench.retrieval.analysis import analyse, names_only
from workbench.retrieval.search import Searcher
from workbench.text.words import fold, words

EVERY: Final = 4
"""Each fourth question is asked: 298 a language."""
MODEL_EVERY: Final = 6
"""And each sixth of those where a model writes: 50 a language."""
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def ranking(store: Store, searcher: Searcher, text: str, transforms: tuple[Transform, ...]) -> list[str]:
    """Sources of the first hits."""
    options = SearchOptions(COLLECTION, k=10, transforms=transforms)
    return [view.source_id for view in search_transformed(store, searcher, None, text, options).hits]


def mistyped(question: str, chance: random.Random) -> str:
    """``question`` with one edit in one of its words of five letters and more."""
    analysis = analyse(question)
    names = set(names_only(analysis).terms)
    able = [w for w in words(question) if len(w) > 4 and w.isalpha() and fold(w) in set(analysis.terms) - names]
    if not able:
        return question
    word, kind = chance.choice(able), chance.randrange(4)
    at = chance.randrange(1, len(word) - 1)
    changed = {
        0: word[:at] + word[at + 1 :],
        1: word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        2: word[:at] + chance.choice(LETTERS) + word[at + 1 :],
        3: word[:at] + chance.choice(LETTERS) + word[at:],
    }[kind]
    return question.replace(word, changed, 1)


def told(name: str, hits: Sequence[bool]) -> str:
    """ "R@1 with the typo  .893 [.85, .92]"."""
    found = wilson(sum(hits) / len(hits), len(hits))
    return f"{name:34} {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]  n={len(hits)}"


def spelling() -> None:
    """R@1 of questions as they are, mistyped, and mistyped with the spelling corrected."""
    for language in ("en", "es"):
        paragraphs, questions = load(language)
        chance = random.Random(11)
        with corpus(paragraphs) as (store, searcher):
            asked = [(q, mistyped(q.text, chance)) for q in questions[::EVERY]]
            for name, text_of, transforms in _spellings():
                first = [ranking(store, searcher, text_of(q, wrong), transforms)[:1] for q, wrong in asked]
                right = [ids == [q.source_id] for ids, (q, _) in zip(first, asked, strict=True)]
                print(told(f"{language} spelling, {name}: R@1", right), flush=True)


def _spellings() -> Sequence[tuple[str, Callable[[Question, str], str], tuple[Transform, ...]]]:
    return (
        ("as asked", lambda q, wrong: q.text, ()),
        ("mistyped", lambda q, wrong: wrong, ()),
        ("mistyped, corrected", lambda q, wrong: wrong, ("spelling",)),
        ("as asked, corrected", lambda q, wrong: q.text, ("spelling",)),
    )


def languages() -> None:
    """R@1 and R@5 in a corpus that is half English and half Spanish, by whether the source is in another language."""
    english, spanish = load("en"), load("es")
    even = {q.source_id for q in english[1] if q.article % 2 == 0}
    mixed = {name: (english if name in even else spanish)[0][name] for name in english[0]}
    with corpus(mixed) as (store, searcher):
        for language, questions in (("en", english[1]), ("es", spanish[1])):
            for across in (False, True):
                asked = [q for q in questions[::EVERY] if ((q.source_id in even) == (language == "en")) != across]
                for transforms in ((), ("languages",)):
                    found = [ranking(store, searcher, q.text, transforms) for q in asked]
                    where = "other language" if across else "same language"
                    name = f"{language} {where}, {'by language' if transforms else 'plain'}"
                    for k in (1, 5):
                        right = [q.source_id in ids[:k] for q, ids in zip(asked, found, strict=True)]
                        print(told(f"{name}: R@{k}", right), flush=True)


def splitting() -> None:
    """How often both of two joined questions have their paragraph among the first five."""
    for language in ("en", "es"):
        paragraphs, questions = load(language)
        picked = random.Random(5).sample(questions, 300)
        pairs = [(a, b) for a, b in zip(picked[::2], picked[1::2], strict=True) if a.article != b.article]
        with corpus(paragraphs) as (store, searcher):
            for transforms in ((), ("split",)):
                found = [ranking(store, searcher, f"{a.text} {b.text}", transforms)[:5] for a, b in pairs]
                both = [{a.source_id, b.source_id} <= set(ids) for (a, b), ids in zip(pairs, found, strict=True)]
                name = "split" if transforms else "plain"
                print(told(f"{language} two questions, {name}: both in 5", both), flush=True)


def retry() -> None:
    """Abstentions with and without a second search, extractive, at the default τ."""
    for language in ("en", "es"):
        paragraphs, questions = load(language)
        kept = {q.source_id for q in questions if q.article % 2 == 0}
        asked = sample(questions)
        with corpus({name: text for name, text in paragraphs.items() if name in kept}) as (store, searcher):
            asker = Asker(store, searcher, lambda: None)
            for retries in (0, 1):
                options = AskOptions("extractive", retries=retries)
                silent = [_abstains(asker, q, options) for q in asked]
                for name, side in (("unanswerable", 1), ("answerable", 0)):
                    part = [s for s, q in zip(silent, asked, strict=True) if q.article % 2 == side]
                    print(told(f"{language} {retries} retries, {name}: abstains", part), flush=True)


def wordings(model: Path) -> None:
    """R@1 and R@5 as asked, with the model's other wordings and with its passage; tokens and seconds a question."""
    generator = load_generator(read_header(model), LoadSettings(context=2048))
    try:
        for language in ("en", "es"):
            paragraphs, questions = load(language)
            asked = questions[:: EVERY * MODEL_EVERY]
            with corpus(paragraphs) as (store, searcher):
                for transforms in ((), ("multi",), ("hyde",)):
                    started, options = time.perf_counter(), SearchOptions(COLLECTION, k=10, transforms=transforms)
                    found = [search_transformed(store, searcher, generator, q.text, options) for q in asked]
                    seconds = (time.perf_counter() - started) / len(asked)
                    done = [one for result in found for one in result.transforms]
                    cost = f"{sum(one.prompt_tokens + one.output_tokens for one in done) / len(asked):.0f} tokens"
                    name = f"{language} {model.stem[:18]} {transforms[0] if transforms else 'plain'}"
                    for k in (1, 5):
                        sources = [[view.source_id for view in result.hits[:k]] for result in found]
                        right = [q.source_id in ids for q, ids in zip(asked, sources, strict=True)]
                        print(told(f"{name}: R@{k}", right), f"{cost}, {seconds:.1f} s a question", flush=True)
    finally:
        generator.close()


def _abstains(asker: Asker, question: Question, options: AskOptions) -> bool:
    *_, last = asker.ask(question.text, options, SearchOptions(COLLECTION))
    assert last.answer is not None
    return last.answer.outcome == "low_support"


PARTS: Final = {"spelling": spelling, "languages": languages, "split": splitting, "retry": retry}


def main(arguments: Sequence[str]) -> None:
    """Prints the parts asked for, all of them by default."""
    paths.go_offline()
    match arguments:
        case ["wordings", model]:
            wordings(Path(model))
        case _:
            for name in arguments or PARTS:
                PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
