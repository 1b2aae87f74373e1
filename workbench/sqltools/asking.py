"""A question turned into a query by a model: linked to a part of the schema, judged, run, and mended twice at most.

The model only proposes. Each attempt passes the controls before it runs, and its error goes back with it; when the
attempts are used up there is no answer rather than a number that nobody can defend.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import workbench
from workbench.answers.manifest import library_versions, new_trace_id, now, place_of
from workbench.errors import QueryError
from workbench.i18n import tr
from workbench.ports import Cancel, Generator
from workbench.records.answers import Generation, Manifest, Message, Trace, TraceSpan
from workbench.records.models import GenerationSettings
from workbench.records.sql import Policy, QueryResult, Schema, Table, TableColumn, Verdict
from workbench.text.json_schema import unfenced
from workbench.text.words import stem, words

MOST_ATTEMPTS: Final = 3
MOST_TABLES: Final = 6
"""Tables that a prompt describes."""
MOST_TOKENS: Final = 200

_SYSTEM: Final = (
    "You write SQLite queries. Answer with one SELECT and nothing else. Use only these tables and columns.\n\n{schema}"
)
_MEND: Final = "The query failed: {error}\nWrite the corrected SELECT and nothing else."


@dataclass(frozen=True, slots=True)
class SqlAsked:
    """How a question is going: its trace, a span an attempt; the query and its rows once one ran."""

    trace: Trace
    verdict: Verdict | None = None
    result: QueryResult | None = None


def link(question: str, schema: Schema, most: int = MOST_TABLES) -> tuple[Table, ...]:
    """The tables that share most words with the question by name, columns and values, and those their keys point to."""
    asked = {stem(word, language) for word in words(question) for language in ("en", "es")}

    def score(table: Table) -> int:
        own = 3 * len(_stems(table.name) & asked)
        held = sum(any(_stems(value) & asked for value in column.values) for column in table.columns)
        return own + held + sum(len(_stems(column.name) & asked) for column in table.columns)

    ranked = sorted(schema.tables, key=score, reverse=True)
    best = [table for table in ranked if score(table)][:most] or ranked[:most]
    pointed = [schema.table(c.references.split(".")[0]) for table in best for c in table.columns if c.references]
    return tuple(dict.fromkeys([*best, *(table for table in pointed if table)]))[:most]


def describe(tables: tuple[Table, ...]) -> str:
    """As CREATE TABLE statements, with what keys point to and the values of columns that hold only a few."""
    return "\n".join(
        f"CREATE TABLE {table.name} (\n" + "\n".join(map(_column_line, table.columns)) + "\n);" for table in tables
    )


def _column_line(column: TableColumn) -> str:
    points = f" REFERENCES {column.references}" if column.references else ""
    values = ", ".join("'" + value.replace("'", "''") + "'" for value in column.values)
    return f"  {column.name} {column.kind}".rstrip() + points + "," + (f" -- {values}" if values else "")


def visible(schema: Schema, policy: Policy, values: Mapping[str, tuple[str, ...]]) -> Schema:
    """What a model is told of a schema: tables and columns that it may read, values where no row is kept from it."""
    hidden = {name.lower() for name in policy.hidden}
    allowed = {name.lower() for name in policy.tables} if policy.tables is not None else None
    filtered = {name.lower() for name in policy.filters}

    def told(table: Table) -> Table:
        columns = (c for c in table.columns if f"{table.name}.{c.name}".lower() not in hidden)
        known = {} if table.name.lower() in filtered else values
        return replace(
            table, columns=tuple(replace(c, values=known.get(f"{table.name}.{c.name}", ())) for c in columns)
        )

    tables = (told(t) for t in schema.tables if allowed is None or t.name.lower() in allowed)
    return replace(schema, tables=tuple(tables))


def ask(
    question: str,
    schema: Schema,
    model: Generator,
    check: Callable[[str], Verdict],
    run: Callable[[Verdict], QueryResult],
    cancel: Cancel | None = None,
) -> Iterator[SqlAsked]:
    """The trace after the linking and after each attempt; the last one is complete.

    Raises:
        EngineError: the model's process died. BudgetError: the schema doesn't fit its window. Cancelled.
    """
    began = time.perf_counter()
    tables = link(question, schema)
    trace = Trace(new_trace_id(), now(), question, _manifest(model))
    names = " ".join(table.name for table in tables)
    trace = trace.grow(TraceSpan("schema", 0.0, _since(began), None, {"file": schema.file}, {"tables": names}))
    yield SqlAsked(trace)
    messages = [Message("system", _SYSTEM.format(schema=describe(tables))), Message("user", question)]
    verdict: Verdict | None = None
    result: QueryResult | None = None
    for number in range(1, MOST_ATTEMPTS + 1):
        start = _since(began)
        *_, written = model.generate(model.render(messages), GenerationSettings(MOST_TOKENS), cancel)
        sql, stopped = query_in(written.text), written.state == "cancelled"
        verdict = check(sql)
        try:
            result = run(verdict) if verdict.accepted and not stopped else None
            error = tr("stopped") if stopped else verdict.refusal
        except QueryError as failed:
            error = failed.message
        facts = _facts(written, result, error) | ({"stopped": True} if stopped else {})
        trace = trace.grow(TraceSpan(f"sql_{number}", start, _since(began) - start, written, {"sql": sql}, facts))
        if result is not None or stopped or number == MOST_ATTEMPTS:
            break
        yield SqlAsked(trace, verdict)
        messages += [Message("assistant", sql), Message("user", _MEND.format(error=error))]
    yield SqlAsked(replace(trace, complete=True), verdict, result)


def query_in(text: str) -> str:
    """The query in what a model wrote: without fence and talk before it, up to its first semicolon."""
    bare = unfenced(text).strip()
    found = re.search(r"\b(select|with)\b", bare, re.IGNORECASE)
    return (bare[found.start() :] if found else bare).split(";")[0].strip()


def _facts(written: Generation, result: QueryResult | None, error: str) -> dict[str, str | int | float | bool]:
    told: dict[str, str | int | float | bool] = {"accepted": not error, "tokens": written.output_tokens}
    return told | ({"rows": len(result.rows)} if result else {"error": error})


def _manifest(model: Generator) -> Manifest:
    file = model.model.file
    return Manifest(
        workbench.__version__, "", 0, 0, "", "", "", file.name, file.hash, place_of(model.model), library_versions()
    )


def _stems(name: str) -> set[str]:
    return {stem(part, language) for part in re.split(r"[_\W]+", name) if part for language in ("en", "es")}


def _since(began: float) -> float:
    """Milliseconds."""
    return (time.perf_counter() - began) * 1000
