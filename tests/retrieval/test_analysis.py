"""Query analysis: any text a person can paste."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.retrieval.analysis import MAX_TERMS, analyse, names_only


def test_a_spanish_question() -> None:
    got = analyse("¿Cuándo se abre la ampliación de matrícula para el año 2026?", prefix="query: ")
    assert got.language == "es"
    assert got.terms == ("abre", "ampliacion", "matricula", "ano", "2026")
    assert got.exact == ("ampliación", "matrícula", "año")
    assert got.stems == ("abre", "ampliacion", "matricul", "ano", "2026")
    assert {"Cuándo", "se", "la", "de", "para", "el"} == set(got.dropped)
    assert got.embedded_text == "query: ¿Cuándo se abre la ampliación de matrícula para el año 2026?"


def test_accents_differ_only_in_the_exact_form() -> None:
    assert analyse("año").terms == analyse("ano").terms == ("ano",)
    assert (analyse("año").exact, analyse("ano").exact) == (("año",), ())
    assert analyse("an\u0303o").exact == ("año",)


def test_stopwords_alone_are_kept() -> None:
    assert analyse("to be or not to be").terms == ("to", "be", "or", "not")
    assert analyse("¿y qué más?").terms


def test_phrases_are_kept_whole_and_their_words_still_rank() -> None:
    got = analyse('error "SAML  403" en “inicio de sesión” "" "?!"')
    assert got.phrases == ("SAML 403", "inicio de sesión")
    assert {"saml", "403", "inicio", "sesion"} <= set(got.terms)


def test_an_unknown_language_asks_the_stems_of_both() -> None:
    got = analyse("matrículas")
    assert got.language in ("", "es")
    assert "matricul" in got.stems


def test_words_over_the_cap_are_dropped_codes_and_long_words_stay() -> None:
    filler = " ".join(f"{letter}{letter}{other}" for letter in "bcdfghj" for other in "klmnp")
    got = analyse(f"SAML403 {filler} extraordinarily")
    assert len(got.terms) == MAX_TERMS
    assert got.terms[0] == "saml403"
    assert got.terms[-1] == "extraordinarily"
    assert len(got.dropped) >= 35 + 2 - MAX_TERMS


def test_chinese_japanese_and_korean_become_pairs() -> None:
    assert analyse("東京都").stems == ("東京", "京都")
    assert analyse("が国 한국").terms == ("が国", "한국")


def test_nothing_to_ask() -> None:
    for text in ("", "   ", "¿…? !!", "🙂🙃", "()\"'"):
        got = analyse(text)
        assert (got.terms, got.stems, got.phrases) == ((), (), ())


def test_a_hundred_thousand_characters() -> None:
    got = analyse("word " * 10_000 + "x" * 50_000)
    assert len(got.terms) <= MAX_TERMS


@given(st.text(max_size=200))
def test_any_text_is_accepted(text: str) -> None:
    got = analyse(text)
    assert got.query == text
    assert len(got.terms) <= MAX_TERMS
    assert all(term and not term.isspace() for term in (*got.terms, *got.phrases))


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("¿Cuánto pesa la máquina LC-40 de Peyton Manning?", ("lc", "40", "peyton", "manning")),
        ("Dónde está late_fee", ("late_fee",)),
        ("Dónde está", ()),
        ("¿Qué es un iPhone?", ("iphone",)),
    ],
)
def test_names_numbers_and_codes_are_told_from_words(query: str, terms: tuple[str, ...]) -> None:
    got = names_only(analyse(query))
    assert got.terms == terms
    assert got.stems == ()


def test_phrases_and_accented_names_stay() -> None:
    got = names_only(analyse('dónde vive "el lobo gris" de Martínez'))
    assert (got.phrases, got.exact, got.terms) == (("el lobo gris",), ("Martínez",), ("martinez",))
