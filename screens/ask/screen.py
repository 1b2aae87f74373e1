"""Ask: why did this query find these chunks, and does the answer say what they say?

Every keystroke searches (the newest only); ``enter`` answers, and the trace is drawn as it grows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Static

from screens.ask.asking import AskingScreen
from screens.ask.history import PastTrace, read_past, read_trace
from screens.ask.inspecting import LOOKING, InspectingScreen, Subject
from screens.ask.ranked import RankedScreen
from screens.ask.timeline import Timeline
from screens.ask.typed import Question
from screens.ask.words import DRAFT, Draft, Request, asked, earlier, example_filter, times, welcome, write_text
from screens.dialogs import PassageDialog
from screens.messages import TraceGrew
from screens.source import read_chunk, read_span, show_source
from screens.style import content
from screens.widgets import ranking, stages
from screens.widgets.answer import AnswerPane
from screens.widgets.facts import Fact
from screens.widgets.grid import Grid
from screens.widgets.keys import with_alt
from screens.work import Job, Jobs
from workbench.errors import FilterError, WorkbenchError
from workbench.i18n import tr
from workbench.keystrokes import options_of
from workbench.records.answers import AskOptions, Trace
from workbench.records.codec import encode
from workbench.records.retrieval import Lane, SearchOptions, SearchResult
from workbench.traces.exports import answer_markdown
from workbench.traces.telling import stage_name

if TYPE_CHECKING:
    from workbench.desk import Desk

_SOON_S: Final = 0.5
"""How long a lane that is still to come is waited for before it is told to be."""
LANES: Final[tuple[tuple[Lane, ...], ...]] = (("lexical", "dense"), ("lexical",), ("dense",))


class AskScreen(AskingScreen, InspectingScreen, RankedScreen):
    """The question on top, what it finds in the middle, the cited answer below."""

    CSS_PATH = "ask.tcss"
    AUTO_FOCUS = "#query"
    mode = "ask"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "answer", "Answer", show=False, id="ask.answer", tooltip="With citations; opens a row in a table"
        ),
        *with_alt(
            "f", "filter", "Filter", id="ask.filter", tooltip="Only chunks whose metadata matches", typing="ctrl+f"
        ),
        *with_alt("l", "lanes", "Lanes", id="ask.lanes", tooltip="Both, lexical only, dense only"),
        *with_alt("v", "trace", "Trace", id="ask.trace", tooltip="The whole story of the answer as JSON"),
        *with_alt("left_square_bracket", "past(1)", "Earlier", id="ask.earlier", typing="alt+up"),
        *with_alt("right_square_bracket", "past(-1)", "Later", id="ask.later", typing="alt+down", show=False),
        *with_alt("x", "export", "Export", id="ask.export", tooltip="The answer as Markdown, sources as footnotes"),
        *with_alt("c", "copy", "Copy", id="ask.copy", tooltip="The answer, to the terminal's clipboard"),
        *with_alt("g", "stages", "Stages", id="ask.stages", tooltip="Stages in place of the ranking"),
        *with_alt("i", "app.ingest", "Ingest", id="ask.ingest", tooltip="Read files into a collection"),
        Binding(
            "escape",
            "back",
            "Back",
            show=False,
            id="ask.back",
            tooltip="Stops the answer; leaves the question, and back",
        ),
        Binding("down", "results", "To the ranking", show=False, id="ask.results"),
        Binding("slash", "question", "To the question", show=False, id="ask.question"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._lanes = 0
        self._before: dict[str, int] = {}
        self._ranks: dict[str, int] = {}
        self._trace: Trace | None = None
        self._past = DRAFT
        self._draft = Draft("", "", False)
        self._epoch = 0
        self._warm = False

    def body(self) -> Iterable[Widget]:
        """Question, filter, ranking beside stages, answer; or the welcome of an empty file."""
        yield Question(
            placeholder=tr("Type to search, enter to answer"), id="query", classes="pane", select_on_focus=False
        )
        with Horizontal(id="filter-line"):
            yield Static(content(tr("Filter")), id="filter-label")
            yield Input(id="filter", classes="line", select_on_focus=False)
        yield Static("", id="filter-problem", classes="problem")
        yield Timeline()
        with Horizontal(id="found"):
            with Vertical(id="ranked"):
                yield Grid(ranking.columns(), id="ranking")
                yield Static("", id="arithmetic")
            with VerticalScroll(id="stages"):
                yield Static("", id="stage-lines")
        yield AnswerPane()
        yield Static("", id="welcome")

    def on_mount(self) -> None:
        """Titles in the interface's language."""
        self.title_question()
        self.query_one("#found").border_title = content(tr("Ranking"))
        self.query_one("#found").add_class("pane")
        self.query_one(AnswerPane).show(None)

    def legend(self) -> list[Fact]:
        """Of the ranking, the stages and the answer."""
        return stages.legend()

    def arrive(self) -> None:
        """Whoever comes to ask types."""
        self.query_one("#query", Input).focus()

    # -- the file --------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Is there anything to ask of?"""
        self.jobs.read(self, self._read_fields, self._show_fields)

    def _read_fields(self) -> tuple[int, str]:
        name = self.desk.collection
        documents = sum(c.documents for c in self.desk.collections() if c.name == name)
        return documents, example_filter(self.desk.filter_fields(name)) if documents else ""

    def _show_fields(self, known: tuple[int, str]) -> None:
        documents, example = known
        self.set_class(not documents, "-empty")
        self.query_one("#welcome", Static).update(welcome())
        self.refresh_bindings()
        self.query_one("#filter", Input).placeholder = example
        self._search_again()
        if documents:  # the first keystroke needn't wait for a process to start
            self.jobs.read(self, self.desk.warm_embedder, lambda _: self._warmed())

    def _warmed(self) -> None:
        self._warm = True
        self._search_again()

    def _search_again(self) -> None:
        """The file changed, or more lanes can answer; whoever looks back goes on doing so."""
        if self.timeline.at is None:
            self._submit()

    # -- searching -------------------------------------------------------------------------------------------------

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Every keystroke in the question or the filter."""
        if event.input.id in {"query", "filter"}:
            self._epoch += 1
            self._now = None
            self.key_typed(event.time)
            self._mark()
            self._submit()

    def _mark(self) -> None:
        """An answer says whose it is as soon as it is not the question's that stands above it."""
        told = earlier(self._trace, self._query, self._options().filter) if self._trace else ""
        self.query_one(AnswerPane).mark(told)

    @property
    def _query(self) -> str:
        return self.query_one("#query", Input).value.strip()

    @property
    def _filtering(self) -> bool:
        return self.query_one("#filter-line").has_class("-open")

    def _typed_now(self) -> Draft:
        return Draft(self.query_one("#query", Input).value, self._options().filter, self._filtering)

    def _options(self) -> SearchOptions:
        wanted = self.query_one("#filter", Input).value.strip() if self._filtering else ""
        options = SearchOptions(lanes=LANES[self._lanes], filter=wanted)
        return self.tuning.search(options) if self.tuning else options

    @property
    def settings(self) -> tuple[SearchOptions, AskOptions]:
        """What the next question is searched and answered with."""
        return self._options(), self.ask_options

    def _submit(self) -> None:
        if self.timeline.at is not None:  # an earlier question is searched for again: it is what is asked now
            self._now = None
            self.timeline.return_()
        if self._query and not self.has_class("-empty"):
            if not self.query_one("#ranking", Grid).total:
                self.query_one("#query", Input).border_subtitle = content(tr("searching…"))
            self._search.submit(Request(self._query, self._options()))
            return
        self._search.drop()
        self._before, self._ranks, self._result = {}, {}, None
        self._draw_ranking((), None, {})
        self._title_ranking(self._lane_names())
        self.query_one("#stage-lines", Static).update("")
        self.query_one("#query", Input).border_subtitle = content(self._lane_names())

    def _found(self, request: Request, result: SearchResult) -> None:
        """The lexical lane alone is drawn at once, and with the other lane all that there is to tell."""
        self._filter_problem("")
        self._result = result
        self.remember(request, result)
        whole = {lane.lane for lane in result.lanes} >= set(request.options.lanes) and not result.pending
        ranks = {h.hit.chunk_id: h.hit.rank for h in result.hits}
        if ranks != self._ranks and whole:  # a keystroke that moves nothing leaves the last moves in sight
            self._before, self._ranks = self._ranks, ranks
        pin = self.timeline.pin
        against = pin.ranks if pin else self._before if whole else self._ranks
        self._draw_ranking(result.hits, result.fusion, against)
        if whole and self._answering is None:  # else they are the answer's
            self._draw_stages(stages.of_search(result))
        if whole or not self._warm:
            self._tell_times(request, result)
        else:  # the other lane is a moment away, unless its process ended or has much else to do
            self.set_timer(_SOON_S, lambda: self._tell_times(request, result))
        self._title_ranking(self._lane_names())

    def _tell_times(self, request: Request, result: SearchResult) -> None:
        if result is self._result:
            self.query_one("#query", Input).border_subtitle = content(times(request, result, warm=self._warm))

    def _search_failed(self, error: WorkbenchError) -> None:
        if not isinstance(error, FilterError):
            self.bench.show_error(error)
            return
        lead = " " * (len(tr("Filter")) + 1 + error.position - round(self.query_one("#filter", Input).scroll_x))
        self._filter_problem(f"{lead}^\n{error.message.partition(chr(10))[0]} {error.remedy}")
        self._title_ranking(tr("of the filter before"), stale=True)

    def _lane_names(self) -> str:
        lanes = " + ".join(stage_name(lane) for lane in LANES[self._lanes])
        return f"{lanes} ── ◆ {self.tuning.words()}" if self.tuning else lanes

    # -- looking closer --------------------------------------------------------------------------------------------

    def subject(self) -> Subject | None:
        """The keystroke that is looked back at; else the trace of what stands in the fields, else what was searched."""
        if at := self.timeline.at:
            options = options_of(at.keystroke, at.collection)
            return Subject(None, at.result, options, at.revision) if at.result else None
        options = self._options()
        mine = self._trace if self._trace and asked(self._trace) == (self._query, options.filter) else None
        return Subject(mine, self._result, options) if mine or self._result else None

    def nothing_found(self) -> str:
        """Why there are no stages and nothing to try."""
        if self.timeline.at:
            return tr("This session was saved without its stages: d searches it again today.")
        return tr("Nothing was found yet: type a question.")

    def tuned(self) -> None:
        """Searches with the new settings; the title says what differs from the defaults."""
        self._title_ranking(self._lane_names())
        self._submit()

    # -- answering -------------------------------------------------------------------------------------------------

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Answers the question as it was when enter came."""
        self.action_answer()

    def action_answer(self) -> None:
        """Answers the question; one that is still being answered is stopped."""
        query, options, ask = self._query, self._options(), self.asked_so(self.ask_options)
        if not query or self.has_class("-empty"):
            return
        self._epoch += 1
        self._stop_answer()
        if self.timeline.at is not None:  # else an earlier ranking would stand beside today's answer
            self._submit()
        job = self.jobs.run(
            self,
            tr("answering"),
            lambda cancel: self.desk.ask(query, ask, options, cancel),
            each=TraceGrew,
            then=lambda last: self._answered(job, last),
            failed=lambda error: self._ask_failed(job, error),
        )
        self._answering = job

    @on(TraceGrew)
    def grew(self, event: TraceGrew) -> None:
        """One more stage, or a few more tokens."""
        if self._answering and not self._answering.cancel.is_set():
            self._show_trace(event.trace, streaming=not event.trace.complete)

    def _answered(self, job: Job, trace: Trace | None) -> None:
        if job is self._answering:
            self._answering = None
            if trace:
                self._past, self._draft = 0, Draft("", "", False)
                self._show_trace(trace)

    def _ask_failed(self, job: Job, error: WorkbenchError) -> None:
        if job is self._answering:
            self._answering = None
            self.query_one(AnswerPane).show(self._trace)
            self._mark()
        self._search_failed(error)

    def answered_trace(self) -> Trace | None:
        """The last answer shown."""
        return self._trace

    def _show_trace(self, trace: Trace, *, streaming: bool = False) -> None:
        self._trace = trace
        if not streaming:
            self.title_question()
        self.query_one(AnswerPane).show(trace, streaming=streaming)
        self._mark()
        self._draw_stages(stages.of_trace(trace))

    def _stop_answer(self) -> None:
        """What it has written so far is shown no more, except by ``_answered`` when nothing took its place."""
        job, self._answering = self._answering, None
        if job:
            job.stop()

    # -- opening ---------------------------------------------------------------------------------------------------

    @on(Grid.Opened, "#ranking")
    def open_hit(self, event: Grid.Opened) -> None:
        """The source at the chunk."""
        self.jobs.open(self, lambda: read_chunk(self.desk, event.key), lambda view: show_source(self, view))

    @on(Grid.Opened, "#citations")
    def open_citation(self, event: Grid.Opened) -> None:
        """The source at the exact span that supports the claim."""
        cited = self.query_one(AnswerPane).citation(event.key)
        if cited:
            self.jobs.open(
                self,
                lambda: read_span(self.desk, cited.document_id, cited.start, cited.end),
                lambda view: show_source(self, view),
            )

    # -- keys ------------------------------------------------------------------------------------------------------

    def action_results(self) -> None:
        """Leaves the question for what was found."""
        self.query_one("#ranking", Grid).focus()

    def action_filter(self) -> None:
        """Opens the filter, or goes to it."""
        self.query_one("#filter-line").add_class("-open")
        self.query_one("#filter", Input).focus()
        self._mark()
        self._submit()

    def action_question(self) -> None:
        """Goes to the question."""
        self.query_one("#query", Input).focus()

    def action_lanes(self) -> None:
        """The next choice of lanes."""
        self._lanes = (self._lanes + 1) % len(LANES)
        self._title_ranking(self._lane_names())
        self._submit()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An empty file has nothing to filter; a wide terminal shows the stages; enter answers where one types."""
        if self.has_class("-empty"):
            return action not in {"filter", "lanes", "trace", "past", "copy", "export", "stages", "zoom", *LOOKING}
        if action == "answer":
            return isinstance(self.focused, Input)
        return action != "stages" or self.has_class("-narrow")

    def action_stages(self) -> None:
        """On a narrow terminal: stages in place of the ranking, and back."""
        self.toggle_class("-stages")

    def action_back(self) -> None:
        """Stops the answer; else looks back no more, closes the filter, or goes between question and results."""
        question = self.query_one("#query", Input)
        if self._answering and not self._answering.cancel.is_set():
            self._answering.stop()
        elif self.look_away():
            pass
        elif self.focused is self.query_one("#filter", Input):
            self.query_one("#filter-line").remove_class("-open")
            self._filter_problem("")
            question.focus()
            self._mark()
            self._submit()
        elif self.focused is question:
            self.action_results()
        else:
            question.focus()

    def action_copy(self) -> None:
        """Copies the answer."""
        if self._trace and self._trace.answer:
            self.app.copy_to_clipboard(self._trace.answer.text)
            self.notify(tr("Answer copied."), timeout=2)
        else:
            self.notify(tr("There is no answer yet: enter answers."), severity="warning", timeout=3)

    def action_export(self) -> None:
        """Writes the answer beside where the workbench was started."""
        trace = self._trace
        if trace and trace.answer:
            path = Path.cwd() / f"answer-{trace.id[:8]}.md"
            words = answer_markdown(trace)
            self.jobs.read(self, lambda: write_text(path, words), lambda _: self._exported(path))
        else:
            self.notify(tr("There is no answer yet: enter answers."), severity="warning", timeout=3)

    def _exported(self, path: Path) -> None:
        self.notify(tr("Written: {path}", path=str(path)), timeout=5, markup=False)

    def action_trace(self) -> None:
        """The trace as JSON."""
        if self._trace is None:
            self.notify(tr("There is no trace yet: enter answers and leaves one."), severity="warning", timeout=3)
            return
        words = json.dumps(encode(self._trace), ensure_ascii=False, indent=2)
        self.app.push_screen(PassageDialog(tr("Trace {id}", id=self._trace.id), words))

    def action_past(self, step: int) -> None:
        """An earlier or later question with its answer and ranking; after the newest, what was being typed."""
        self.look_away()
        if self._trace is None or asked(self._trace) != (self._query, self._options().filter):
            self._past = DRAFT  # what stands in the fields was never asked, or is asked no more
        if self._past == DRAFT:
            box = self.query_one("#filter", Input)
            self._draft = Draft(self.query_one("#query", Input).value, box.value, self._filtering)
        wanted = max(DRAFT, self._past + step)
        if wanted == DRAFT and not self._draft.query:
            self.notify(tr("This is the newest question."), timeout=2)
            return
        self._past = wanted
        self._epoch += 1
        epoch = self._epoch
        if wanted == DRAFT:
            self._fill(self._draft)
            self._mark()
            self._submit()
        else:
            read = lambda: read_past(self.desk, wanted)  # noqa: E731 -- one line tells what the worker does
            self.jobs.read(self, read, lambda past: self._show_past(past) if epoch == self._epoch else None)

    def open_trace(self, trace_id: str, query: str) -> None:
        """A stored trace with its ranking; where none was stored, the question is asked of the index anew."""
        if trace_id:
            self.jobs.read(self, lambda: read_trace(self.desk, trace_id), self._show_past)
        else:
            self.query_one("#query", Input).value = query

    def _show_past(self, past: PastTrace | None) -> None:
        if past is None:
            self._past = DRAFT
            self.notify(tr("Nothing was asked yet."), timeout=3)
            return
        self._stop_answer()
        self._past = past.place
        self._search.drop()
        query, expression = asked(past.trace)
        self._fill(Draft(query, expression, bool(expression)))
        self._filter_problem("")
        place = tr("question {number} of {all}", number=past.of - past.place, all=past.of)
        told = place if past.place < past.of else tr("Trace {id}", id=past.trace.id)
        self.query_one("#query", Input).border_subtitle = content(told)
        self._draw_ranking(past.hits, past.fusion, {})
        self._title_ranking(self._lane_names() if past.fusion else tr("nothing was searched for it"))
        self._show_trace(past.trace)
