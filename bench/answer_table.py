"""Who answers how well: extractive quotes and models under the grammar, on XQuAD in English and Spanish.

200 questions a language, half of them with their article left out of the corpus. Every answer is a line of a log, so
that a run goes on where it was stopped, and questions come in an order in which any beginning of it is a fair sample.
The table counts what the log holds: answer F1 and inclusion (of questions that can be answered), citation precision
(citations of the paragraph that has the answer ÷ all citations of those answers), correct abstention and unsupported
answers (÷ questions that can't be answered), answers none of whose sentences its citations say (÷ answers), claims that
don't concern the question (÷ claims).

Run: python -m bench.answer_table LOG [NAME=MODEL.gguf]…   (asks what is missing, then prints; "extractive" always runs)
     python -m bench.answer_table LOG --print
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from bench.xquad import COLLECTION, WHOLE, Question, load
from storage import open_store
from workbench import paths
from workbench.answers.ask import Asker
from workbench.corpus.ingest import Ingester
from workbench.engine.client import load_generator
from workbench.engine.embedding import open_embedder
from workbench.engine.gguf_header import read_header
from workbench.evals.measuring.statistics import wilson
from workbench.evals.metrics.answers import abstained, answer_correctness, token_f1
from workbench.ports import Embedder, Generator, Store
from workbench.records.answers import AskOptions, Generation, Trace
from workbench.records.corpus import IngestRequest
from workbench.records.models import LoadSettings
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

LANGUAGES: Final = ("en", "es")
SAMPLE: Final = 200
BLOCK: Final = 20
"""Questions that one system answers before the next has its turn."""
OPTIONS: Final = AskOptions(evidence=3, max_output=96)


def sample(questions: Sequence[Question]) -> list[Question]:
    """``SAMPLE`` questions, of even and of odd articles in turn; the same ones each time."""
    halves = [[q for q in questions if q.article % 2 == side] for side in (0, 1)]
    picked = [random.Random(7).sample(half, SAMPLE // 2) for half in halves]
    return [question for pair in zip(*picked, strict=True) for question in pair]


@contextmanager
def half_corpus(language: str, questions: Sequence[Question], embedder: Embedder) -> Iterator[Store]:
    """A file with the paragraphs of the even articles."""
    kept = {question.source_id for question in questions if question.article % 2 == 0}
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder, "documents")
        documents.mkdir()
        for name, text in load(language)[0].items():
            if name in kept:
                documents.joinpath(name).write_text(text, "utf-8")
        store = open_store(Path(folder, "half.db"))
        try:
            for _ in Ingester(store.corpus, embedder).run(IngestRequest((str(documents),), COLLECTION, recipe=WHOLE)):
                pass
            yield store
        finally:
            store.close()


def entry(language: str, system: str, number: int, question: Question, trace: Trace, seconds: float) -> dict[str, Any]:
    """A line of the log: all that the table's figures are made of."""
    answer, span = trace.answer, trace.span("generation")
    assert answer is not None
    output = span.output if span and isinstance(span.output, Generation) else None
    return {
        "language": language,
        "system": system,
        "number": number,
        "answerable": question.article % 2 == 0,
        "question": question.text,
        "golds": question.answers,
        "outcome": answer.outcome,
        "mode": answer.mode,
        "support": answer.support,
        "text": answer.text,
        "claims": [
            {"text": c.text, "support": c.support, "level": c.level, "relevance": c.relevance, "off_topic": c.off_topic}
            for c in answer.claims
        ],
        "cited": [citation.source_id == question.source_id for c in answer.claims for citation in c.citations],
        "removed": answer.removed,
        "tokens": output.output_tokens if output else 0,
        "seconds": round(seconds, 2),
    }


