"""Traces, model files, datasets and settings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from storage.store import FileStore
from tests.storage.builders import analyse
from workbench.errors import NotFoundError
from workbench.records.answers import Answer, Decision, Manifest, Trace, TraceSpan
from workbench.records.cases import Case, GoldSpan
from workbench.records.models import ModelFile
from workbench.records.retrieval import FilterResult, LaneHit, LaneResult

MANIFEST = Manifest("0.1.0", "laws", 3, 1, "e5", "f1", "structure", "", "", {"k": 10, "lanes": "both"})


def trace_of(trace_id: str, minute: int = 0) -> Trace:
    spans = (
        TraceSpan("analysis", 0.0, 1.5, analyse("¿Qué año?"), {"query": "¿Qué año?"}),
        TraceSpan("filter", 1.5, 0.5, FilterResult("year = 2026", "", 3, 9)),
        TraceSpan("lexical", 2.0, 4.0, LaneResult("lexical", (LaneHit("c1", 1, 3.5),), 50, 4.0)),
        TraceSpan("decision", 6.0, 1.0, Decision("low_support", 0.2, 0.5, (("best", 0.2),))),
    )
    return Trace(trace_id, datetime(2026, 3, 1, 12, minute, tzinfo=UTC), "¿Qué año?", MANIFEST, spans, complete=True)


def test_a_trace_comes_back_whole_and_its_spans_can_be_summed(store: FileStore) -> None:
    trace = trace_of("abc123")
    store.traces.save(trace)
    assert store.traces.trace("abc123") == trace
    with store._connections.read() as c:
        rows = c.execute("SELECT name, start_ms, duration_ms FROM trace_span ORDER BY position").fetchall()
    assert rows == [("analysis", 0.0, 1.5), ("filter", 1.5, 0.5), ("lexical", 2.0, 4.0), ("decision", 6.0, 1.0)]
    (line,) = store.traces.recent()
    assert (line.id, line.query, line.collection, line.outcome, line.duration_ms) == (
        "abc123",
        "¿Qué año?",
        "laws",
        "low_support",
        7.0,
    )


def test_saving_a_trace_again_replaces_it(store: FileStore) -> None:
    store.traces.save(trace_of("abc123"))
    answer = Answer("answered", "extractive", "In 2026 [F1].", (), ("F9",), 0.9, 0.5, "es")
    longer = replace(trace_of("abc123"), spans=trace_of("x").spans[:1], answer=answer)
    store.traces.save(longer)
    assert store.traces.trace("abc123") == longer
    (line,) = store.traces.recent()
    assert (line.outcome, line.duration_ms) == ("answered", 1.5)


def test_traces_are_found_by_prefix_and_the_last_by_time(store: FileStore) -> None:
    for n, trace_id in enumerate(["ab", "abc1", "abd2", "x%_"]):
        store.traces.save(trace_of(trace_id, 10 - n))
    east = datetime(2026, 3, 1, 14, 30, tzinfo=timezone(timedelta(hours=2)))  # 12:30 UTC
    store.traces.save(replace(trace_of("east"), created=east))
    assert store.traces.trace("last").id == "east"
    assert [line.id for line in store.traces.recent(3)] == ["east", "ab", "abc1"]
    assert store.traces.trace("ab").id == "ab"
    assert store.traces.trace("abc").id == "abc1"
    with pytest.raises(NotFoundError, match="abc1"):
        store.traces.trace("a")
    for missing in ("zzz", "%", "_", "", "' OR 1=1 --"):
        with pytest.raises(NotFoundError, match="no trace"):
            store.traces.trace(missing)


def test_the_last_of_no_traces_is_told(store: FileStore) -> None:
    with pytest.raises(NotFoundError, match="Ask something"):
        store.traces.trace("last")


def test_model_files_and_folders(store: FileStore) -> None:
    b = ModelFile("/m/b.gguf", "b", 10, "llama", tensor_types=(("Q4_1", 272),), bits_per_weight=4.5)
    a = ModelFile("/m/a.gguf", "a", 20, problem="The header is damaged.")
    for file in (b, a, replace(b, size=11)):
        store.models.save_file(file)
    assert store.models.files() == (a, replace(b, size=11))
    store.models.forget("/m/a.gguf")
    assert store.models.files() == (replace(b, size=11),)
    for folder in ("/z", "/a", "/z"):
        store.models.add_folder(folder)
    assert store.models.folders() == ("/a", "/z")


def test_datasets_are_replaced_by_name_and_hashed_by_content(store: FileStore) -> None:
    cases = [Case("1", "Why?", gold=(GoldSpan("a.txt", 3, 9),), answers=("So",)), Case("2", "Who?", answerable=False)]
    first = store.datasets.put("set", "laws", cases)
    assert (first.cases, first.answerable) == (2, 1)
    assert store.datasets.cases("set") == tuple(cases)
    assert store.datasets.datasets() == (first,)
    again = store.datasets.put("set", "laws", cases)
    other = store.datasets.put("set", "laws", cases[:1])
    assert again.hash == first.hash != other.hash
    assert first.id == again.id == other.id
    assert store.datasets.cases("set") == tuple(cases[:1])
    with pytest.raises(NotFoundError, match="There are: set"):
        store.datasets.cases("none")


def test_settings_are_remembered(store: FileStore) -> None:
    assert store.settings.get("ui.theme", "night") == "night"
    store.settings.set("ui.theme", "día")
    store.settings.set("ui.theme", "")
    assert store.settings.get("ui.theme", "night") == ""
