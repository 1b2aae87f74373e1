"""Queries that run and compute something else than was meant: joins that multiply, ranges that lose a day, NULLs.

Each rule gives the place, why it matters and a better form. The schema decides where it can: a join along a key that
is unique multiplies nothing, a column that is never NULL loses none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from workbench.i18n import tr
from workbench.records.sql import Finding, LintRule, Schema, Table, TableColumn
from workbench.text.words import stem

if TYPE_CHECKING:
    from sqlglot import exp

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONEY: Final = re.compile(r"importe|amount|price|precio|total|coste?|cost|ingres|revenue|saldo|balance|pago", re.I)
_CURRENCY: Final = re.compile(r"moneda|currency|divisa", re.I)


@dataclass(frozen=True)
class _Scope:
    """One SELECT with what its names mean."""

    select: exp.Select
    schema: Schema
    question: str

    def sources(self) -> list[tuple[str, Table | None]]:
        """(alias, table) of FROM and the joins, in order; None for what the schema doesn't have."""
        return [(node.alias_or_name.lower(), self.schema.table(node.name)) for node in self.nodes()]

    def nodes(self) -> list[exp.Expr]:
        """What stands in FROM and the joins."""
        first = self.select.args.get("from_") or self.select.args.get("from")
        joined = [join.this for join in self.select.args.get("joins") or ()]
        return [*([first.this] if first is not None else []), *joined]

    def column(self, node: exp.Column) -> TableColumn | None:
        """What the schema knows of it."""
        for alias, table in self.sources():
            found = table.column(node.name) if table and node.table.lower() in ("", alias) else None
            if found:
                return found
        return None


def lint(tree: exp.Expr, schema: Schema, question: str = "") -> tuple[Finding, ...]:
    """What is doubtful in a parsed query, each finding once."""
    from sqlglot import exp

    found: list[Finding] = []
    for select in tree.find_all(exp.Select):
        scope = _Scope(select, schema, question)
        for rule in _RULES:
            found.extend(rule(scope))
    return tuple(dict.fromkeys(found))


def _own(scope: _Scope, *kinds: type[exp.Expr]) -> Iterator[exp.Expr]:
    """Nodes of this SELECT, not of those inside it."""
    for node in scope.select.find_all(*kinds):
        if node.find_ancestor(type(scope.select)) is scope.select:
            yield node


def _found(rule: LintRule, node: exp.Expr, why: str, better: str) -> Finding:
    return Finding(rule, node.sql("sqlite"), why, better)


def _multiplied(scope: _Scope) -> exp.Join | None:
    """The first join whose condition names no unique column of the table that is joined."""
    from sqlglot import exp

    for join in scope.select.args.get("joins") or ():
        alias, table = join.alias_or_name.lower(), scope.schema.table(join.this.name)
        on = join.args.get("on") or scope.select.args.get("where")
        sides = [side for eq in on.find_all(exp.EQ) for side in (eq.left, eq.right)] if on is not None else []
        named = [s.name for s in sides if isinstance(s, exp.Column) and s.table.lower() == alias]
        named += [identifier.name for identifier in join.args.get("using") or ()]
        columns = [table.column(name) for name in named] if table else []
        if not any(column and column.unique for column in columns):
            return join if isinstance(join, exp.Join) else None
    return None


