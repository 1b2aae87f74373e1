"""``workbench sql``: queries that read the workbench's own file or another SQLite file."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from workbench.cli.ask.answers import load
from workbench.cli.ask.attempts import print_attempt
from workbench.cli.display import StatusLine, duration, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.sql import Policy, QueryResult, Schema, Verdict
from workbench.sqltools.asking import SqlAsked
from workbench.sqltools.console import refused
from workbench.sqltools.exporting import Form, as_text, write_new
from workbench.sqltools.words import MARKS, control_name, rows_told


@click.command()
@click.argument("query", default="")
@click.option("--on", "file", type=click.Path(path_type=Path), help="Another SQLite file [the workbench's own].")
@click.option("--check", is_flag=True, help="Say what the controls, the linter and the plan say; run nothing.")
@click.option("--rows", type=click.IntRange(1), default=1000, show_default=True, help="Rows read at most.")
@click.option("--seconds", type=click.FloatRange(0.01), default=10.0, show_default=True, help="How long it may run.")
@click.option("--table", "tables", multiple=True, help="A table that may be read; others may not.")
@click.option("--hide", "hidden", multiple=True, metavar="TABLE.COLUMN", help="A column that may not be read.")
@click.option("--only", "filters", multiple=True, metavar="TABLE:CONDITION",
              help="The only rows of a table to see; several must all hold.")  # fmt: skip
@click.option("--aggregate", is_flag=True, help="Let only sums, counts and groups out.")
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@click.option("--output", "-o", "path", type=click.Path(path_type=Path), help="Write the rows here; a new file.")
@click.option("--ask", "question", default="", help="Let a model write the query that answers this question.")
@click.option("--model", default="", help="The GGUF file, or URL#NAME of a server's model, that writes it.")
@click.option("--history", is_flag=True, help="List the queries that were run.")
@click.pass_obj
def sql(
    front: FrontEnds,
    query: str,
    file: Path | None,
    check: bool,
    rows: int,
    seconds: float,
    tables: tuple[str, ...],
    hidden: tuple[str, ...],
    filters: tuple[str, ...],
    aggregate: bool,
    form: str,
    path: Path | None,
    question: str,
    model: str,
    history: bool,
) -> None:
    """Runs one SELECT that can only read; - reads it from standard input. Without a query it prints the schema."""
    allowed = frozenset(tables) if tables else None
    restricted = bool(tables or hidden or filters or aggregate)
    own = _own_rows(filters)
    policy = Policy(allowed, frozenset(hidden), rows, seconds, restricted, aggregate, own)
    text = sys.stdin.read() if query == "-" else query
    elsewhere = file is not None and not front.file.exists()
    if question:
        with front.glance() if elsewhere else front.desk() as desk:
            load(desk, model, StatusLine())
            _ask(desk, question, file, replace(policy, rows=min(rows, 100), seconds=min(seconds, 1.5), rewrite=True))
        return
    with front.glance() if elsewhere else front.desk("read") as desk:
        if history:
            for old in desk.sql.history():
                say(old)
            return
        schema = desk.sql.schema(file)
        if not text.strip():
            print_json(schema) if form == "json" else _print_schema(schema)
            return
        verdict = desk.sql.check(text, file, policy, schema=schema)
        if check:
            print_json(verdict) if form == "json" else _print_verdict(verdict)
            return
        for finding in verdict.findings:
            say(f"⚠ {finding.excerpt}: {finding.why} → {finding.better}", err=True)
        with stoppable() as stop:
            result = desk.sql.run(verdict, file, policy, stop)
    _give(result, form, path)


def _ask(desk: Desk, question: str, file: Path | None, policy: Policy) -> None:
    """The attempts as they come, then the rows, or that there are none to trust."""
    last: SqlAsked | None = None
    with stoppable() as stop:
        for last in desk.sql.ask(question, file, policy, stop):
            span = last.trace.spans[-1]
            if span.name != "schema":
                print_attempt(span)
    if last and last.verdict and last.result:
        for finding in last.verdict.findings:
            say(f"⚠ {finding.excerpt}: {finding.why} → {finding.better}", err=True)
        _give(last.result, "table", None)
    else:
        say(tr("No query could be made that can be relied on: ask more exactly, or write it yourself."))
        raise click.exceptions.Exit(1)


def _own_rows(filters: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The conditions on each table."""
    given: dict[str, tuple[str, ...]] = {}
    for table, condition in map(_filter, filters):
        given[table] = (*given.get(table, ()), condition)
    return given


def _filter(text: str) -> tuple[str, str]:
    table, colon, condition = text.partition(":")
    if not (table and colon and condition.strip()):
        raise UsageError(
            tr("No such condition"),
            tr("“{text}” is not TABLE:CONDITION.", text=text),
            "--only \"pagos:campus = 'Norte'\"",
        )
    return table, condition


def _print_schema(schema: Schema) -> None:
    for table in schema.tables:
        rows = tr("rows uncounted") if table.rows is None else rows_told(table.rows)
        say(f"{table.name}  ({rows})" + (f" · {table.kind}" if table.kind != "table" else ""), bold=True)
        for column in table.columns:
            marks = [
                column.kind,
                "PRIMARY KEY" if column.key else "UNIQUE" if column.unique else "",
                "NOT NULL" if column.not_null else "",
                f"→ {column.references}" if column.references else "",
            ]
            say("    " + "  ".join(filter(None, [column.name, *marks])))
        for index in table.indexes:
            say(f"    ⌕ {index}", dim=True)


def _print_verdict(verdict: Verdict) -> None:
    print_table(("", tr("control"), ""), [(MARKS[c.state], control_name(c.name), c.message) for c in verdict.controls])
    if verdict.sql and verdict.sql != verdict.asked.strip():
        say("\n" + verdict.sql)
    for finding in verdict.findings:
        say(f"\n⚠ {finding.excerpt}", bold=True)
        say(f"  {finding.why}\n  → {finding.better}")
    if verdict.plan:
        say("\n" + tr("plan"), bold=True)
        for step in verdict.plan:
            say("  " * (step.depth + 1) + step.text)
        for warning in verdict.warnings:
            say(f"⚠ {warning}")
    if not verdict.accepted:
        raise refused(verdict)


def _give(result: QueryResult, form: str, path: Path | None) -> None:
    if path is not None:
        chosen: Form = "json" if form == "json" or path.suffix == ".json" else "csv"
        write_new(path, as_text(result, chosen))
    elif form == "table":
        cells = [
            ["NULL" if c is None else f"{len(c)} B" if isinstance(c, bytes) else str(c) for c in row]
            for row in result.rows
        ]
        print_table(result.columns, cells)
    else:
        click.echo(as_text(result, "json" if form == "json" else "csv"), nl=False)
    told = tr("{rows} in {time}", rows=rows_told(len(result.rows)), time=duration(result.duration_ms / 1000))
    more = {"rows": tr("there are more: --rows"), "bytes": tr("there is more: the result is too large"), "": ""}
    say(" · ".join(filter(None, [told, more[result.cut]])), err=True, dim=True)


COMMANDS = (sql,)
