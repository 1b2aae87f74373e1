"""Follow-up questions read with the one before, by rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.queries.following import read_in_full, read_with


@pytest.mark.parametrize(
    ("earlier", "question", "carried"),
    [
        ("When was Nikola Tesla born?", "Where did he die?", ("Nikola", "Tesla")),
        ("What is the population of France?", "And in Spain?", ("population",)),
        ("What does the enrolment fee cover?", "When is it due?", ("enrolment", "fee", "cover")),
        ("¿Cuándo nació Nikola Tesla?", "¿Y dónde murió?", ("Nikola", "Tesla")),
        ("¿Cuánto cuesta la matrícula?", "¿Y la de máster?", ("cuesta", "matrícula")),
        ("¿Cuántos libros presta la biblioteca?", "¿Cuál es su plazo?", ("libros", "presta", "biblioteca")),
        ("How much is the fine for a late book?", "How much?", ("fine", "late", "book")),
    ],
)
def test_what_a_question_leaves_out_is_carried_over(earlier: str, question: str, carried: tuple[str, ...]) -> None:
    read = read_in_full(question, earlier)
    assert read.carried == carried
    assert read.question == f"{question} ({' '.join(carried)})"
    assert read.note


@pytest.mark.parametrize(
    ("questions", "read"),
    [
        (("For how many days are books lent?", "And films?", "And a kit?"), "And a kit? (days books lent)"),
        (("For how many days are books lent?", "And a kit?", "How much does it cost?"), "How much does it cost? (kit)"),
        (
            ("¿Cuántos días se prestan los libros?", "¿Y las películas?", "¿Y los juegos?"),
            "¿Y los juegos? (días prestan libros)",
        ),
        (("For how many days are books lent?", "And films?", "Why?"), "Why? (films days books lent)"),
    ],
)
def test_words_do_not_pile_up_from_follow_up_to_follow_up(questions: tuple[str, str, str], read: str) -> None:
    first, second, third = questions
    follow = read_in_full(second, first)
    assert read_in_full(third, read_with(third, second, follow)).question == read


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        ("¿Quién fundó Varsovia?", "¿Cuántos habitantes tiene Madrid?"),
        ("What is the capital of France?", "Is it possible to swim in the Seine?"),
        ("Where did Tesla die?", "Where did Edison work in winter?"),
        ("What is the fee?", "Which law regulates student grants and when was the law passed?"),
        ("", "And the price?"),
    ],
)
def test_what_stands_alone_stays_as_typed(earlier: str, question: str) -> None:
    assert read_in_full(question, earlier).question == question


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_pair_is_read_and_nothing_typed_is_lost(question: str, earlier: str) -> None:
    assert read_in_full(question, earlier).question.strip().startswith(question.strip())
