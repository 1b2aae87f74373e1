"""What Ask shows of a search: the ranking with its moves and arithmetic, the stages, the question as it stood then."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.widgets import Input, Static

from screens.ask.looking_back import LookingBackScreen
from screens.ask.timeline import Entry
from screens.ask.typed import Typed
from screens.ask.words import Draft, Request
from screens.style import Tone, content, milliseconds, shorten
from screens.widgets import ranking, stages
from screens.widgets.grid import Grid
from screens.work import Job, Jobs
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.retrieval import FusedHit, FusionResult, HitView, SearchResult

if TYPE_CHECKING:
    from workbench.desk import Desk
    from workbench.ports import Cancel


class RankedScreen(LookingBackScreen):
    """The panes that a search fills. Ask says what is searched and what follows from it."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._result: SearchResult | None = None
        self._answering: Job | None = None
        self._now: Draft | None = None
        self._lines = 0
        self._shown: tuple[dict[str, FusedHit], FusionResult | None] = {}, None
        self._search = Typed(jobs, self, self._call_search, self._found, self._search_failed)

    @abstractmethod
    def _found(self, request: Request, result: SearchResult) -> None:
        """Shows what the newest keystroke found."""

    @abstractmethod
    def _search_failed(self, error: WorkbenchError) -> None:
        """Tells why the newest keystroke found nothing."""

    @abstractmethod
    def _mark(self) -> None:
        """An answer says whose it is."""

    @abstractmethod
    def _submit(self) -> None:
        """Searches for what stands in the fields."""

    @abstractmethod
    def _typed_now(self) -> Draft:
        """What stands in the fields."""

    def _call_search(self, request: Request, cancel: Cancel) -> Iterator[SearchResult]:
        return self.desk.search_typed(request.query, request.options, cancel)

    def _draw_ranking(self, hits: Sequence[HitView], fusion: FusionResult | None, before: Mapping[str, int]) -> None:
        """The hits, how they moved since ``before``, and which of those have gone."""
        self._shown = {view.hit.chunk_id: view.hit for view in hits}, fusion
        rows = ranking.rows(hits, fusion, before) if fusion else []
        self.query_one("#ranking", Grid).show([*rows, *ranking.lost_rows(self.lost(before, hits))], ranked=True)

    @on(Grid.Highlighted, "#ranking")
    def tell_arithmetic(self, event: Grid.Highlighted) -> None:
        """How the hit under the cursor came by its score."""
        hits, fusion = self._shown
        hit = hits.get(event.key)
        words = ranking.arithmetic(hit, fusion) if hit and fusion else ""
        line = self.query_one("#arithmetic", Static)
        if str(line.content) != words:
            line.update(content((words, Tone.DIM)), layout=False)

    def show_entry(self, entry: Entry) -> None:
        """An earlier keystroke, with the question as it stood then."""
        self._search.drop()
        if self._now is None:
            self._now = self._typed_now()
        keystroke, timeline = entry.keystroke, self.timeline
        self._fill(Draft(keystroke.query, keystroke.filter, bool(keystroke.filter)))
        self._filter_problem("")
        self._result = entry.result
        against = timeline.pin if timeline.pin is not entry else None
        before = against or timeline.before
        self._draw_ranking(entry.hits, keystroke.fusion, before.ranks if before else {})
        if self._answering is None:  # else they are the answer's
            found = entry.result
            self._draw_stages(stages.of_search(found, keystroke.asked) if found else stages.of_keystroke(keystroke))
        self.query_one("#query", Input).border_subtitle = content(
            tr(
                "{seconds} s into the session · {ms} ms",
                seconds=f"{keystroke.at:.1f}",
                ms=milliseconds(keystroke.duration_ms),
            )
        )
        self._title_ranking(tr("of an earlier keystroke"))
        self._mark()

    def show_now(self) -> None:
        """The question that is being typed, as it was left."""
        draft, self._now = self._now, None
        if draft:
            self._fill(draft)
        self._mark()
        self._submit()

    def _title_ranking(self, words: str, *, stale: bool = False) -> None:
        found = self.query_one("#found")
        pin = self.timeline.pin
        against = tr("against “{query}”", query=shorten(pin.keystroke.query, 30)) if pin else ""
        title = content(" ── ".join(filter(None, (tr("Ranking"), words, against))))
        if found.border_title != title:
            found.border_title = title
        found.set_class(stale, "-stale")

    def _filter_problem(self, words: str) -> None:
        problem = self.query_one("#filter-problem", Static)
        if words or problem.has_class("-open"):
            problem.update(content(words))
            problem.set_class(bool(words), "-open")

    def _draw_stages(self, lines: list[stages.StageLine]) -> None:
        drawn = stages.draw(lines, max(30, self.query_one("#stages").size.width - 2))
        before, self._lines = self._lines, drawn.plain.count("\n")
        self.query_one("#stage-lines", Static).update(drawn, layout=self._lines != before)

    def _fill(self, draft: Draft) -> None:
        """Puts question and filter into their fields without searching."""
        question, box = self.query_one("#query", Input), self.query_one("#filter", Input)
        with question.prevent(Input.Changed), box.prevent(Input.Changed):
            question.value, box.value = draft.query, draft.filter
        question.cursor_position = len(draft.query)
        self.query_one("#filter-line").set_class(draft.filtering, "-open")
