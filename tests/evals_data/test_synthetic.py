"""Questions made by a model: anchored, deduplicated, and worth nothing before a person said yes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from tests.answers.fake_generator import FakeGenerator
from tests.library import NAME, open_library
from workbench import paths
from workbench.engine.client import load_generator
from workbench.engine.gguf_header import read_header
from workbench.errors import NotFoundError, UsageError
from workbench.evals.collecting.synthetic import (
    Proposal,
    QuestionMaker,
    ReviewQueue,
    choose_chunks,
    copies,
    proposals_without,
    unanswerable,
)
from workbench.evals.lab import EvalLab
from workbench.evals.running.runner import Runtimes
from workbench.ports import Cancel, Generator, Store
from workbench.records.answers import Generation
from workbench.records.cases import Case, Expectation, GoldSpan
from workbench.records.corpus import Chunk
from workbench.records.models import GenerationSettings, LoadSettings
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.filters import parse_filter
from workbench.retrieval.search import Searcher


class Says(FakeGenerator):
    """Gives the next of ``texts`` at each question."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__("")
        self.texts = iter(texts)

    def generate(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None = None) -> Iterator[Generation]:
        self._text = next(self.texts)
        return super().generate(prompt, settings, cancel)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = open_library(tmp_path_factory.mktemp("library"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def chunks(store: Store) -> tuple[Chunk, ...]:
    found = choose_chunks(store.corpus, NAME, 10)
    assert len(found) >= 3
    return found


def test_a_question_is_anchored_to_the_span_of_its_chunk(chunks: tuple[Chunk, ...]) -> None:
    generator = Says(["What does a student pay for enrolment?"])
    (proposal,) = QuestionMaker(generator, seed=5).propose(chunks[:1])
    assert proposal.case
    assert proposal.case.gold == (GoldSpan(chunks[0].source_id, chunks[0].start, chunks[0].end, 3),)
    assert (proposal.case.tags, proposal.case.language) == (("synthetic",), chunks[0].language)
    assert proposal.origin == f"fake · seed 5 · {chunks[0].id}"
    assert generator.settings[0].seed == 5
    assert chunks[0].text in generator.prompts[0]


def test_a_spanish_chunk_is_asked_about_in_spanish(chunks: tuple[Chunk, ...]) -> None:
    spanish = next(chunk for chunk in chunks if chunk.language == "es")
    generator = Says(["¿Cuánto cuesta comer en la cafetería?"])
    (proposal,) = QuestionMaker(generator).propose([spanish])
    assert "Pasaje:" in generator.prompts[0]
    assert '"¿"' in generator.settings[0].grammar
    assert proposal.case


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The enrolment office opens on 3 September", "end in a question"),
        ("And what is it?", "names nothing"),
        ("A reader may borrow six books for thirty days?", "copies"),
        ("How long may readers keep borrowed books?", "same as another"),
        ("What does this passage say about loans?", "speaks of the passage"),
        ("Is a loan of a book a loan of a book or not?", "repeats itself"),
        ("Which luxury home overlooks the sea?", "no word of the passage"),
    ],
)
def test_what_is_not_worth_reviewing_is_dropped_with_its_reason(
    chunks: tuple[Chunk, ...], text: str, told: str
) -> None:
    borrowing = next(chunk for chunk in chunks if "six books" in chunk.text)
    maker = QuestionMaker(Says([text]), known=["How long may a reader keep a borrowed book?"])
    (proposal,) = maker.propose([borrowing])
    assert proposal.case is None
    assert told in proposal.dropped


def test_the_second_of_two_like_questions_is_dropped(chunks: tuple[Chunk, ...]) -> None:
    maker = QuestionMaker(Says(["Is the fee ever paid back?"] * 2))
    assert [bool(p.case) for p in maker.propose([chunks[0], chunks[0]])] == [True, False]


def test_copying_is_told_from_asking() -> None:
    passage = "A reader may borrow six books for thirty days, and renew them twice."
    assert copies("May a reader borrow six books for thirty days?", passage)
    assert not copies("How many books may a reader borrow?", passage)
    assert not copies("Why?", passage)


def test_making_questions_stops_when_asked_to(chunks: tuple[Chunk, ...]) -> None:
    stop = threading.Event()
    stop.set()
    assert list(QuestionMaker(Says([])).propose(chunks, stop)) == []


def test_chunks_are_spread_over_documents_and_follow_the_seed(store: Store) -> None:
    first = choose_chunks(store.corpus, NAME, 3)
    assert len({chunk.source_id for chunk in first}) == 3
    assert choose_chunks(store.corpus, NAME, 3) == first
    assert any(choose_chunks(store.corpus, NAME, 3, seed) != first for seed in range(1, 6))
    with pytest.raises(NotFoundError):
        choose_chunks(store.corpus, "nowhere", 3)


