"""The review queue: one candidate at a time beside what it asks about; a key accepts, rejects, edits or takes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen

from screens.dialogs import HELP, ErrorDialog
from screens.evals.case import expected, gold_facts
from screens.evals.items import CaseItem
from screens.evals.proposing import EditDialog, Order, OrderDialog
from screens.evals.reading import CaseView, read_case
from screens.messages import ProposalMade
from screens.style import Line, Tone, content, count
from screens.widgets.facts import Fact, Facts
from screens.widgets.grid import Column, Grid, Row
from screens.work import Job, Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.cases import (
    Candidate,
    CandidateState,
    Case,
    Dataset,
)

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.evals.collecting.synthetic import Proposal
    from workbench.ports import Cancel

MARKS: Final[dict[CandidateState, Line]] = {
    "waiting": ("◦", Tone.ACCENT),
    "accepted": ("✓", Tone.GOOD),
    "rejected": ("✗", Tone.BAD),
}
"""A candidate's state → how it is shown."""


class ReviewScreen(ModalScreen[Dataset | None]):
    """The candidates of one dataset. Dismisses with the dataset's new version when what was decided made one.

    A decision shows at once and is stored behind; stores follow each other in the order of the keys.
    """

    CSS_PATH = "evals.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- as in ModeScreen
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('accepted')", "Accept", id="review.accept", tooltip="It counts from then on"),
        Binding(
            "r", "decide('rejected')", "Reject", id="review.reject", tooltip="It stays out, and isn't proposed again"
        ),
        Binding("e", "edit", "Edit", id="review.edit", tooltip="Its question and answers; that accepts it"),
        Binding("ctrl+z,u", "undo", "Undo", id="review.undo", tooltip="Takes the last decision back"),
        Binding("n", "order", "New ones", id="review.new", tooltip="From chunks, or without the documents that answer"),
        Binding("f", "view", "Show", id="review.view", tooltip="Those that wait, or all there ever were"),
        Binding("s", "stop", "Stop making", id="review.stop", tooltip="What is made so far stays"),
        Binding("escape,q", "leave", "Close", id="review.close"),
        *HELP,
    ]

    def __init__(self, desk: Desk, jobs: Jobs, dataset: str, candidates: Sequence[Candidate], *, ask: bool) -> None:
        """With ``ask``, it begins by asking for new candidates when none waits."""
        super().__init__()
        self.desk, self.jobs, self._dataset = desk, jobs, dataset
        self._queue = desk.evals.review(dataset)
        self._known = {candidate.id: candidate for candidate in candidates}
        self._begin = ask and not any(c.state == "waiting" for c in candidates)
        self._all = False
        self._decided: dict[int, None] = {}
        self._before: list[Candidate] = []
        self._writes: list[tuple[Callable[[], object], Callable[[object], object]]] = []
        self._job: Job | None = None
        self._reading = Latest(jobs, self, self._read, self._show_case, self._failed)

    def compose(self) -> ComposeResult:
        """The list beside the candidate, or above it."""
        with Vertical(classes="dialog review") as box:
            box.border_subtitle = content(tr("a accept · r reject · e edit · ^z undo · n new · esc closes"))
            with Horizontal(id="queue-panes"):
                yield Grid([Column("", 1), Column(tr("made from"), 12), Column(tr("question"))], id="queue")
                with VerticalScroll(id="queue-case", classes="pane", can_focus=True):
                    yield Facts(id="queue-told")

    def on_mount(self) -> None:
        """What waits; where nothing does, the question how many to make."""
        self._draw()
        if self._begin:
            self.action_order()

    # -- showing ---------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        listed = [c for c in self._known.values() if self._all or c.state == "waiting" or c.id in self._decided]
        self.query_one("#queue", Grid).show([_row(candidate) for candidate in listed])
        self._retitle()

    def _retitle(self) -> None:
        waiting, accepted, rejected = (
            sum(c.state == state for c in self._known.values()) for state in ("waiting", "accepted", "rejected")
        )
        told = tr(
            "{waiting} wait · {accepted} accepted · {rejected} rejected",
            waiting=count(waiting),
            accepted=count(accepted),
            rejected=count(rejected),
        )
        made: Line = (f" ── ▸ {self._job.detail}", Tone.ACCENT) if self._job else ""
        box = self.query_one(".dialog")
        box.border_title = content(tr("Review {dataset}", dataset=self._dataset), f" ── {told}", made)

    @on(Grid.Highlighted, "#queue")
    def chosen(self) -> None:
        """Draws it, or says that nothing waits."""
        candidate = self._candidate
        if candidate is not None:
            self._reading.submit(candidate)
            return
        self._reading.drop()
        words = content(
            (tr("Nothing waits."), Tone.STRONG),
            "\n\n",
            ("n", Tone.ACCENT),
            " " + tr("makes new ones.") + "\n",
            ("f", Tone.ACCENT),
            " " + tr("shows those that are decided."),
        )
        self.query_one("#queue-case").border_title = ""
        self.query_one("#queue-told", Facts).show([], before=words)

    @property
    def _candidate(self) -> Candidate | None:
        key = self.query_one("#queue", Grid).key
        return self._known.get(int(key)) if key else None

    def _read(self, candidate: Candidate) -> CaseView:
        collection = self.desk.evals.dataset(self._dataset).collection
        return read_case(self.desk, CaseItem(candidate.case, collection))

    def _show_case(self, candidate: Candidate, view: CaseView) -> None:
        pane = self.query_one("#queue-case", VerticalScroll)
        pane.border_title = content(MARKS[candidate.state], f" {candidate.case.id}")
        told = self.query_one("#queue-told", Facts)
        told.show(list(told_of(candidate, view)), before=content((candidate.case.question, Tone.STRONG)), label=10)
        pane.scroll_home(animate=False)

    def action_view(self) -> None:
        """Those that wait and those of this sitting, or all."""
        self._all = not self._all
        self._draw()

    # -- deciding --------------------------------------------------------------------------------------------------

    def action_decide(self, state: CandidateState) -> None:
        """The candidate under the cursor; then the next one that waits."""
        if candidate := self._candidate:
            self._decide(replace(candidate, state=state))

    def _decide(self, candidate: Candidate) -> None:
        self._before.append(self._known[candidate.id])
        self._decided[candidate.id] = None
        self._put(candidate)
        grid = self.query_one("#queue", Grid)
        order = [int(row.key) for row in grid.rows]
        at = order.index(candidate.id)
        waiting = (n for n in order[at + 1 :] + order[:at] if self._known[n].state == "waiting")
        grid.go_to(str(next(waiting, candidate.id)))

    def _put(self, candidate: Candidate) -> None:
        self._known[candidate.id] = candidate
        self._draw()
        self._write(lambda: self._queue.restore(candidate))

    def action_undo(self) -> None:
        """The last decision of this sitting."""
        if not self._before:
            self.notify(tr("Nothing was decided yet."), timeout=3)
            return
        candidate = self._before.pop()
        self._put(candidate)
        self.query_one("#queue", Grid).go_to(str(candidate.id))

    @on(Grid.Opened, "#queue")
    def action_edit(self) -> None:
        """Asks for its words."""
        candidate = self._candidate
        if candidate:
            self.app.push_screen(EditDialog(candidate.case), lambda case: self._edited(candidate, case))

    def _edited(self, candidate: Candidate, case: Case | None) -> None:
        if case:
            self._decide(replace(candidate, state="accepted", case=case))

    def _write(self, call: Callable[[], object], then: Callable[[object], object] = lambda _: None) -> None:
        self._writes.append((call, then))
        if len(self._writes) == 1:
            self._write_next()

    def _write_next(self) -> None:
        self.jobs.read(self, self._writes[0][0], self._written, self._failed)

    def _written(self, result: object) -> None:
        _, then = self._writes.pop(0)
        then(result)
        if self._writes:
            self._write_next()

    def _failed(self, error: WorkbenchError) -> None:
        self._writes.clear()
        self.app.push_screen(ErrorDialog(error))
        self._reload()

    # -- making new ones -------------------------------------------------------------------------------------------

    def action_order(self) -> None:
        """Asks what to make and how many, unless some are being made."""
        if self._job:
            self.notify(tr("New ones are being made: s stops it."), timeout=3)
            return
        self.jobs.read(
            self, lambda: self.desk.model, lambda model: self.app.push_screen(OrderDialog(model), self._ordered)
        )

    def _ordered(self, order: Order | None) -> None:
        lab, dataset = self.desk.evals, self._dataset
        if order is None:
            return
        if order.without:
            self.jobs.read(self, lambda: lab.propose_unanswerable(dataset, order.count), self._without, self._failed)
            return
        seed = len(self._known)  # other chunks, and other words for them, than the last time
        made = iter(range(1, order.count + 1))

        def call(cancel: Cancel) -> Iterator[Proposal]:
            return lab.propose(dataset, order.count, seed=seed, cancel=cancel)

        def describe(job: Job, proposal: Proposal) -> None:
            number = next(made, order.count)
            job.detail, job.fraction = f"{number}/{order.count}", number / order.count
            if proposal.dropped:
                job.detail += f" · {tr('dropped')}: {proposal.dropped}"

        self._job = self.jobs.run(
            self, tr("questions"), call, each=ProposalMade, then=self._made, failed=self._not_made, describe=describe
        )
        self._retitle()

    def _without(self, made: Sequence[Candidate]) -> None:
        if not made:
            self.notify(tr("Every case with gold has its counterpart already."), timeout=4)
        self._reload()

    @on(ProposalMade)
    def _reload(self) -> None:
        self.jobs.read(self, self._queue.all, self._reloaded)

    def _reloaded(self, candidates: Sequence[Candidate]) -> None:
        fresh = {candidate.id: candidate for candidate in candidates}
        self._known = fresh if not self._writes else {**fresh, **self._known}
        self._draw()

    def _made(self, _: Proposal | None) -> None:
        self._job = None
        self._reload()

    def _not_made(self, error: WorkbenchError) -> None:
        self._job = None
        self._failed(error)

    def action_stop(self) -> None:
        """Ends the making; what is made stays."""
        if self._job:
            self._job.stop()

    # -- leaving ---------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        """What was accepted joins the dataset as one version, when everything is stored."""
        self.action_stop()
        if self._decided:
            self._write(lambda: self.desk.evals.join_accepted(self._dataset), self._joined)
        else:
            self.dismiss(None)

    def _joined(self, dataset: object) -> None:
        self.dismiss(dataset if isinstance(dataset, Dataset) else None)


def _row(candidate: Candidate) -> Row:
    return Row(str(candidate.id), (MARKS[candidate.state], (_made_from(candidate), Tone.DIM), candidate.case.question))


def _made_from(candidate: Candidate) -> str:
    """Where it comes from, in at most 12 characters."""
    kind = candidate.case.id.partition("-")[0]
    if not candidate.case.answerable and candidate.case.id.endswith("-without"):
        return tr("left out")
    return {"syn": tr("a chunk"), "ask": tr("Ask")}.get(kind, candidate.origin)


def told_of(candidate: Candidate, view: CaseView) -> Iterable[Fact]:
    """What is expected of it, the gold's text, its filter, and how it was made."""
    case = candidate.case
    for number, line in enumerate(expected(case)):
        yield ("" if number else tr("expected")), line
    yield tr("filter"), case.filter
    yield tr("criterion"), (case.criterion, Tone.DIM)
    yield from gold_facts(view.gold, None)
    yield tr("made by"), (candidate.origin, Tone.DIM)
