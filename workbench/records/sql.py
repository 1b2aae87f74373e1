"""Records of the SQL tools: a file's schema, what a query gave, its plan, and what is said of it before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

SqlCell: TypeAlias = str | int | float | bytes | None
ControlName: TypeAlias = Literal[
    "query_type",
    "tables",
    "columns",
    "row_limit",
    "time_limit",
    "dialect",
    "aggregation",
    "user_filters",
    "explanation",
]
ControlState: TypeAlias = Literal["kept", "changed", "refused", "not_asked"]
SqlFault: TypeAlias = Literal[
    "not_executable",
    "forbidden",
    "too_slow",
    "too_large",
    "wrong_table",
    "wrong_column",
    "wrong_join",
    "wrong_filter",
    "wrong_aggregate",
    "wrong_grouping",
    "wrong_order",
    "wrong_shape",
    "wrong_values",
]
LintRule: TypeAlias = Literal[
    "fan_out",
    "closed_range",
    "not_equal_state",
    "late_filter",
    "null_skipped",
    "null_compared",
    "not_in_nulls",
    "mixed_currency",
    "event_for_entity",
    "arbitrary_row",
    "no_order",
    "no_join_condition",
    "whole_division",
]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column.

    Attributes:
        kind: the declared type, "" for none.
        key: its place in the primary key, counted from 1; 0 when it isn't in it.
        unique: no two rows share its value.
        references: "table.column" that it points to, "" for none.
        values: the few short texts that it repeats, where they were looked for.
        generated: computed from others of its table.
    """

    name: str
    kind: str = ""
    not_null: bool = False
    key: int = 0
    unique: bool = False
    references: str = ""
    values: tuple[str, ...] = ()
    generated: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, view or virtual table.

    Attributes:
        rows: None where counting would have taken too long.
        definition: the statement that made it.
    """

    name: str
    kind: Literal["table", "view", "virtual"]
    columns: tuple[TableColumn, ...]
    indexes: tuple[str, ...] = ()
    rows: int | None = None
    definition: str = ""

    def column(self, name: str) -> TableColumn | None:
        """By name, in any case."""
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class Schema:
    """What a file holds; ``functions`` are those that its engine knows."""

    file: str
    tables: tuple[Table, ...]
    functions: frozenset[str] = frozenset()

    def table(self, name: str) -> Table | None:
        """By name, in any case."""
        return next((t for t in self.tables if t.name.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """How far a query may go: ``rows`` read at most, ``seconds`` it may run."""

    rows: int = 100_000
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query; ``cut`` names the limit that ended it early, "" for none."""

    columns: tuple[str, ...]
    rows: tuple[tuple[SqlCell, ...], ...]
    duration_ms: float
    cut: Literal["", "rows", "bytes"] = ""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One line of EXPLAIN QUERY PLAN.

    Attributes:
        depth: under which it stands, from 0.
        scans: the table that is read from end to end, "" for none; ``rows`` that it has, None untold.
    """

    text: str
    depth: int = 0
    scans: str = ""
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A query as the engine understands it: its plan, and every (table, column, view it is read through)."""

    plan: tuple[PlanStep, ...]
    reads: frozenset[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a query may do, decided by who runs it and never by what wrote it.

    Attributes:
        tables: that may be read, all of them when None; ``hidden``: columns as "table.column" that may not.
        rows: of the result at most; ``rewrite``: put a LIMIT into the query, too.
        aggregate: only sums, counts and their groups may come out, no single rows.
        filters: conditions in SQL by table, which all have to hold: which of its rows this person may see.
        scan: rows of a table that may be read from end to end, None for any.
    """

    tables: frozenset[str] | None = None
    hidden: frozenset[str] = frozenset()
    rows: int = 100_000
    seconds: float = 10.0
    rewrite: bool = False
    aggregate: bool = False
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scan: int | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """One of the nine controls, and how it ended."""

    name: ControlName
    state: ControlState
    message: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a query computes that was perhaps not meant: why, and what to write instead."""

    rule: LintRule
    excerpt: str
    why: str
    better: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a query before it runs. ``sql``: as it would run, "" when it is refused."""

    asked: str
    sql: str
    controls: tuple[Control, ...]
    findings: tuple[Finding, ...] = ()
    plan: tuple[PlanStep, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """No control refused it."""
        return all(control.state != "refused" for control in self.controls)

    @property
    def refusal(self) -> str:
        """Why it may not run, "" when it may."""
        return " ".join(control.message for control in self.controls if control.state == "refused")


@dataclass(frozen=True, slots=True)
class SqlHistory:
    """Queries that a person ran in the console, newest first, each once."""

    queries: tuple[str, ...] = ()
