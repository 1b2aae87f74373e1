"""Compound questions taken apart by rules, in English and Spanish."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.queries.splitting import MAX_PARTS, split


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "¿Puedo ampliar matrícula y aplazar el pago a la vez?",
            ("Puedo ampliar matrícula?", "Puedo aplazar el pago a la vez?"),
        ),
        (
            "Can I extend my enrolment and defer the payment?",
            ("Can I extend my enrolment?", "Can I defer the payment?"),
        ),
        (
            "When does the office open and how much is the fee?",
            ("When does the office open", "how much is the fee?"),
        ),
        (
            "¿Cuándo abre la oficina y cuánto cuesta la matrícula?",
            ("¿Cuándo abre la oficina", "cuánto cuesta la matrícula?"),
        ),
        ("What is the difference between the fee and the fine?", ("the fee", "the fine")),
        (
            "¿Qué diferencia hay entre la beca y la ayuda en cuanto a plazos?",
            ("la beca en cuanto a plazos", "la ayuda en cuanto a plazos"),
        ),
        ("Postgres versus SQLite in terms of speed", ("Postgres in terms of speed", "SQLite in terms of speed")),
        ("Compara el pase anual con el pase de día", ("el pase anual", "el pase de día")),
        ("When was Tesla born? Where did he die?", ("When was Tesla born?", "Where did he die? (Tesla)")),
    ],
)
def test_compound_questions_are_taken_apart(question: str, parts: tuple[str, ...]) -> None:
    assert split(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Romeo and Juliet?",
        "What are salt and pepper made of?",
        "¿Qué es el bien y el mal?",
        "Does it rain and snow in the Alps?",
        "How many books may a reader borrow?",
        "What is the difference?",
        "? ? ?",
        "",
    ],
)
def test_one_question_stays_one(question: str) -> None:
    assert split(question) == ()


@given(st.text(max_size=200) | st.lists(st.sampled_from("who and y qué ? , versus the fee vs".split())).map(" ".join))
def test_any_text_gives_no_part_or_two_to_four(text: str) -> None:
    assert len(split(text)) in (0, *range(2, MAX_PARTS + 1))