def test_only_accepted_candidates_join_and_a_sitting_is_one_version(store: Store) -> None:
    store.datasets.put("set", NAME, [Case("real", "Who?")])
    queue = ReviewQueue(store.datasets, "set")
    proposals = [Proposal("c", f"{n}?", "o", Case(f"syn-{n}", f"{n}?")) for n in range(4)]
    a, b, c, d = queue.add([*proposals, Proposal("c", "", "o", dropped="no")])
    assert queue.add(proposals) == ()
    queue.accept(a.id)
    queue.accept(b.id, Case("syn-1", "Edited?"))
    queue.reject(c.id)
    joined = queue.join("ignored")
    assert joined
    assert (joined.collection, len(store.datasets.versions("set"))) == (NAME, 2)
    assert [case.question for case in store.datasets.cases("set")] == ["Who?", "0?", "Edited?"]
    assert queue.waiting() == (d,)
    assert queue.join(NAME) == joined
    queue.undo(a.id)
    queue.join(NAME)
    assert [case.id for case in store.datasets.cases("set")] == ["real", "syn-1"]


def test_a_dataset_can_begin_with_its_candidates(store: Store) -> None:
    queue = ReviewQueue(store.datasets, "new")
    (candidate,) = queue.add([Proposal("c", "x?", "o", Case("syn-x", "x?"))])
    assert queue.join(NAME) is None
    queue.accept(candidate.id)
    joined = queue.join(NAME)
    assert joined
    assert (joined.name, joined.collection, joined.cases) == ("new", NAME, 1)
    store.datasets.put("new", "", (Case("sum", "1 + 1 =", expectation=Expectation("numeric", "2")),))
    mixed = queue.join(NAME)  # of model tasks alone, and so about no collection until now
    assert mixed
    assert (mixed.collection, mixed.cases) == (NAME, 2)


def test_leaving_the_document_out_makes_a_case_unanswerable(store: Store) -> None:
    case = Case(
        "fee", "How much is the enrolment fee?", gold=(GoldSpan("enrolment.md", 150, 200),), filter="year >= 2024"
    )
    without = unanswerable(case)
    assert (without.id, without.answerable, without.gold) == ("fee-without", False, ())
    assert parse_filter(without.filter) == parse_filter('source_id != "enrolment.md" and year >= 2024')
    searcher = Searcher(store, None)
    found = searcher.search(case.question, SearchOptions(NAME, filter=without.filter))
    assert all(view.source_id != "enrolment.md" for view in found.hits)
    assert any(view.source_id == "enrolment.md" for view in searcher.search(case.question, SearchOptions(NAME)).hits)
    strange = unanswerable(Case("q", "q", gold=(GoldSpan('a "b" or \\ c.md'), GoldSpan("z.md"))))
    assert parse_filter(strange.filter)
    assert [p.case and p.case.id for p in proposals_without([case, without])] == ["fee-without"]
    with pytest.raises(ValueError, match="no document"):
        unanswerable(without)


@pytest.mark.model
def test_a_real_model_asks_the_same_questions_again(chunks: tuple[Chunk, ...]) -> None:
    generator = load_generator(read_header(paths.gguf_folder() / paths.STARTER_MODEL), LoadSettings(context=1024))
    try:
        first, second = (list(QuestionMaker(generator).propose(chunks[:2])) for _ in range(2))
    finally:
        generator.close()
    assert [p.text for p in first] == [p.text for p in second]
    made = [p for p in first if p.case]
    assert made
    assert all(p.text.endswith("?") and "\n" not in p.text for p in made)


def test_the_lab_puts_questions_in_the_queue_as_they_are_made(store: Store) -> None:
    texts = ["What does a student pay for enrolment?", "no question", "¿Cuánto cuesta el menú de la cafetería?"]
    generators: list[Generator | None] = [None]
    runtimes = Runtimes(lambda: Searcher(store, None), lambda: generators[0], lambda *_: None, lambda: NAME)
    lab = EvalLab(store, runtimes)
    with pytest.raises(UsageError, match="No model is loaded"):
        list(lab.propose("made", 3))
    generators[0] = Says(texts)
    proposals = list(lab.propose("made", 3))
    assert [bool(p.case) for p in proposals].count(True) == len(lab.review("made").waiting()) > 0
    generators[0] = Says(texts)
    assert not any(p.case for p in lab.propose("made", 3))
