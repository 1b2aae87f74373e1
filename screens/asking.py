"""What Ask asks and shows besides its panes: a request, a draft, an example of a filter, an answer as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from textual.content import Content

from screens.style import Tone, content, place
from workbench.errors import FileError
from workbench.i18n import tr
from workbench.records.answers import Answer, Citation, Trace
from workbench.records.retrieval import FilterResult, SearchOptions

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


def example_filter(fields: Mapping[str, str]) -> str:
    """A filter that can be typed as it stands, and the fields there are."""
    example = " and ".join([text for name, text in EXAMPLES if name in fields][:2])
    names = ", ".join(sorted(fields))
    return tr("for example {filter}   fields: {fields}", filter=example or "title = …", fields=names)


def answer_markdown(trace: Trace) -> str:
    """Question, answer and, as footnotes, each cited span with its place; what was not said stays so."""
    answer = trace.answer
    if answer is None:
        return ""
    cited = {c.label: c for claim in answer.claims for c in claim.citations}
    text = _escaped(answer.text)
    for label in cited:
        text = text.replace(f"\\[{label}\\]", f"[^{label}]")
    parts = [f"# {_escaped(trace.query)}", text, *_missing(answer)]
    parts += [_footnote(label, citation) for label, citation in cited.items()]
    made = f"Workbench {trace.manifest.workbench} · {trace.manifest.collection} · {trace.id}"
    support = f"s {answer.support:.2f}, τ {answer.threshold:.2f}"
    return "\n\n".join([*parts, f"---\n{made} · {support} · {trace.created:%Y-%m-%d %H:%M}"]) + "\n"


def _missing(answer: Answer) -> list[str]:
    return [answer.missing] if answer.missing and answer.missing not in answer.text else []


def _footnote(label: str, citation: Citation) -> str:
    where = " ".join(filter(None, (citation.source_id, place(citation.heading, citation.page_label, citation.page))))
    quote = " ".join(citation.quote.split())
    return f"[^{label}]: {_escaped(where)}, {citation.start}–{citation.end}: “{_escaped(quote)}”"


def _escaped(words: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join("\\" + c if c in "\\`*_[]<>#|" else c for c in words)


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
