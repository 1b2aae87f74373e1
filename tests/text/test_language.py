"""Languages are told from real text, and not guessed where there is no evidence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data import shared
from workbench.text.language import detect, languages


@pytest.mark.parametrize("language", ["en", "es"])
def test_xquad_paragraphs_and_questions_are_told(language: str) -> None:
    articles = json.loads(shared("xquad", f"xquad.{language}.json").read_text("utf-8"))["data"]
    paragraphs = [p for article in articles for p in article["paragraphs"]]
    texts = [p["context"] for p in paragraphs]
    questions = [qa["question"] for p in paragraphs for qa in p["qas"]]
    assert sum(detect(t) == language for t in texts) >= 0.99 * len(texts)
    assert sum(detect(q) == language for q in questions) >= 0.99 * len(questions)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "¿Cuál es el plazo de matrícula para los estudiantes de intercambio?"),
        ("en", "What is the deadline for exchange students?"),
        ("pt", "O prazo de matrícula não é o mesmo para os estudantes que já estão inscritos na universidade."),
        ("fr", "Le délai d'inscription n'est pas le même pour les étudiants qui sont déjà inscrits."),
        ("de", "Die Frist für die Einschreibung ist nicht für alle Studierenden gleich."),
        ("it", "Il termine per l'iscrizione non è lo stesso per gli studenti che sono già iscritti."),
        ("ca", "El termini de matrícula no és el mateix per als estudiants que ja estan inscrits amb els altres."),
        ("zh", "学生注册的截止日期是什么时候？"),
        ("ja", "学生の登録締め切りはいつですか。"),
        ("ko", "학생 등록 마감일은 언제입니까?"),
    ],
)
def test_one_sentence_is_enough(language: str, text: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    "text", ["", "   ", "12345 67.8", "HTTP 404", "Temüjin", "Hi.", "Du", "x = y + z", "\x00\ud800"]
)
def test_no_evidence_gives_no_answer(text: str) -> None:
    assert detect(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Google. (2026). Image understanding. https://ai.google.dev/gemini-api/docs/image, https://ai.google.dev/adk",
        r"s_t^{(\ell)}=W_r^{(\ell)}\operatorname{LN}(u_t^{(\ell)}) p_t=\operatorname{softmax}(s_t)",
        "style DIAG fill:#F5F5F5,stroke:#000000,stroke-width:2\n    style MATRIX fill:#F5F5F5,stroke:#000000",
        "Suspendisse vel felis. Ut lorem lorem, interdum eu, tincidunt sit amet, laoreet vitae, arcu. Aenean faucibus",
    ],
)
def test_addresses_formulas_code_and_filler_are_in_no_language(text: str) -> None:
    assert detect(text) == ""


def test_sentences_of_filler_are_in_no_language() -> None:
    latin = (
        "Morbi dolor nulla, malesuada eu, pulvinar at, mollis ac, nulla. Integer arcu est, nonummy in, vel urna, odio. "
    )
    assert languages(latin * 3) == {}


def test_a_list_of_works_is_in_the_languages_of_its_titles() -> None:
    works = "Google. (2026). Overview. https://ai.google.dev/gemini-api/docs/overview-of-what-is-new. " * 4
    assert languages(works) == {}
    assert set(languages(works + "The rules that hold for all of them are in the other part of this work.")) == {"en"}


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    assert detect(text) in {"", "en", "es", "pt", "fr", "de", "it", "ca", "zh", "ja", "ko"}
