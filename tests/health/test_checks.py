"""Each check finds what it is for, on rows as the file gives them, and leaves what is well alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from tests.storage.builders import document_of, embedder
from workbench.health import checks
from workbench.health.histograms import histograms
from workbench.health.near import near_duplicates
from workbench.i18n import choose_language
from workbench.ports import ChunkFact
from workbench.records.corpus import Index, Recipe
from workbench.records.health import HealthCheck

TODAY = date(2026, 11, 30)


def fact(number: int, **changes: object) -> ChunkFact:
    plain = ChunkFact(
        f"c{number}",
        "d1",
        "a.md",
        number,
        number * 100,
        number * 100 + 90,
        90,
        20,
        False,
        f"h{number}",
        "en",
        "current",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # any field, from tests


def ids(check: HealthCheck) -> list[str]:
    return [finding.id for finding in check.findings]


def test_a_chunk_whose_end_the_embedder_does_not_see_is_an_error_with_its_length() -> None:
    check = checks.truncated([fact(0), fact(1, truncated=True, tokens=600)], embedder())
    assert (check.severity, check.count, check.of, ids(check)) == ("error", 1, 2, ["c1"])
    assert "600" in check.findings[0].detail
    assert "512" in check.findings[0].detail


def test_tiny_and_empty_chunks() -> None:
    assert ids(checks.tiny([fact(0), fact(1, tokens=7), fact(2, characters=0), fact(3, tokens=8)])) == ["c1", "c2"]


def test_copies_are_grouped_and_retired_ones_do_not_count() -> None:
    rows = [fact(0, hash="x"), fact(1, hash="y"), fact(2, hash="x"), fact(3, hash="y", status="retired")]
    check = checks.copies(rows)
    assert [(f.id, f.group) for f in check.findings] == [("c0", 1), ("c2", 1)]
    assert [f.detail for f in check.findings] == ["2 copies", f"the same as {check.findings[0].name}"]


def test_a_document_with_the_bytes_of_another_can_be_retired() -> None:
    one, other = document_of("a.md", "text"), document_of("b.md", "text")
    check = checks.document_copies([one, other, document_of("c.md", "other")])
    assert (ids(check), check.repair) == ([other.id], "retire")
    assert "a.md" in check.findings[0].detail
    assert checks.document_copies([one, replace(other, status="retired")]).passed


def test_missing_metadata_names_the_fields() -> None:
    whole = document_of("a.md", "a", metadata={"date": TODAY, "version": "1", "owner": "Ann"})
    check = checks.missing_metadata([whole, document_of("b.md", "b", metadata={"version": "2", "owner": ""})])
    assert [f.detail for f in check.findings] == ["no valid_from", "no date, valid_from, owner"]
    valid = replace(whole, metadata=whole.metadata | {"valid_to": TODAY})
    assert checks.missing_metadata([valid, document_of("c.md", "c", status="retired")]).passed


def test_what_was_told_at_ingest_is_told_again() -> None:
    fine = replace(document_of("a.md", "a"), warnings=())
    scan = replace(document_of("b.pdf", "b"), warnings=("Pages without text: 4, 5.",))
    both = replace(document_of("c.md", "c"), warnings=("The front matter has no end.", "Not UTF-8."))
    check = checks.unread([fine, scan, both, replace(scan, id="old", status="retired")])
    assert ids(check) == [scan.id, both.id]
    assert [f.detail for f in check.findings] == ["Pages without text: 4, 5.", "The front matter has no end. (+1)"]
    choose_language("es")
    again = checks.unread([replace(scan, warnings=("Pages without text (images?): 4, 5.",))])
    assert [f.detail for f in again.findings] == ["Páginas sin texto (¿imágenes?): 4, 5."]


def test_validity_is_told_with_its_day() -> None:
    past = document_of("past.md", "a", metadata={"valid_to": date(2026, 11, 29)})
    last_day = document_of("last.md", "b", metadata={"valid_to": TODAY})
    future = document_of("future.md", "c", metadata={"valid_from": date(2026, 12, 1)})
    check = checks.outside_validity([past, last_day, future], TODAY)
    assert [f.detail for f in check.findings] == ["valid until 2026-11-29", "valid from 2026-12-01"]


def test_text_between_chunks_is_found_with_its_place_and_white_space_is_not_text() -> None:
    text = "x" * 100 + " \n " * 50 + "y" * 100 + "z" * 90
    document = document_of("a.md", text)
    start = text.index("y")
    whole = checks.coverage([(document, text)], {document.id: [(0, 100), (start, len(text))]})
    assert whole.passed
    assert "100.00%" in whole.measured
    lost = checks.coverage([(document, text)], {document.id: [(0, 100), (start + 100, len(text))]})
    assert lost.severity == "error"
    assert "34.5% in no chunk, the longest piece 100 characters at 250" in lost.findings[0].detail


def test_a_document_without_any_chunk_is_not_covered() -> None:
    document = document_of("a.md", "words")
    assert not checks.coverage([(document, "words")], {}).passed
    assert checks.coverage([(document, "")], {}).passed


@pytest.mark.parametrize(
    "vector", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 0.0], [0.5, 0.5]], ids=["zero", "nan", "inf", "short"]
)
def test_a_vector_that_is_no_direction_is_an_error(vector: list[float]) -> None:
    chunks = {c.id: c for c in (fact(0), fact(1))}
    check = checks.bad_vectors([(["c0", "c1"], np.array([[0.6, 0.8], vector], np.float32))], chunks)
    assert (check.severity, ids(check), check.repair) == ("error", ["c1"], "embed")


def test_an_index_of_another_embedder_is_an_error_and_so_is_none_installed() -> None:
    from datetime import UTC, datetime

    index = Index(1, "laws", embedder(), Recipe(), "current", datetime(2026, 1, 1, tzinfo=UTC))
    assert checks.foreign_embedder(index, embedder()).passed
    assert not checks.foreign_embedder(index, embedder("f2")).passed
    assert not checks.foreign_embedder(index, None).passed


def test_chunks_in_another_language_than_their_document() -> None:
    document = replace(document_of("a.md", "a"), id="d1")
    check = checks.mixed_languages([fact(0), fact(1, language="es"), fact(2, language="")], {"d1": document})
    assert [f.detail for f in check.findings] == ["en · 1 es"]


def test_a_chunk_of_two_languages_is_told_with_their_shares_and_a_quoted_title_is_none() -> None:
    english = "The library is open to all who live in the city, and they may borrow ten books for a month at most. "
    spanish = "La biblioteca está abierta a todos los que viven en la ciudad, y pueden llevarse diez libros al mes. "
    texts = [
        ("c0", english * 2 + spanish),
        ("c1", english * 3),
        ("c2", english * 3 + "They call it the casa de los libros."),
        ("c3", spanish + "图书馆向所有住在城里的人开放他们最多可以借十本书一个月。" * 4),
    ]
    check = checks.mixed_chunks(texts, {f"c{n}": fact(n) for n in range(4)})
    assert ids(check) == ["c0", "c3"]
    assert check.findings[0].detail == "en 66% · es 34%"
    assert "zh" in check.findings[1].detail


def test_mojibake_and_lost_characters_are_damage_and_accents_are_not() -> None:
    fine, broken, lost, glyphs = (document_of(name, name) for name in ("fine.md", "broken.md", "lost.md", "glyphs.pdf"))
    texts = [
        (fine, "La matrícula está abierta — «sí», x² ≥ α, naïve café, Größe."),
        (broken, "fine\nLa matrÃ­cula estÃ¡ abierta"),
        (lost, "caf\ufffd"),
        (glyphs, "يبيبَح˴ ϲΒϴΒhabibi"),
    ]
    check = checks.damaged_encoding(texts)
    assert ids(check) == [broken.id, lost.id, glyphs.id]
    assert "matrÃ­cula" in check.findings[0].detail


def test_sources_that_changed_or_went() -> None:
    same, changed, gone, typed = (document_of(name, name) for name in ("same", "changed", "gone", "typed"))
    hashes = {same.id: same.hash, changed.id: "0" * 64, gone.id: None}
    check = checks.changed_sources([same, changed, gone, typed], hashes)
    assert [(f.name, f.detail) for f in check.findings] == [
        ("changed", "the source has changed"),
        ("gone", "the source is gone"),
    ]
    assert check.of == 3


def test_findings_beyond_the_shown_are_counted() -> None:
    check = checks.tiny([fact(n, tokens=1) for n in range(checks.SHOWN + 50)])
    assert (check.count, len(check.findings)) == (checks.SHOWN + 50, checks.SHOWN)


def test_histograms_count_everything_once() -> None:
    rows = [fact(n, tokens=n) for n in (0, 1, 2, 3, 4, 200, 255, 256)]
    sizes = {h.key: h for h in histograms(rows, [document_of("a", "a", metadata={"date": TODAY})])}
    tokens = dict(zip(sizes["chunk-tokens"].labels, sizes["chunk-tokens"].counts, strict=True))
    assert tokens["128–255"] == 2
    assert tokens["256–511"] == 1
    assert sum(tokens.values()) == len(rows)
    assert sizes["years"].labels == ("2026",)


LONG = "The enrolment of students with overdue payments is not extended before the debt has been paid in full, "


def test_near_duplicates_are_grouped_and_told_apart_from_texts_on_the_same_matter() -> None:
    base = LONG + "as article fifteen of the regulations of the year says, and the secretary keeps the list of them."
    texts = [
        ("a", base),
        ("b", base.replace("fifteen", "sixteen")),
        ("c", base.upper()),
        (
            "d",
            LONG + "but whoever has a grant may ask for six months more, which the dean grants or refuses.",
        ),
        ("e", "Something else altogether about the opening hours of the library in the summer months of the year."),
    ]
    (group,) = near_duplicates(texts, lambda a, b: False)
    assert group.ids == ("a", "b", "c")
    assert 0.8 <= group.least < 1.0
    assert near_duplicates(texts, lambda a, b: True) == ()


def test_short_texts_are_no_near_duplicates_of_each_other() -> None:
    assert near_duplicates([("a", ""), ("b", ""), ("c", "yes"), ("d", "yes")], lambda a, b: False) == ()
