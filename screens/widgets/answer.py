"""The answer with its citations: streamed text, outcome, support against the threshold, and one row per citation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from screens.style import CONFLICT, NO_ANSWER, OFF_TOPIC, OUTCOMES, SUPPORT, Line, Tone, content, place, shorten
from screens.widgets.grid import Column, Grid, Row
from workbench.answers.attribution import unattributed
from workbench.answers.claims import shortfall
from workbench.answers.orders import gives_orders
from workbench.answers.prompt import quotable
from workbench.i18n import amounts, tr
from workbench.i18n.retelling import retold
from workbench.records.answers import Answer, Citation, Claim, Context, Evidence, Generation, Trace
from workbench.sqltools.words import rows_told
from workbench.text.language import detect
from workbench.traces.outcomes import attempt_error, attempts, of_tables, outcome_name, outcome_of
from workbench.traces.stages import evidence_of
from workbench.traces.telling import told_ledger

ROOMY: Final = 100
"""Cells from which on the pane names the parts of the prompt."""
MOST_LACKING: Final = 6
"""Words that a source lacks, told at most."""
MARK: Final = re.compile(r"(\[F\d+\])")


def headline(trace: Trace | None, streaming: bool) -> Content:
    """The pane's title: outcome, claims supported, s against τ."""
    answer = trace.answer if trace else None
    if trace is None or streaming:
        return content(tr("Answer"))
    if answer is None:
        outcome = outcome_of(trace)
        return content(tr("Answer") + " ── ", OUTCOMES.get(outcome, NO_ANSWER), " ", outcome_name(outcome))
    supported = sum(c.level == "supported" for c in answer.claims)
    beside = sum(claim.off_topic for claim in answer.claims)
    sign = "≥" if answer.support >= answer.threshold else "<"
    parts = [
        outcome_name(answer.outcome),
        tr("supported {good}/{all}", good=supported, all=len(answer.claims)) if answer.claims else "",
        tr("{count} off topic", count=beside) if beside else "",
        f"s {answer.support:.2f} {sign} τ {answer.threshold:.2f}" if answer.weighed else "",
        tr("extractive") if answer.mode == "extractive" else tr("generated"),
    ]
    mark = OFF_TOPIC if answer.off_topic else SUPPORT[answer.level if answer.spoken else "weak"]
    mark = CONFLICT if answer.conflicts else mark
    return content(tr("Answer") + " ── ", mark, " ", " · ".join(p for p in parts if p))


def ledger(trace: Trace | None, width: int = 0) -> str:
    """Where the context window goes, its parts named where ``width`` allows; "" before it is known."""
    span = trace.span("context") if trace else None
    if span is None or not isinstance(span.output, Context):
        return ""
    return told_ledger(span.output.ledger, named=width >= ROOMY)


def body(trace: Trace, streaming: bool) -> Content:
    """The text so far, then what is missing or was removed."""
    if of_tables(trace):
        return content(*attempt_lines(trace))
    answer = trace.answer
    span = trace.span("generation")
    written = answer.text if answer else span.output.text if span and isinstance(span.output, Generation) else ""
    lines = list(_told(answer)) if answer else [_cited(written)]
    if streaming and trace.span("context") is None:
        lines.append((tr("searching…"), Tone.DIM))
    elif streaming:
        lines.append(("█", Tone.ACCENT))
    elif not written:
        lines.append((tr("Stopped before anything was written."), Tone.DIM))
    if answer:
        lines += _after(answer)
    return content(*lines)


def attempt_lines(trace: Trace) -> list[Line]:
    """The queries that a model wrote for a question, each with how it ended."""
    lines: list[Line] = []
    for number, attempt in enumerate(attempts(trace), 1):
        error = attempt_error(attempt)
        told = rows_told(int(attempt.metadata.get("rows", 0)))
        lines += [(f"{number} ", Tone.DIM), ("✗ ", Tone.BAD) if error else ("✓ ", Tone.GOOD), error or told]
        lines += [("\n  " + " ".join(str(attempt.input["sql"]).split()) + "\n", Tone.DIM if error else Tone.PLAIN)]
    return lines


