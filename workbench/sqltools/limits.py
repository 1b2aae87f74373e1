"""What a person lays down for queries, held against the file: a limit on what isn't there would limit nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from workbench.errors import QueryError, UsageError
from workbench.i18n import tr
from workbench.records.sql import Compiled, Policy, Schema, Table

Compile = Callable[[str], Compiled]

_SHAPES: Final = (
    "SELECT 1 FROM {table} WHERE ({condition}\n)",
    "SELECT CASE WHEN {condition}\nTHEN 1 END FROM {table}",
)
"""What is one expression in both is one anywhere: what closes the bracket of the first closes none in the second."""
_WHOLE: Final = "SELECT * FROM {table}"
_QUOTED: Final = re.compile(r"""'(?:[^']|'')*'|"((?:[^"]|"")*)"|`[^`]*`|\[[^]]*]|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_BY_NAME: Final = re.compile(r"\b(?:natural|using)\b", re.IGNORECASE)
_QUOTES: Final = re.compile(r"""[]["'`]""")
_ROW_NUMBERS: Final = ("rowid", "oid", "_rowid_")
_MOST: Final = 40  # names that an error lists


def hold(policy: Policy, schema: Schema, compile_: Compile) -> Policy:
    """``policy``, where every limit is on what is there; columns generated from hidden ones are hidden with them.

    Args:
        compile_: prepares a query on the file, as ``SqlReader.compile``: the engine says how it reads a condition.

    Raises:
        UsageError: on a table or column that the file hasn't got, or on rows by what is no condition on that table.
    """
    tables = [table.name for table in schema.tables]
    columns = [f"{table.name}.{column.name}" for table in schema.tables for column in table.columns]
    for name in sorted([*(policy.tables or ()), *policy.filters]):
        if name.lower() not in map(str.lower, tables):
            raise _unknown(tr("“{name}” is no table of this file: nothing would be held back.", name=name), tables)
    for name in sorted(policy.hidden):
        if name.lower() not in map(str.lower, columns):
            near = [column for column in columns if column.lower().startswith(name.lower().partition(".")[0] + ".")]
            why = tr("“{name}” is no column of this file: nothing would be held back.", name=name)
            raise _unknown(why, near or columns)
    for name in sorted([*policy.filters, *(hidden.partition(".")[0] for hidden in policy.hidden)]):
        if (found := schema.table(name)) and found.kind == "virtual":
            why = tr("“{name}” is a virtual table: it tells its texts in more ways than can be held.", name=name)
            raise UsageError(tr("It can't be limited"), why, tr("Name with --table what may be read, without it."))
    for name, conditions in policy.filters.items():
        if table := schema.table(name):
            for condition in conditions:
                _on_own_rows(condition, table, compile_)
    return replace(policy, hidden=policy.hidden | frozenset(_generated(policy.hidden, schema)))


def joins_by_name(sql: str) -> bool:
    """Whether it holds NATURAL or USING: columns that are joined so are read without the engine's reporting them."""
    return _BY_NAME.search(_QUOTED.sub(" ", sql)) is not None


def views_among(names: Iterable[str], schema: Schema) -> tuple[Table, ...]:
    """The views of these names, and those that stand in what they are made of.

    The engine tells of no view whose columns a query doesn't use, as under count(*).
    """
    views = {table.name.lower(): table for table in schema.tables if table.kind == "view"}
    found: dict[str, Table] = {}
    left = [name for name in names if name in views]
    while left:
        name = left.pop()
        found[name] = views[name]
        left += [other for other in views if other not in found and _times(other, views[name].definition)]
    return tuple(found[name] for name in sorted(found))


def tables_behind(views: Iterable[Table], compile_: Compile) -> set[str]:
    """What the views read, each alone: the engine tells what their own WITH reads as that name's, not as theirs."""
    alone = (compile_(_WHOLE.format(table=quoted(view.name))) for view in views)
    return {table for compiled in alone for table, _, _ in compiled.reads}


def quoted(name: str) -> str:
    """A name as SQL reads it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def _generated(hidden: Iterable[str], schema: Schema) -> set[str]:
    """Every generated column of a table whose definition names a hidden one again, after that column's own.

    From which of them each is made, directly or through others, isn't told by the engine.
    """
    held = {name.lower() for name in hidden}
    found = set()
    for table in schema.tables:
        for column in table.columns:
            if f"{table.name}.{column.name}".lower() in held and _times(column.name, table.definition) != 1:
                found |= {f"{table.name}.{other.name}" for other in table.columns if other.generated}
    return found


def _times(name: str, definition: str) -> int:
    """How often a name stands there, however it is quoted."""
    word = re.escape(_QUOTES.sub("", name))
    return len(re.findall(rf"(?<!\w){word}(?!\w)", _QUOTES.sub("", definition), re.IGNORECASE))


def _on_own_rows(condition: str, table: Table, compile_: Compile) -> None:
    """Raises UsageError unless ``condition`` is one expression, of nothing but ``table``."""
    own = {table.name.lower(), *_ROW_NUMBERS, *(column.name.lower() for column in table.columns)}
    for found in _QUOTED.finditer(condition):
        name = found[1]
        if name is not None and name.replace('""', '"').lower() not in own:  # the engine would take it as a text
            raise _no_condition(condition, tr("“{name}” is no column of {table}.", name=name, table=table.name), table)
    for shape in _SHAPES:
        try:
            compiled = compile_(shape.format(table=quoted(table.name), condition=condition))
        except QueryError as error:
            raise _no_condition(condition, error.message, table) from error
        if any(table.name.lower() not in (name, view) for name, _, view in compiled.reads):
            raise _no_condition(condition, tr("It may read no other table."), table)


def _unknown(why: str, there: Iterable[str]) -> UsageError:
    return UsageError(tr("Nothing to limit there"), why, _there_are(there))


def _no_condition(condition: str, why: str, table: Table) -> UsageError:
    said = tr("“{condition}” can't choose rows of {table}: {why}", condition=condition, table=table.name, why=why)
    texts = tr("Compare its own columns, and put texts in single quotes.")
    return UsageError(tr("No such condition"), said, f"{texts} {_there_are(c.name for c in table.columns)}")


def _there_are(names: Iterable[str]) -> str:
    there = sorted(names)
    return tr("There are: {names}", names=", ".join(there[:_MOST]) + (" …" if len(there) > _MOST else ""))
