"""The demo collection through the product: what a person sees on the first day."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage import open_store
from workbench import paths
from workbench.answers.ask import Asker
from workbench.demo import DEMO_COLLECTION, cases_file
from workbench.engine.embedding import open_embedder
from workbench.records.answers import Answer, AskOptions
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

pytestmark = pytest.mark.model

Ask = Callable[[str], Answer]


@pytest.fixture(scope="module")
def ask(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    embedder = open_embedder(paths.embedders_folder() / paths.STARTER_EMBEDDER)
    store = open_store(Path(shutil.copy(demo_file, tmp_path_factory.mktemp("demo"))))
    asker = Asker(store, Searcher(store, embedder), lambda: None)

    def answer(question: str) -> Answer:
        *_, last = asker.ask(question, AskOptions("extractive"), SearchOptions(DEMO_COLLECTION))
        assert last.answer is not None
        return last.answer

    yield answer
    embedder.close()
    store.close()


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("¿Puedo entrar con mi perro?", "Solo los perros guía."),
        ("How long can I borrow a book?", "Books are lent for 21 days."),
        (
            "How much is the laser cutter?",
            "item: Laser cutter · who: member · price: 4.00 EUR · unit: half hour · notes: material not included",
        ),
        ("puedo devolver libros de noche", "Sí. Junto a la puerta este hay un buzón abierto a todas horas."),
        (
            "When is the lamp gallery tour?",
            '{"date": "2026-03-07", "title": "Lamp gallery tour", "place": "tower", "places": 12, "language": "en", '
            '"notes": "Guided visit to the gallery. Book at the desk; children from 8 years."}',
        ),
    ],
)
def test_the_first_quote_answers(ask: Ask, question: str, first: str) -> None:
    assert ask(question).claims[0].text == first


def test_what_nobody_wrote_down_is_said_or_refused(ask: Ask) -> None:
    assert "never written down" in ask("What is the alarm code of this month?").text
    assert ask("Who wrote Don Quixote?").outcome == "low_support"
    painter = ask("¿Quién pintó el faro?")
    assert painter.outcome == "low_support", "sources that only speak of the lighthouse don't say who painted it"
    assert "pintó" in painter.missing


def test_a_code_is_answered_by_what_names_it_or_not_at_all(ask: Ask) -> None:
    known = ask("What does error E07 mean?")
    assert [claim.text for claim in known.claims if "E11" in claim.text or "E03" in claim.text] == []
    assert "lid" in known.claims[0].text
    other = ask("What does error E99 mean?")
    assert other.outcome == "low_support"
    assert "E99" in other.missing
    assert ask("?").outcome == "low_support"


def test_most_cases_come_out_right(ask: Ask) -> None:
    """Every gold span quoted, or no answer where there is none; 12 of 14, and a heading is never quoted."""
    right = 0
    for case in map(json.loads, cases_file().read_text("utf-8").splitlines()):
        answer = ask(case["question"])
        spans = [(c.source_id, c.start, c.end) for claim in answer.claims for c in claim.citations]
        assert not any(claim.text.startswith("#") for claim in answer.claims)
        found = [
            any(s == g["source_id"] and a <= g["start"] < g["end"] <= b for s, a, b in spans) for g in case["gold"]
        ]
        right += all(found) if case["answerable"] else answer.outcome == "low_support"
    assert right >= 12