def _told(answer: Answer) -> Iterable[Line]:
    """What it says; what no source backs is dim under a warning, and sources that disagree are marked."""
    conflicts = "\n".join(conflict.text for conflict in answer.conflicts)
    said = answer.text.removesuffix(conflicts).rstrip("\n") if conflicts else answer.text
    if answer.outcome == "unsupported":
        cites = tr("The model wrote this, and nothing that it cites says it:")
        yield ("✗ " + (tr("The model wrote this, and cites no source:") if answer.uncited else cites) + "\n", Tone.BAD)
        yield (said, Tone.DIM)
    else:
        yield _cited(said)
    for conflict in answer.conflicts:
        yield (f"\n{CONFLICT[0]} ", CONFLICT[1])
        yield _cited(conflict.text)


def _cited(written: str) -> Line:
    """The text with its citation marks in the accent."""
    return tuple((part, Tone.ACCENT if MARK.fullmatch(part) else Tone.PLAIN) for part in MARK.split(written))


def _after(answer: Answer) -> Iterable[Line]:
    if answer.missing and answer.missing not in answer.text:
        yield ("\n" + answer.missing, Tone.DIM)
    if answer.remedy:
        yield ("\n→ ", Tone.ACCENT)
        yield retold(answer.remedy)
    if answer.removed:
        names = ", ".join(f"[{label.strip('[]')}]" for label in answer.removed)
        yield ("\n✗ " + tr("removed, names no evidence: {labels}", labels=names), Tone.BAD)
    if answer.unsaid:
        names = ", ".join(f"[{label}]" for label in answer.unsaid)
        yield ("\n~ " + tr("removed, does not say it: {labels}", labels=names), Tone.WARN)
    for number, claim in enumerate(answer.claims, 1):
        if claim.judged:
            said = tr(claim.judged.verdict) if claim.judged.verdict else tr("unscored")
            verdict = tr("judge: {verdict} ({reason})", verdict=said, reason=claim.judged.reason)
            yield (f"\n{number}. {verdict}", Tone.DIM)


@dataclass(frozen=True, slots=True)
class CitedRow:
    """A row under the answer: a claim and one of its citations, None where it has none."""

    claim: Claim | None
    citation: Citation | None


def cited_rows(answer: Answer) -> list[CitedRow]:
    """One per claim and citation, one for a claim without any; then the sides of conflicts that no claim cites."""
    found = [CitedRow(claim, cited) for claim in answer.claims for cited in claim.citations or (None,)]
    known = {(row.citation.chunk_id, row.citation.start) for row in found if row.citation}
    sides = [side for conflict in answer.conflicts for side in (conflict.newer, conflict.older)]
    more = {(side.chunk_id, side.start): side for side in sides if (side.chunk_id, side.start) not in known}
    return [*found, *(CitedRow(None, side) for side in more.values())]


def claim_mark(claim: Claim, cited: Citation | None = None) -> tuple[str, Tone]:
    """How far a citation, or all of them, says the claim; where it does, whether that concerns the question."""
    level = cited.level if cited else claim.level
    return OFF_TOPIC if claim.off_topic and level == "supported" else SUPPORT[level]


def _row(number: int, row: CitedRow) -> Row:
    cited, claim = row.citation, row.claim
    if cited is None:
        level, said = (claim.level, claim.text) if claim else ("uncited", "")
        return Row(str(number), (SUPPORT[level], "0.00", "", (tr("no source"), Tone.DIM), "", (said, Tone.DIM)))
    mark, support = (claim_mark(claim, cited), f"{cited.support:.2f}") if claim else (CONFLICT, "")
    where = place(cited.heading, cited.page_label, cited.page)
    quote = f"“{quotable(cited.quote)}”"
    return Row(str(number), (mark, support, f"[{cited.label}]", cited.source_id, where, (quote, Tone.DIM)))


