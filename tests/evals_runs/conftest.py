"""A small real library with an evaluation lab over it: real ingest and search, a cheap embedder, models to order."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from storage import open_store
from tests.answers.fake_generator import FakeGenerator
from tests.embedders import HashEmbedder
from tests.library import NAME, open_library
from workbench.__main__ import open_desk
from workbench.cli import FrontEnds, run
from workbench.evals.lab import EvalLab
from workbench.evals.running.runner import Runtimes
from workbench.ports import Cancel, Store
from workbench.records.cases import Case, GoldSpan
from workbench.records.codec import encode
from workbench.records.evals import CaseResult, RunConfig, RunProgress
from workbench.records.models import LoadSettings
from workbench.records.retrieval import SearchOptions
from workbench.retrieval.search import Searcher

LEXICAL = SearchOptions(NAME, lanes=("lexical",))
"""The hash embedder's cosines mean nothing, so nothing is found or answered by them unless a test says so."""

FEE = Case(
    "fee", "How much is the enrolment fee?", gold=(GoldSpan("enrolment.md", grade=3),), answers=("118.50 euros",)
)
BOOKS = Case(
    "books", "How many books may a reader borrow?", gold=(GoldSpan("borrowing.md", grade=2),), answers=("six",)
)
MENU = Case(
    "menú “café”\u2028\N{PILE OF POO}",
    "¿Cuánto cuesta el menú del día?",
    gold=(GoldSpan("coffee.md", grade=3),),
    answers=("nueve euros",),
    language="es",
)
POOL = Case("pool", "When is the swimming pool open?", answerable=False, type="missing")
CASES = (FEE, BOOKS, MENU, POOL)


@dataclass
class Bench:
    """The lab, its store, and the models it may load: each load takes the next one."""

    store: Store
    folder: Path
    models: list[FakeGenerator] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    generator: FakeGenerator | None = None
    embedder: HashEmbedder | None = None

    def __post_init__(self) -> None:
        runtimes = Runtimes(
            lambda: Searcher(self.store, self.embedder), lambda: self.generator, self._load, lambda: NAME
        )
        self.lab = EvalLab(self.store, runtimes)

    def _load(self, path: str, _settings: LoadSettings, _cancel: Cancel | None) -> None:
        self.loaded.append(path)
        self.generator = self.models.pop(0)

    def dataset(self, cases: Sequence[Case], name: str = "faq") -> None:
        """Imports them as a person would: from a JSONL file."""
        file = self.folder / f"{name}.jsonl"
        file.write_text("\n".join(json.dumps(encode(case)) for case in cases), "utf-8")
        self.lab.import_dataset(str(file), name)

    def run(self, config: RunConfig | None = None, cancel: Cancel | None = None) -> list[RunProgress]:
        return list(self.lab.run(config or RunConfig("faq", search=LEXICAL), cancel))

    def results(self, config: RunConfig) -> dict[str, CaseResult]:
        """By case id, of a whole run."""
        return {r.case_id: r for r in self.lab.results(self.run(config)[-1].run.id)}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ingested file, which each test gets a copy of."""
    store = open_library(tmp_path_factory.mktemp("library"))
    store.close()
    return store.path


@pytest.fixture
def bench(tmp_path: Path, library: Path) -> Iterator[Bench]:
    opened = Bench(open_store(Path(shutil.copy(library, tmp_path))), tmp_path)
    opened.dataset(CASES)
    yield opened
    opened.store.close()


@dataclass(frozen=True)
class Result:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def shell(bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs ``workbench …`` on the library's file, with no embedder installed."""
    file = bench.store.path
    bench.store.close()
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path))

    def call(*arguments: str) -> Result:
        code = run(["--db", str(file), *arguments], FrontEnds(open_desk, lambda _desk: 0))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def cli(shell: Cli) -> Cli:
    """Runs ``workbench eval …``."""
    return lambda *arguments: shell("eval", *arguments)
