"""How a question ended, and the attempts of one that a query answers: such a trace holds no answer, only its spans."""

from __future__ import annotations

from typing import Literal, TypeAlias

from workbench.i18n import tr
from workbench.records.answers import Decision, Trace, TraceSpan

SqlOutcome: TypeAlias = Literal["sql_rows", "sql_none", "sql_stopped"]


def attempts(trace: Trace) -> tuple[TraceSpan, ...]:
    """The queries that a model wrote for the question, in order; none for a question of documents."""
    return tuple(span for span in trace.spans if span.name.startswith("sql_"))


def attempt_error(attempt: TraceSpan) -> str:
    """Why a query gave no rows, "" when it ran."""
    return str(attempt.metadata.get("error", ""))


def of_tables(trace: Trace) -> bool:
    """It was asked of a file's tables, not of documents."""
    return trace.span("schema") is not None


def outcome_of(trace: Trace) -> str:
    """An ``Outcome`` of an answer or a decision, a ``SqlOutcome`` of queries; "" where it was stopped before any."""
    if trace.answer is not None:
        return trace.answer.outcome
    if of_tables(trace):
        return _of_attempts(trace)
    span = trace.span("decision")
    return span.output.outcome if span is not None and isinstance(span.output, Decision) else ""


def outcome_name(outcome: str) -> str:
    """In the interface's language."""
    names = {
        "answered": tr("answered"),
        "unsupported": tr("no source backs it"),
        "no_result": tr("nothing found"),
        "filtered_out": tr("the filter leaves nothing"),
        "low_support": tr("not enough support"),
        "does_not_fit": tr("does not fit the context"),
        "engine_gone": tr("the engine ended"),
        "cancelled": tr("stopped"),
        "empty_corpus": tr("the collection is empty"),
        "sql_rows": tr("SQL: it ran"),
        "sql_none": tr("SQL: none ran"),
        "sql_stopped": tr("SQL: stopped"),
        "": tr("stopped"),
    }
    return names.get(outcome, outcome)


def _of_attempts(trace: Trace) -> SqlOutcome:
    tried = attempts(trace)
    if tried and not attempt_error(tried[-1]):
        return "sql_rows"
    return "sql_none" if tried and not tried[-1].metadata.get("stopped") else "sql_stopped"
