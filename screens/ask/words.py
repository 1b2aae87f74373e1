"""What Ask asks and says besides its panes: a request, a draft, an example of a filter, the welcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from textual.content import Content

from screens.style import Tone, content, milliseconds, shorten
from workbench.errors import FileError
from workbench.i18n import tr
from workbench.records.answers import Trace
from workbench.records.retrieval import FilterResult, SearchOptions, SearchResult
from workbench.traces.telling import stage_name

DRAFT: Final = -1
"""The place, among the questions asked, of what is being typed."""
EXAMPLES: Final = (("year", "year >= 2026"), ("date", "date >= 2026-01-01"), ("status", "status = current"))
"""Fields that make an example of a filter, the most telling first."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a keystroke asks for."""

    query: str
    options: SearchOptions


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the question and in the filter, and whether the filter is open."""

    query: str
    filter: str
    filtering: bool


def asked(trace: Trace) -> tuple[str, str]:
    """The question and the filter that a trace answers."""
    span = trace.span("filter")
    return trace.query.strip(), span.output.expression if span and isinstance(span.output, FilterResult) else ""


def earlier(trace: Trace, query: str, expression: str) -> str:
    """To what a trace is an answer when it isn't to this question and filter, else ""."""
    was, filtered = asked(trace)
    if was != query:
        return tr("to an earlier question: {query}", query=shorten(was, 60))
    return tr("with the filter before: {filter}", filter=filtered or "–") if filtered != expression else ""


def times(request: Request, result: SearchResult, *, warm: bool) -> str:
    """How long a search took and each of its lanes, and what is still to come; ``warm``: not for the first time."""
    there = {lane.lane for lane in result.lanes}
    lanes = [f"{stage_name(x.lane)} {milliseconds(x.duration_ms)}" for x in result.lanes if not x.skipped]
    waiting = [stage_name(lane) for lane in request.options.lanes if lane not in there]
    soon = [tr("{lane} follows" if warm else "{lane} follows: the embedder is starting", lane=x) for x in waiting]
    fusion = [] if waiting else [f"{tr('fusion')} {milliseconds(result.fusion.duration_ms)}"]
    return " · ".join([f"{milliseconds(result.duration_ms)} ms", *lanes, *fusion, *soon, *result.notes])


def example_filter(fields: Mapping[str, str]) -> str:
    """A filter that can be typed as it stands, and the fields there are."""
    example = " and ".join([text for name, text in EXAMPLES if name in fields][:2])
    names = ", ".join(sorted(fields))
    return tr("for example {filter}   fields: {fields}", filter=example or "title = …", fields=names)


def write_text(path: Path, words: str) -> None:
    """Raises FileError when it can't be written."""
    try:
        path.write_text(words, "utf-8")
    except OSError as error:
        raise FileError(
            tr("Not written"),
            tr("{path} can't be written: {reason}", path=str(path), reason=error.strerror or str(error)),
            tr("Start the workbench in a folder where files can be written."),
        ) from error


def welcome() -> Content:
    """What an empty file says instead of a ranking."""
    return content(
        (tr("Nothing to ask of yet."), Tone.STRONG),
        "\n\n",
        tr("This file holds no documents. Bring some in, then ask: every answer cites the passage it came from."),
        "\n\n",
        ("  alt+i  ", Tone.ACCENT),
        tr("ingest a file or a folder (i when no text field has the focus)"),
        "\n",
        ("  ctrl+p ", Tone.ACCENT),
        tr("everything else: collections, models, themes, language"),
        "\n\n",
        (tr("Or, in a shell: workbench demo fills a file with a small collection to try."), Tone.DIM),
    )
