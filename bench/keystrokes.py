"""From the key to the painted ranking, through the real screens on a real file: real questions typed at a fixed pace.

For each scenario (idle; a model generates; an ingest into the same collection runs) it prints p50, p95 and p99 of key →
first ranking painted (of the lexical lane, where the fused one isn't there at once), key → fused ranking painted, and
of the UI thread's own processor time from one to the other, which includes what the key itself and the painting took.
Keys whose ranking was overtaken by the next key are counted. The terminal is 120 × 36 and draws into nothing.

Run: python -m bench.keystrokes [--chunks 10000 100000] [--questions 8] [--pace 150] [--scenarios idle model ingest]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from textual.widgets import Input

from bench.large_file import COLLECTION, build
from bench.xquad import Question, load
from screens.app import WorkbenchApp
from screens.ask.screen import AskScreen
from screens.ask.words import Request
from workbench import paths
from workbench.__main__ import open_desk
from workbench.desk import Desk
from workbench.records.corpus import IngestRequest
from workbench.records.models import GenerationSettings
from workbench.records.retrieval import SearchResult

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = (120, 36)


@dataclass
class Stopwatch:
    """Times in milliseconds since the last key, and the UI thread's processor time in between."""

    key: float = 0.0
    busy: float = 0.0
    first: float | None = None
    fused: float | None = None
    firsts: list[float] = field(default_factory=list)
    fuseds: list[float] = field(default_factory=list)
    ui: list[float] = field(default_factory=list)
    overtaken: int = 0

    def press(self) -> None:
        """A key comes now."""
        self.key, self.busy = time.perf_counter(), time.thread_time()
        self.first = self.fused = None

    def painted(self, *, whole: bool) -> None:
        """A ranking is on the screen now."""
        took = 1000 * (time.perf_counter() - self.key)
        if self.first is None:
            self.first = took
        if whole and self.fused is None:
            self.fused = took
            self.firsts.append(self.first)
            self.fuseds.append(took)
            self.ui.append(1000 * (time.thread_time() - self.busy))


async def type_questions(desk: Desk, questions: list[Question], pace: float) -> Stopwatch:
    """Types each question key by key, ``pace`` seconds apart, and measures every key that changes the question."""
    watch = Stopwatch()
    app = WorkbenchApp(desk)
    found = AskScreen._found

    def timed(screen: AskScreen, request: Request, result: SearchResult) -> None:
        found(screen, request, result)
        if request.query == screen.query_one("#query", Input).value.strip():
            whole = len(result.lanes) == len(request.options.lanes)
            screen.call_after_refresh(lambda: watch.painted(whole=whole))

    AskScreen._found = timed  # type: ignore[method-assign,assignment]  # the screen as it is, with a stopwatch
    try:
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause(1)
            while not app.jobs.idle:  # the embedder starts, the vectors are being read
                await pilot.pause(0.1)
            for question in questions:
                await _type(app.screen.query_one("#query", Input), question.text, watch, pace)
    finally:
        AskScreen._found = found  # type: ignore[method-assign]  # as above
    return watch


async def _type(box: Input, text: str, watch: Stopwatch, pace: float) -> None:
    box.value = ""
    await asyncio.sleep(0.3)
    for character in text:
        watch.press()
        box.insert_text_at_cursor(character)
        await asyncio.sleep(pace)
        if character != " " and watch.fused is None:
            watch.overtaken += 1


@contextmanager
def nothing(desk: Desk) -> Iterator[Callable[[], str]]:
    """The machine is left alone."""
    yield lambda: ""


@contextmanager
def generating(desk: Desk) -> Iterator[Callable[[], str]]:
    """A model writes one text after another."""
    for _ in desk.library.load(str(paths.models_folder() / "gguf" / MODEL)):
        pass
    generator, stop, written = desk.library.generator, threading.Event(), [0]
    assert generator is not None

    def write() -> None:
        while not stop.is_set():
            for last in generator.generate("Once upon a time", GenerationSettings(max_tokens=400), stop):  # noqa: B007 -- used below
                pass
            written[0] += last.output_tokens

    thread = threading.Thread(target=write)
    thread.start()
    yield lambda: f"{written[0]} tokens written meanwhile"
    stop.set()
    thread.join()
    desk.library.unload()


@contextmanager
def ingesting(desk: Desk) -> Iterator[Callable[[], str]]:
    """Paragraphs that are not in the file yet, each a document, are read, embedded and stored."""
    stop, done = threading.Event(), [0]
    with tempfile.TemporaryDirectory() as folder:
        for language in ("en", "es"):
            for name, text in load(language)[0].items():
                Path(folder, f"{language}-{name}").write_text(text, "utf-8")

        def ingest() -> None:
            for progress in desk.ingest(IngestRequest((folder,), COLLECTION), stop):
                done[0] = progress.done

        thread = threading.Thread(target=ingest)
        thread.start()
        yield lambda: f"{done[0]} documents ingested meanwhile"
        stop.set()
        thread.join()


SCENARIOS = {"idle": nothing, "model": generating, "ingest": ingesting}


def main() -> None:
    """Prints a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    options.add_argument("--questions", type=int, default=8)
    options.add_argument("--pace", type=float, default=150, help="milliseconds between keys")
    options.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    options.add_argument("--folder", type=Path, help="where the files are kept for the next time")
    chosen = options.parse_args()
    paths.go_offline()
    questions = load("en")[1] + load("es")[1]
    random.Random(3).shuffle(questions)
    print(f"{'chunks':>8} {'beside':8} {'keys':>5} {'overtaken':>9}   first p50/95/99   fused p50/95/99   UI p50/95/99")
    with tempfile.TemporaryDirectory() as scratch:
        for chunks in chosen.chunks:
            original = (chosen.folder or Path(scratch)) / f"keystrokes-{chunks}.db"
            build(original, chunks)
            for name in chosen.scenarios:
                measured = Path(scratch, "measured.db")
                shutil.copy(original, measured)
                _run(measured, chunks, name, questions[: chosen.questions], chosen.pace / 1000)
                for left in measured.parent.glob("measured.db*"):
                    left.unlink()


def _run(path: Path, chunks: int, scenario: str, questions: list[Question], pace: float) -> None:
    desk = open_desk(path)
    desk.choose_collection(COLLECTION)
    with SCENARIOS[scenario](desk) as beside:
        watch = asyncio.run(type_questions(desk, questions, pace))
        told = beside()
    desk.close()
    columns = (_percentiles(times) for times in (watch.firsts, watch.fuseds, watch.ui))
    print(f"{chunks:>8,} {scenario:8} {len(watch.fuseds):>5} {watch.overtaken:>9}   {'   '.join(columns)}   {told}")


def _percentiles(times: list[float]) -> str:
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return "/".join(f"{cuts[n - 1]:.1f}" for n in (50, 95, 99))


if __name__ == "__main__":
    main()
