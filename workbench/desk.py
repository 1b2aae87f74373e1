"""The desk: the one object that every front end holds. Screens and commands ask it; it asks the rooms behind it.

Long work is an iterator of frozen records, made for a worker thread: iterate it there and post what it yields. Every
method may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.answers.ask import Asker
from workbench.benchmarks import Benchmarks
from workbench.browsing import Browser
from workbench.corpus.ingest import Ingester
from workbench.curation import Curator
from workbench.decisions.decisions import Decisions
from workbench.decisions.measurements import Measurements
from workbench.engine import gauges
from workbench.engine.client import engine_available
from workbench.errors import EngineError, MissingModelError, NotFoundError
from workbench.evals.lab import EvalLab
from workbench.evals.running.runner import Runtimes
from workbench.exchange import Exchange
from workbench.health import Doctor
from workbench.i18n import tr
from workbench.indexing.embedders import Embedders
from workbench.indexing.indexes import Indexes
from workbench.inventory import Inventory
from workbench.keystrokes import Keystrokes
from workbench.ladders import Ladders
from workbench.lenses import Lenses
from workbench.library import Library
from workbench.money.money import Money
from workbench.playground import Playground
from workbench.ports import Cancel, DeleteCheck, Embedder, Generator, Store, TraceSummary
from workbench.queries.searching import search_transformed
from workbench.records.answers import AskOptions, Trace
from workbench.records.cases import Case, Dataset
from workbench.records.corpus import (
    Chunk,
    Collection,
    Document,
    DocumentStatus,
    EmbedderInfo,
    IngestProgress,
    IngestRequest,
)
from workbench.records.models import Gauges, LoadedModel, LoadProgress, LoadSettings
from workbench.records.playground import Pulse
from workbench.records.retrieval import SearchOptions, SearchResult, Transform
from workbench.records.usage import Purpose
from workbench.rerankers.rerankers import Rerankers
from workbench.retrieval.filters import parse_filter
from workbench.retrieval.search import Searcher
from workbench.retrieval.transforms import TRANSFORMS_SETTING, parse_transforms
from workbench.retrieval.typed import TypedSearch
from workbench.servers import Servers
from workbench.servers.embedders import ServedEmbedders
from workbench.sqltools import SqlTools
from workbench.tokens import TokenLab
from workbench.traces.inspector import Inspector
from workbench.usage import Ledger

COLLECTION_SETTING = "desk.collection"


@dataclass(frozen=True, slots=True)
class DeskStatus:
    """What the top line tells.

    Attributes:
        embedder: name of the embedder that is or will be used, "" when none is installed.
        embedder_running: its child process is up.
        engine: "" when the engine can be imported, else why it can't.
        ended: why the process of the model that was loaded last ended by itself, "" when it didn't.
        reach: "offline", or the addresses that may be talked to.
        pulses: what the model's process measured of itself over the last minutes, oldest first.
        foreign: grows when another process changes the file.
    """

    file: str
    collection: str
    embedder: str
    embedder_running: bool
    model: LoadedModel | None
    engine: str
    gauges: Gauges
    reach: str = "offline"
    ended: str = ""
    pulses: tuple[Pulse, ...] = ()
    foreign: int = 0


class Desk:
    """One workbench file with its runtimes: its embedder, rerankers and language model, each in a child process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._embedders = Embedders(store, lambda: self.collection, ServedEmbedders(store.settings))
        self._indexes = Indexes(store, self._embedders)
        self._embedder_warm = False
        self._library = Library(store)
        self._servers = Servers(
            store.servers, store.entries, store.settings, self._library.adopt, self._embedders.choose
        )
        self._typed = TypedSearch(store)
        self._ledger = ledger = Ledger(store.calls)
        self._benchmarks = Benchmarks(store, self._library, self._servers.open, lambda m: ledger.watch(m, "bench"))
        asked, judge = self._calls_for("eval"), self._calls_for("judge")
        runtimes = Runtimes(self._searcher, asked, self._load, lambda: self.collection, judge)
        self._evals = EvalLab(store, runtimes)
        self._ladders = Ladders(store, self._library, self._benchmarks, self._evals)
        files, dataset = self._library.files, self._evals.dataset
        self._rerankers = Rerankers(store, self._searcher, files, dataset, lambda: self.collection)
        self._browser = Browser(store, lambda: self._library.generator)
        self._curator = Curator(store)
        self._exchange = Exchange(store)
        self._doctor = Doctor(store, self.embedder, self._embedders.require, self.ingest)
        self._playground = Playground(self._calls_for("chat"), store.settings)
        self._keystrokes = Keystrokes(store, self._searcher)
        self._lenses = Lenses(store, self._embedders.of, lambda: self._library.generator)
        self._tokens = TokenLab(lambda: self._library.generator, self._open_embedder)
        self._money = Money(store.entries, ledger, self._benchmarks)
        measured = Measurements(self._evals, self._benchmarks, self._money)
        self._decisions = Decisions(store.entries, self._evals, measured)
        self._inventory = Inventory(store.entries, self._library, self._servers, lambda m: ledger.watch(m, "probe"))
        self._sql = SqlTools(store, self._calls_for("ask"))
        self._inspector = Inspector(store, self._searcher, self._calls_for("ask"))

    # -- status and settings ---------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    def status(self) -> DeskStatus:
        """Cheap enough to call five times a second from a worker."""
        model, running, embedder = self.model, self._library.generator, self._embedders.name()
        death = running.death if running else None
        return DeskStatus(
            file=self.path.name,
            collection=self.collection,
            embedder=embedder,
            embedder_running=self._embedders.used,
            model=model,
            engine=engine_available(),
            gauges=gauges.measure(model.pid or None if model else None),
            ended=f"{death.title}: {death.message} {death.remedy}" if death else "",
            pulses=running.pulses() if running else (),
            foreign=self._store.foreign_changes(),
            reach=self._servers.reach(running.model if running else None, embedder),
        )

    @property
    def collection(self) -> str:
        """The collection that searches and questions go to, "" when there is none. Remembered in the file."""
        names = self._store.corpus.collection_names()
        chosen = self.setting(COLLECTION_SETTING)
        return chosen if chosen in names else next(iter(names), "")

    def choose_collection(self, name: str) -> None:
        """Raises NotFoundError."""
        self.remember(COLLECTION_SETTING, self._store.corpus.collection(name).name)

    def setting(self, key: str, default: str = "") -> str:
        """A remembered choice."""
        return self._store.settings.get(key, default)

    def remember(self, key: str, value: str) -> None:
        """Stores a choice."""
        self._store.settings.set(key, value)

    # -- corpus ----------------------------------------------------------------------------------------------------

    def collections(self) -> tuple[Collection, ...]:
        """By name."""
        return self._store.corpus.collections()

    def documents(self, collection: str = "") -> tuple[Document, ...]:
        """By source_id; of the chosen collection when "" is given."""
        name = collection or self.collection
        return self._store.corpus.documents(self._store.corpus.collection(name).name) if name else ()

    def document(self, document_id: str) -> Document:
        """Raises NotFoundError."""
        return self._store.corpus.document(document_id)

    def find_documents(self, names: Sequence[str], collection: str = "") -> tuple[Document, ...]:
        """The documents a person means by ids or source_ids. Raises NotFoundError naming the first that isn't there."""
        known = self.documents(collection)
        by_name = {d.source_id: d for d in known} | {d.id: d for d in known}
        missing = next((n for n in names if n not in by_name), None)
        if missing is not None:
            raise NotFoundError(
                tr("No such document"),
                tr("There is no document “{name}” in this collection.", name=missing),
                tr("workbench documents lists them."),
            )
        return tuple(by_name[n] for n in names)

    def document_text(self, document_id: str) -> str:
        """The stored source text."""
        return self._store.corpus.document_text(document_id)

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """Of the current index, in order."""
        return self._store.corpus.chunks(document_id)

    def chunk(self, chunk_id: str) -> Chunk:
        """By id or unambiguous prefix. Raises NotFoundError."""
        found = self._store.corpus.find_chunks(chunk_id, limit=2)
        if len(found) == 1:
            return found[0]
        if found:
            several = tr("“{prefix}” begins the id of more than one chunk.", prefix=chunk_id)
            raise NotFoundError(tr("More than one chunk"), several, tr("Give more of it."))
        none = tr("“{prefix}” begins no chunk's id.", prefix=chunk_id)
        raise NotFoundError(tr("No such chunk"), none, tr("workbench chunks DOCUMENT lists the ids of a document's."))

    def ingest(self, request: IngestRequest, cancel: Cancel | None = None) -> Iterator[IngestProgress]:
        """Commits per document; the last is ``finished``. Raises UsageError, MissingModelError, EngineError.

        The chosen collection stays chosen; where there was none, it is this one. A new collection that was stopped
        before its first document goes again.
        """
        before = self.collection
        new = request.collection not in self._store.corpus.collection_names()
        progress: IngestProgress | None = None
        for progress in Ingester(self._store.corpus, self._embedders.require(request.collection)).run(request, cancel):
            yield progress
        if new and progress and progress.cancelled and not self._store.corpus.collection(request.collection).documents:
            self.delete_collection(request.collection)
        elif self.setting(COLLECTION_SETTING) not in self._store.corpus.collection_names():
            self.choose_collection(before or request.collection)

    @property
    def browser(self) -> Browser:
        """Lists of chunks in any order, and what is known of one of them."""
        return self._browser

    @property
    def indexes(self) -> Indexes:
        """Indexes side by side: built, compared, switched to and back; and the embedders they are made with."""
        return self._indexes

    @property
    def curator(self) -> Curator:
        """Edits of documents' metadata: previewed, applied, undone."""
        return self._curator

    @property
    def exchange(self) -> Exchange:
        """Exports, imports, moves and snapshots."""
        return self._exchange

    @property
    def doctor(self) -> Doctor:
        """What is wrong with a collection, what mends it, and where the file's bytes are."""
        return self._doctor

    @property
    def lenses(self) -> Lenses:
        """Chunks seen closely: boundaries, words and pieces, who found them, what is like them."""
        return self._lenses

    def set_mandatory_filter(self, collection: str, expression: str) -> Collection:
        """Raises FilterError when it doesn't parse."""
        parse_filter(expression, self._store.search.fields(collection))
        return self._store.corpus.set_mandatory_filter(collection, expression)

    def set_status(self, document_ids: Sequence[str], status: DocumentStatus) -> int:
        """Retires or restores documents."""
        return self._store.corpus.set_status(document_ids, status)

    def delete_documents(self, document_ids: Sequence[str], *, traces: bool = False) -> tuple[DeleteCheck, ...]:
        """Deletes, and proves it; ``traces``: takes their words out of stored traces and evaluation results too."""
        return self._store.corpus.delete_documents(document_ids, traces=traces)

    def delete_collection(self, name: str) -> None:
        """With everything in it."""
        self._store.corpus.delete_collection(name)

    def filter_fields(self, collection: str = "") -> dict[str, str]:
        """Fields a filter may name, with the commonest of their types."""
        name = collection or self.collection
        return {field: kinds[0] for field, kinds in self._store.search.fields(name).items()} if name else {}

    # -- ask -------------------------------------------------------------------------------------------------------

    def search(self, query: str, options: SearchOptions | None = None) -> SearchResult:
        """Both lanes, the question's transformations, fusion; leaves no trace. Raises FilterError, NotFoundError."""
        model = self._calls_for("search")()
        return search_transformed(self._store, self._searcher(), model, query, self._in_collection(options))

    def search_typed(
        self, query: str, options: SearchOptions | None = None, cancel: Cancel | None = None
    ) -> Iterator[SearchResult]:
        """What a keystroke finds: the lexical lane as soon as it is there, then all that is asked for.

        Until ``warm_embedder`` has returned, the lexical lane alone where both are asked for, as a keystroke is never
        kept waiting for a process that starts. Raises Cancelled, FilterError, NotFoundError.
        """
        asked = self._in_collection(options)
        ready = self._embedder_warm or set(asked.lanes) != {"lexical", "dense"}
        if not ready:
            asked = replace(asked, lanes=("lexical",), rerank="none")
        embedder = self._embedders.current(asked.collection) if ready else None
        searcher = Searcher(self._store, embedder, cancel, self._rerankers.open)
        yield from self._typed.search(searcher, query, asked)

    def warm_embedder(self) -> None:
        """Starts the embedder and reads the collection's vectors into memory, for ``search_typed``.

        Where the embedder can't be started, searches say why.
        """
        try:
            embedder = self._open_embedder()
            if embedder and embedder.info:
                embedder.start()
            self._rerankers.warm()
        except (EngineError, MissingModelError):
            return
        finally:
            self._embedder_warm = True
            self._typed.keep(self.collection)

    def ask(
        self,
        query: str,
        options: AskOptions | None = None,
        search: SearchOptions | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[Trace]:
        """The trace, growing stage by stage; the last one is complete and stored. Raises FilterError, NotFoundError."""
        asker = Asker(self._store, self._searcher(), self._calls_for("ask"))
        yield from asker.ask(query, options or AskOptions(), self._in_collection(search), cancel)

    def trace(self, trace_id: str) -> Trace:
        """By id, unambiguous prefix, or "last"."""
        return self._store.traces.trace(trace_id)

    def traces(self, limit: int = 50) -> tuple[TraceSummary, ...]:
        """Newest first."""
        return self._store.traces.recent(limit)

    @property
    def playground(self) -> Playground:
        """Conversations with the loaded model."""
        return self._playground

    @property
    def keystrokes(self) -> Keystrokes:
        """Saved sessions of typing: save, list, replay."""
        return self._keystrokes

    @property
    def inspector(self) -> Inspector:
        """Stored traces as things to work with: what-if, autopsy, comparison, replay, history."""
        return self._inspector

    @property
    def rerankers(self) -> Rerankers:
        """What reranks, what it brings, and where it is on."""
        return self._rerankers

    def transforms(self, collection: str = "") -> tuple[Transform, ...]:
        """How the collection's questions are transformed where nothing else is asked for."""
        return parse_transforms(self.setting(TRANSFORMS_SETTING.format(collection=collection or self.collection)))

    def use_transforms(self, chosen: Sequence[Transform], collection: str = "") -> None:
        """Transforms the collection's questions so from now on. Raises NotFoundError."""
        name = self._store.corpus.collection(collection or self.collection).name
        self.remember(TRANSFORMS_SETTING.format(collection=name), ",".join(chosen))

    # -- models ----------------------------------------------------------------------------------------------------

    @property
    def library(self) -> Library:
        """Model files, what they would take, and the one that is loaded."""
        return self._library

    @property
    def benchmarks(self) -> Benchmarks:
        """How fast the models are, measured and compared."""
        return self._benchmarks

    @property
    def ladders(self) -> Ladders:
        """One model in several quantizations: made, measured, decided on."""
        return self._ladders

    @property
    def servers(self) -> Servers:
        """Model servers over HTTP: what answers, how true they are to their word, and one put to work."""
        return self._servers

    @property
    def money(self) -> Money:
        """The ledger of every call of a model, prices, and what calls cost."""
        return self._money

    @property
    def tokens(self) -> TokenLab:
        """Texts under every tokenizer that is here."""
        return self._tokens

    @property
    def decisions(self) -> Decisions:
        """Decision sheets, and what was decided."""
        return self._decisions

    @property
    def sql(self) -> SqlTools:
        """Queries that read this file and others."""
        return self._sql

    @property
    def inventory(self) -> Inventory:
        """Models on offer, and whether they are alive."""
        return self._inventory

    @property
    def model(self) -> LoadedModel | None:
        """What is loaded; one whose process ended by itself is not."""
        return self._library.model

    def open_model(
        self, name: str, settings: LoadSettings | None = None, cancel: Cancel | None = None
    ) -> Iterator[LoadProgress]:
        """A model file by its path, loaded; or a server's model, as URL#NAME. Raises EngineError, NotFoundError."""
        if "://" not in name:
            yield from self._library.load(name, settings, cancel)
            return
        yield LoadProgress(1.0, model=self._servers.use(name).model)

    def _load(self, path: str, settings: LoadSettings, cancel: Cancel | None) -> None:
        for _ in self.open_model(path, settings, cancel):
            pass

    def embedder(self, collection: str = "") -> EmbedderInfo | None:
        """That of the collection's index (the chosen one's for ""), else the default; None when none is installed."""
        found = self._embedders.current(collection)
        return found.info if found else None

    # -- evals -----------------------------------------------------------------------------------------------------

    @property
    def evals(self) -> EvalLab:
        """Datasets, runs, labels, gates, decisions."""
        return self._evals

    def datasets(self) -> tuple[Dataset, ...]:
        """By name."""
        return self._evals.datasets()

    def cases(self, dataset: str) -> tuple[Case, ...]:
        """Raises NotFoundError."""
        return self._evals.cases(dataset)

    def import_dataset(self, path: str, name: str = "", collection: str = "") -> Dataset:
        """See ``EvalLab.import_dataset``; ``evals.import_file`` also tells which rows were skipped."""
        return self._evals.import_dataset(path, name, collection)

    def close(self) -> None:
        """Ends the children, checkpoints and closes the file."""
        self._library.unload()
        self._typed.close()
        self._rerankers.close()
        self._embedders.close()
        self._store.close()

    # -- behind ----------------------------------------------------------------------------------------------------

    def _calls_for(self, purpose: Purpose) -> Callable[[], Generator | None]:
        return self._ledger.watched(lambda: self._library.generator, purpose)

    def _open_embedder(self) -> Embedder | None:
        return self._embedders.current()

    def _searcher(self) -> Searcher:
        choose = self._embedders.of
        return Searcher(self._store, self._open_embedder(), rerankers=self._rerankers.open, embedders=choose)

    def _in_collection(self, options: SearchOptions | None) -> SearchOptions:
        options = options or SearchOptions()
        name = options.collection or self.collection
        if not name:
            raise NotFoundError(
                tr("An empty file"),
                tr("There is no document in {file} yet.", file=self.path.name),
                tr("Bring some in: workbench ingest PATH"),
            )
        return replace(options, collection=name)
