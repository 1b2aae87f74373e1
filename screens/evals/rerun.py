"""A case run again beside what its run made of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from screens.dialogs import HELP
from screens.evals.case import outcome
from screens.evals.words import result_mark, value_text
from screens.style import Line, Tone, content
from screens.widgets.facts import Fact, Facts
from workbench.evals.measuring.scoring import describe
from workbench.evals.reporting.reports import stage_title
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.records.evals import CaseResult, Ranked

RANKS = 10


class DiffScreen(ModalScreen[None]):
    """Then and now: whether it passes, what changed in scores, ranks and answer."""

    CSS_PATH = "evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss", "Close", id="diff.close"), *HELP]

    def __init__(self, before: CaseResult, after: CaseResult) -> None:
        super().__init__()
        self._before, self._after = before, after

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        with VerticalScroll(classes="dialog full", can_focus=True) as box:
            box.border_title = content(tr("{case} run again", case=self._after.case_id))
            box.border_subtitle = content(tr("nothing is stored but the trace · esc closes"))
            yield Facts(id="diff")

    def on_mount(self) -> None:
        """Draws it."""
        self.query_one("#diff", Facts).show(list(diff(self._before, self._after)), label=12)


def diff(before: CaseResult, after: CaseResult) -> Iterable[Fact]:
    """The differences, the verdict first; what stayed the same is told in one line."""
    yield tr("then"), _verdict(before)
    yield tr("now"), _verdict(after)
    yield from _named(tr("scores"), _scores(before, after))
    yield from _named(tr("ranks"), _moves(before.ranked, after.ranked))
    then, now = list(outcome(before)), list(outcome(after))
    yield from _named(tr("then"), then)
    yield from _named(tr("now"), [(tr("the same"), Tone.DIM)] if then == now else now)
    if after.advice and not after.passed:
        yield tr("try first"), ("→ ", (retold(after.advice), Tone.ACCENT))


def _named(name: str, lines: Iterable[Line]) -> Iterable[Fact]:
    yield " ", " "
    for number, line in enumerate(lines):
        yield ("" if number else name), line


def _verdict(result: CaseResult) -> Line:
    stage = stage_title(result.failure) if result.failure or result.passed else tr("unscored")
    return (result_mark(result), f" {stage}", (f"  {retold(result.reason)}" if result.reason else "", Tone.DIM))


def _scores(before: CaseResult, after: CaseResult) -> list[Line]:
    lines: list[Line] = []
    for name in dict.fromkeys([*before.scores, *after.scores]):
        then, now = before.scores.get(name), after.scores.get(name)
        metric = describe(name)
        if then == now or not metric.bounded:
            continue
        better = (now or 0.0) > (then or 0.0)
        told = [value_text(name, value) if value is not None else "–" for value in (then, now)]
        arrow: Line = ("▲", Tone.GOOD) if better == metric.higher_is_better else ("▼", Tone.BAD)
        lines.append((f"{metric.title:<22}{told[0]:>6} → {told[1]:>6} ", arrow))
    return lines or [(tr("the same"), Tone.DIM)]


def _moves(before: tuple[Ranked, ...], after: tuple[Ranked, ...]) -> list[Line]:
    places = {r.chunk_id: r.rank for r in before}
    lines: list[Line] = []
    for ranked in after:
        was = places.get(ranked.chunk_id)
        if was == ranked.rank or not (ranked.grade or ranked.rank <= RANKS):
            continue
        came = tr("new") if was is None else f"{was}"
        star: Line = ("★ ", Tone.GOOD) if ranked.grade else "  "
        lines.append(
            (f"{came:>4} → {ranked.rank:<4}", star, ranked.source_id, (f"  {ranked.start:,}–{ranked.end:,}", Tone.DIM))
        )
    there = {r.chunk_id for r in after}
    lost = [r for r in before if r.grade and r.chunk_id not in there]
    lines += [(f"{r.rank:>4} → {tr('gone'):<4}", ("★ ", Tone.BAD), r.source_id) for r in lost]
    return lines or [(tr("the same"), Tone.DIM)]
