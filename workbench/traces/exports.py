"""A trace for other programs: the answer as Markdown, the stages as OpenTelemetry spans (OTLP in JSON)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from workbench.evals.reporting.markup import markdown_text
from workbench.i18n import tr
from workbench.records.answers import Answer, Citation, Context, Decision, Generation, Judged, Trace, TraceSpan
from workbench.records.codec import encode
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.retrieval import Analysis, FilterResult, FusionResult, LaneResult, RerankResult, Transformed
from workbench.sqltools.words import rows_told
from workbench.text.clean import printable
from workbench.traces.outcomes import attempt_error, attempts, outcome_name

SCOPE: Final = "workbench"
_INTERNAL: Final = 1  # SPAN_KIND_INTERNAL
_ERROR: Final = 2  # STATUS_CODE_ERROR
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MARK: Final = re.compile(r"\\\[(F\d+)\\\]")

Attributes = dict[str, Any]
TraceForm = Literal["markdown", "otel", "json"]


def answer_markdown(trace: Trace) -> str:
    """Question and answer, and each cited source as a footnote: where it stands and the words cited.

    What isn't supported or doesn't concern the question is listed with how far its sources say it. Text of documents
    and models is escaped: nothing in it is markup. Ends with what would have to be the same for the same answer. "" for
    a trace without an answer; of a question of tables, its attempts.
    """
    if tried := attempts(trace):
        return _attempts_markdown(trace, tried)
    answer = trace.answer
    if answer is None:
        return ""
    spans: dict[str, dict[tuple[int, int], Citation]] = {}
    sides = (side for conflict in answer.conflicts for side in (conflict.newer, conflict.older))
    for citation in (*(c for claim in answer.claims for c in claim.citations), *sides):
        spans.setdefault(citation.label, {})[citation.start, citation.end] = citation
    # A mark that became a footnote would point nowhere if nothing cites it.
    lines = [
        _MARK.sub(lambda m: f"[^{m[1]}]" if m[1] in spans else m[0], markdown_text(line))
        for line in answer.text.splitlines()
        if line.strip()
    ]
    told = [markdown_text(text) for text in (answer.missing, answer.remedy) if text and text not in answer.text]
    if answer.outcome == "unsupported":
        lines.insert(0, f"**{markdown_text(tr('The model wrote this, and nothing that it cites says it:'))}**")
    told += [doubts] if (doubts := "\n".join(_doubts(answer))) else []
    notes = [_footnote(label, list(cited.values())) for label, cited in spans.items()]
    return (
        "\n\n".join([f"# {markdown_text(trace.query)}", *lines, *told, *notes, "---", _colophon(trace, answer)]) + "\n"
    )


def _attempts_markdown(trace: Trace, tried: Sequence[TraceSpan]) -> str:
    parts = [f"# {markdown_text(trace.query)}"]
    for attempt in tried:
        error = attempt_error(attempt)
        told = f"✗ {error}" if error else "✓ " + rows_told(int(attempt.metadata["rows"]))
        parts += [markdown_text(f"{attempt.name}: {told}")]
        parts += ["\n".join(f"    {line}" for line in printable(str(attempt.input["sql"])).splitlines())]
    made = trace.manifest
    told = f"{made.model} · trace {trace.id}, {trace.created:%Y-%m-%d %H:%M} UTC, workbench {made.workbench}"
    return "\n\n".join([*parts, "---", markdown_text(told)]) + "\n"


def _doubts(answer: Answer) -> Iterator[str]:
    """A list item for each claim that isn't supported, or is and doesn't concern the question."""
    names = {
        "supported": tr("off topic"),
        "weak": tr("weak"),
        "unsupported": tr("unsupported"),
        "uncited": tr("without a citation"),
    }
    for claim in answer.claims:
        if claim.level != "supported" or claim.off_topic:
            yield f"- {names[claim.level]} ({claim.support:.2f}): {markdown_text(claim.text)}"


def _footnote(label: str, cited: Sequence[Citation]) -> str:
    first = cited[0]
    page = first.page_label or (str(first.page) if first.page is not None else "")
    where = [first.source_id, first.title, " › ".join(first.heading), page and f"p. {page}"]
    quotes = "; ".join(f"“{markdown_text(c.quote)}” ({c.start}–{c.end})" for c in cited)
    return f"[^{label}]: {markdown_text(', '.join(dict.fromkeys(filter(None, where))))}: {quotes}"


def _colophon(trace: Trace, answer: Answer) -> str:
    made = trace.manifest
    facts = (
        tr("supported {good}/{all}", good=sum(c.level == "supported" for c in answer.claims), all=len(answer.claims))
        if answer.claims
        else "",
        f"{outcome_name(answer.outcome)}, s {answer.support:.2f}, τ {answer.threshold:.2f}",
        f"{made.collection} v{made.collection_version}, index {made.index_id}",
        made.embedder,
        made.model,
        f"trace {trace.id}, {trace.created:%Y-%m-%d %H:%M} UTC, workbench {made.workbench}",
    )
    return markdown_text(" · ".join(filter(None, facts)))


def trace_text(trace: Trace, form: TraceForm) -> str:
    """The trace in one of the forms, with a line end."""
    if form == "markdown":
        return answer_markdown(trace)
    value = trace_otlp(trace) if form == "otel" else encode(trace)
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def trace_otlp(trace: Trace) -> dict[str, Any]:
    """The trace as an OTLP/JSON ``ExportTraceServiceRequest``: a root span, and one for each stage below it.

    Ids are hex and follow from the trace's own, so that a second export is the same trace. Times are Unix nanoseconds
    as text. Attributes are those of the GenAI semantic conventions where these have a name (``gen_ai.*``), else
    ``workbench.*``.
    """
    created = trace.created if trace.created.tzinfo else trace.created.replace(tzinfo=UTC)
    began = (created - _EPOCH) // timedelta(microseconds=1) * 1000
    name = hashlib.sha256(trace.id.encode()).hexdigest()[:32]
    root = _span_id(trace, "root")
    last = max((span.start_ms + span.duration_ms for span in trace.spans), default=0.0)
    whole = _span(name, root, "ask", began, 0.0, last, _whole(trace), _failure(trace))
    stages = [
        _span(name, _span_id(trace, str(n)), _title(span, trace), began, span.start_ms, span.duration_ms, told, problem)
        | {"parentSpanId": root}
        for n, span in enumerate(trace.spans)
        for told, problem in [(_stage(span, trace), _problem(span))]
    ]
    scope = {"name": SCOPE, "version": trace.manifest.workbench}
    resource = {"service.name": SCOPE, "service.version": trace.manifest.workbench}
    scoped = {"scope": scope, "spans": [whole, *stages]}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scoped]}]}


def _span_id(trace: Trace, part: str) -> str:
    return hashlib.sha256(f"{trace.id}/{part}".encode()).hexdigest()[:16]


def _span(
    trace_id: str, span_id: str, name: str, began: int, start: float, took: float, told: Attributes, problem: str
) -> dict[str, Any]:
    first = began + round(start * 1e6)
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "name": name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(first),
        "endTimeUnixNano": str(first + round(took * 1e6)),
        "attributes": _attributes(told),
        "status": {"code": _ERROR, "message": problem} if problem else {},
    }


def _title(span: TraceSpan, trace: Trace) -> str:
    """As the conventions name spans: "chat {model}"; other stages by their own name."""
    return f"chat {trace.manifest.model}" if isinstance(span.output, Generation) else span.name


def _whole(trace: Trace) -> Attributes:
    made, answer = trace.manifest, trace.answer
    told: Attributes = {
        "gen_ai.data_source.id": made.collection,
        "gen_ai.retrieval.query.text": trace.query,
        "workbench.trace.id": trace.id,
        "workbench.collection.version": made.collection_version,
        "workbench.index.id": made.index_id,
        "workbench.index.recipe": made.recipe,
        "workbench.embedder.name": made.embedder,
        "workbench.embedder.fingerprint": made.embedder_fingerprint,
        "workbench.model.hash": made.model_hash,
    }
    told |= {f"workbench.settings.{name}": value for name, value in made.settings.items()}
    if answer:
        told |= {
            "workbench.answer.outcome": answer.outcome,
            "workbench.answer.mode": answer.mode,
            "workbench.answer.support": answer.support,
            "workbench.answer.threshold": answer.threshold,
            "workbench.answer.text": answer.text,
            "workbench.answer.missing": answer.missing,
        }
    return told


def _stage(span: TraceSpan, trace: Trace) -> Attributes:
    told: Attributes = {f"workbench.{span.name}.{name}": value for name, value in span.metadata.items()}
    match span.output:
        case Analysis() as found:
            told |= {"workbench.analysis.terms": found.terms, "workbench.analysis.language": found.language}
        case FilterResult() as found:
            told |= {
                "workbench.filter.expression": found.expression,
                "workbench.filter.mandatory": found.mandatory,
                "workbench.filter.matching": found.matching,
                "workbench.filter.total": found.total,
            }
        case LaneResult() as found:
            told |= _documents(trace, ((hit.chunk_id, hit.score) for hit in found.hits))
            told |= {"gen_ai.request.top_k": found.k, "workbench.lane.skipped": found.skipped}
        case FusionResult() as found:
            told |= _documents(trace, ((hit.chunk_id, hit.score) for hit in found.hits))
            told |= {"workbench.fusion.method": found.method, "workbench.fusion.k0": found.k0}
        case RerankResult() as found:
            told |= _documents(trace, ((hit.chunk_id, hit.score or 0.0) for hit in found.hits))
            told |= {"workbench.rerank.mode": found.mode, "workbench.rerank.skipped": found.skipped}
        case Context() as found:
            told |= {
                "workbench.context.evidence": [piece.chunk_id for piece in found.evidence],
                "workbench.context.dropped": [f"{piece.chunk_id} {piece.reason}" for piece in found.dropped],
                "workbench.context.tokens": found.ledger.total,
                "workbench.context.window": found.ledger.window,
            }
        case FollowUp() as found:
            told |= {"workbench.follow.trace": found.follows, "workbench.follow.question": found.question}
        case Transformed() as found:
            told |= {
                "workbench.transform.kind": found.kind,
                "workbench.transform.queries": [variant.text for variant in found.variants],
                "workbench.transform.searches": found.searches,
                "workbench.transform.skipped": found.skipped,
                "gen_ai.usage.input_tokens": found.prompt_tokens,
                "gen_ai.usage.output_tokens": found.output_tokens,
            }
        case EvidenceCheck() as found:
            told |= {"workbench.evidence.next": found.next, "workbench.evidence.reason": found.reason}
        case Judged() as found:
            told |= {"workbench.judge.verdicts": [verdict.verdict for verdict in found.verdicts]}
        case Generation() as found:
            told |= _generation(found, trace)
        case Decision() as found:
            told |= {"workbench.decision.outcome": found.outcome, "workbench.decision.reason": found.reason}
    return {name: value for name, value in told.items() if value not in ("", ())}


def _documents(trace: Trace, hits: Iterator[tuple[str, float]]) -> Attributes:
    found = json.dumps([{"id": chunk_id, "score": score} for chunk_id, score in hits])
    return {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": trace.manifest.collection,
        "gen_ai.retrieval.documents": found,
    }


def _generation(found: Generation, trace: Trace) -> Attributes:
    settings = trace.manifest.settings
    asked = {"max_tokens": "ask.max_output", "temperature": "ask.temperature", "seed": "ask.seed"}
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "llama.cpp",
        "gen_ai.request.model": trace.manifest.model,
        "gen_ai.usage.input_tokens": found.prompt_tokens,
        "gen_ai.usage.output_tokens": found.output_tokens,
        "gen_ai.response.finish_reasons": [found.stop_reason],
        **{f"gen_ai.request.{name}": settings[key] for name, key in asked.items() if key in settings},
        **({} if found.ttft_ms is None else {"gen_ai.server.time_to_first_token": found.ttft_ms / 1000}),
        "workbench.generation.reused_tokens": found.reused_tokens,
    }


def _problem(span: TraceSpan) -> str:
    if isinstance(span.output, Generation):
        return span.output.error if span.output.state == "error" else attempt_error(span)
    return attempt_error(span)


def _failure(trace: Trace) -> str:
    """Abstaining is an answer; an engine that died is an error."""
    return trace.answer.text if trace.answer and trace.answer.outcome == "engine_gone" else ""


def _attributes(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in told.items()]


def _value(value: Any) -> dict[str, Any]:
    """An OTLP ``AnyValue``; 64-bit integers are text in JSON, as protobuf has it."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list() | tuple():
            return {"arrayValue": {"values": [_value(one) for one in value]}}
        case _:
            return {"stringValue": str(value)}
