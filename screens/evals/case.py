"""One case: what was asked and expected, what came, where it was lost, gold beside retrieved, scores and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from screens.evals.columns import in_columns
from screens.evals.judges import verdict_lines
from screens.evals.reading import CaseView, Passage
from screens.evals.words import label_mark, result_mark, value_text
from screens.style import SUPPORT, Line, Tone, content, count, milliseconds, place, plain, shorten
from screens.widgets.answer import ROOMY, ledger
from screens.widgets.facts import Fact, Facts
from workbench.evals.gold.whereabouts import carries, named
from workbench.evals.measuring.scoring import describe, ordered
from workbench.evals.reporting.naming import label_name
from workbench.evals.reporting.reports import stage_title
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.answers import Answer
from workbench.records.cases import Case, Expectation
from workbench.records.evals import CaseResult, Ranked, Run
from workbench.traces.outcomes import outcome_name
from workbench.traces.telling import stage_name

LABEL: Final = 11
"""Width of the names before the values."""


class RankTable(Static):
    """The results of a case with their rank in each lane, their grade, and what became of them."""

    def __init__(self) -> None:
        super().__init__("", id="case-ranked")
        self._ranked: Sequence[Ranked] = ()
        self._texts: Mapping[str, str] = {}

    def show(self, ranked: Sequence[Ranked], texts: Mapping[str, str]) -> None:
        """Other results."""
        self._ranked, self._texts = ranked, texts
        self.display = bool(ranked)
        self._draw()

    def on_resize(self) -> None:
        """Fits the texts to the new width."""
        self._draw()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A line a result: a share of the width can be measured a cell narrower than it is drawn, and would wrap."""
        return 1 + len(self._ranked)

    def _draw(self) -> None:
        width = self.content_size.width or 60
        lines = [rank_line(r, self._texts.get(r.chunk_id, ""), width) for r in self._ranked]
        head = f"{'#':>3} {tr('lex'):>4} {tr('dense'):>5}  {tr('grade'):<5}  {tr('context'):<11}{tr('source')}"
        self.update(Content("\n").join([content((shorten(head, width), Tone.DIM)), *map(content, lines)]))


