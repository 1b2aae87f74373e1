"""Filters as SQL with bound parameters.

A chunk passes when its document (or the chunk itself) has the fields the filter asks for. Comparing a missing field is
false; ``!=`` and ``Not`` are true for it. Values of different types never match. Retired documents pass only a filter
that names ``status``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from storage.driver import Connection, storable
from storage.rows import comparable
from workbench.corpus.metadata import kind_of
from workbench.records.retrieval import AllOf, AnyOf, Comparison, Exists, FilterNode, Not, OneOf, Scalar

Parameter: TypeAlias = str | int | float


@dataclass(frozen=True, slots=True)
class Sql:
    """An SQL fragment and the values of its question marks, in order."""

    text: str
    values: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A built-in field: an expression over ``c`` (chunk) and ``d`` (document), NULL when the field is missing."""

    expression: str
    kind: Literal["text", "number"]


BUILT_IN: Final[dict[str, Column]] = {
    "source_id": Column("d.source_id", "text"),
    "uri": Column("nullif(d.uri, '')", "text"),
    "title": Column("nullif(d.title, '')", "text"),
    "media_type": Column("nullif(d.media_type, '')", "text"),
    "status": Column("d.status", "text"),
    "language": Column("coalesce(nullif(c.language, ''), nullif(d.language, ''))", "text"),
    "section": Column("nullif(c.section, '')", "text"),
    "kind": Column("c.kind", "text"),
    "page": Column("c.page", "number"),
    "tokens": Column("c.tokens", "number"),
}
"""``section`` is the heading path joined by " > "; ``"Fees" in section`` asks for one heading of it. A chunk is on
every page from the one on which it starts to the one on which it ends."""

_PAGE_TESTS: Final = {
    "=": "? BETWEEN c.page AND c.page_end",
    "<": "c.page < ?",
    "<=": "c.page <= ?",
    ">": "c.page_end > ?",
    ">=": "c.page_end >= ?",
}
_TRUE: Final = Sql("1")
_FALSE: Final = Sql("0")


def field_kinds(connection: Connection, collection: str, but: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The types of the values of each field of the collection's own, the commonest first; ``but``: ids left out."""
    statement = """
        SELECT f.name, f.kind FROM field f JOIN document d ON d.key = f.document_key
        JOIN collection l ON l.id = d.collection_id WHERE l.name = ? AND d.id NOT IN (SELECT value FROM json_each(?))
        GROUP BY f.name, f.kind ORDER BY f.name, count(*) DESC, f.kind
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, kind in connection.execute(statement, (storable(collection), json.dumps(list(but)))):
        found[name] = (*found.get(name, ()), kind)
    return found


def passing(index_id: int, where: FilterNode) -> Sql:
    """A SELECT of the keys of the index's chunks that pass ``where``."""
    condition = compile_filter(where)
    current = "" if names_field(where, "status") else " AND d.status = 'current'"
    return Sql(
        "SELECT c.key FROM chunk c JOIN document d ON d.key = c.document_key "
        f"WHERE c.index_id = ?{current} AND {condition.text}",
        (index_id, *condition.values),
    )


def names_field(node: FilterNode, name: str) -> bool:
    """Whether the filter mentions the field anywhere."""
    match node:
        case AllOf(parts) | AnyOf(parts):
            return any(names_field(part, name) for part in parts)
        case Not(part):
            return names_field(part, name)
        case Comparison() | OneOf() | Exists():
            return node.field == name
        case _:
            assert_never(node)


def compile_filter(node: FilterNode) -> Sql:
    """A condition over ``c`` and ``d`` that is 0 or 1, never NULL."""
    match node:
        case AllOf(parts):
            return _join([compile_filter(part) for part in parts], "AND") or _TRUE
        case AnyOf(parts):
            return _join([compile_filter(part) for part in parts], "OR") or _FALSE
        case Not(part):
            inner = compile_filter(part)
            return Sql(f"(NOT {inner.text})", inner.values)
        case Exists(name):
            return _exists(name)
        case OneOf(name, values):
            return _join([_comparison(name, "=", value) for value in values], "OR") or _FALSE
        case Comparison(name, "!=", value):
            equal = _comparison(name, "=", value)
            return Sql(f"(NOT {equal.text})", equal.values)
        case Comparison(name, op, value):
            return _comparison(name, op, value)
        case _:
            assert_never(node)


def _join(parts: list[Sql], operator: str) -> Sql | None:
    """Balanced, since SQLite limits how deep an expression may nest."""
    if len(parts) < 2:
        return parts[0] if parts else None
    middle = len(parts) // 2
    left, right = _join(parts[:middle], operator), _join(parts[middle:], operator)
    assert left is not None  # noqa: S101 -- both halves hold at least one part
    assert right is not None  # noqa: S101 -- as above
    return Sql(f"({left.text} {operator} {right.text})", left.values + right.values)


def _exists(name: str) -> Sql:
    if name in BUILT_IN:
        return Sql(f"({BUILT_IN[name].expression} IS NOT NULL)")
    return _stored("name = ?", (name,))


def _comparison(name: str, op: str, value: Scalar) -> Sql:
    kind = kind_of(value)
    column = BUILT_IN.get(name)
    if column is not None:
        if name == "section" and op == "contains":
            return Sql("EXISTS (SELECT 1 FROM json_each(c.path) WHERE value = ?)", (comparable(value),))
        if column.kind != kind or op == "contains" or (op == "like" and kind != "text"):
            return _FALSE
        test = _PAGE_TESTS[op] if name == "page" else _test(column.expression, op)
        return Sql(f"({test} IS TRUE)", (comparable(value),))
    kinds = {"contains": "kind = 'list'"}.get(op, "kind IN ('text', 'list')" if kind == "text" else "kind = ?")
    bound = (kind,) if kinds == "kind = ?" else ()
    wanted = comparable(str(value) if op == "contains" else value)
    return _stored(f"name = ? AND {kinds} AND {_test('value', op)}", (name, *bound, wanted))


def _test(expression: str, op: str) -> str:
    if op == "like":
        return f"instr(casefold({expression}), casefold(?)) > 0"
    return f"{expression} {'=' if op == 'contains' else op} ?"


def _stored(condition: str, values: tuple[Parameter, ...]) -> Sql:
    """A condition on rows of ``field``, of the document or of the chunk itself."""
    return Sql(
        f"(d.key IN (SELECT document_key FROM field WHERE {condition} AND chunk_key IS NULL) "
        f"OR c.key IN (SELECT chunk_key FROM field WHERE {condition} AND chunk_key IS NOT NULL))",
        values * 2,
    )
