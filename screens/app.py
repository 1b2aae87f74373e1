"""The app: four modes over one desk, what they share, and nothing that belongs to one of them."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual.binding import Binding, BindingType
from textual.command import CommandPalette, Provider
from textual.reactive import reactive
from textual.widgets import Input, TextArea

import themes
from screens.ask import AskScreen
from screens.base import ModeScreen
from screens.commands import Palette, WorkbenchCommands
from screens.corpus import CorpusScreen
from screens.dialogs import ChoiceDialog, ConfirmDialog, ErrorDialog
from screens.ending import Ending
from screens.evals import EvalsScreen
from screens.help import HelpScreen
from screens.ingest import IngestDialog, IngestRun, IngestScreen
from screens.messages import StatusRead, WorkMoved
from screens.models import ModelsScreen
from screens.ordered import OrderedKeysApp
from screens.style import Tone, count, size
from screens.tools import ToolsScreen
from screens.widgets.grid import Row
from screens.widgets.keys import EDGE_GROUP, MODE_GROUP, with_alt
from screens.work import Job, Jobs
from workbench import i18n
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.answers import AskOptions
from workbench.records.corpus import Collection, IngestProgress, IngestRequest
from workbench.records.models import LoadedModel, ModelFile
from workbench.records.retrieval import SearchOptions

if TYPE_CHECKING:
    from workbench.desk import Desk, DeskStatus
    from workbench.ports import Cancel

THEME: Final = "screens.theme"
LANGUAGE: Final = "screens.language"
AGAIN: Final = -1
"""The app's result when it is to be started anew, in another language."""
TWICE_S: Final = 2.0
"""Seconds within which a second ctrl+c quits."""
ANEW_S: Final = 1.0
"""Seconds at least between two readings of lists that another process keeps changing."""


SWITCH_S = 0.001
"""How long a thread that computes keeps Python's lock from the one that paints, and the other way round: a keystroke's
search changes hands a dozen times."""