def rank_line(ranked: Ranked, text: str, width: int) -> Line:
    """ "  9   12     4  3      ✂ budget   norm.pdf  los pagos pendientes…"; gold stands out by its grade."""
    reasons = {"duplicate": tr("duplicate"), "budget": tr("budget"), "limit": tr("limit")}
    kept: Line = (f"{f'[{ranked.evidence}]':<11}", Tone.ACCENT) if ranked.evidence else " " * 11
    if ranked.dropped:
        kept = (f"{'✂ ' + reasons.get(ranked.dropped, ranked.dropped):<11}", Tone.WARN)
    grade: Line = (f"★ {ranked.grade:<3}", Tone.GOOD) if ranked.grade else ("·    ", Tone.DIM)
    lead = f"{ranked.rank:>3} {_rank(ranked.lexical_rank):>4} {_rank(ranked.dense_rank):>5}  "
    room = max(8, width - cell_len(lead) - 18)
    source = shorten(ranked.source_id, max(8, room // 2))
    rest = room - len(source) - 2
    return (
        lead,
        grade,
        "  ",
        kept,
        (source, Tone.STRONG if ranked.grade else Tone.PLAIN),
        (f"  {shorten(text, rest)}" if rest > 6 and text else "", Tone.DIM),
    )


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


class Scores(Static):
    """A case's scores in as many columns as fit, in the order of the reports."""

    def __init__(self) -> None:
        super().__init__("", id="case-scores")
        self._cells: Sequence[tuple[Line, ...]] = ()

    def show(self, scores: Mapping[str, float]) -> None:
        """Another case's."""
        self._cells = [((describe(name).title, Tone.DIM), value_text(name, scores[name])) for name in ordered(scores)]
        self.display = bool(scores)
        self._draw()

    def on_resize(self) -> None:
        """Fits the columns to the new width."""
        self._draw()

    def _draw(self) -> None:
        lines = in_columns(self._cells, self.content_size.width or 60)
        self.update(Content("\n").join(content(line) for line in lines))


class CasePane(VerticalScroll, can_focus=True):
    """Draws one case at a time."""

    def __init__(self) -> None:
        super().__init__(id="case", classes="pane")

    def compose(self) -> ComposeResult:
        """Question to answer, gold beside retrieved, then figures."""
        yield Facts(id="case-head")
        with Horizontal(id="case-evidence"):
            yield Facts(id="case-gold")
            yield RankTable()
        yield Scores()
        yield Facts(id="case-foot")

    def on_mount(self) -> None:
        """Until the first case is read."""
        self.clear(content((tr("reading…"), Tone.DIM)))

    def show(self, view: CaseView, run: Run | None, other: Run | None) -> None:
        """Another case; scrolled to its top."""
        item = view.item
        result = item.result
        self.border_title = content(_headline(view))
        self.border_subtitle = content(_label(view))
        self.query_one("#case-head", Facts).show(
            list(head(view, run, other)), before=content((item.case.question, Tone.STRONG)), label=LABEL
        )
        self.query_one("#case-gold", Facts).show(list(gold_facts(view.gold, result)), label=2)
        self.query_one(RankTable).show(view.ranked, view.texts)
        self.query_one("#case-evidence").display = bool(view.gold or view.ranked)
        self.query_one(Scores).show(result.scores if result else {})
        self.query_one("#case-foot", Facts).show(list(foot(view)), label=LABEL)
        self.scroll_home(animate=False)

    def clear(self, words: Content) -> None:
        """No case; says why."""
        self.border_title = content(tr("Case"))
        self.border_subtitle = ""
        self.query_one("#case-head", Facts).show([], before=words)
        self.query_one(Scores).show({})
        self.query_one("#case-foot", Facts).show([])
        self.query_one("#case-evidence").display = False


def _headline(view: CaseView) -> Line:
    result = view.item.result
    if result is None:
        return view.item.case.id
    stage = stage_title(result.failure) if result.failure or result.passed else tr("unscored")
    return (view.item.case.id, " ── ", result_mark(result), " ", stage)


def _label(view: CaseView) -> Line:
    label = view.item.label
    if label is None:
        return ""
    against: Line = (" " + tr("against the score"), Tone.WARN) if view.item.against_score else ""
    return (label_mark(label), " ", label_name(label.value), against)


def head(view: CaseView, run: Run | None, other: Run | None) -> Iterable[Fact]:
    """Why it failed, what was expected, what this run and the other one made of it."""
    item, case = view.item, view.item.case
    result = item.result
    if result and result.reason:
        yield tr("why"), retold(result.reason)
    if result and result.advice:
        yield tr("try first"), ("→ ", (retold(result.advice), Tone.ACCENT))
    yield from _several(tr("judge"), verdict_lines(item.judged))
    if item.label and item.label.note:
        yield tr("note"), item.label.note
    yield from _several(tr("expected"), expected(case))
    if result and run:
        yield from _several(tr("run {id}", id=run.id), outcome(result))
    if item.other and other:
        lines = list(outcome(item.other))
        lines[0] = (result_mark(item.other), " ", lines[0])
        yield from _several(tr("run {id}", id=other.id), lines)
    if case.filter:
        yield tr("filter"), case.filter
    yield from _several(tr("must cite"), map(named, case.citations))
    yield from _several(tr("misleading"), map(named, case.negatives))
    for name, value in ((tr("criterion"), case.criterion), (tr("notes"), case.notes)):
        yield name, (value, Tone.DIM)


def _several(name: str, lines: Iterable[Line]) -> Iterable[Fact]:
    for number, line in enumerate(lines):
        yield ("" if number else name), line


def expected(case: Case) -> Iterable[Line]:
    """Its answers, or that abstaining is right, or the check of a model task."""
    if case.expectation:
        yield _expectation(case.expectation)
    elif not case.answerable:
        yield (("✗ ", Tone.WARN), tr("no answer in the collection: abstaining is right"))
    else:
        yield " · ".join(case.answers) or (tr("the gold passages"), Tone.DIM)


def _expectation(wanted: Expectation) -> Line:
    kinds = {
        "exact": tr("exactly"),
        "f1": tr("token F1 with"),
        "numeric": tr("the number"),
        "regex": tr("matching"),
        "json_schema": tr("JSON by the schema"),
        "sql": tr("the rows of"),
    }
    tolerance = f"  ±{wanted.tolerance:g}" if wanted.kind == "numeric" and wanted.tolerance else ""
    return ((kinds[wanted.kind] + " ", Tone.DIM), wanted.value, (tolerance, Tone.DIM))


def outcome(result: CaseResult) -> Iterable[Line]:
    """What a run made of a case: its answer claim by claim, its output, or where the gold came."""
    if result.error:
        yield (("✗ ", Tone.BAD), result.error)
    elif result.answer:
        yield from _answer(result.answer)
    elif result.output:
        yield result.output
    else:
        yield _found(result.ranked)


def _found(ranked: Sequence[Ranked]) -> Line:
    best = next((r for r in ranked if r.grade), None)
    if best is None:
        return (tr("no gold among {count} results", count=count(len(ranked))), Tone.DIM)
    return tr("gold first at rank {rank} of {count}", rank=best.rank, count=count(len(ranked)))


def _answer(answer: Answer) -> Iterable[Line]:
    sign = "≥" if answer.support >= answer.threshold else "<"
    support = (f"s {answer.support:.2f} {sign} τ {answer.threshold:.2f}", Tone.DIM)
    if answer.outcome != "answered":
        yield (("~ ", Tone.WARN), outcome_name(answer.outcome), "  ", support)
        yield (answer.text, Tone.DIM)
        return
    for claim in answer.claims:
        cited = "; ".join(
            " ".join(p for p in (c.source_id, place(c.heading, c.page_label, c.page)) if p) for c in claim.citations
        )
        yield (SUPPORT[claim.level], " ", claim.text, (f"  {cited or tr('no source')}", Tone.DIM))
    if not answer.claims:
        yield answer.text
    if answer.removed:
        yield (("✗ " + tr("removed, names no evidence: {labels}", labels=", ".join(answer.removed)), Tone.BAD),)
    if answer.unsaid:
        yield (("~ " + tr("removed, does not say it: {labels}", labels=", ".join(answer.unsaid)), Tone.WARN),)
    yield support


def gold_facts(gold: Sequence[Passage], result: CaseResult | None) -> Iterable[Fact]:
    """Each gold span: where it came, then its text."""
    if gold:
        yield "", (tr("gold"), Tone.DIM)
    for passage in gold:
        span = passage.gold
        where = f"{count(span.start)}–{count(span.end)}" if span.end else tr("the whole document")
        mark, came = _came(passage, result)
        grade = tr("grade {grade}", grade=span.grade)
        yield plain(mark), ((span.source_id, Tone.STRONG), (f"  {where}  {grade}", Tone.DIM))
        if came:
            yield "", came
        if passage.text:
            yield "", (f"“{passage.text}”", Tone.DIM)
        elif not passage.document_id:
            yield "", (tr("not in this collection"), Tone.WARN)


def _came(passage: Passage, result: CaseResult | None) -> tuple[Line, Line]:
    """The mark, and the ranks of the best result that holds it."""
    if result is None or not result.ranked:
        return "·", ""
    gold = passage.gold
    best = next((r for r in result.ranked if carries(r.source_id, r.start, r.end, gold)), None)
    if best is None:
        return "✗", (tr("not among the {count} results", count=count(len(result.ranked))), Tone.BAD)
    ranks = [f"{tr('rank')} {best.rank}", f"{tr('lex')} {_rank(best.lexical_rank)}"]
    ranks.append(f"{tr('dense')} {_rank(best.dense_rank)}")
    kept = f"[{best.evidence}]" if best.evidence else "✂" if best.dropped else ""
    return ("✂" if best.dropped else "✓"), (" · ".join([*ranks, kept] if kept else ranks), Tone.ACCENT)


def foot(view: CaseView) -> Iterable[Fact]:
    """The times of the stages, the context's ledger, and what kind of case it is."""
    result, case = view.item.result, view.item.case
    if result:
        yield tr("time"), "   ".join(_times(view, result.duration_ms))
    if view.trace:
        yield tr("prompt"), (ledger(view.trace, ROOMY), (f"   P {tr('its words')}", Tone.DIM))
    kind = [part for part in (case.type, case.difficulty, case.language, *case.tags) if part]
    yield tr("kind"), (" · ".join(kind), Tone.DIM)


def _times(view: CaseView, total_ms: float) -> Iterable[str]:
    if total_ms:
        yield f"{milliseconds(total_ms)} ms"
    for span in view.trace.spans if view.trace else ():
        if span.duration_ms >= 1:
            yield f"{stage_name(span.name)} {milliseconds(span.duration_ms)}"
