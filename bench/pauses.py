"""How long an ingest keeps other threads of its process from running: what a person would feel as a frozen screen.

A thread that sleeps 5 ms at a time notes how late it wakes while documents are ingested beside it; then, in the same
way, while a question is asked. Run: python -m bench.pauses FOLDER_OR_FILE…
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench import paths
from workbench.__main__ import open_desk
from workbench.records.corpus import IngestRequest

SLEEP_S = 0.005


class Lateness:
    """The worst and the 99.9th percentile of a thread's delays, in milliseconds."""

    def __init__(self) -> None:
        self._late: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sleep)

    def _sleep(self) -> None:
        while not self._stop.is_set():
            start = time.perf_counter()
            time.sleep(SLEEP_S)
            self._late.append(1000 * (time.perf_counter() - start - SLEEP_S))

    @contextmanager
    def measured(self, what: str) -> Iterator[None]:
        """Prints the figures of what happens inside."""
        start = time.perf_counter()
        self._thread.start()
        yield
        self._stop.set()
        self._thread.join()
        late = sorted(self._late)
        over = sum(one > 16 for one in late)
        print(
            f"{what} ({time.perf_counter() - start:.1f} s): worst {late[-1]:.0f} ms, "
            f"p99.9 {late[int(0.999 * len(late))]:.0f} ms, {over} of {len(late):,} over 16 ms"
        )


def main() -> None:
    """Prints a line for the ingest and one for the question."""
    paths.go_offline()
    with tempfile.TemporaryDirectory() as scratch:
        desk = open_desk(Path(scratch, "bench.db"))
        with Lateness().measured("ingest"):
            for progress in desk.ingest(IngestRequest(tuple(sys.argv[1:]), "bench")):
                last = progress
        print(f"{last.done} documents, {last.chunks_done} chunks")
        desk.close()
        desk = open_desk(Path(scratch, "bench.db"))
        with Lateness().measured("first question"):
            for _ in desk.ask("What is in the documents?"):
                pass
        with Lateness().measured("second question"):
            for _ in desk.ask("Which documents are there?"):
                pass
        desk.close()


if __name__ == "__main__":
    main()
