"""Indexes side by side, as the desk hands them out. Every method may be called from any thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.corpus.chunking import describe_recipe
from workbench.errors import EngineError, MissingModelError, UsageError
from workbench.i18n import tr
from workbench.indexing.building import Builder
from workbench.indexing.catalogue import lint_embedder, lint_index
from workbench.indexing.comparing import compare_indexes, questions_of
from workbench.indexing.embedders import Embedders
from workbench.indexing.forms import form_name, parse_form, stored_bytes
from workbench.indexing.installed import installed_embedders
from workbench.indexing.recall import measure_recall
from workbench.indexing.recalled import keep_recall, kept_recall
from workbench.indexing.rechunking import Recutter
from workbench.ports import Cancel, Embedder, Store
from workbench.records.corpus import Index, Recipe
from workbench.records.indexes import (
    BuildProgress,
    CutPreview,
    FormRecall,
    IndexComparison,
    IndexState,
    InstalledEmbedder,
    LintFinding,
    RecallProgress,
)
from workbench.retrieval.filters import combine, parse_filter


class Indexes:
    """Builds, compares, switches and drops the indexes of one file."""

    def __init__(self, store: Store, embedders: Embedders) -> None:
        self._store = store
        self._embedders = embedders
        self._builder = Builder(store)
        self._recutter = Recutter(store)

    # -- what there is ---------------------------------------------------------------------------------------------

    def states(self, collection: str) -> tuple[IndexState, ...]:
        """Those that weren't dropped: the current one first, then the newest. Raises NotFoundError."""
        name = self._store.corpus.collection(collection).name
        found = [index for index in self._store.corpus.indexes(name) if index.status != "retired"]
        return tuple(self.state(index) for index in sorted(found, key=lambda index: index.status != "current"))

    def state(self, index: Index) -> IndexState:
        """How far an index is, and what it takes."""
        states = self._store.corpus.document_states(index.collection, index.id)
        return IndexState(
            index,
            self._embedders.of(index) is not None,
            len(states),
            sum(state.complete for state in states.values()),
            stored_bytes(index.form, index.dimension, index.vectors),
            kept_recall(self._store, index),
        )

    def index(self, index_id: int) -> Index:
        """Raises NotFoundError for one that isn't there or was dropped."""
        return self._store.indexes.index(index_id)

    def previous(self, collection: str) -> Index | None:
        """The one that a step back goes to: the kept index that was current last."""
        return self._store.indexes.previous(collection)

    # -- building --------------------------------------------------------------------------------------------------

    def build(
        self,
        collection: str,
        embedder: str = "",
        recipe: Recipe | None = None,
        form: str = "",
        cancel: Cancel | None = None,
    ) -> Iterator[BuildProgress]:
        """An index beside the current one, from the stored texts; what is left open is as in the current one.

        Commits per document: stopped or killed, the same call goes on where it ended. Queries meet the current index
        until ``switch``.

        Args:
            embedder: an installed one's name.
            form: as ``parse_form`` reads it.

        Raises:
            NotFoundError: no such collection. MissingModelError: no such embedder.
            UsageError: the form doesn't fit, or that is the current index itself.
            EngineError: the embedder failed; what was committed stays.
        """
        current = self._store.corpus.current_index(self._store.corpus.collection(collection).name)
        if current is None:
            raise UsageError(
                tr("Nothing to build from"),
                tr("The collection “{name}” has no documents yet.", name=collection),
                tr("Ingest some: workbench ingest PATH --collection {name}", name=collection),
            )
        with_embedder = self._embedder(embedder, current)
        wanted = parse_form(form) if form else current.form
        if not form and with_embedder.info.fingerprint != current.embedder.fingerprint:
            wanted = parse_form("float32")
        index = self._builder.open(collection, with_embedder, recipe or current.recipe, wanted)
        if index.id == current.id:
            raise UsageError(
                tr("That is the current index"),
                tr(
                    "Queries already meet {embedder}, {recipe}, {form}.",
                    embedder=index.embedder.name,
                    recipe=describe_recipe(index.recipe),
                    form=form_name(index.form),
                ),
                tr("Choose another embedder, recipe or form."),
            )
        yield from self._builder.fill(index, with_embedder, cancel)

    def complete(self, index_id: int, cancel: Cancel | None = None) -> Iterator[BuildProgress]:
        """What the collection got since the index was built, or what a build left. Raises as ``build``."""
        index = self.index(index_id)
        yield from self._builder.fill(index, self._of(index), cancel)

    def switch(self, index_id: int) -> Index:
        """Queries meet it from now on; the previous one is kept and can be gone back to.

        Raises:
            NotFoundError: no such index. UsageError: documents are missing in it, or its embedder isn't installed.
        """
        index = self.index(index_id)
        self._of(index)
        if missing := self._builder.missing(index):
            raise UsageError(
                tr("The index isn't whole"),
                tr(
                    "Index {id} lacks {count} documents: questions wouldn't find them.",
                    count=missing,
                    id=index_id,
                ),
                tr("Complete it first: workbench indexes build --index {id}", id=index_id),
            )
        before = self._store.corpus.current_index(index.collection)
        self._store.corpus.switch_index(index_id)
        if before and before.embedder.name != index.embedder.name:
            self._embedders.rest(before.embedder.name)
        return self.index(index_id)

    def back(self, collection: str, cancel: Cancel | None = None) -> Iterator[BuildProgress]:
        """Completes the previous index where documents came in since, and switches to it.

        Raises:
            UsageError: there is none. Else as ``build`` and ``switch``.
        """
        previous = self.previous(collection)
        if previous is None:
            raise UsageError(
                tr("No way back"),
                tr("“{name}” has no previous index: it was never switched, or it was dropped.", name=collection),
                tr("Build one: workbench indexes build"),
            )
        last: BuildProgress | None = None
        if self._builder.missing(previous):
            for last in self.complete(previous.id, cancel):
                yield last
        if last is None or not last.progress.cancelled:
            self.switch(previous.id)

    def drop(self, index_id: int) -> None:
        """Removes it for good. Raises NotFoundError, and UsageError for the current one."""
        self._store.indexes.drop(index_id)
        keep_recall(self._store, index_id, ())

    # -- judging ---------------------------------------------------------------------------------------------------

    def compare(
        self, first_id: int, second_id: int, dataset: str = "", cancel: Cancel | None = None
    ) -> Iterator[IndexComparison]:
        """Both indexes on the dataset's questions, or on those asked of the collection; the last one is of all.

        Raises:
            NotFoundError, UsageError: no such index or dataset, no questions, or an embedder isn't installed.
            Cancelled: ``cancel`` was set.
        """
        first, second = self.index(first_id), self.index(second_id)
        if first.collection != second.collection:
            raise UsageError(
                tr("Two collections"),
                tr("Index {first} and index {second} hold different documents.", first=first_id, second=second_id),
                tr("Compare indexes of one collection."),
            )
        questions = questions_of(self._store, first.collection, dataset)
        lacking = self._builder.missing(first), self._builder.missing(second)
        for found in compare_indexes(self._store, first, second, self._embedders.of, questions, dataset, cancel):
            yield replace(found, lacking=lacking)

    def recall(
        self, index_id: int, dataset: str = "", filter_text: str = "", cancel: Cancel | None = None
    ) -> Iterator[RecallProgress]:
        """Recall_ANN@10 and @20 of every form, against exact, with the filter on; the last one is stored.

        Args:
            dataset: whose questions are asked; "" for those asked of the collection. Chunks stand in for fewer than 30.

        Raises:
            NotFoundError, FilterError; UsageError: no exact vectors to compare with.
            Cancelled: ``cancel`` was set.
        """
        index = self.index(index_id)
        try:
            questions = [q.text for q in questions_of(self._store, index.collection, dataset)]
        except UsageError:
            questions = []
        fields = self._store.search.fields(index.collection)
        demanded = parse_filter(self._store.corpus.collection(index.collection).mandatory_filter, fields, strict=False)
        where = combine(demanded, parse_filter(filter_text, fields))
        embedder = self._embedders.of(index)
        progress: RecallProgress | None = None
        for progress in measure_recall(self._store, index, embedder, questions, where, filter_text, cancel):
            yield progress
        if progress:
            keep_recall(self._store, index_id, progress.measured)

    def measured(self, index_id: int) -> tuple[FormRecall, ...]:
        """What ``recall`` found last, marked where it is outdated; nothing before. Raises NotFoundError."""
        return kept_recall(self._store, self.index(index_id))

    def preview(
        self, collection: str, recipe: Recipe, document_ids: Sequence[str], cancel: Cancel | None = None
    ) -> Iterator[CutPreview]:
        """What another recipe would make of documents, each as soon as it is cut; nothing is stored.

        Raises:
            NotFoundError, EngineError; Cancelled: ``cancel`` was set.
        """
        index = self._store.corpus.current_index(collection)
        if index is not None:
            yield from self._recutter.preview(index, self._of(index), recipe, document_ids, cancel)

    # -- embedders -------------------------------------------------------------------------------------------------

    def embedders(self) -> tuple[InstalledEmbedder, ...]:
        """Those installed, with what is known of them."""
        return installed_embedders(self._store, self._embedders)

    def lint(self) -> tuple[LintFinding, ...]:
        """What is wrong with installed embedders, and with indexes because of theirs; errors first."""
        found = [finding for one in self.embedders() for finding in self._of_embedder(one)]
        for collection in self._store.corpus.collection_names():
            for index in self._store.corpus.indexes(collection):
                if index.status != "retired":
                    there = self._embedders.of(index) is not None
                    alike = index.embedder.name in self._embedders.names()
                    found += lint_index(self._store, index, installed=there, same_name=alike)
        return tuple(sorted(found, key=lambda finding: finding.level != "error"))

    def lint_embedder(self, name: str) -> tuple[LintFinding, ...]:
        """What is wrong with the installed embedder of that name."""
        return tuple(finding for one in self.embedders() if one.name == name for finding in self._of_embedder(one))

    def _of_embedder(self, one: InstalledEmbedder) -> Iterator[LintFinding]:
        try:
            self._embedders.named(one.name)
        except (EngineError, MissingModelError) as error:
            yield LintFinding("error", one.name, error.message, error.remedy)
        else:
            yield from lint_embedder(one)

    def _embedder(self, name: str, current: Index) -> Embedder:
        if not name:
            return self._of(current)
        if name not in self._embedders.names():
            raise MissingModelError(
                tr("No such embedder"),
                tr("There is no embedder “{name}”.", name=name),
                tr("There are: {names}.", names=", ".join(self._embedders.names()) or "–"),
            )
        return self._embedders.named(name)

    def _of(self, index: Index) -> Embedder:
        found = self._embedders.of(index)
        if found is not None:
            return found
        name = index.embedder.name
        if name in self._embedders.names():
            raise UsageError(
                tr("Its embedder isn't there"),
                tr("Index {id} was made by another {name} than the one that is installed.", id=index.id, name=name),
                tr("Install that one, or build an index with this one: workbench indexes build -e {name}", name=name),
            )
        raise UsageError(
            tr("Its embedder isn't there"),
            tr("Index {id} was made by {name}, which isn't installed.", id=index.id, name=name),
            tr("Install it again: workbench embedders list tells those there are."),
        )
