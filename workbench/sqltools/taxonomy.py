"""Why a query that a model wrote doesn't give what the expected one gives: the first of its parts that differs.

Syntax, schema linking (tables, columns), joins, filters, aggregates, groups, order and shape, as the field tells them
apart: each is mended elsewhere. Two queries may differ in a part and give the same rows; this is asked only of those
that don't.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import QueryError
from workbench.i18n import tr
from workbench.records.sql import SqlFault

if TYPE_CHECKING:
    from sqlglot import exp


def fault_name(fault: SqlFault) -> str:
    """In the interface's language."""
    names: dict[SqlFault, str] = {
        "not_executable": tr("not executable"),
        "forbidden": tr("not allowed"),
        "too_slow": tr("too slow"),
        "too_large": tr("too many rows"),
        "wrong_table": tr("wrong table"),
        "wrong_column": tr("wrong column"),
        "wrong_join": tr("wrong join"),
        "wrong_filter": tr("wrong filter"),
        "wrong_aggregate": tr("wrong aggregate"),
        "wrong_grouping": tr("wrong grouping"),
        "wrong_order": tr("wrong order"),
        "wrong_shape": tr("wrong shape"),
        "wrong_values": tr("wrong values"),
    }
    return names[fault]


def fault_of_error(error: QueryError) -> SqlFault:
    """What kept a query from giving rows."""
    if "no such table" in error.message:
        return "wrong_table"
    if "no such column" in error.message or "ambiguous column" in error.message:
        return "wrong_column"
    kinds: dict[str, SqlFault] = {"forbidden": "forbidden", "slow": "too_slow", "large": "too_large"}
    return kinds.get(error.kind, "not_executable")


def fault_of_rows(said: str, expected: str, *, only_order: bool = False, same_width: bool = True) -> SqlFault:
    """Which part of ``said`` differs first from ``expected``; the two give other rows.

    Args:
        only_order: they are the same rows in another order; same_width: as many columns.
    """
    from sqlglot import parse_one
    from sqlglot.errors import SqlglotError

    if only_order:
        return "wrong_order"
    try:
        parts = [_parts(parse_one(sql.strip().rstrip(";"), read="sqlite")) for sql in (said, expected)]
    except (SqlglotError, RecursionError):
        return "wrong_values" if same_width else "wrong_shape"
    differing = (fault for fault, part in parts[0].items() if part != parts[1][fault])
    return next(differing, "wrong_values" if same_width else "wrong_shape")


def _parts(tree: exp.Expr) -> dict[SqlFault, frozenset[str]]:
    """The parts that are held against each other, in the order in which they are asked; aliases don't count."""
    from sqlglot import exp

    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    joined = [join.args["on"] for join in tree.find_all(exp.Join) if join.args.get("on") is not None]
    using = [name for join in tree.find_all(exp.Join) for name in join.args.get("using") or ()]
    groups = [e for group in tree.find_all(exp.Group) for e in group.expressions]
    return {
        "wrong_table": frozenset(t.name.lower() for t in tree.find_all(exp.Table)) - named,
        "wrong_join": _conditions(joined) | frozenset(str(name.name).lower() for name in using),
        "wrong_filter": _conditions([node.this for node in tree.find_all(exp.Where, exp.Having)]),
        "wrong_aggregate": frozenset(_bare(node) for node in tree.find_all(exp.AggFunc)),
        "wrong_grouping": frozenset(map(_bare, groups)),
    }


def _conditions(found: list[exp.Expr]) -> frozenset[str]:
    """Each condition that AND binds, the sides of an equation in one order."""
    from sqlglot import exp

    flat = [part for node in found for part in (node.flatten() if isinstance(node, exp.And) else (node,))]
    return frozenset(
        " = ".join(sorted((_bare(part.this), _bare(part.expression)))) if isinstance(part, exp.EQ) else _bare(part)
        for part in flat
    )


def _bare(node: exp.Expr) -> str:
    """Its SQL without the tables' aliases, in small letters but for what is quoted."""
    from sqlglot import exp

    copy = node.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
        column.this.set("this", column.name.lower())
    return str(copy.sql("sqlite"))
