"""A record that goes to JSON and back is the same record."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from workbench.records.answers import Answer, Citation, Claim, Manifest, Trace, TraceSpan
from workbench.records.cases import Case, GoldSpan
from workbench.records.codec import decode, encode
from workbench.records.corpus import Block, Document, Page, ParsedDocument
from workbench.records.retrieval import Analysis, FusedHit, FusionResult, LaneHit, LaneResult

MANIFEST = Manifest("0.1", "demo", 3, 1, "e5", "abc", "structure", "", "", {"k": 10, "τ": 0.4}, {"sqlite": "3.53"})
CITATION = Citation("F1", "c1", "d1", "norm.md", "Norm", ("Art. 14",), 2, "ii", 10, 20, "«años»")
ANSWER = Answer("answered", "extractive", "Sí [F1].", (Claim("Sí", (CITATION,), 0.9, "supported"),), (), 0.7, 0.4, "es")
TRACE = Trace(
    "t1",
    datetime(2026, 11, 29, 12, 0, tzinfo=UTC),
    "¿sí?",
    MANIFEST,
    (
        TraceSpan("analysis", 0.0, 0.1, Analysis("¿sí?", ("si",), ("si",), ("sí",), (), (), "es", "query: ¿sí?")),
        TraceSpan("lexical", 0.1, 2.0, LaneResult("lexical", (LaneHit("c1", 1, 3.5),), 50, 2.0), {"k": 50}),
        TraceSpan(
            "fusion",
            2.1,
            0.2,
            FusionResult(
                "rrf", 60, (), (FusedHit("c1", 1, 1 / 61, 1, 3.5, contributions=(("lexical", 1 / 61),)),), 0.2
            ),
        ),
        TraceSpan("prompt", 2.3, 0.0, None),
    ),
    ANSWER,
    True,
)


@pytest.mark.parametrize(
    "record",
    [
        TRACE,
        ANSWER,
        Case("q1", "¿Cuándo?", gold=(GoldSpan("a", 1, 5, 3),), answers=("hoy",), type="direct"),
        ParsedDocument("a\nb", "t", "text/plain", (Block(0, 1, "heading", 1, "a"),), (Page(1, "i", 0, 3),)),
    ],
)
def test_round_trip(record: object) -> None:
    assert decode(type(record), json.loads(json.dumps(encode(record)))) == record


def test_stages_come_back_as_their_own_records() -> None:
    back = decode(Trace, json.loads(json.dumps(encode(TRACE))))
    lexical = back.span("lexical")
    assert lexical is not None
    assert isinstance(lexical.output, LaneResult)
    assert lexical.output.hits[0].score == 3.5


def test_a_record_of_an_older_version_reads_with_defaults() -> None:
    data = encode(Case("q1", "?"))
    del data["notes"]
    data["gone_field"] = 1
    assert decode(Case, data) == Case("q1", "?")


def test_dates_in_metadata_are_iso() -> None:
    document = Document(
        "d",
        "c",
        "s",
        "",
        "t",
        "text/plain",
        "en",
        "current",
        "h",
        "m",
        1,
        {"date": date(2026, 1, 2)},
        datetime(2026, 1, 1),
    )
    assert encode(document)["metadata"] == {"date": "2026-01-02"}


def test_what_no_record_holds_is_refused() -> None:
    with pytest.raises(TypeError, match="bytes"):
        encode(b"raw")


def test_a_streaming_stage_replaces_itself_in_the_trace() -> None:
    first = replace(TRACE.spans[0], name="generation")
    grown = replace(TRACE, spans=()).grow(first).grow(replace(first, duration_ms=9.0))
    assert [s.duration_ms for s in grown.spans] == [9.0]
