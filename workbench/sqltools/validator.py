"""The nine controls of a query before it runs: what it is, what it reads, how far it goes.

Read-only, allowed tables, allowed columns, row limit, time limit, dialect, aggregation, the person's own rows, and an
explanation that says only what came out. The first eight are held here; ``explanation`` once there is a result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, get_args

from workbench.errors import QueryError
from workbench.i18n import tr
from workbench.records.sql import (
    Compiled,
    Control,
    ControlName,
    ControlState,
    PlanStep,
    Policy,
    QueryResult,
    Schema,
    Table,
    Verdict,
)
from workbench.sqltools.limits import joins_by_name, tables_behind, views_among
from workbench.sqltools.linter import lint
from workbench.sqltools.plans import warnings

if TYPE_CHECKING:
    from sqlglot import exp

ORDER: Final = get_args(ControlName)
LONGEST: Final = 20_000
"""Characters of a query."""

# Values of any size in one step, which no time limit stops.
_WIDE: Final = re.compile(r"%[-+ #0!,]*(\*|\d{5,})|%[-+ #0!,\d]*\.(\*|\d{5,})")
_TEXTUAL: Final = re.compile("^$|CHAR|CLOB|TEXT|BLOB", re.IGNORECASE)
"""Declared types that hold what isn't a number (SQLite, datatypes: determination of column affinity)."""
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)?")

Compile = Callable[[str], Compiled]


@dataclass
class _Case:
    """A query on its way through the controls."""

    tree: exp.Expr | None
    sql: str
    controls: list[Control]

    def say(self, name: ControlName, state: ControlState, message: str = "") -> bool:
        """Notes how a control ended; whether it didn't refuse."""
        self.controls.append(Control(name, state, message))
        return state != "refused"

    def told(self) -> tuple[Control, ...]:
        """The controls so far, in their order."""
        return tuple(sorted(self.controls, key=lambda control: ORDER.index(control.name)))


def validate(sql: str, schema: Schema, policy: Policy, compile_: Compile, question: str = "") -> Verdict:
    """What the controls say of ``sql``, with the linter's findings and the plan.

    Args:
        compile_: prepares a query on the file, as ``SqlReader.compile``.
        question: what is asked in words, where that is known.
    """
    asked = sql.strip().rstrip(";").strip()
    case = _Case(None, asked, [])
    if not _query_type(case, asked):
        return Verdict(sql, "", case.told())
    findings = lint(case.tree, schema, question) if case.tree is not None else ()
    if case.tree is not None:
        _own_rows(case, schema, policy)
        if policy.filters or policy.aggregate:  # what was replaced, or judged by its form, is what runs
            case.sql = case.tree.sql("sqlite")
        _row_limit(case, policy)
    else:
        case.say("user_filters", "refused" if policy.filters else "not_asked", _unread() if policy.filters else "")
        case.say("row_limit", "refused" if policy.rewrite else "kept", _unread() if policy.rewrite else "")
    case.say("time_limit", "kept", tr("It is stopped after {seconds} seconds.", seconds=f"{policy.seconds:g}"))
    _aggregation(case, schema, policy)
    try:
        compiled = compile_(case.sql)
    except QueryError as error:
        case.say("dialect", "refused", error.message)
        return Verdict(sql, "", case.told(), findings)
    case.say("dialect", "kept")
    plan = tuple(replace(step, rows=_rows_of(step.scans, schema, case)) for step in compiled.plan)
    _reads(case, compiled, schema, policy, compile_)
    _scan(case, plan, policy)
    case.say("explanation", "not_asked")
    good = all(control.state != "refused" for control in case.controls)
    return Verdict(sql, case.sql if good else "", case.told(), findings, plan, warnings(plan))


def explanation(text: str, result: QueryResult, schema: Schema, known: str = "") -> Control:
    """Whether ``text`` says only what came out: its numbers stand in the result, no other column is named.

    Args:
        known: what numbers may also come from, as the question and the query.
    """
    given = {_plain(number) for row in result.rows for cell in row for number in _NUMBER.findall(str(cell))}
    given |= {_plain(f"{cell:.{places}f}") for row in result.rows for cell in row for places in (0, 1, 2)
              if isinstance(cell, float)}  # fmt: skip
    given |= {_plain(number) for number in _NUMBER.findall(known)} | {str(len(result.rows))}
    invented = [number for number in _NUMBER.findall(text) if _plain(number) not in given]
    shown = {name.lower() for name in result.columns}
    columns = {column.name.lower() for table in schema.tables for column in table.columns if "_" in column.name}
    foreign = sorted(w for w in set(re.findall(r"\w+", text.lower())) if w in columns and w not in shown)
    if invented or foreign:
        told = ", ".join([*invented, *foreign])
        return Control("explanation", "refused", tr("It names what the result doesn't hold: {what}.", what=told))
    return Control("explanation", "kept")


