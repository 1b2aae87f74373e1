"""The answer with its citations: streamed text, outcome, support against the threshold, and one row per citation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from screens.style import SUPPORT, Line, Tone, content, count, place
from screens.widgets.grid import Column, Grid, Row
from workbench.i18n import tr
from workbench.records.answers import Answer, Citation, Context, Generation, Outcome, Trace

ROOMY: Final = 100
"""Cells from which on the pane names the parts of the prompt."""
MARK: Final = re.compile(r"(\[F\d+\])")


def outcome_name(outcome: Outcome) -> str:
    """How a question ended, in the interface's language."""
    names: dict[Outcome, str] = {
        "answered": tr("answered"),
        "no_result": tr("nothing found"),
        "filtered_out": tr("the filter leaves nothing"),
        "low_support": tr("not enough support"),
        "does_not_fit": tr("does not fit the context"),
        "engine_gone": tr("the engine ended"),
        "cancelled": tr("stopped"),
        "empty_corpus": tr("the collection is empty"),
    }
    return names[outcome]


def headline(trace: Trace | None, streaming: bool) -> Content:
    """The pane's title: outcome, claims supported, s against τ."""
    answer = trace.answer if trace else None
    if trace is None or streaming:
        return content(tr("Answer"))
    if answer is None:
        return content(tr("Answer") + " ── ", ("~ ", Tone.WARN), outcome_name("cancelled"))
    supported = sum(c.level == "supported" for c in answer.claims)
    sign = "≥" if answer.support >= answer.threshold else "<"
    parts = [
        outcome_name(answer.outcome),
        tr("supported {good}/{all}", good=supported, all=len(answer.claims)) if answer.claims else "",
        f"s {answer.support:.2f} {sign} τ {answer.threshold:.2f}",
        tr("extractive") if answer.mode == "extractive" else tr("generated"),
    ]
    mark = SUPPORT[answer.level if answer.outcome == "answered" else "weak"]
    return content(tr("Answer") + " ── ", mark, " ", " · ".join(p for p in parts if p))


def ledger(trace: Trace | None, width: int = 0) -> str:
    """Where the context window goes, its parts named where ``width`` allows; "" before it is known."""
    span = trace.span("context") if trace else None
    if span is None or not isinstance(span.output, Context):
        return ""
    parts = span.output.ledger
    if not parts.instructions:  # nothing is sent to a model: the answer quotes
        return tr("evidence {count} tokens", count=count(parts.evidence))
    numbers = [count(n) for n in (parts.instructions, parts.evidence, parts.question, parts.reserve)]
    names = [tr("instructions"), tr("evidence"), tr("question"), tr("reserve")]
    named = width >= ROOMY
    split = " + ".join(f"{name} {n}" if named else n for name, n in zip(names, numbers, strict=True))
    return tr("prompt {used} / {window}: {split}", used=count(parts.total), window=count(parts.window), split=split)


def body(trace: Trace, streaming: bool) -> Content:
    """The text so far, then what is missing or was removed."""
    answer = trace.answer
    span = trace.span("generation")
    written = answer.text if answer else span.output.text if span and isinstance(span.output, Generation) else ""
    lines: list[Line] = [_cited(written)]
    if streaming:
        lines.append(("█", Tone.ACCENT))
    elif not written:
        lines.append((tr("Stopped before anything was written."), Tone.DIM))
    if answer:
        lines += _after(answer)
    return content(*lines)


def _cited(written: str) -> Line:
    """The text with its citation marks in the accent."""
    return tuple((part, Tone.ACCENT if MARK.fullmatch(part) else Tone.PLAIN) for part in MARK.split(written))


def _after(answer: Answer) -> Iterable[Line]:
    if answer.missing and answer.missing not in answer.text:
        yield ("\n" + answer.missing, Tone.DIM)
    if answer.remedy:
        yield ("\n→ ", Tone.ACCENT)
        yield answer.remedy
    if answer.removed:
        names = ", ".join(f"[{label.strip('[]')}]" for label in answer.removed)
        yield ("\n✗ " + tr("removed, names no evidence: {labels}", labels=names), Tone.BAD)
    if answer.unsaid:
        names = ", ".join(f"[{label}]" for label in answer.unsaid)
        yield ("\n~ " + tr("removed, does not say it: {labels}", labels=names), Tone.WARN)


def citation_rows(answer: Answer) -> tuple[list[Row], list[Citation | None]]:
    """One row per claim and citation, keyed by its place in the second list; a claim without any has its own row."""
    rows: list[Row] = []
    cited: list[Citation | None] = []
    for claim in answer.claims:
        for citation in claim.citations:
            where = place(citation.heading, citation.page_label, citation.page)
            quote = f"“{' '.join(citation.quote.split())}”"
            cells: tuple[Line, ...] = (
                SUPPORT[citation.level],
                f"{citation.support:.2f}",
                f"[{citation.label}]",
                citation.source_id,
                where,
                (quote, Tone.DIM),
            )
            rows.append(Row(str(len(cited)), cells))
            cited.append(citation)
        if not claim.citations:
            rows.append(
                Row(
                    str(len(cited)),
                    (
                        SUPPORT[claim.level],
                        f"{claim.support:.2f}",
                        "",
                        (tr("no source"), Tone.DIM),
                        "",
                        (claim.text, Tone.DIM),
                    ),
                )
            )
            cited.append(None)
    return rows, cited


class AnswerPane(Vertical):
    """Follows one trace."""

    def __init__(self) -> None:
        super().__init__(id="answer", classes="pane")
        self.citations: list[Citation | None] = []
        self._headline = content("")

    def compose(self) -> ComposeResult:
        """The text over its citations."""
        with VerticalScroll(id="answer-text"):
            yield Static("", id="answer-body")
        yield Grid(
            [
                Column("", 1),
                Column("s", 4, "right"),
                Column("", 4),
                Column(tr("source"), 0, tail=True, fit=True),
                Column("§", 16, keep=84, fold=True),
                Column(tr("quote"), 0),
            ],
            id="citations",
        )

    def citation(self, key: str) -> Citation | None:
        """What a row cites, None when the row is of an answer that is gone."""
        return dict(enumerate(self.citations)).get(int(key)) if key.isdecimal() else None

    def mark(self, earlier: str) -> None:
        """Says, when the answer is not to what is typed now, to what it is; "" when it is."""
        self.set_class(bool(earlier), "-stale")
        self.border_title = content(f"{tr('Answer')} ── {earlier}") if earlier else self._headline

    def show(self, trace: Trace | None, *, streaming: bool = False) -> None:
        """Draws the trace so far; None empties the pane."""
        self._headline = headline(trace, streaming)
        self.mark("")
        span = trace.span("generation") if trace else None
        tokens = span.output.output_tokens if span and isinstance(span.output, Generation) else 0
        reading = tr("reading the prompt · esc cancels") if span else tr("esc cancels")
        busy = tr("{count} tokens · esc cancels", count=tokens) if tokens else reading
        self.border_subtitle = content(busy if streaming else ledger(trace, self.size.width))
        empty = content((tr("enter answers from what was found, with citations"), Tone.DIM))
        self.query_one("#answer-body", Static).update(body(trace, streaming) if trace else empty)
        rows, self.citations = citation_rows(trace.answer) if trace and trace.answer else ([], [])
        grid = self.query_one("#citations", Grid)
        grid.display = bool(rows)
        grid.show(rows)
        if streaming:
            self.query_one("#answer-text").scroll_end(animate=False)
