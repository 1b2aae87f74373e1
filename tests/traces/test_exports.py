"""Exports: footnotes that point to sources, and spans that another program can read."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from tests.answers.fake_generator import FakeGenerator
from tests.library import NAME
from tests.traces.conftest import QUESTION, Ask
from workbench.records.answers import AskOptions, Conflict
from workbench.records.retrieval import SearchOptions
from workbench.traces.exports import answer_markdown, trace_otlp


def test_each_mark_of_the_answer_is_a_footnote_with_the_words_cited(ask: Ask) -> None:
    trace = ask()
    assert trace.answer is not None
    page = answer_markdown(trace)
    marks = set(re.findall(r"\[\^(F\d+)\](?!:)", page))
    notes = dict(re.findall(r"^\[\^(F\d+)\]: (.*)$", page, re.MULTILINE))
    assert marks == notes.keys() == {c.label for claim in trace.answer.claims for c in claim.citations}
    claim = trace.answer.claims[0]
    cited = claim.citations[0]
    assert page.startswith(f"# {QUESTION}\n\n{claim.text} [^{cited.label}]\n")
    assert cited.source_id in notes[cited.label]
    assert f"“{cited.quote}” ({cited.start}–{cited.end})" in notes[cited.label]
    assert trace.id in page


def test_nothing_in_a_question_or_source_is_markup(ask: Ask) -> None:
    trace = ask("**borrow** <img src=x> [six](http://x) `books`\x1b[2J")
    page = answer_markdown(trace)
    assert r"\*\*borrow\*\* \<img src=x\> \[six\](http://x) \`books\`␛\[2J" in page
    assert "\x1b" not in page


def test_a_mark_that_nothing_cites_is_no_footnote(ask: Ask) -> None:
    trace = ask()
    assert trace.answer is not None
    page = answer_markdown(replace(trace, answer=replace(trace.answer, text="Six. [F9]")))
    assert r"Six. \[F9\]" in page
    assert answer_markdown(replace(trace, answer=None)) == ""


def test_what_is_not_supported_is_listed_and_both_sides_of_a_conflict_are_footnotes(ask: Ask) -> None:
    trace = ask()
    assert trace.answer is not None
    first, *others = trace.answer.claims
    side = replace(first.citations[0], label="F8")
    doubted = replace(first, level="weak", support=0.5), replace(first, off_topic=True)
    conflict = Conflict("The sources disagree [F8].", side, side)
    answer = replace(trace.answer, claims=(*doubted, *others), conflicts=(conflict,), text=f"Six.\n{conflict.text}")
    page = answer_markdown(replace(trace, answer=answer))
    assert f"- weak (0.50): {first.text}\n- off topic (1.00): {first.text}\n" in page
    assert "[^F8]." in page
    assert "\n[^F8]: " in page
    unsaid = answer_markdown(replace(trace, answer=replace(trace.answer, outcome="unsupported")))
    assert unsaid.index("nothing that it cites says it") < unsaid.index(first.text)


def test_spans_are_otlp_with_ids_times_and_standard_names(ask: Ask) -> None:
    trace = ask(generator=FakeGenerator("A reader may borrow six books [F1]."))
    told = json.loads(json.dumps(trace_otlp(trace)))
    (resource,) = told["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    root, *stages = spans
    assert [s["name"] for s in stages] == ["chat fake" if s.name == "generation" else s.name for s in trace.spans]
    assert len({s["spanId"] for s in spans}) == len(spans)
    assert all(re.fullmatch("[0-9a-f]{32}", s["traceId"]) and re.fullmatch("[0-9a-f]{16}", s["spanId"]) for s in spans)
    assert {s["parentSpanId"] for s in stages} == {root["spanId"]}
    for mine, its in zip(trace.spans, stages, strict=True):
        start, end = int(its["startTimeUnixNano"]), int(its["endTimeUnixNano"])
        assert abs(start / 1e9 - trace.created.timestamp() - mine.start_ms / 1e3) < 1e-3
        assert end - start == round(mine.duration_ms * 1e6)
    assert int(root["endTimeUnixNano"]) >= int(stages[-1]["endTimeUnixNano"])
    lexical, generation = (
        {a["key"]: a["value"] for a in next(s for s in stages if s["name"] == name)["attributes"]}
        for name in ("lexical", "chat fake")
    )
    assert lexical["gen_ai.operation.name"] == {"stringValue": "retrieval"}
    assert json.loads(lexical["gen_ai.retrieval.documents"]["stringValue"])[0]["score"] > 0
    assert generation["gen_ai.request.max_tokens"] == {"intValue": "256"}
    assert generation["gen_ai.response.finish_reasons"]["arrayValue"]["values"] == [{"stringValue": "eos"}]
    assert trace_otlp(trace) == trace_otlp(trace)


def test_a_dead_engine_is_an_error_and_an_abstention_is_none(ask: Ask) -> None:
    def codes(trace_spans: object) -> set[int]:
        spans = json.loads(json.dumps(trace_spans))["resourceSpans"][0]["scopeSpans"][0]["spans"]
        return {s["status"].get("code", 0) for s in spans}

    assert codes(trace_otlp(ask(generator=FakeGenerator("Six [F1].", dies=True)))) == {0, 2}
    refused = ask(options=AskOptions(threshold=1.0), search=SearchOptions(NAME))
    assert refused.answer is not None
    assert refused.answer.outcome == "low_support"
    assert codes(trace_otlp(refused)) == {0}


def test_what_no_source_speaks_of_is_in_every_export(ask: Ask) -> None:
    trace = ask("How many books may a reader borrow from the Zeppelin?")
    assert trace.answer is not None
    assert "Zeppelin" in trace.answer.missing
    assert trace.answer.missing in answer_markdown(trace)
    assert trace.answer.missing in json.dumps(trace_otlp(trace))
