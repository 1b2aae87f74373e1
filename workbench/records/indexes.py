"""Records of indexes side by side: how far each is, what its form loses, how two compare, what a recipe cuts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.records.corpus import Index, IngestProgress, Recipe, VectorForm
from workbench.records.evals import Estimate, MetricChange

LintLevel: TypeAlias = Literal["error", "warning"]
SpanFate: TypeAlias = Literal["same", "moved", "added", "removed"]


@dataclass(frozen=True, slots=True)
class IndexState:
    """An index as a person sees it in a list.

    Attributes:
        installed: its embedder is there, so that questions can meet it.
        documents: of the collection, and how many of them it holds whole.
        bytes: of its vectors by M = N · d · b; nothing else is counted.
        measured: what was last measured of its form, or of the forms it could have.
    """

    index: Index
    installed: bool
    documents: int
    complete: int
    bytes: float
    measured: tuple[FormRecall, ...] = ()

    @property
    def whole(self) -> bool:
        """Every document is in it."""
        return self.complete == self.documents

    @property
    def standing(self) -> str:
        """Its status, "ready" for one that was built whole and waits to be switched to."""
        return "ready" if self.whole and self.index.status == "building" else self.index.status


@dataclass(frozen=True, slots=True)
class FormRecall:
    """Recall_ANN@k of a form: the share of the k exact nearest that it finds too, as a mean over questions.

    Attributes:
        k: fewer where fewer chunks pass the filter.
        vectors: N; ``bytes``: M = N · d · b of the form.
        passing: chunks that pass the filter, among which both search.
        milliseconds: of one question, by the median; None where it wasn't searched as in use.
        stand_in: chunks of the index were asked, as there were too few questions.
        newest: key of the index's newest vector at the time.
        outdated: vectors came or went since.
    """

    form: VectorForm
    k: int
    recall: Estimate
    vectors: int
    bytes: float
    passing: int
    filter: str = ""
    milliseconds: float | None = None
    stand_in: bool = False
    newest: int = 0
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class RecallProgress:
    """Forms measured so far; the last one has ``finished``."""

    done: int
    total: int
    measured: tuple[FormRecall, ...] = ()
    finished: bool = False


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """A build: the index and the ingest's own figures (documents, chunks, rate, time left).

    Attributes:
        there: documents that the index held whole before; ``progress`` counts those that it lacked.
    """

    index: Index
    progress: IngestProgress
    copied: bool = False
    there: int = 0

    @property
    def done(self) -> int:
        """Documents that it holds now."""
        return self.there + self.progress.done

    @property
    def total(self) -> int:
        """Documents that it will hold."""
        return self.there + self.progress.total

    @property
    def finished(self) -> bool:
        """It has come to its end, or was stopped."""
        return self.progress.finished


@dataclass(frozen=True, slots=True)
class IndexComparison:
    """Two indexes over the same questions.

    Attributes:
        source: the dataset's name, "" for stored questions, which have no gold: there the first index's own first k
            stand in for it, and the figures say how far the second agrees.
        cases, total: questions asked, and those there are.
        left_out: questions not asked, as none of their gold can be found in the collection any more.
        lacking: documents that the first and the second don't hold whole, so that the figures aren't of equals.
        metrics: of the dense lane and of the fusion, paired (second − first).
        fixed, broken: questions whose fusion has gold first only with the second, and only with the first index.
    """

    first: Index
    second: Index
    source: str
    cases: int
    total: int
    metrics: tuple[MetricChange, ...] = ()
    fixed: int = 0
    broken: int = 0
    left_out: int = 0
    lacking: tuple[int, int] = (0, 0)

    @property
    def finished(self) -> bool:
        """All questions were asked."""
        return self.cases == self.total


@dataclass(frozen=True, slots=True)
class SpanChange:
    """A span of one cut or of both. ``moved``: over half of it was in a chunk that went; ``flags`` in words."""

    fate: SpanFate
    start: int
    end: int
    tokens: int
    text: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CutShape:
    """The chunks of one cut in figures: tokens of each, how many the embedder cuts off, what its ends take apart."""

    chunks: int
    tokens: tuple[int, ...]
    truncated: int
    flags: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CutPreview:
    """What another recipe makes of a document, beside what the current index holds."""

    document_id: str
    source_id: str
    recipe: Recipe
    before: CutShape
    after: CutShape
    spans: tuple[SpanChange, ...]
    milliseconds: float
    problem: str = ""

    def count(self, fate: SpanFate) -> int:
        """Spans of that fate."""
        return sum(span.fate == fate for span in self.spans)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A row of the table of known embedding models.

    Attributes:
        matryoshka: dimensions that it was trained to be cut to; none: it wasn't.
    """

    names: tuple[str, ...]
    dimension: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    pooling: str
    languages: str
    licence: str
    matryoshka: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class InstalledEmbedder:
    """An embedder's folder.

    Attributes:
        default: new collections get it.
        problem: why it can't be used.
        cuts: fewer components that its vectors can be cut to.
        pooled: it is known how it makes one vector of its tokens'; else it is most likely a chat model.
    """

    name: str
    runtime: str
    dimension: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    known: KnownModel | None = None
    default: bool = False
    indexes: int = 0
    problem: str = ""
    cuts: tuple[int, ...] = ()
    pooled: bool = True


@dataclass(frozen=True, slots=True)
class LintFinding:
    """Something about an embedder or an index that costs quality. ``about`` names it."""

    level: LintLevel
    about: str
    message: str
    remedy: str
