"""Words whose letters came out wrong, and words that only look so."""

from __future__ import annotations

import json

import pytest

from tests.data import shared
from workbench.corpus.chunking.losses import damage
from workbench.corpus.parse import parse
from workbench.text.damage import damaged_lines, mixed_words

FINE = """
µm μm Ω kΩ α-helix β2 CO₂ 2πr πr² sinθ cosφ sinαcosβ TNFα IFNγ NFκB αβγx ρσT Δt ΔG exp(−βΔμ) eiπ ħω Тx Σxi 𝑥𝛼 PPARγ
ΜακΆρθουρ ΔΕΗ ΑΕΚτζής ϲοφόϲ αϡϟαʹ Ἀθῆναι λόγος Яндекс iМаркет VIPзал SMSки KoЯn TETЯIS XXIвек кВтh Москва IT-компания
الـiPhone PDFها ﷺ ﷽ مَرحبا México créée ÄÖÜäöüß \uf0b7 \uf0a7\uf020bullet (cid:72) naïve Größe ofﬁce café 図書館 1ª 2º №5
vocals áéíóú, ÁÉÍÓÚ
"""


@pytest.mark.parametrize(
    "word", ["ϲΒϴΒhabibi", "ϲΒϴΒ", "ΔϐϠϟ", "ΔϴΑήόϟ", "ϢϴϠόΘϟ", "بΒϴ", "Сompany", "рассwоrd", "ﻣﺮﺣﺒﺎ", "aбcдe"]
)
def test_words_that_no_language_writes_are_found(word: str) -> None:
    assert mixed_words(f"before {word}, after") == [word]


@pytest.mark.parametrize(
    "line", ["caf\ufffd", "(cid:72)(cid:101)(cid:108)", "(cid:72) (cid:101)", "\ue048\ue065 \ue06c", "Ïðèâåò, êàê äåëà"]
)
def test_what_was_never_decoded_is_damage(line: str) -> None:
    assert damaged_lines(f"before\n{line}\nafter") == [line]
    assert f"“{line}”" in damage(line)


def test_formulas_units_and_brand_names_are_no_damage() -> None:
    assert mixed_words(FINE) == []
    assert damaged_lines(FINE) == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_real_texts_with_names_and_formulas_from_everywhere_are_no_damage(language: str) -> None:
    articles = json.loads(shared("xquad", f"xquad.{language}.json").read_text("utf-8"))["data"]
    texts = [paragraph["context"] for article in articles for paragraph in article["paragraphs"]]
    assert len(texts) == 240
    assert [line for text in texts for line in damaged_lines(text)] == []


def test_a_pdf_whose_font_hides_its_arabic_is_told_at_ingest() -> None:
    file = shared("pdf", "habibi.pdf")
    told = damage(parse(file).text)
    assert "habibi" in told
    assert "no search finds" in told
    assert damage("Nothing is wrong — «aquí» tampoco.") == ""
