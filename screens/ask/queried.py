"""Pages of a question that queries answered: what it was asked of, and each attempt with how it ended."""

from __future__ import annotations

from screens.ask.page import Page
from workbench.i18n import tr
from workbench.records.answers import Trace, TraceSpan
from workbench.sqltools.words import rows_told
from workbench.traces.outcomes import attempt_error


def question_page(trace: Trace, page: Page) -> None:
    """The question as it was typed, the file and the model."""
    schema = trace.span("schema")
    page.head(tr("as typed")).say(trace.query)
    page.head(tr("asked of")).facts(
        [(tr("file"), schema.input["file"] if schema else ""), (tr("model"), trace.manifest.model)]
    )


def schema_page(span: TraceSpan, page: Page) -> None:
    """The tables that the model was told of."""
    page.head(tr("tables that the model was told of"))
    for name in str(span.metadata.get("tables", "")).split():
        page.say(name)


def attempt_page(span: TraceSpan, page: Page) -> None:
    """The query as the model wrote it, then its rows or what kept it from giving any."""
    error = attempt_error(span)
    page.head(tr("Query"))
    for line in str(span.input["sql"]).splitlines() or ["–"]:
        page.say(line)
    page.head(tr("how it ended")).say(f"✗ {error}" if error else "✓ " + rows_told(int(span.metadata["rows"])))
    page.facts([(tr("tokens written"), span.metadata.get("tokens"))])
    if error:
        page.say(tr("This went back to the model with the query, until the attempts were used up."))
