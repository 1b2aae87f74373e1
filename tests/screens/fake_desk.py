"""A desk in memory with realistic records: screens can be tested and looked at without a file, a model or a wait."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.screens.fake_benchmarks import FakeBenchmarks
from tests.screens.fake_corpus import FakeBrowser, FakeCurator, FakeDoctor
from tests.screens.fake_inspector import FakeInspector
from tests.screens.fake_lab import FakeLab
from tests.screens.fake_ladders import FakeLadders
from tests.screens.fake_library import FakeModels
from tests.screens.fake_playground import FakePlayground
from tests.screens.fake_records import TEXTS, claim, context, fuse, models
from tests.screens.fake_rerankers import FakeRerankers
from tests.screens.fake_servers import FakeServers
from workbench.desk import DeskStatus
from workbench.errors import FilterError, NotFoundError
from workbench.ports import Cancel, DeleteCheck, TraceSummary
from workbench.records.answers import (
    Answer,
    AskOptions,
    Decision,
    Generation,
    Manifest,
    Stage,
    Trace,
    TraceSpan,
)
from workbench.records.corpus import Chunk, Collection, Document, IngestOutcome, IngestProgress, IngestRequest, Recipe
from workbench.records.indexes import IndexState
from workbench.records.models import (
    Gauges,
    ModelFile,
)
from workbench.records.playground import Pulse
from workbench.records.retrieval import (
    Analysis,
    FilterResult,
    FusedHit,
    FusionResult,
    HitView,
    LaneHit,
    LaneResult,
    SearchOptions,
    SearchResult,
)
from workbench.text.words import fold, is_stopword, words

WHEN = datetime(2026, 3, 2, 10, 0)
CREATED = datetime(2026, 2, 1, tzinfo=UTC)


@lru_cache
def _folded(text: str) -> tuple[str, ...]:
    return tuple(map(fold, words(text)))


class FakeIndexes:
    """No index beside the current one."""

    def states(self, collection: str) -> tuple[IndexState, ...]:
        return ()


class FakeDesk(FakeModels):
    """Answers like ``workbench.desk.Desk``. ``slow`` is the pause, in seconds, between steps of long work."""

    def __init__(self, *, empty: bool = False, slow: float = 0.0, copies: int = 0) -> None:
        super().__init__(slow)
        self.path = Path("lab.db")
        self.settings: dict[str, str] = {}
        self.searched: list[str] = []
        self.warm = False
        self.fail_ingest: Exception | None = None
        self._chunks: dict[str, Chunk] = {}
        self._texts: dict[str, str] = {}
        self._documents: dict[str, Document] = {}
        self._traces: list[Trace] = []
        self._chosen = "" if empty else "regulations-2026"
        self.released = 0
        self.deleted: list[str] = []
        if not empty:
            for name, parts in TEXTS.items():
                self._add(name, parts)
            for number in range(copies):
                self._add(f"notes/{number:04}.md", TEXTS["faq.md"])
        self.evals = FakeLab(self, empty=empty)
        self.playground = FakePlayground()
        self.pulses: tuple[Pulse, ...] = ()
        self.inspector = FakeInspector(self, WHEN)
        self.benchmarks = FakeBenchmarks(slow)
        self.servers = FakeServers()
        self.rerankers = FakeRerankers()
        self.indexes = FakeIndexes()
        self.ladders = FakeLadders(self._model_file, self.benchmarks, self.evals, slow)
        self.exchange = SimpleNamespace(snapshots=lambda: ())
        self.browser, self.doctor, self.curator = FakeBrowser(self), FakeDoctor(self), FakeCurator(self)
        self.searched.clear()

    def _model_file(self, path: str) -> ModelFile:
        return next(file for file in models() if file.path == path)

    # -- building --------------------------------------------------------------------------------------------------

    def _add(self, name: str, parts: list[tuple[str, str]]) -> None:
        document_id = f"d-{name}"
        whole = ""
        for ordinal, (heading, words_) in enumerate(parts):
            start = len(whole) + len(heading) + 4
            whole += f"# {heading}\n\n{words_}\n\n"
            pdf = name.endswith(".pdf")
            made = Chunk(
                id=f"{name.split('.', maxsplit=1)[0]}#{ordinal + 1}",
                document_id=document_id,
                source_id=name,
                ordinal=ordinal,
                start=start,
                end=start + len(words_),
                text=words_,
                header="",
                heading=("Rules", heading),
                kind="paragraph",
                page=12 + ordinal if pdf else None,
                page_label=str(12 + ordinal) if pdf else "",
                language="en",
                tokens=len(words_) // 4,
                tiktoken_tokens=len(words_) // 5,
                truncated=heading == "Fog",
                hash="9c1e" * 16,
            )
            self._chunks[made.id] = made
        self._texts[document_id] = whole
        self._documents[document_id] = Document(
            id=document_id,
            collection="regulations-2026",
            source_id=name,
            uri=f"/srv/{name}",
            title=name,
            media_type="text/plain",
            language="es" if "faq" in name else "en",
            status="current",
            hash="ab" * 32,
            metadata_hash="",
            characters=len(whole),
            metadata={"year": 2026, "valid_from": date(2026, 1, 1), "roles": ("student", "registry")},
            ingested=WHEN,
            warnings=("2 pages have no text",) if "manual" in name else (),
            chunks=len(parts),
        )

    # -- status ----------------------------------------------------------------------------------------------------

    def status(self) -> DeskStatus:
        gauges = Gauges(
            236 << 20 if self.model else 0, 241 << 20, 7.0, 965 << 20, 24012 << 20, vram_note="no NVIDIA driver"
        )
        return DeskStatus(
            file="lab.db",
            collection=self._chosen,
            embedder="multilingual-e5-small",
            embedder_running=True,
            model=self.model,
            engine="",
            gauges=gauges,
            reach="offline",
            ended=self._ended,
            pulses=self.pulses if self.model else (),
        )

    def kill(self, reason: str) -> None:
        """The model's process ends by itself."""
        self.model, self._ended = None, reason

    @property
    def collection(self) -> str:
        return self._chosen

    def choose_collection(self, name: str) -> None:
        self._chosen = name

    def setting(self, key: str, default: str = "") -> str:
        return self.settings.get(key, default)

    def remember(self, key: str, value: str) -> None:
        self.settings[key] = value

    # -- corpus ----------------------------------------------------------------------------------------------------

    def collections(self) -> tuple[Collection, ...]:
        if not self._chosen:
            return ()
        return (
            Collection(2, "faro", Recipe(), "", 1, CREATED, 14, 96),
            Collection(1, self._chosen, Recipe(), "", 3, CREATED, len(self._documents), len(self._chunks)),
        )

    def documents(self, collection: str = "") -> tuple[Document, ...]:
        return tuple(sorted(self._documents.values(), key=lambda d: d.source_id))

    def document(self, document_id: str) -> Document:
        return self._documents[document_id]

    def document_text(self, document_id: str) -> str:
        return self._texts[document_id]

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(c for c in self._chunks.values() if c.document_id == document_id)

    def chunk(self, chunk_id: str) -> Chunk:
        if chunk_id not in self._chunks:
            raise NotFoundError("No such chunk", f"“{chunk_id}” is not in the file.", "")
        return self._chunks[chunk_id]

    def ingest(self, request: IngestRequest, cancel: Cancel | None = None) -> Iterator[IngestProgress]:
        if self.fail_ingest:
            raise self.fail_ingest
        total = 12
        for done in range(1, total + 1):
            if cancel and cancel.wait(self.slow):
                yield IngestProgress(
                    request.collection, done, total, done * 9, 108, "", 7.7, None, done * 1.2, (), True, True
                )
                return
            failed = done == 3
            outcome = IngestOutcome(
                f"docs/{done}.pdf",
                "failed" if failed else "added",
                0 if failed else 9,
                reason="The PDF is locked." if failed else "",
                remedy="Save it without a password." if failed else "",
            )
            yield IngestProgress(
                request.collection,
                done,
                total,
                done * 9,
                108,
                f"docs/{done + 1}.pdf",
                7.7,
                (total - done) * 1.2,
                done * 1.2,
                (outcome,),
                done == total,
            )
        self._chosen = self._chosen or request.collection
        self._add("docs/1.pdf", TEXTS["faq.md"])

    def set_status(self, document_ids: Sequence[str], status: Any) -> int:
        for key in document_ids:
            self._documents[key] = dataclasses.replace(self._documents[key], status=status)
        return len(document_ids)

    def delete_documents(self, document_ids: Sequence[str], *, traces: bool = False) -> tuple[DeleteCheck, ...]:
        checks = []
        for key in document_ids:
            if key not in self._documents:
                raise NotFoundError("No such document", f"There is no document “{key}”.", "")
            gone = self._documents.pop(key)
            self._chunks = {k: c for k, c in self._chunks.items() if c.document_id != key}
            checks.append(DeleteCheck(key, gone.source_id, {"chunk": 0, "full text": 0, "vectors": 0}))
        return tuple(checks)

    def delete_collection(self, name: str) -> None:
        self.deleted.append(name)

    def filter_fields(self, collection: str = "") -> dict[str, str]:
        return {"year": "number", "status": "text", "roles": "list"}

    # -- ask -------------------------------------------------------------------------------------------------------

    def search(self, query: str, options: SearchOptions | None = None) -> SearchResult:
        options = options or SearchOptions()
        self.searched.append(query)
        if options.filter and "=" not in options.filter:
            raise FilterError("Bad filter", "After the field comes a comparison.", "Write: year >= 2026", position=5)
        terms = [w for w in words(query) if not is_stopword(w)]
        lexical = self._rank({fold(t)[:5] for t in terms})
        dense = self._rank({fold(t)[:3] for t in terms})
        lanes = {
            "lexical": lexical if "lexical" in options.lanes else [],
            "dense": dense if "dense" in options.lanes else [],
        }
        hits = fuse(lanes)
        analysis = Analysis(
            query,
            tuple(map(fold, terms)),
            tuple(t[:5] for t in terms),
            (),
            (),
            tuple(w for w in words(query) if is_stopword(w)),
            "en",
            "query: " + query,
        )
        fusion = FusionResult("rrf", 60, (), tuple(hits), 0.4)
        results = tuple(
            LaneResult(
                lane,
                tuple(LaneHit(c, i + 1, 1.0) for i, c in enumerate(lanes[lane])),
                50,
                ms,
                "" if lane in options.lanes else "off",
            )
            for lane, ms in (("lexical", 3.1), ("dense", 9.2))
        )
        return SearchResult(
            analysis,
            FilterResult(options.filter, "status = current", 9, len(self._chunks)),
            results,
            fusion,
            tuple(self._view(h) for h in hits),
            13.7,
        )

    def search_typed(
        self, query: str, options: SearchOptions | None = None, cancel: Cancel | None = None
    ) -> Iterator[SearchResult]:
        asked = options or SearchOptions()
        if self.warm or len(asked.lanes) < 2:
            yield self.search(query, asked)
            return
        found = self.search(query, dataclasses.replace(asked, lanes=("lexical",)))
        yield dataclasses.replace(found, lanes=found.lanes[:1])

    def warm_embedder(self) -> None:
        self.warm = True

    def _rank(self, stems: set[str]) -> list[str]:
        found = [
            (sum(word.startswith(s) for word in _folded(c.text + " " + " ".join(c.heading)) for s in stems), c.id)
            for c in self._chunks.values()
        ]
        return [key for score, key in sorted(found, key=lambda f: -f[0]) if score][:10]

    def _view(self, hit: FusedHit) -> HitView:
        c = self._chunks[hit.chunk_id]
        return HitView(hit, c.source_id, c.source_id, c.heading, c.page, c.page_label, c.start, c.end, c.text)

    def ask(
        self,
        query: str,
        options: AskOptions | None = None,
        search: SearchOptions | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[Trace]:
        result = self.search(query, search)
        manifest = Manifest(
            "0.1.0", "regulations-2026", 3, 1, "multilingual-e5-small", "f" * 64, "structure/400", "", ""
        )
        trace = Trace(f"t{len(self._traces) + 1:03}", WHEN, query, manifest)
        chunks = [self._chunks[h.hit.chunk_id] for h in result.hits[:2]]
        stages: list[tuple[str, Stage, float]] = [
            ("analysis", result.analysis, 0.2),
            ("filter", result.filter, 0.8),
            *((lane.lane, lane, lane.duration_ms) for lane in result.lanes),
            ("fusion", result.fusion, 0.4),
            ("context", context(chunks, [h.hit.chunk_id for h in result.hits[2:]]), 1.6),
        ]
        for name, stage, ms in stages:
            trace = trace.grow(TraceSpan(name, 0.0, ms, stage))
            yield trace
        claims = tuple(claim(f"F{n + 1}", c, n) for n, c in enumerate(chunks))
        written = " ".join(c.text for c in claims)
        if self.model:
            for count in range(1, 11):
                if cancel and cancel.wait(self.slow):
                    return
                part = written[: len(written) * count // 10]
                trace = trace.grow(
                    TraceSpan(
                        "generation",
                        20.0,
                        40.0 * count,
                        Generation("partial", part, 842, count * 4, 0, 118.0, 146.0, 57.2),
                    )
                )
                yield trace
        elif cancel and cancel.wait(self.slow):
            return
        outcome = "answered" if chunks else "no_result"
        decision = Decision(outcome, 0.71 if chunks else 0.0, 0.42)
        answer = Answer(
            outcome,
            "generated" if self.model else "extractive",
            written or "No passage of this collection speaks of that.",
            claims,
            ("[F9]",) if self.model else (),
            decision.support,
            0.42,
            "en",
            remedy="" if chunks else "Ask with other words.",
        )
        trace = dataclasses.replace(
            trace.grow(TraceSpan("decision", 60.0, 0.1, decision)), answer=answer, complete=True
        )
        self._traces.insert(0, trace)
        yield trace

    def trace(self, trace_id: str) -> Trace:
        return self.evals.traces.get(trace_id) or next(t for t in self._traces if t.id == trace_id)

    def forget(self, trace: Trace) -> None:
        self._traces.remove(trace)

    def traces(self, limit: int = 50) -> tuple[TraceSummary, ...]:
        return tuple(
            TraceSummary(t.id, "2026-03-02", t.query, "regulations-2026", "answered", 40.0) for t in self._traces
        )

    def close(self) -> None:
        """Nothing to close."""
