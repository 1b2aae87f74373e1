"""The SQL tools' names for a person."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.sql import ControlName, ControlState


def control_name(name: ControlName) -> str:
    """A control in the interface's language."""
    names: dict[ControlName, str] = {
        "query_type": tr("reads only"),
        "tables": tr("tables"),
        "columns": tr("columns"),
        "row_limit": tr("row limit"),
        "time_limit": tr("time limit"),
        "dialect": tr("dialect"),
        "aggregation": tr("aggregation"),
        "user_filters": tr("own rows"),
        "explanation": tr("explanation"),
    }
    return names[name]


def rows_told(count: int) -> str:
    """So many rows, in words."""
    return tr("1 row") if count == 1 else tr("{count} rows", count=f"{count:,}")


MARKS: dict[ControlState, str] = {"kept": "✓", "changed": "~", "refused": "✗", "not_asked": "◦"}
