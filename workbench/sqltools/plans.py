"""What a query plan warns of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench.i18n import tr
from workbench.records.sql import PlanStep

FEW_ROWS: Final = 1_000
"""A table with no more of them is read from end to end without a warning."""


def warnings(plan: Sequence[PlanStep]) -> tuple[str, ...]:
    """Full scans of tables that aren't small, sorts, and joins without an index, in words."""
    told: list[str] = []
    for step in plan:
        if step.scans and (step.rows or 0) > FEW_ROWS:
            many = f"{step.rows:,}"
            told.append(tr("All {rows} rows of {table} are read: no index serves it.", rows=many, table=step.scans))
        elif "TEMP B-TREE FOR ORDER BY" in step.text:
            told.append(tr("All rows are sorted before the first one comes: no index has this order."))
        elif "AUTOMATIC" in step.text:
            told.append(tr("An index is built for this query alone: {step}", step=step.text))
    return tuple(dict.fromkeys(told))