def _query_type(case: _Case, sql: str) -> bool:
    """One SELECT, or WITH … SELECT, without functions that load code or make giants. Parses it on the way."""
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    if not sql:
        return case.say("query_type", "refused", tr("There is no query."))
    if len(sql) > LONGEST or "\0" in sql:
        return case.say("query_type", "refused", tr("It is longer than {count} characters.", count=LONGEST)
                        if len(sql) > LONGEST else tr("It holds a NUL character."))  # fmt: skip
    if _first_word(sql) == "pragma":
        return case.say("query_type", "kept", tr("The engine lets only PRAGMAs through that read."))
    if _first_word(sql) == "explain":
        return case.say("query_type", "refused", tr("Its plan is told without it: write the SELECT alone."))
    if _first_word(sql) not in ("select", "with"):
        return case.say("query_type", "refused", tr("Only one SELECT, or WITH … SELECT, may run."))
    try:
        found = [tree for tree in parse(sql, read="sqlite") if tree is not None]
    except (SqlglotError, RecursionError):
        return case.say("query_type", "kept", tr("Its form is not known here; the engine alone judges it."))
    if len(found) != 1:
        return case.say("query_type", "refused", tr("It is {count} statements; one may run.", count=len(found)))
    tree = found[0]
    if not isinstance(tree, exp.Query) or any(tree.find(kind) for kind in (exp.Insert, exp.Update, exp.Delete)):
        return case.say("query_type", "refused", tr("Only one SELECT, or WITH … SELECT, may run."))
    if any(_WIDE.search(literal.name) for literal in tree.find_all(exp.Literal) if literal.is_string):
        return case.say("query_type", "refused", tr("A width of more than 9,999 characters would fill the memory."))
    if tree.find(exp.Placeholder, exp.Parameter):
        return case.say("query_type", "refused", tr("It has a place for a value, and there is none to put there."))
    case.tree = tree
    return case.say("query_type", "kept")


def _own_rows(case: _Case, schema: Schema, policy: Policy) -> None:
    """Every table that a person sees a part of is replaced by that part: a query can't leave the condition out."""
    from sqlglot import exp

    if case.tree is None or not policy.filters:
        case.say("user_filters", "not_asked")
        return
    conditions: dict[str, list[str]] = {}
    for table, own in policy.filters.items():
        conditions.setdefault(table.lower(), []).extend(f"({condition}\n)" for condition in own)
    if any(node.args.get("field") is not None for node in case.tree.find_all(exp.In)):
        case.say("user_filters", "refused", tr("“IN table” reads a whole table: write a query there."))
        return
    found = [node for node in case.tree.find_all(exp.Table) if node.name.lower() in conditions]
    for node in found:
        part = _part(node.name, " AND ".join(conditions[node.name.lower()]), schema, policy)
        named = part.subquery(exp.to_identifier(node.alias or node.name, quoted=True))
        named.set("joins", node.args.get("joins"))  # where it begins a join in brackets
        node.replace(named)
    told = ", ".join(f"{node.name}: {' AND '.join(conditions[node.name.lower()])}" for node in found)
    case.say("user_filters", "changed" if found else "kept", told.replace("\n", ""))


def _part(table: str, condition: str, schema: Schema, policy: Policy) -> exp.Select:
    """The rows and columns of a table that a person may see. The condition stands there letter by letter."""
    from sqlglot import exp

    hidden = {name.lower() for name in policy.hidden}
    known = schema.table(table)
    names = [c.name for c in known.columns if f"{table}.{c.name}".lower() not in hidden] if known else []
    shown: list[exp.Expr] = [exp.column(name, quoted=True) for name in names]
    return (
        exp.select(*(shown or [exp.Star()]))
        .from_(exp.Table(this=exp.to_identifier(table, quoted=True)))
        .where(exp.Var(this=condition))
    )


