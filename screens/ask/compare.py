"""Two traces side by side: what was asked, with what, what was found, sent and said, how long it took, and why."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from screens.ask.page import Page, Reader
from screens.ask.stagelist import walk_name
from screens.dialogs import HELP
from screens.style import content, milliseconds
from workbench.i18n import tr
from workbench.records.answers import Prompt, Trace
from workbench.records.traces import Move, TraceComparison
from workbench.traces.outcomes import outcome_name
from workbench.traces.stages import stage

if TYPE_CHECKING:
    from workbench.desk import Desk


@dataclass(frozen=True, slots=True)
class Pair:
    """Two traces, the earlier one first, and what differs."""

    found: TraceComparison
    a: Trace
    b: Trace


def read_pair(desk: Desk, a: str, b: str) -> Pair:
    """Runs in a worker. Raises NotFoundError."""
    found = desk.inspector.compare(a, b)
    return Pair(found, desk.trace(found.a), desk.trace(found.b))


class CompareScreen(ModalScreen[None]):
    """One long page, to scroll and to search."""

    CSS_PATH: ClassVar = ["../dialogs.tcss", "ask.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="compare.close"),
        *HELP,
    ]

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self._pair = pair

    def compose(self) -> ComposeResult:
        """The page."""
        with Vertical(classes="dialog full") as box:
            times = " → ".join(f"{trace.created:%Y-%m-%d %H:%M:%S}" for trace in (self._pair.a, self._pair.b))
            box.border_title = content(tr("Compare ── {times}", times=times))
            box.border_subtitle = content(tr("≠ differs · ↑↓ scroll · / find · esc closes"))
            yield Reader()

    def on_mount(self) -> None:
        """The page has the keys."""
        reader = self.query_one(Reader)
        reader.page.focus()
        reader.show(lambda width: comparison_page(self._pair, width))


def comparison_page(pair: Pair, width: int) -> Page:
    """Reasons first, then part by part; "=" or "≠" before each."""
    page, found = Page(width), pair.found
    page.head(tr("why"))
    for reason in found.reasons:
        page.say(f"→ {reason}")
    _two(page, tr("question"), found.questions[0], found.questions[1])
    page.head(_title(tr("settings"), not found.differences))
    page.table(
        (tr("setting"), tr("before"), tr("after")),
        [(d.name, d.before or "–", d.after or "–") for d in found.differences],
    )
    page.head(_title(tr("ranking"), found.same_ranking))
    _moves(page, () if found.same_ranking else found.ranking, 30)
    page.head(_title(tr("evidence"), found.same_evidence))
    _moves(page, () if found.same_evidence else found.evidence, 50)
    _prompts(page, pair)
    answers = [answer.text if answer else "–" for answer in found.answers]
    _two(page, tr("answer"), answers[0], answers[1])
    _outcomes(page, pair)
    _times(page, pair)
    return page


def _title(name: str, same: bool) -> str:
    return f"= {name}" if same else f"≠ {name}"


def _two(page: Page, name: str, before: str, after: str) -> None:
    page.head(_title(name, before == after))
    if before == after:
        page.say(before)
        return
    page.sides(before, after)


def _moves(page: Page, moves: Sequence[Move], most: int) -> None:
    signs = {"entered": "+", "left": "−", "up": "▲", "down": "▼", "same": "="}
    rows = [(signs[m.kind], _place(m.before), _place(m.after), m.source_id, m.chunk_id[:12]) for m in moves[:most]]
    page.table(("", tr("before"), tr("after"), tr("source"), "id"), rows, right=(1, 2))


def _place(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _prompts(page: Page, pair: Pair) -> None:
    sent = [p.rendered if (p := stage(trace, "prompt", Prompt)) else "" for trace in (pair.a, pair.b)]
    page.head(_title(tr("prompt"), sent[0] == sent[1]))
    if not any(sent):
        page.say(tr("Neither was sent to a model."))
    for line in difflib.unified_diff(sent[0].splitlines(), sent[1].splitlines(), lineterm="", n=1):
        if not line.startswith(("---", "+++", "@@")):
            page.say(line)


def _outcomes(page: Page, pair: Pair) -> None:
    rows = []
    for name, trace in ((tr("before"), pair.a), (tr("after"), pair.b)):
        answer = trace.answer
        if answer:
            good = sum(claim.level == "supported" for claim in answer.claims)
            told = (outcome_name(answer.outcome), f"{answer.support:.2f}", f"{answer.threshold:.2f}")
            rows.append((name, *told, f"{good}/{len(answer.claims)}"))
    same = len(rows) == 2 and rows[0][1:] == rows[1][1:]
    page.head(_title(tr("outcome"), same))
    page.table(("", tr("outcome"), "s", "τ", tr("supported")), rows, right=(2, 3))


def _times(page: Page, pair: Pair) -> None:
    names = list(dict.fromkeys(span.name for trace in (pair.a, pair.b) for span in trace.spans))
    spans = [(walk_name(name), pair.a.span(name), pair.b.span(name)) for name in names]
    rows = [(name, *(milliseconds(span.duration_ms) if span else "–" for span in both)) for name, *both in spans]
    page.head(tr("times, ms")).table((tr("stage"), tr("before"), tr("after")), rows, right=(1, 2))
