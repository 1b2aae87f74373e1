"""Loading a model from a screen: its line in the place of the gauges, its detail in the top line, its failure.

A failure says why, and offers to try again with less where that may help.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.content import Content
from textual.widgets import Static

from screens.base import ModeScreen
from screens.dialogs import ErrorDialog
from screens.messages import LoadMoved
from screens.style import Tone, bar, content
from screens.work import Job, Jobs
from workbench.engine.offload import offload_words
from workbench.errors import EngineError, ServerError, WorkbenchError
from workbench.i18n import tr
from workbench.records.models import LoadedModel, LoadProgress, LoadSettings, ModelFile, SaferLoad

if TYPE_CHECKING:
    from workbench.desk import Desk


class LoadingScreen(ModeScreen):
    """A screen that loads models, one at a time, by ``_settings``."""

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._settings = LoadSettings()
        self._tried = ("", self._settings)
        self._loading: Job | None = None

    @abstractmethod
    def change_settings(self, settings: LoadSettings) -> None:
        """Of the next load."""

    @abstractmethod
    def loaded_or_not(self) -> None:
        """A load has ended, in whichever way."""

    def load(self, file: ModelFile) -> None:
        """Loads a file, unless one is being loaded."""
        self.begin(file.path, file.name)

    def begin(self, path: str, name: str) -> None:
        """Loads what lies there, or uses a server's model (URL#NAME), unless another is being loaded."""
        if self._loading:
            self.notify(tr("Another model is being loaded: esc stops it."), severity="warning", timeout=3)
            return
        settings = self._settings
        self._tried = path, settings
        self._loading = self.jobs.run(
            self,
            tr("load {name}", name=name),
            lambda cancel: self.desk.open_model(path, settings, cancel),
            each=LoadMoved,
            then=self._finished,
            failed=self._failed,
            describe=describe,
        )
        self._progress(LoadProgress(0.0))

    @on(LoadMoved)
    def moved(self, event: LoadMoved) -> None:
        """The bar grows."""
        if self._loading:
            self._progress(event.progress)

    def _progress(self, progress: LoadProgress) -> None:
        self.query_one("#gauges", Static).update(progress_text(progress))

    def _finished(self, last: LoadProgress | None) -> None:
        self._loading = None
        self.refresh_bindings()
        self.loaded_or_not()
        if last and last.model:
            self._ready(last.model)

    def _ready(self, model: LoadedModel) -> None:
        if fell_back := offload_words(model.offload):
            self.notify(fell_back, severity="warning", timeout=8, markup=False)
        else:
            self.notify(tr("{name} is ready.", name=model.file.name), timeout=3, markup=False)

    def _failed(self, error: WorkbenchError) -> None:
        self._finished(None)
        self._offer(error)

    def action_failure(self) -> None:
        """Why the process of the loaded model ended."""
        self.jobs.read(self, self._death, lambda error: self._offer(error, died=True) if error else None)

    def failed_at_work(self, error: WorkbenchError) -> None:
        """Tells of an error of the loaded model; where its process ended, it can be loaded again from there."""

        def tell(death: WorkbenchError | None) -> None:
            if death:
                self._offer(death, died=True)
            else:
                self.bench.show_error(error)

        self.jobs.read(self, self._death, tell)

    def _death(self) -> WorkbenchError | None:
        generator = self.desk.library.generator
        return generator.death if generator else None

    def _offer(self, error: WorkbenchError, *, died: bool = False) -> None:
        """Tells of the failure, and offers to try again with less, or, what had been loaded and ``died``, as it was."""
        path, settings = self._tried
        if not isinstance(error, EngineError) or isinstance(error, ServerError):
            self.bench.show_error(error)
            return

        def offer(safer: SaferLoad | None) -> None:
            self.app.clear_notifications()  # one that tells of the same would cover it
            dialog = ErrorDialog(error, safer.change if safer else "")
            self.app.push_screen(dialog, lambda again: self._again(path, safer) if again and safer else None)

        def proposed() -> SaferLoad | None:
            again = SaferLoad(settings, tr("with the same settings")) if died and path else None
            return self.desk.library.safer(error, path, settings) or again

        self.jobs.read(self, proposed, offer)

    def _again(self, path: str, safer: SaferLoad) -> None:
        self.change_settings(safer.settings)
        self.begin(path, Path(path).name)


def progress_text(progress: LoadProgress) -> Content:
    """A bar with its share and what is being done."""
    share = f"{progress.fraction * 100:3.0f} %"
    drawn = (bar(progress.fraction, 32), Tone.ACCENT)
    line = (tr("loading") + " ", drawn, f" {share}  ", (progress.message, Tone.DIM))
    return content(line, "\n", (tr("esc stops it"), Tone.DIM))


def describe(job: Job, progress: LoadProgress) -> None:
    """How far the load is, for the top line."""
    job.fraction = progress.fraction
    job.detail = f"{progress.fraction * 100:.0f} %"
