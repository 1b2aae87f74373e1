"""What is done with a dataset: reviewing candidates, bringing in, handing on, splitting."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from screens.dialogs import ChoiceDialog, ConfirmDialog, PathDialog
from screens.evals.browser import CaseBrowser
from screens.evals.imported import ProblemsScreen
from screens.evals.items import Narrow
from screens.evals.review import ReviewScreen
from screens.evals.sets import DatasetsScreen, Destination, Wish, WriteDialog, read_versions, split_rows
from screens.style import count
from workbench.evals.collecting.documents import Unpacked
from workbench.evals.measuring.segments import segments_of
from workbench.evals.reporting.reports import run_name
from workbench.i18n import tr
from workbench.records.cases import Candidate, Dataset, Imported
from workbench.records.corpus import IngestRequest
from workbench.records.evals import ImportedRun, RunConfig


class SetWork(CaseBrowser):
    """Acts on the dataset under the cursor, or on all of them."""

    # -- reviewing -------------------------------------------------------------------------------------------------

    def action_review(self) -> None:
        """The candidates of the dataset; of one that is called like the collection where there is none yet."""
        named = self.place.dataset if self.place else ""

        def read() -> tuple[str, tuple[Candidate, ...]]:
            name = named or self.desk.collection
            return name, self.desk.evals.review(name).all() if name else ()

        self.jobs.open(self, read, self._review)

    def _review(self, read: tuple[str, tuple[Candidate, ...]]) -> None:
        name, candidates = read
        if not name:
            self.notify(tr("Nothing to ask of yet: ingest documents in Corpus, on 2."), timeout=4)
            return
        screen = ReviewScreen(self.desk, self.jobs, name, candidates, ask=not candidates)
        self.app.push_screen(screen, self._reviewed)

    def _reviewed(self, dataset: Dataset | None) -> None:
        if dataset:
            told = tr("{name}: {count} cases.", name=dataset.name, count=count(dataset.cases))
            self.notify(told, timeout=5, markup=False)
            self.show_place(dataset.name)
        self.bench.changed()

    # -- datasets and versions -------------------------------------------------------------------------------------

    def action_datasets(self) -> None:
        """Their versions, and what can be done with one."""
        named = self.place.dataset if self.place else ""
        self.jobs.open(
            self,
            lambda: read_versions(self.desk),
            lambda versions: self.app.push_screen(DatasetsScreen(versions, named), self._wished),
        )

    def _wished(self, wish: Wish | None) -> None:
        if wish is None:
            return
        dataset = wish.dataset
        if wish.act == "import" or dataset is None:
            self.action_import()
        elif wish.act == "open":
            self.show_place(dataset.name)
        elif wish.act == "split":
            self._ask_split(dataset)
        else:
            self.app.push_screen(WriteDialog(dataset), lambda where: self._write(dataset, where) if where else None)

    def _write(self, dataset: Dataset, where: Destination) -> None:
        lab, path = self.desk.evals, str(where.path)

        def told(lost: Sequence[str]) -> None:
            words = tr("Written: {path}", path=path)
            if lost:
                words += ". " + tr("The format couldn't keep: {fields}.", fields=", ".join(lost))
            self.notify(words, timeout=8, markup=False)

        self.jobs.read(self, lambda: lab.export_dataset(dataset.name, path, where.format, dataset.hash), told)

    def _ask_split(self, dataset: Dataset) -> None:
        def read() -> list[Narrow]:
            return [segment for case in self.desk.evals.cases(dataset.name) for segment in segments_of(case)]

        def ask(segments: Sequence[Narrow]) -> None:
            rows = split_rows(segments)
            if not rows:
                self.notify(tr("No case has a type, language, difficulty or tag."), timeout=4)
                return
            title = tr("Split {name}: a dataset of its own for each", name=dataset.name)
            self.app.push_screen(ChoiceDialog(title, rows), lambda field: self._split(dataset, field))

        self.jobs.open(self, read, ask)

    def _split(self, dataset: Dataset, field: str | None) -> None:
        if field:
            self.jobs.read(self, lambda: self.desk.evals.split_dataset(dataset.name, field), self._was_split)

    def _was_split(self, parts: Sequence[Dataset]) -> None:
        told = ", ".join(f"{part.name} {count(part.cases)}" for part in parts)
        self.notify(tr("Made: {names}.", names=told), timeout=6, markup=False)
        self.show_place(parts[0].name)

    # -- import ----------------------------------------------------------------------------------------------------

    def action_import(self) -> None:
        """Asks for a file of cases, or a folder of them."""
        hint = tr(
            "JSON Lines, CSV, SQuAD's JSON, promptfoo's YAML, Ragas, a BEIR or TREC folder. Its name becomes theirs. "
            "A TREC run joins the dataset under the cursor."
        )
        named = self.place.dataset if self.place else ""
        self.app.push_screen(
            PathDialog(tr("Import a dataset"), hint, either=True),
            lambda path: self._import(path, named) if path else None,
        )

    def _import(self, path: str, named: str) -> None:
        lab, name = self.desk.evals, Path(path).stem

        def read() -> Imported | ImportedRun:
            if not lab.is_run_file(path):
                return lab.import_file(path, name)
            ours = next(iter(lab.runs(named)), None)  # measured alike, they can be compared
            config = RunConfig(named, k=ours.config.k, depth=ours.config.depth) if ours else RunConfig(named)
            return lab.import_run(named, path, config)

        def told(imported: Imported | ImportedRun) -> None:
            if isinstance(imported, ImportedRun):
                self._imported_run(imported)
            else:
                self._offer(path, imported)

        self.jobs.read(self, read, told)

    def _imported_run(self, imported: ImportedRun) -> None:
        if imported.problems:
            self.app.push_screen(ProblemsScreen(run_name(imported.run), imported.problems))
        self.show_place(imported.run.config.dataset, imported.run.id)

    def _offer(self, path: str, imported: Imported) -> None:
        """Its documents, where it has them and the collection doesn't; into a collection that is called as it is."""
        ingest, name = self.bench.ingest, imported.dataset.name
        if not imported.brings or (ingest and not ingest.done):
            self._imported(imported)
            return
        told = tr(
            "{name} holds the documents that its gold names. They become files beside it, and a collection “{name}”.",
            name=name,
        )
        dialog = ConfirmDialog(tr("Bring its documents in?"), told, tr("Bring in"), tr("Leave them"))
        self.app.push_screen(dialog, lambda yes: self._unpack(path, name) if yes else self._imported(imported))

    def _unpack(self, path: str, name: str) -> None:
        lab = self.desk.evals

        def again() -> None:
            self.jobs.read(self, lambda: lab.import_file(path, name, name), self._imported)

        def ingest(unpacked: Unpacked) -> None:
            self.bench.start_ingest(IngestRequest((str(unpacked.folder),), name), again)

        self.jobs.read(self, lambda: lab.unpack_documents(path), ingest)

    def _imported(self, imported: Imported) -> None:
        dataset = imported.dataset
        if imported.problems:
            self.app.push_screen(ProblemsScreen(dataset.name, imported.problems, dataset.cases))
        else:
            self.notify(tr("{name}: {count} cases.", name=dataset.name, count=count(dataset.cases)), markup=False)
        self.show_place(imported.dataset.name)