def _row_limit(case: _Case, policy: Policy) -> None:
    """Rows are counted while read; where queries may be changed, one without a LIMIT gets one that lets one more come.

    That one tells that there are more. The query's own LIMIT stays as it is: what it says may be an expression.
    """
    from sqlglot import exp

    limit = case.tree.args.get("limit") if case.tree is not None else None
    value = limit.expression if isinstance(limit, exp.Limit) else None
    if isinstance(value, exp.Literal) and value.name.isdecimal() and int(value.name) <= policy.rows:
        case.say("row_limit", "kept", f"LIMIT {value.name}")
        return
    if policy.rewrite and limit is None:
        case.sql += f"\nLIMIT {policy.rows + 1}"
    state: ControlState = "changed" if policy.rewrite and limit is None else "kept"
    case.say("row_limit", state, tr("At most {count} rows are read.", count=f"{policy.rows:,}"))


def _aggregation(case: _Case, schema: Schema, policy: Policy) -> None:
    """Sums, counts and their groups: every column that comes out is made of these, and of no row's own value."""
    from sqlglot import exp

    if not policy.aggregate:
        case.say("aggregation", "not_asked")
        return
    selects = list(case.tree.find_all(exp.Select)) if case.tree is not None else []
    outer = [s for s in selects if s.parent_select is None or isinstance(s.parent, exp.SetOperation)]
    for select in outer:
        group = select.args.get("group")
        groups = {e.sql("sqlite").lower() for e in group.expressions} if group else set()
        for column in select.expressions:
            named = column.alias.lower() in groups and not _columns_called(column.alias, schema)
            if not named and not _gathered(column.unalias(), groups, schema):
                why = tr("“{column}” is neither a sum or count nor a group.", column=column.sql("sqlite"))
                case.say("aggregation", "refused", why)
                return
    case.say("aggregation", "kept" if outer else "refused", "" if outer else _unread())


def _gathered(told: exp.Expr, groups: set[str], schema: Schema) -> bool:
    """Whether ``told`` is made of sums, counts and groups, with nothing beside them that is of one row."""
    from sqlglot import exp

    def known(node: exp.Expr) -> bool:
        return node.sql("sqlite").lower() in groups or _sums_up(node, schema)

    nodes = list(told.walk(prune=known))
    single = (exp.Column, exp.Star, exp.Window, exp.AggFunc, exp.National)  # N'a' is a column n, called a
    return any(map(known, nodes)) and all(known(node) or not isinstance(node, single) for node in nodes)


def _sums_up(node: exp.Expr, schema: Schema) -> bool:
    """A count, a sum, a mean; the least or greatest of numbers, where a text would be a row's own."""
    from sqlglot import exp

    if isinstance(node, exp.Filter):
        return _sums_up(node.this, schema)
    if isinstance(node, (exp.Min, exp.Max)) and not node.expressions:
        found = [_columns_called(column.name, schema) for column in node.find_all(exp.Column)]
        return all(kinds and not any(map(_TEXTUAL.search, kinds)) for kinds in found)
    return isinstance(node, (exp.Count, exp.Sum, exp.Avg)) or (
        isinstance(node, exp.Anonymous) and node.name.lower() == "total"
    )


def _columns_called(name: str, schema: Schema) -> list[str]:
    """The declared types of the columns with that name."""
    return [column.kind for table in schema.tables if (column := table.column(name))]