def doubt(claim: Claim, evidence: Sequence[Evidence], cited: Citation | None = None) -> str:
    """What is wrong with a claim, or with one of its citations; "" where it is supported and concerns the question.

    Args:
        cited: the weakest where none is given.
    """
    weakest = cited or min(claim.citations, key=lambda c: c.support, default=None)
    if weakest is None:
        return tr("It cites nothing.")
    source = next((e for e in evidence if e.label == weakest.label), None)
    if weakest.level == "supported" and claim.off_topic:
        return tr("The source says it, but it hardly concerns the question.")
    if weakest.level == "supported" or source is None:
        return ""
    if gives_orders(weakest.quote):
        return tr("That sentence gives orders to whoever answers, so it states nothing.")
    said = unattributed(claim.text, source, detect(claim.text))
    lack = shortfall(said, source.text, quote=weakest.quote)
    told = ", ".join(f"«{word}»" for word in lack.lacking[:MOST_LACKING])
    match lack.kind:
        case "numbers":
            return tr("The source has no {numbers}.", numbers=told)
        case "misplaced":
            return tr("The source gives {numbers} of something else.", numbers=told)
        case "negation":
            return tr("One of them is negated, the other is not. The source says {sentence}.", sentence=told)
        case "language":
            near = "" if weakest.likeness is None else f"{weakest.likeness:.2f}"
            return (
                tr("The source is in another language, and not close enough in meaning ({likeness}).", likeness=near)
                if near
                else tr("The source is in another language, so words can't tell.")
            )
    return tr("The source doesn't speak of {words}.", words=told) if told else tr("The source says it in part.")


class AnswerPane(Vertical):
    """Follows one trace."""

    def __init__(self) -> None:
        super().__init__(id="answer", classes="pane")
        self._rows: list[CitedRow] = []
        self._evidence: Sequence[Evidence] = ()
        self._headline = content("")
        self._marked = content("")

    @property
    def citations(self) -> list[Citation | None]:
        """What the rows cite, None for a claim without a source."""
        return [row.citation for row in self._rows]

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
        yield Static("", id="doubt")

    def citation(self, key: str) -> Citation | None:
        """What a row cites, None when the row is of an answer that is gone."""
        return dict(enumerate(self.citations)).get(int(key)) if key.isdecimal() else None

    @on(Grid.Highlighted, "#citations")
    def moved(self, event: Grid.Highlighted) -> None:
        """What is wrong with the claim under the cursor."""
        self._doubt(event.key)

    def _doubt(self, key: str) -> None:
        row = dict(enumerate(self._rows)).get(int(key)) if key.isdecimal() else None
        why = doubt(row.claim, self._evidence, row.citation) if row and row.claim else ""
        line = self.query_one("#doubt", Static)
        line.display = bool(why)
        if row and row.claim and why:
            mark = claim_mark(row.claim, row.citation)
            line.update(content(mark, " ", (shorten(" ".join(row.claim.text.split()), 60), Tone.DIM), f"  {why}"))

    def mark(self, earlier: str) -> None:
        """Says, when the answer is not to what is typed now, to what it is; "" when it is."""
        title = content(f"{tr('Answer')} ── {earlier}") if earlier else self._headline
        if title != self._marked:  # it is asked with every key
            self._marked = title
            self.set_class(bool(earlier), "-stale")
            self.border_title = title

    def show(self, trace: Trace | None, *, streaming: bool = False) -> None:
        """Draws the trace so far; None empties the pane."""
        self._headline = headline(trace, streaming)
        self.mark("")
        span = trace.span("generation") if trace else None
        written = span.output.output_tokens if span and isinstance(span.output, Generation) else 0
        reading = tr("reading the prompt · esc cancels") if span else tr("esc cancels")
        busy = f"{amounts.tokens(written)} · {tr('esc cancels')}" if written else reading
        self.border_subtitle = content(busy if streaming else ledger(trace, self.size.width))
        empty = content((tr("enter answers from what was found, with citations"), Tone.DIM))
        self.query_one("#answer-body", Static).update(body(trace, streaming) if trace else empty)
        self._rows = cited_rows(trace.answer) if trace and trace.answer else []
        self._evidence = evidence_of(trace) if trace else ()
        grid = self.query_one("#citations", Grid)
        grid.display = bool(self._rows)
        grid.show([_row(number, row) for number, row in enumerate(self._rows)])
        self._doubt(grid.key)
        if streaming:
            self.query_one("#answer-text").scroll_end(animate=False)
