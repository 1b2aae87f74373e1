"""Tables, passages and stages on their own: worked cases and properties."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from screens.style import (
    Tone,
    bar,
    content,
    duration,
    milliseconds,
    pieces,
    place,
    shorten,
    shorten_name,
    size,
)
from screens.widgets import stages
from screens.widgets.facts import lay_out
from screens.widgets.grid import Column, Grid, Row, _fit
from screens.widgets.passage import wrap
from screens.widgets.ranking import why
from tests.screens.fake_desk import FakeDesk
from workbench.records.models import parameter_count
from workbench.records.retrieval import RerankedHit, RerankGain, RerankResult, TokenMatch
from workbench.text.clean import printable


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.integers(8, 60))
def test_wrapping_keeps_every_character_and_fits_the_width(words: str, width: int) -> None:
    lines = list(wrap(words, width))
    assert "".join(words[a:b] for a, b in lines) == words.replace("\n", "")
    assert len(lines) >= words.count("\n") + 1
    for start, stop in lines:
        shown = printable(words[start:stop], newlines=False)
        assert cell_len(shown.rstrip(" ")) <= width or stop - start == 1


def test_names_that_differ_at_the_end_still_do_when_they_are_cut() -> None:
    cut = [shorten_name(f"SmolLM2-135M-Instruct.{kind}", 16) for kind in ("Q4_0", "Q4_1")]
    assert cut == ["SmolL…truct.Q4_0", "SmolL…truct.Q4_1"]
    assert shorten_name("short", 16) == "short"


def test_wrapping_breaks_at_spaces() -> None:
    words = "La ampliación de matrícula se solicita"
    assert [words[a:b] for a, b in wrap(words, 16)] == ["La ampliación de ", "matrícula se ", "solicita"]


def test_wide_characters_count_two_cells() -> None:
    words = "東京都の図書館"
    assert [words[a:b] for a, b in wrap(words, 6)] == ["東京都", "の図書", "館"]


def test_figures_are_written_with_units() -> None:
    assert size(98_566_144) == "94 MiB"
    assert size(1_300_000) == "1.2 MiB"
    assert size(1 << 30) == "1.00 GiB"
    assert parameter_count(134_515_008) == "134.5 M"
    assert parameter_count(1_543_714_304) == "1.54 B"
    assert duration(7) == "0:07"
    assert duration(130) == "2:10"
    assert duration(3730) == "1:02:10"
    assert milliseconds(0.31) == "0.3"
    assert milliseconds(1204.4) == "1,204"
    assert bar(0.5, 4) == "▓▓░░"
    assert shorten("regulations", 6) == "regul…"
    assert place(("Rules", "Art. 14"), "iv", 4) == "Art. 14 p.iv"


def test_text_is_never_markup() -> None:
    shown = content("[red]boom[/]", ("[b]x", Tone.DIM))
    assert shown.plain == "[red]boom[/][b]x"


def test_a_text_named_like_a_tone_stays_text() -> None:
    assert list(pieces(("lab", "bad"))) == [("lab", Tone.PLAIN), ("bad", Tone.PLAIN)]


def test_facts_wrap_under_their_value_and_empty_ones_are_left_out() -> None:
    drawn = lay_out([("tensors", "210 Q4_1, 61 F32, 1 Q8_0"), ("licence", "")], 20)
    assert drawn.plain.splitlines() == ["tensors  210 Q4_1,", "         61 F32, 1", "         Q8_0"]


def test_columns_share_what_is_left_and_hide_where_there_is_no_room() -> None:
    grid = Grid([Column("#", 2), Column("source", 0), Column("text", 0, keep=60, share=2)])
    assert grid._widths(40) == [2, 36, -1]
    assert grid._widths(66) == [2, 20, 40]


def test_an_empty_column_leaves_its_room_to_names_and_names_take_no_more_than_they_need() -> None:
    grid = Grid([Column("§", 20, fold=True), Column("source", fit=True), Column("text")])
    grid._all = [Row("1", ("", "opening-hours.md", "The library closes at three."))]
    grid._measure()
    assert grid._widths(60) == [-1, 16, 42]
    assert grid._widths(22) == [-1, 12, 8]


def test_a_path_keeps_its_end() -> None:
    tail, head = Column("", 0, tail=True), Column("", 0)
    assert _fit(Text("faro/en/closing-time.md"), 12, tail).plain == "…ing-time.md"
    assert _fit(Text("faro/en/closing-time.md"), 12, head).plain == "faro/en/clo…"
    assert _fit(Text("東京都の図書館.md"), 8, tail).cell_len == 8
    both = Column("", 0, middle=True)
    assert _fit(Text("index_1_vectors_chunks"), 17, both).plain == "index_1_…s_chunks"
    assert _fit(Text("東京都の図書館.md"), 8, both).cell_len == 8
    assert _fit(Text("short"), 17, both).plain.strip() == "short"


def test_a_row_is_found_by_any_of_its_cells() -> None:
    row = Row("1", ("12", ("Enrolment", Tone.DIM)))
    assert "enrol" in row.folded
    assert "library" not in row.folded


def test_stages_of_a_search_name_what_went_in_and_out() -> None:
    lines = {line.name: line for line in stages.of_search(FakeDesk().search("what are the overdue payments"))}
    assert lines["terms"].flow == "5 → 2"
    assert lines["terms"].note == "dropped «what» «are» «the»"
    assert lines["filter"].flow == "11 → 9"
    assert lines["filter"].note.startswith("σ 0.82")
    assert lines["dense"].ms == "9.2"
    assert lines["fusion"].note == "RRF k₀ 60"


def test_the_rerank_stage_tells_its_gain_and_the_closest_tokens() -> None:
    gain = RerankGain("late", "main", "faq", 120, 120, (0.9, 0.95), (0.93, 0.97), 8, 2, 0.1)
    matches = (TokenMatch("fee", "tasas", 0.81), TokenMatch("the", "la", 0.4))
    hits = (RerankedHit("b", 2, 1, 0.7, matches), RerankedHit("a", 1, 2, 0.5), RerankedHit("c", 3, 3, 0.4))
    found = replace(FakeDesk().search("overdue"), rerank=RerankResult("late", 20, hits, 3.2, gain=gain))
    line = next(line for line in stages.of_search(found) if line.name == "rerank")
    assert (line.flow, line.ms) == ("3 · 2 moved", "3.2")
    assert line.note == "+.050 R@1 on faq (n = 120) · fee→tasas 0.81 · the→la 0.40"
    skipped = replace(found, rerank=RerankResult("late", 20, (), 0.0, "the index has no token vectors"))
    assert stages.of_search(skipped)[-1].note == "skipped: the index has no token vectors"


def test_a_reranked_hit_tells_where_fusion_had_it() -> None:
    found = FakeDesk().search("overdue")
    hit = replace(found.hits[0].hit, rank=1, fused_rank=12, rerank_score=0.565)
    assert why(hit, found.fusion) == "12. → 0.565"


def test_every_stage_of_a_trace_is_drawn() -> None:
    *_, trace = FakeDesk().ask("overdue payments")
    assert [line.name for line in stages.of_trace(trace)] == [
        "terms", "filter", "lexical", "dense", "fusion", "context", "decision",
    ]  # fmt: skip
