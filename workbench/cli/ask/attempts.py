"""Queries that a model wrote for a question, as lines."""

from __future__ import annotations

from workbench.cli.display import say
from workbench.records.answers import TraceSpan
from workbench.sqltools.words import rows_told
from workbench.traces.outcomes import attempt_error


def print_attempt(attempt: TraceSpan) -> None:
    """The query, and how it ended."""
    error = attempt_error(attempt)
    told = f"✗ {error}" if error else "✓ " + rows_told(int(attempt.metadata["rows"]))
    say(f"{attempt.name}  {attempt.input['sql']}", newlines=False)
    say(f"    {told}", dim=True, newlines=False)