def run(log: Path, models: Mapping[str, Path]) -> None:
    """Asks what the log hasn't got, a block of questions of each language and system in turn."""
    done = {(e["language"], e["system"], e["number"]) for e in read(log)}
    asked = {language: sample(load(language)[1]) for language in LANGUAGES}
    embedder = open_embedder(paths.embedders_folder() / paths.STARTER_EMBEDDER)
    with ExitStack() as stack:
        stack.callback(embedder.close)
        stores = {
            language: stack.enter_context(half_corpus(language, load(language)[1], embedder)) for language in LANGUAGES
        }
        for begin in range(0, SAMPLE, BLOCK):
            for system in ("extractive", *models):
                with loaded(models.get(system)) as generator:
                    for language in LANGUAGES:
                        asker = Asker(stores[language], Searcher(stores[language], embedder), lambda: generator)
                        for number in range(begin, begin + BLOCK):
                            if (language, system, number) not in done:
                                one(log, asker, language, system, number, asked[language][number])


@contextmanager
def loaded(model: Path | None) -> Iterator[Generator | None]:
    """The model, in its process; None for no model."""
    if model is None:
        yield None
        return
    generator = load_generator(read_header(model), LoadSettings(context=4096))
    try:
        yield generator
    finally:
        generator.close()


def one(log: Path, asker: Asker, language: str, system: str, number: int, question: Question) -> None:
    """Asks one question and logs its answer."""
    started = time.perf_counter()
    *_, last = asker.ask(question.text, OPTIONS, SearchOptions(COLLECTION))
    told = entry(language, system, number, question, last, time.perf_counter() - started)
    with log.open("a", encoding="utf-8") as out:
        out.write(json.dumps(told, ensure_ascii=False) + "\n")


def read(log: Path) -> list[dict[str, Any]]:
    """What was asked so far."""
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def table(entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each language and system, shares with their 95 % Wilson intervals."""
    names = (
        "F1",
        "inclusion",
        "citation precision",
        "correct abstention",
        "unsupported answers",
        "nothing backs it",
        "claims off topic",
    )
    yield f"{'':18} {'n':>7}  " + "  ".join(f"{name:>19}" for name in names)
    for language in LANGUAGES:
        for system in dict.fromkeys(e["system"] for e in entries):
            of = [e for e in entries if (e["language"], e["system"]) == (language, system)]
            if of:
                known = sum(e["answerable"] for e in of)
                told = "  ".join(f"{figure:>19}" for figure in figures(language, of))
                yield f"{language} {system:15} {known:>3}+{len(of) - known:<3}  {told}"


def figures(language: str, of: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The seven figures of one row."""
    known = [e for e in of if e["answerable"]]
    unknown = [e for e in of if not e["answerable"]]
    spoken = [e for e in of if abstained(e["outcome"]) is False]
    texts = ["\n".join(c["text"] for c in e["claims"]) if e in spoken else "" for e in known]
    f1 = [token_f1(text, e["golds"], language) or 0.0 for text, e in zip(texts, known, strict=True)]
    included = sum(
        answer_correctness(text, e["golds"], language) == 1.0 for text, e in zip(texts, known, strict=True) if text
    )
    cited = [right for e in known if e in spoken for right in e["cited"]]
    silent = sum(bool(abstained(e["outcome"])) for e in unknown)
    baseless = sum(all(c["level"] in ("unsupported", "uncited") for c in e["claims"]) for e in spoken)
    yield f"{sum(f1) / len(f1):.3f}" if f1 else "–"
    yield share(included, len(known))
    yield share(sum(cited), len(cited))
    yield share(silent, len(unknown))
    yield share(sum(abstained(e["outcome"]) is False for e in unknown), len(unknown))
    yield share(baseless, len(spoken))
    claims = [claim for e in spoken for claim in e["claims"]]
    yield share(sum(claim["off_topic"] for claim in claims), len(claims))


def share(part: int, whole: int) -> str:
    """ ".870 [.79, .92]"."""
    if not whole:
        return "–"
    found = wilson(part / whole, whole)
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]"


def main(arguments: Sequence[str]) -> None:
    """Runs what is missing, and prints the table."""
    paths.go_offline()
    log, *rest = arguments
    if "--print" not in rest:
        run(Path(log), {name: Path(path) for name, _, path in (argument.partition("=") for argument in rest)})
    print("\n".join(table(read(Path(log)))))


if __name__ == "__main__":
    main(sys.argv[1:])