class WorkbenchApp(OrderedKeysApp):
    """Shows one desk. Screens ask it for dialogs, ingest and what changed."""

    CSS_PATH: ClassVar = [themes.SHARED_CSS]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {WorkbenchCommands}
    DEFAULT_MODE = "ask"
    BINDINGS: ClassVar[list[BindingType]] = [
        *with_alt("1", "app.mode('models')", "Models", id="app.models", group=MODE_GROUP, typing="f1"),
        *with_alt("2", "app.mode('corpus')", "Corpus", id="app.corpus", group=MODE_GROUP, typing="f2"),
        *with_alt("3", "app.mode('ask')", "Ask", id="app.ask", group=MODE_GROUP, typing="f3"),
        *with_alt("4", "app.mode('evals')", "Evals", id="app.evals", group=MODE_GROUP, typing="f4"),
        *with_alt(
            "5", "app.tools", "Tools", id="app.tools", show=False, typing="f5", tooltip="Tokens, money, SQL, servers"
        ),
        Binding("ctrl+p", "app.command_palette", "Palette", id="app.palette", group=EDGE_GROUP),
        *with_alt("question_mark", "app.help", "Help", id="app.help", group=EDGE_GROUP, typing="alt+h"),
        *with_alt("w", "app.work", "Running work", id="app.work", show=False, tooltip="How far the ingest is"),
        Binding("ctrl+c", "app.stop", "Stop the work", id="app.stop", show=False, priority=True, tooltip="Twice quits"),
        Binding("q", "app.quit", "Quit", id="app.quit", show=False, tooltip="Asks only when work is running"),
        Binding("ctrl+q", "app.quit", "Quit", id="app.quit.always", show=False, priority=True),
    ]

    status: reactive[DeskStatus | None] = reactive(None, init=False, repaint=False)  # who shows it watches it
    """What the top line tells, read in a worker."""
    revision: reactive[int] = reactive(0, init=False)
    """Grows with every change of the file that screens list."""

    def __init__(self, desk: Desk, theme: str = themes.DEFAULT, ending: Ending | None = None) -> None:
        # Textual shows greys under NO_COLOR; with the terminal's own colours it shows none at all.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.desk = desk
        self._ending = ending
        self.jobs = Jobs(self, self.show_error)
        self.ingest: IngestRun | None = None
        self._ctrl_c = float("-inf")
        self._foreign, self._read_anew = 0, float("-inf")
        for known in themes.THEMES:
            self.register_theme(known)
        self.theme = theme if theme in {t.name for t in themes.THEMES} else themes.DEFAULT
        for mode in (AskScreen, ModelsScreen, CorpusScreen, EvalsScreen):
            self.add_mode(mode.mode, partial(mode, desk, self.jobs))

    def on_mount(self) -> None:
        """After the first paint, starts reading what is in memory."""
        sys.setswitchinterval(SWITCH_S)
        self.call_after_refresh(self._follow_status)
        loop = asyncio.get_running_loop()
        if self._ending:

            def leave(code: int) -> None:
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(self._quit, code)

            self._ending.by(leave)

    def on_unmount(self) -> None:
        """Lets no thread outlive the app."""
        self.jobs.stop_all()

    # -- what is shared --------------------------------------------------------------------------------------------

    def show_error(self, error: WorkbenchError) -> None:
        """Title, message and remedy in a dialog; everything else lives on. The same error is not told twice at once."""
        if not (isinstance(self.screen, ErrorDialog) and str(self.screen.error) == str(error)):
            self.push_screen(ErrorDialog(error))

    def changed(self) -> None:
        """The file's lists changed: the screens read anew."""
        self.revision += 1

    def _follow_status(self) -> None:
        self.jobs.run(self, "", self._statuses, each=StatusRead, kind="watch")

    def _statuses(self, cancel: Cancel) -> Iterator[DeskStatus]:
        while not cancel.is_set():
            yield self.desk.status()
            cancel.wait(0.15 if self.current_mode == ModelsScreen.mode else 0.6)

    def on_status_read(self, event: StatusRead) -> None:
        """The top line and the gauges follow."""
        before = self.status
        moved = before is not None and before.collection != event.status.collection
        self.status = event.status
        # While the app closes there is no screen left, and a status may still come.
        told = any(isinstance(screen, ErrorDialog) for screen in self.screen_stack[-1:])
        if event.status.ended and not told and not (before and before.ended):
            self.notify(event.status.ended, severity="error", timeout=10, markup=False)
        if self._foreign_change(event.status) or moved:
            self.changed()

    def _foreign_change(self, status: DeskStatus) -> bool:
        """Another process changed the file, and it is time to read it anew; Models lists nothing of what those do."""
        now = time.monotonic()
        if status.foreign == self._foreign or now - self._read_anew < ANEW_S or self.current_mode == ModelsScreen.mode:
            return False
        self._foreign, self._read_anew = status.foreign, now
        return True

    def on_work_moved(self, event: WorkMoved) -> None:
        """The top line follows."""
        event.stop()
        for screen in self.screen_stack:
            if isinstance(screen, ModeScreen) and screen.is_mounted:
                screen.show_works()

    # -- keys ------------------------------------------------------------------------------------------------------

    async def action_mode(self, mode: str) -> None:
        """Shows a screen; in Ask the question has the focus."""
        if not self.screen.is_modal:
            await self.switch_mode(mode)
            cast(ModeScreen, self.screen).arrive()
            self.screen.refresh_bindings()

    async def act(self, mode: str, action: str) -> None:
        """Shows a screen and does what one of its keys does."""
        if not self.screen.is_modal:
            await self.switch_mode(mode)
            screen = self.screen
            screen.call_later(self.jobs.after_reads, screen, partial(screen.run_action, action))

    async def show_trace(self, trace_id: str, query: str) -> None:
        """Goes to Ask with a stored trace, or with the question when "" is given for one."""
        await self.action_mode(AskScreen.mode)
        cast(AskScreen, self.screen).open_trace(trace_id, query)

    @property
    def ask_settings(self) -> tuple[SearchOptions, AskOptions]:
        """What Ask's next question is searched and answered with."""
        return cast(AskScreen, self.get_screen_stack(AskScreen.mode)[0]).settings

    async def show_run(self, dataset: str, run_id: int, case_id: str = "") -> None:
        """Goes to Evals with the cursor on a run, or on a case of it; on the dataset's where the run is 0."""
        await self.action_mode(EvalsScreen.mode)
        cast(EvalsScreen, self.screen).show_place(dataset, run_id, case_id)

    async def show_bench(self, number: int) -> None:
        """Goes to Models with a stored bench."""
        await self.action_mode(ModelsScreen.mode)
        cast(ModelsScreen, self.screen).show_bench(number)

    def action_tools(self, tab: str = "tokens") -> None:
        """Tokens, money, decisions, servers, over the screen that is shown."""
        if isinstance(self.screen, ToolsScreen):
            self.screen.action_tab(tab)
        elif not self.screen.is_modal:
            self.push_screen(ToolsScreen(self.desk, self.jobs, tab))

    def action_help(self) -> None:
        """Every key that acts here."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_stop(self) -> None:
        """Copies selected text if there is any; else stops the running work; twice quits."""
        focused = self.focused
        selected = focused.selected_text if isinstance(focused, Input | TextArea) else self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            return
        now, before = time.monotonic(), self._ctrl_c
        self._ctrl_c = now
        if now - before < TWICE_S:
            self._quit()
        elif self.jobs.stop_works():
            self.notify(tr("Stopping. ctrl+c again quits."), timeout=TWICE_S)
        else:
            self.notify(tr("Nothing is running. ctrl+c again quits."), timeout=TWICE_S)

    def action_command_palette(self) -> None:
        """The palette, its prompt in the interface's language."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(Palette(placeholder=tr("What to do…"), id="--command-palette"))

    async def action_quit(self) -> None:
        """Quits; asks first when work is running."""
        works = self.jobs.works
        if not works:
            self._quit()
            return
        running = ", ".join(f"{job.title} {job.detail}".strip() for job in works)
        question = tr("Still running: {work}. What it has committed stays.", work=running)
        dialog = ConfirmDialog(tr("Quit while work is running?"), question, tr("Stop it and quit"), tr("Stay"))
        self.push_screen(dialog, lambda yes: self._quit() if yes else None)

    def _quit(self, code: int = 0) -> None:
        self.jobs.stop_all()
        self.exit(code)

    # -- ingest ----------------------------------------------------------------------------------------------------

    def action_work(self) -> None:
        """How far the ingest is, or how it ended."""
        if self.ingest:
            self.push_screen(IngestScreen(self.ingest))
        else:
            self.notify(tr("No ingest has run."), timeout=3)

    def action_ingest(self) -> None:
        """Asks what to ingest; shows the one that is running instead."""
        if self.ingest and not self.ingest.done:
            self.push_screen(IngestScreen(self.ingest))
        else:
            self.jobs.open(self, lambda: (self.desk.collections(), self.desk.collection), self._ask_ingest)

    def _ask_ingest(self, known: tuple[tuple[Collection, ...], str]) -> None:
        self.push_screen(IngestDialog(*known), lambda request: self.start_ingest(request) if request else None)

    def start_ingest(self, request: IngestRequest, then: Callable[[], object] = lambda: None) -> None:
        """Follows an ingest on a dialog of its own; ``then`` comes when it has read all there was."""
        run = self.ingest = IngestRun(request.collection)

        def describe(job: Job, progress: IngestProgress) -> None:
            run.take(job, progress)

        run.job = self.jobs.run(
            self,
            tr("ingest"),
            lambda cancel: self.desk.ingest(request, cancel),
            then=lambda last: self._ingested(run, last, then),
            failed=lambda error: self._ingest_failed(run, error),
            describe=describe,
        )
        self.push_screen(IngestScreen(run))

    def _ingested(self, run: IngestRun, last: IngestProgress | None, then: Callable[[], object]) -> None:
        run.done = True
        self.changed()
        if last and not last.cancelled:
            then()
        if last:
            self.jobs.read(self, lambda: self.desk.collection, lambda chosen: self._tell_ingested(run, last, chosen))

    def _tell_ingested(self, run: IngestRun, last: IngestProgress, chosen: str) -> None:
        failed = run.counts["failed"]
        read = count(last.done - failed)
        told = [tr("Ingest: {read} of {all} sources read.", read=read, all=count(last.total))]
        if failed:
            told.append(tr("{count} failed: alt+w tells why.", count=count(failed)))
        if chosen != run.collection and read != "0":
            told.append(tr("They are in {collection}: g in Corpus goes there.", collection=run.collection))
        self.notify(" ".join(told), severity="warning" if failed else "information", timeout=6, markup=False)

    def _ingest_failed(self, run: IngestRun, error: WorkbenchError) -> None:
        run.done = True
        self.changed()
        self.show_error(error)

    # -- choices ---------------------------------------------------------------------------------------------------

    def action_choose_collection(self) -> None:
        """Where searches and questions go."""
        self.jobs.open(self, lambda: (self.desk.collections(), self.desk.collection), self._ask_collection)

    def _ask_collection(self, known: tuple[tuple[Collection, ...], str]) -> None:
        rows = [Row(c.name, (c.name, (_holds(c), Tone.DIM))) for c in known[0]]
        self.push_screen(ChoiceDialog(tr("Collections"), rows, known[1]), self._choose_collection)

    def _choose_collection(self, name: str | None) -> None:
        if name:
            self.jobs.read(self, lambda: self.desk.choose_collection(name), lambda _: self.changed())

    def action_delete_collection(self) -> None:
        """Asks which, then whether."""
        self.jobs.open(self, lambda: (self.desk.collections(), self.desk.collection), self._ask_which_to_delete)

    def _ask_which_to_delete(self, known: tuple[tuple[Collection, ...], str]) -> None:
        holds = {c.name: _holds(c) for c in known[0]}
        rows = [Row(name, (name, (held, Tone.DIM))) for name, held in holds.items()]

        def ask(name: str | None) -> None:
            if name:
                question = tr("{name} goes for good: {holds}.", name=name, holds=holds[name])
                dialog = ConfirmDialog(tr("Delete the collection?"), question, tr("Delete"), tr("Keep"))
                self.push_screen(dialog, lambda yes: self._delete_collection(name) if yes else None)

        self.push_screen(ChoiceDialog(tr("Delete a collection"), rows, known[1]), ask)

    def _delete_collection(self, name: str) -> None:
        self.jobs.read(self, lambda: self.desk.delete_collection(name), lambda _: self.changed())

    def action_load_model(self) -> None:
        """Asks which model, and loads it."""
        self.jobs.open(self, lambda: (self.desk.library.files(), self.desk.model), self._ask_model)

    def _ask_model(self, known: tuple[tuple[ModelFile, ...], LoadedModel | None]) -> None:
        files = {f.path: f for f in known[0] if not f.problem}
        if not files:
            self.notify(tr("No GGUF files yet."), severity="warning", timeout=4)
            return

        async def load(path: str | None) -> None:
            if path:
                await self.switch_mode(ModelsScreen.mode)
                cast(ModelsScreen, self.screen).load(files[path])

        rows = [Row(f.path, (f.name, (f"{f.quantization} · {size(f.size)}", Tone.DIM))) for f in files.values()]
        self.push_screen(ChoiceDialog(tr("Load a model"), rows, known[1].file.path if known[1] else ""), load)

    def choose_theme(self, name: str) -> None:
        """Shows it and remembers it."""
        self.theme = name
        self.jobs.read(self, lambda: self.desk.remember(THEME, name), lambda _: None)

    def choose_language(self, code: str) -> None:
        """Remembers it and starts the screens anew; not while work is running."""
        if self.jobs.works:
            self.notify(tr("The language changes when no work is running."), severity="warning")
            return
        self.jobs.read(self, lambda: self.desk.remember(LANGUAGE, code), lambda _: self._quit(AGAIN))


def _holds(collection: Collection) -> str:
    documents, chunks = count(collection.documents), count(collection.chunks)
    return tr("{documents} documents · {chunks} chunks", documents=documents, chunks=chunks)


def run(desk: Desk) -> int:
    """Shows the screens until the person quits; returns the exit code."""
    gc.freeze()  # what is imported stays: looking through it for garbage froze the screens for a tenth of a second
    remembered = desk.setting(LANGUAGE)
    if remembered in i18n.LANGUAGES and not i18n.chosen():
        i18n.choose_language(remembered)
    with Ending(desk.close) as ending:
        while True:
            result = WorkbenchApp(desk, desk.setting(THEME, themes.DEFAULT), ending).run()
            if result != AGAIN:
                return result or 0
            i18n.choose_language(desk.setting(LANGUAGE))