def _fan_out(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    join = _multiplied(scope)
    if join is None:
        return
    first = next(iter(scope.sources()), ("", None))
    for node in _own(scope, exp.Count, exp.Sum, exp.Avg):
        inner = node.this
        whole = isinstance(inner, exp.Star)
        of_first = isinstance(inner, exp.Column) and inner.table.lower() == first[0]
        if isinstance(inner, exp.Distinct) or not (whole or of_first):
            continue
        key = next((c.name for c in first[1].columns if c.unique), "id") if first[1] else "id"
        why = tr("The join with {table} can give a row several times, and each is counted.", table=join.this.name)
        better = f"COUNT(DISTINCT {first[0]}.{key})" if isinstance(node, exp.Count) else tr("add up before joining")
        yield _found("fan_out", node, why, better)


def _closed_range(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    for node in _own(scope, exp.LTE, exp.Between):
        column, end = (node.this, node.args.get("high") if isinstance(node, exp.Between) else node.expression)
        if not (isinstance(end, exp.Literal) and end.is_string and _DAY.fullmatch(end.name)):
            continue
        known = scope.column(column) if isinstance(column, exp.Column) else None
        if known and known.kind.upper() == "DATE":
            continue
        try:
            after = (date.fromisoformat(end.name) + timedelta(days=1)).isoformat()
        except (ValueError, OverflowError):
            continue
        name = column.sql("sqlite")
        low = node.args["low"].sql("sqlite") if isinstance(node, exp.Between) else ""
        better = f"{name} >= {low} AND {name} < '{after}'" if low else f"{name} < '{after}'"
        why = tr("Where the column holds a time of day, all of {day} after midnight is lost.", day=end.name)
        yield _found("closed_range", node, why, better)


def _not_equal(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    for node in _own(scope, exp.NEQ):
        if isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Literal) and node.expression.is_string:
            name = node.this.sql("sqlite")
            why = tr("It lets every other state in, those that come later too, and leaves NULLs out.")
            yield _found("not_equal_state", node, why, f"{name} IN ('…', '…')")


def _late_filter(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    having = scope.select.args.get("having")
    if having is None or having.find(exp.AggFunc):
        return
    aliases = {e.alias.lower() for e in scope.select.expressions if e.find(exp.AggFunc) and e.alias}
    if any(column.name.lower() in aliases for column in having.find_all(exp.Column)):
        return
    why = tr("HAVING filters groups; without an aggregate it groups rows first that should not be there.")
    yield _found("late_filter", having, why, f"WHERE {having.this.sql('sqlite')}")


def _null_skipped(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    for node in _own(scope, exp.Avg):
        known = scope.column(node.this) if isinstance(node.this, exp.Column) else None
        if known and not known.not_null and not known.key:
            why = tr("AVG leaves NULLs out without a word: decide whether they are unknown, zero, or don't count.")
            yield _found("null_skipped", node, why, f"AVG(COALESCE({node.this.sql('sqlite')}, 0))")


def _null_compared(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    for node in _own(scope, exp.EQ, exp.NEQ):
        if isinstance(node.expression, exp.Null):
            why = tr("Nothing is equal to NULL, and nothing is unequal to it: no row passes.")
            word = "IS NULL" if isinstance(node, exp.EQ) else "IS NOT NULL"
            yield _found("null_compared", node, why, f"{node.this.sql('sqlite')} {word}")


def _not_in_nulls(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    for node in _own(scope, exp.In):
        query = node.args.get("query")
        if query is None or not isinstance(node.parent, exp.Not):
            continue
        why = tr("A single NULL among what the inner query gives, and no row passes.")
        yield _found("not_in_nulls", node.parent, why, "NOT EXISTS (SELECT 1 …)")


def _mixed_currency(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    currencies = [
        column.name
        for _, table in scope.sources()
        if table
        for column in table.columns
        if _CURRENCY.search(column.name)
    ]
    if not currencies:
        return
    clauses = (scope.select.args.get(name) for name in ("where", "group"))
    named = {column.name.lower() for clause in clauses if clause is not None for column in clause.find_all(exp.Column)}
    for node in _own(scope, exp.Sum, exp.Avg):
        if _MONEY.search(node.sql("sqlite")) and not named & {name.lower() for name in currencies}:
            why = tr("Amounts of several currencies are added up as if they were one.")
            yield _found("mixed_currency", node, why, f"GROUP BY {currencies[0]}")


def _event_for_entity(scope: _Scope) -> Iterator[Finding]:
    """The question names what a key points to, and the query counts the rows that hold the key."""
    from sqlglot import exp

    if not scope.question or len(scope.sources()) != 1:
        return
    table = scope.sources()[0][1]
    asked = {stem(word, "es") for word in re.findall(r"\w+", scope.question)}
    for node in _own(scope, exp.Count):
        if not isinstance(node.this, exp.Star) or table is None or stem(table.name, "es") in asked:
            continue
        for column in table.columns:
            entity = column.references.split(".")[0]
            if entity and stem(entity, "es") in asked:
                why = tr("It counts rows of {table}; the question asks for {entity}.", table=table.name, entity=entity)
                yield _found("event_for_entity", node, why, f"COUNT(DISTINCT {column.name})")


def _arbitrary_row(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    aggregated = any(e.find(exp.AggFunc) and not e.find(exp.Window) for e in scope.select.expressions)
    if not aggregated or scope.select.args.get("group"):
        return
    for column in scope.select.expressions:
        if isinstance(column.unalias(), exp.Column):
            why = tr("Beside a sum of all rows it comes from one row, whichever the engine likes.")
            yield _found("arbitrary_row", column, why, f"GROUP BY {column.unalias().sql('sqlite')}")


def _no_order(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    limit = scope.select.args.get("limit")
    single = all(e.find(exp.AggFunc) for e in scope.select.expressions) and not scope.select.args.get("group")
    if limit is not None and not scope.select.args.get("order") and not single:
        why = tr("Without an order, which rows come is chance: it may differ tomorrow.")
        yield _found("no_order", limit, why, f"ORDER BY … {limit.sql('sqlite').strip()}")


def _no_join_condition(scope: _Scope) -> Iterator[Finding]:
    where = scope.select.args.get("where")
    for join in scope.select.args.get("joins") or ():
        told = join.args.get("on") or join.args.get("using") or join.method or where
        if not told and scope.schema.table(join.this.name):
            why = tr("Every row is paired with every other one.")
            yield _found("no_join_condition", join, why, f"JOIN {join.this.name} ON …")


def _whole_division(scope: _Scope) -> Iterator[Finding]:
    from sqlglot import exp

    for node in _own(scope, exp.Div):
        if isinstance(node.this, exp.Count) and isinstance(node.args.get("expression"), exp.Count):
            why = tr("Two whole numbers are divided to a whole one: 1 / 2 is 0.")
            yield _found("whole_division", node, why, f"1.0 * {node.sql('sqlite')}")


_RULES: Final[tuple[Callable[[_Scope], Iterator[Finding]], ...]] = (
    _fan_out,
    _closed_range,
    _not_equal,
    _late_filter,
    _null_skipped,
    _null_compared,
    _not_in_nulls,
    _mixed_currency,
    _event_for_entity,
    _arbitrary_row,
    _no_order,
    _no_join_condition,
    _whole_division,
)
