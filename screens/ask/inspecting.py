"""What can be done with the question in front: walk its stages, try other settings, ask why, compare, keep."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from screens.ask.autopsy import AutopsyScreen
from screens.ask.case import CaseDialog, read_draft
from screens.ask.compare import CompareScreen, read_pair
from screens.ask.past import PastDialog, PastWish
from screens.ask.rerankers import Known, RerankersScreen, read_known
from screens.ask.story import Story, read_story
from screens.ask.walk import WalkScreen
from screens.ask.whatif import Tuning, WhatIfScreen
from screens.ask.words import write_text
from screens.base import ModeScreen
from screens.dialogs import ChoiceDialog
from screens.style import Tone
from screens.widgets.answer import AnswerPane
from screens.widgets.grid import Grid, Row
from screens.widgets.keys import with_alt
from workbench.i18n import tr
from workbench.records.answers import AskOptions, Trace
from workbench.records.retrieval import SearchOptions, SearchResult
from workbench.traces.exports import TraceForm, trace_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from screens.work import Jobs
    from workbench.desk import Desk


T = TypeVar("T")

LOOKING: Final = frozenset(
    {"forward", "walk", "what_if", "rerankers", "autopsy", "history", "compare", "replay", "save_case", "export_trace"}
)
"""What needs documents to look at."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at: the trace of the question in the field, or the search of what is being typed.

    Attributes:
        options: that the search was made with.
        revision: of the collection when it was, empty for today's.
    """

    trace: Trace | None
    result: SearchResult | None
    options: SearchOptions
    revision: tuple[int | str, ...] = ()


class InspectingScreen(ModeScreen):
    """The keys that look closer. Ask gives ``subject`` and ``show_stored``, and searches and asks with ``tuning``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "tab",
            "forward",
            "Stages",
            id="inspect.forward",
            tooltip="To the ranking, the citations, then stage by stage through the pipeline",
        ),
        *with_alt(
            "t",
            "walk",
            "Stage by stage",
            id="inspect.walk",
            show=False,
            tooltip="From the words of the question to the decision",
        ),
        Binding(
            "w",
            "what_if",
            "What if",
            id="inspect.whatif",
            tooltip="Other settings on what was found, without searching again",
        ),
        *with_alt(
            "r",
            "rerankers",
            "Rerankers",
            id="inspect.rerankers",
            show=False,
            tooltip="Which there are, what each brings on a dataset; choose one, turn one on",
        ),
        *with_alt(
            "a",
            "autopsy",
            "Autopsy",
            id="inspect.autopsy",
            tooltip="Why was this chunk not found, and what would have kept it?",
        ),
        *with_alt(
            "h",
            "history",
            "History",
            id="inspect.history",
            typing="ctrl+r",
            tooltip="Questions asked: search, open, compare, replay, delete",
        ),
        *with_alt(
            "equals_sign",
            "compare",
            "Compare",
            id="inspect.compare",
            show=False,
            tooltip="With another question of the history, or its last asking",
        ),
        Binding(
            "R,shift+r",
            "replay",
            "Replay",
            show=False,
            id="inspect.replay",
            tooltip="Asks it again of today's index, and says what differs and why",
        ),
        *with_alt(
            "e",
            "save_case",
            "Save as case",
            id="inspect.case",
            show=False,
            tooltip="For evaluations, with its gold anchored to the sources",
        ),
        Binding(
            "X,shift+x",
            "export_trace",
            "Export the trace",
            show=False,
            id="inspect.export",
            tooltip="As JSON, OpenTelemetry spans or Markdown",
        ),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self.tuning: Tuning | None = None

    @abstractmethod
    def subject(self) -> Subject | None:
        """What is looked at, None when there is nothing: ``nothing_found`` says why."""

    @abstractmethod
    def nothing_found(self) -> str:
        """Why nothing is looked at."""

    @abstractmethod
    def open_trace(self, trace_id: str, query: str) -> None:
        """Shows a stored trace."""

    @abstractmethod
    def tuned(self) -> None:
        """The settings of the next question changed."""

    @property
    def ask_options(self) -> AskOptions:
        """What the next question is asked with."""
        return self.tuning.ask(AskOptions()) if self.tuning else AskOptions()

    # -- stage by stage --------------------------------------------------------------------------------------------

    def action_forward(self) -> None:
        """Through the panes; after the last of them, into the stages."""
        ranking, citations = self.query_one("#ranking", Grid), self.query_one(AnswerPane).query_one("#citations", Grid)
        last = citations if citations.display else ranking
        if self.focused is last:
            self.action_walk()
        elif self.focused is ranking:
            last.focus()
        else:
            ranking.focus()

    def action_walk(self) -> None:
        """The stages of what is looked at."""

        def walk(story: Story) -> Screen[None]:
            return WalkScreen(story, self._open_what_if, self._open_autopsy)

        self._with_trace(lambda trace: self._read(lambda: read_story(self.desk, trace), walk))

    # -- other settings --------------------------------------------------------------------------------------------

    def action_what_if(self) -> None:
        """Other settings, on the hits that are at hand."""
        self._with_trace(self._open_what_if)

    def _open_what_if(self, trace: Trace, change: str = "") -> None:
        def open_(first: object) -> None:
            self.app.push_screen(WhatIfScreen(self.desk, self.jobs, trace, self.tuning, change), self._tuned)

        self.jobs.open(self, lambda: self.desk.inspector.settings(trace), open_)

    def _tuned(self, wanted: Tuning | None) -> None:
        if wanted is None:
            return
        if isinstance(self.app.screen, WalkScreen):  # its stages are of the settings before
            self.app.screen.dismiss()
        self.tuning = wanted if wanted.changes else None
        self.tuned()

    def action_rerankers(self) -> None:
        """What reranks the questions that follow."""
        chosen = str(dict(self.tuning.changes).get("rerank", "")) if self.tuning else ""

        def use(name: str | None) -> None:
            if name:
                others = tuple(c for c in self.tuning.changes if c[0] != "rerank") if self.tuning else ()
                self._tuned(Tuning((*others, ("rerank", name))))

        def open_(known: Known) -> None:
            self.app.push_screen(RerankersScreen(self.desk, self.jobs, known, chosen), use)

        self.jobs.open(self, lambda: read_known(self.desk), open_)

    def action_autopsy(self) -> None:
        """What became of a chunk."""
        self._with_trace(self._open_autopsy)

    def _open_autopsy(self, trace: Trace) -> None:
        def then(change: str | None) -> None:
            if change:
                self._open_what_if(trace, change)

        self.app.push_screen(AutopsyScreen(self.desk, self.jobs, trace), then)

    # -- others ----------------------------------------------------------------------------------------------------

    def action_history(self) -> None:
        """Every question asked."""
        self.app.push_screen(PastDialog(self.desk, self.jobs), self._wished)

    def _wished(self, wish: PastWish | None) -> None:
        if wish is None:
            return
        if wish.what == "open":
            self.open_trace(wish.ids[0], "")
        elif wish.what == "replay":
            self._replay(wish.ids[0])
        else:
            self._compare(wish.ids)

    def action_compare(self) -> None:
        """The question in front with another one of the history."""
        subject = self.subject()
        mine = subject.trace.id if subject and subject.trace and subject.trace.complete else ""
        self.app.push_screen(PastDialog(self.desk, self.jobs, against=mine, comparing=True), self._wished)

    def _compare(self, ids: tuple[str, ...]) -> None:
        self._read(lambda: read_pair(self.desk, ids[0], ids[1]), CompareScreen)

    def action_replay(self) -> None:
        """Asks again, and compares."""
        trace = self._stored()
        if trace:
            self._replay(trace.id)

    def _replay(self, trace_id: str) -> None:
        def then(last: Trace | None) -> None:
            if last and last.complete:
                self._compare((trace_id, last.id))

        self.jobs.run(self, tr("replaying"), lambda cancel: self.desk.inspector.replay(trace_id, cancel), then=then)

    def action_save_case(self) -> None:
        """A dialog with what is known of it."""
        trace = self._stored()
        if trace:
            self._read(lambda: read_draft(self.desk, trace), lambda draft: CaseDialog(self.desk, self.jobs, draft))

    def action_export_trace(self) -> None:
        """Asks in which form."""
        trace = self._stored()
        if trace is None:
            return
        spans = tr("OTLP spans with gen_ai.* attributes, as JSON")
        forms: dict[TraceForm, tuple[str, str, str]] = {
            "json": (tr("JSON"), tr("every stage, as it is stored"), f"trace-{trace.id}.json"),
            "otel": (tr("OpenTelemetry"), spans, f"trace-{trace.id}.otlp.json"),
            "markdown": (tr("Markdown"), tr("the answer, sources as footnotes"), f"answer-{trace.id}.md"),
        }

        def write(chosen: str | None) -> None:
            form = next((known for known in forms if known == chosen), None)
            if form:
                path = Path.cwd() / forms[form][2]
                told = tr("Written: {path}", path=str(path))
                work = lambda: write_text(path, trace_text(trace, form))  # noqa: E731 -- one line tells what the worker does
                self.jobs.read(self, work, lambda _: self.notify(told, timeout=5, markup=False))

        rows = [Row(form, (name, (more, Tone.DIM))) for form, (name, more, _) in forms.items()]
        self.app.push_screen(ChoiceDialog(tr("Export the trace"), rows), write)

    # -- what is looked at -----------------------------------------------------------------------------------------

    def _with_trace(self, then: Callable[[Trace], object]) -> None:
        """Opens what ``then`` opens of the trace in front; a search not asked becomes one that is stored nowhere."""
        subject = self.subject()
        if subject is None:
            self.notify(self.nothing_found(), severity="warning", timeout=3)
        elif subject.trace:
            then(subject.trace)
        elif subject.result:
            result, ask = subject.result, self.ask_options
            self.jobs.open(self, lambda: _searched(self.desk, result, ask, subject), then)

    def _stored(self) -> Trace | None:
        subject = self.subject()
        if subject and subject.trace and subject.trace.complete:
            return subject.trace
        self.notify(tr("This question was not asked yet: enter answers it."), severity="warning", timeout=3)
        return None

    def _read(self, call: Callable[[], T], screen: Callable[[T], Screen[None]]) -> None:
        self.jobs.open(self, call, lambda read: self.app.push_screen(screen(read)))


def _searched(desk: Desk, result: SearchResult, ask: AskOptions, subject: Subject) -> Trace:
    options = replace(subject.options, collection=subject.options.collection or desk.collection)
    return desk.inspector.searched(result, ask, options, subject.revision)
