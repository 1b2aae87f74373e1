"""What a person feels of a model that works: through the real app, with the real model, in no terminal.

Prints, for loading, reading a prompt and writing an answer, how late the screens' own loop wakes from naps of 5 ms, and
what it computed itself between two of them, which other work on the machine can't lengthen; then how far apart the
gauges of the child are, and how long an answer goes on after escape, while the prompt is read and while it is written.

Run: python -m bench.talk [MODEL.gguf]
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from textual.pilot import Pilot

from screens.app import WorkbenchApp
from screens.models.playground import Playground
from screens.widgets.message import MessageField
from workbench import paths
from workbench.__main__ import open_desk

NAP_S = 0.005
LONG = "The harbour master writes down every ship that comes in, and every one that leaves. "
CANCELS = 10


class Loop:
    """How late an event loop wakes a task."""

    def __init__(self) -> None:
        self._late: list[float] = []
        self._busy: list[float] = []
        self._task = asyncio.create_task(self._nap())

    async def _nap(self) -> None:
        while True:
            start, computed = time.perf_counter(), time.thread_time()
            await asyncio.sleep(NAP_S)
            self._late.append(1e3 * (time.perf_counter() - start - NAP_S))
            self._busy.append(1e3 * (time.thread_time() - computed))

    @contextmanager
    def measured(self, what: str) -> Iterator[None]:
        """Prints the figures of what happens inside."""
        self._late.clear()
        self._busy.clear()
        start = time.perf_counter()
        yield
        seconds, late, busy = time.perf_counter() - start, sorted(self._late), sorted(self._busy)
        print(
            f"{what} ({seconds:.1f} s): late by {late[-1]:.0f} ms at worst, p99 {late[int(0.99 * len(late))]:.0f} ms; "
            f"of its own {busy[-1]:.0f} ms at worst, p99 {busy[int(0.99 * len(busy))]:.0f} ms, "
            f"{sum(busy) / seconds / 10:.0f} % of a core"
        )

    def stop(self) -> None:
        self._task.cancel()


async def until(true: Callable[[], bool], seconds: float = 120.0) -> None:
    """Looks every 2 ms."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 -- what is looked at stands on a screen
            await asyncio.sleep(0.002)


class Talk:
    """The app, its playground open."""

    def __init__(self, app: WorkbenchApp, pilot: Pilot[int]) -> None:
        self.app, self._pilot = app, pilot
        self._state = app.screen.query_one("#state")

    @property
    def state(self) -> str:
        return str(self._state.render())

    async def say(self, words: str) -> None:
        self.app.screen.query_one("#say", MessageField).text = words
        await self._pilot.press("enter")

    async def cancel(self) -> float:
        """Milliseconds from the key to the end of the answer."""
        start = time.perf_counter()
        self.app.simulate_key("escape")
        await until(lambda: "cancelled" in self.state)
        return 1e3 * (time.perf_counter() - start)


async def talk(model: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        desk = open_desk(Path(scratch, "bench.db"))
        app = WorkbenchApp(desk)
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.press("f1")
            await until(lambda: app.current_mode == "models" and app.jobs.idle)
            loop = Loop()
            with loop.measured("nothing, to compare with"):
                await asyncio.sleep(5)
            with loop.measured("load"):
                await asyncio.to_thread(lambda: list(desk.library.load(str(model))))
            await pilot.press("p")
            await until(lambda: "template" in str(app.screen.query_one(Playground).query_one("#state").render()))
            session = Talk(app, pilot)
            first = len(desk.status().pulses)
            with loop.measured("read a prompt of 1,000 tokens"):
                await session.say(LONG * 55)
                await until(lambda: "partial" in session.state)
            with loop.measured("write"):
                await until(lambda: app.jobs.idle)
            gaps = [b.at - a.at for a, b in itertools.pairwise(desk.status().pulses[first:])]
            print(f"gauges: {len(gaps) / sum(gaps):.1f} a second, longest gap {1e3 * max(gaps):.0f} ms")
            loop.stop()
            reading = [await cancelled(session, f"{n} {LONG * 40}", "started", pilot) for n in range(CANCELS)]
            writing = [await cancelled(session, f"{n} Tell me a long story.", "partial", pilot) for n in range(CANCELS)]
            for what, times in (("reading", reading), ("writing", writing)):
                print(f"cancel while {what}: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")
        desk.close()


async def cancelled(session: Talk, words: str, state: str, pilot: Pilot[int]) -> float:
    """What ``cancel`` tells, once an answer has been in ``state`` for a while: a short one may be over by then."""
    while True:
        await pilot.press("alt+n")
        await session.say(words)
        await until(lambda: state in session.state)
        await asyncio.sleep(0.25)
        if state in session.state:
            return await session.cancel()


def main() -> None:
    paths.go_offline()
    gc.freeze()  # as ``screens.app.run`` does
    asyncio.run(talk(Path(sys.argv[1]) if len(sys.argv) > 1 else paths.gguf_folder() / paths.STARTER_MODEL))


if __name__ == "__main__":
    main()