def _reads(case: _Case, compiled: Compiled, schema: Schema, policy: Policy, compile_: Compile) -> None:
    """Tables and columns by what the engine says it will read: aliases and stars hide nothing from it.

    What a view reads is the view's own; a name that WITH gives is no view, not even within one. A virtual table, as of
    full-text search, and the tables that it keeps hold copies of others' texts, which it tells by ways that the engine
    doesn't report; the statistics of an index hold some, too. Nor does it report the columns of NATURAL and USING.
    """
    views = {table.name.lower() for table in schema.tables if table.kind == "view"}
    virtual = {table.name.lower() for table in schema.tables if table.kind == "virtual"}
    parts = tuple(f"{name}_" for name in virtual)
    shadows = {table for table, _, _ in compiled.reads if schema.table(table) is None and table.startswith(parts)}
    named = _mentioned(case)
    playing = views_among(named.union(*((table, view) for table, _, view in compiled.reads)), schema)
    named |= {name for name in shadows if any(name in view.definition.lower() for view in playing)}
    own = shadows - named if case.tree else set()  # what the module itself reads
    reads = [(table, column, view) for table, column, view in compiled.reads if view in views or table not in own]
    direct = sorted({table for table, _, view in reads if view not in views})
    allowed = {name.lower() for name in policy.tables} if policy.tables is not None else None
    filtered, hidden = {name.lower() for name in policy.filters}, {name.lower() for name in policy.hidden}
    foreign = [table for table in direct if allowed is not None and table not in allowed]
    partly = bool(filtered or hidden)
    if partly:  # what a view reads, and the samples of values that ANALYZE keeps
        foreign += sorted(tables_behind(playing, compile_) & filtered) if filtered else []
        foreign += sorted({t for t, _, _ in reads if t.startswith("sqlite_stat")})
    copies = sorted({t for t, _, _ in reads if t in virtual | shadows} - (allowed or set())) if partly else []
    restricted = bool(allowed is not None or partly)
    taken = sorted(_given_names(case) & {table.name.lower() for table in schema.tables}) if restricted else []
    by_name = _joined_by_name(case, playing if partly else ()) if restricted else ""
    if restricted and (case.tree is None or by_name):
        case.say("tables", "refused", by_name or _unread())
    elif taken:  # the engine would tell its reads as those of the view with that name
        case.say("tables", "refused", tr("The query gives the name of the table {table} anew.", table=taken[0]))
    elif foreign:
        case.say("tables", "refused", tr("not allowed: {names}", names=", ".join(foreign)))
    elif copies:
        told = tr("{names} may hold what is held back elsewhere; --table lets it be read.", names=", ".join(copies))
        case.say("tables", "refused", told)
    else:
        case.say("tables", "kept" if allowed is not None else "not_asked", ", ".join(direct))
    seen = sorted(f"{table}.{column}" for table, column, _ in compiled.reads if f"{table}.{column}" in hidden)
    state: ControlState = "refused" if seen else "kept" if hidden else "not_asked"
    case.say("columns", state, tr("not allowed: {names}", names=", ".join(seen)) if seen else "")


def _joined_by_name(case: _Case, within: Sequence[Table]) -> str:
    """Why no one can tell which columns are read, "" where the engine reports them all.

    Args:
        within: views that mustn't read everything either.
    """
    if joins_by_name(case.sql):
        return tr("NATURAL and USING read columns without the engine's reporting them: join with ON.")
    told = ", ".join(view.name for view in within if joins_by_name(view.definition))
    return tr("Joined with NATURAL or USING, whose reads aren't reported: {names}", names=told) if told else ""


def _mentioned(case: _Case) -> set[str]:
    """Names that stand in the query; a module reads the tables that it keeps without their being named."""
    from sqlglot import exp

    nodes = (
        case.tree.find_all(exp.Identifier, exp.Table, exp.Literal) if case.tree else ()
    )  # FROM 'name' is a name, too
    return {node.name.lower() for node in nodes}


def _given_names(case: _Case) -> set[str]:
    """Names that WITH and AS give to queries."""
    from sqlglot import exp

    nodes = case.tree.find_all(exp.CTE, exp.Subquery) if case.tree is not None else ()
    ours = {node.name.lower() for node in case.tree.find_all(exp.Table)} if case.tree is not None else set()
    return {node.alias.lower() for node in nodes if isinstance(node, exp.CTE) or node.alias.lower() not in ours}


def _scan(case: _Case, plan: Sequence[PlanStep], policy: Policy) -> None:
    """A plan that reads more rows than are allowed is refused as too long, before it has taken any time."""
    for step in plan:
        if policy.scan is not None and step.rows is not None and step.rows > policy.scan:
            why = tr("It reads all {rows} rows of {table}.", rows=f"{step.rows:,}", table=step.scans)
            case.controls = [control for control in case.controls if control.name != "time_limit"]
            case.say("time_limit", "refused", why)
            return


def _rows_of(name: str, schema: Schema, case: _Case) -> int | None:
    """Rows of the table that a plan calls ``name``, which may be its alias."""
    from sqlglot import exp

    table = schema.table(name) if name else None
    if table is None and name and case.tree is not None:
        nodes = [node for node in case.tree.find_all(exp.Table) if node.alias.lower() == name.lower()]
        table = schema.table(nodes[0].name) if nodes else None
    return table.rows if table else None


def _first_word(sql: str) -> str:
    """Behind comments and brackets."""
    bare = re.sub(r"--[^\n]*|/\*.*?\*/", " ", sql, flags=re.DOTALL)
    found = re.search(r"\w+", bare)
    return found[0].lower() if found and not bare[: found.start()].strip(" \t\r\n(") else ""


def _plain(number: str) -> str:
    text = number.replace(",", ".")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _unread() -> str:
    return tr("Its form is not known here, so that it can't be held to this.")
