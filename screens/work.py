"""Work off the UI thread: the one place where threads start, errors are caught and cancelling happens.

The UI thread never calls the desk. ``Jobs.read`` is for what comes back soon (a list, a text); ``Jobs.run`` is for
work that yields and that the top line tells of; ``Latest`` is for what every keystroke asks anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from textual.app import App
from textual.dom import DOMNode
from textual.message import Message

from screens.messages import WorkMoved
from workbench.errors import Cancelled, WorkbenchError
from workbench.i18n import tr

if TYPE_CHECKING:
    from workbench.ports import Cancel

T = TypeVar("T")
Q = TypeVar("Q")
Failed = Callable[[WorkbenchError], None]


@dataclass(eq=False)
class Job:
    """One piece of work in a thread.

    Attributes:
        title: what the top line calls it.
        kind: "work" is shown, counts when quitting and can be stopped; "read" is short; "watch" runs with the app.
        cancel: set it to ask the work to stop.
        detail: how far it is; written by the worker thread, read by the UI thread.
        fraction: 0–1 when it can be told.
    """

    title: str
    kind: Literal["work", "read", "watch"]
    cancel: Cancel = field(default_factory=threading.Event)
    detail: str = ""
    fraction: float | None = None
    began: float = field(default_factory=time.monotonic)

    def stop(self) -> None:
        """Asks the work to stop; it ends at its next safe point."""
        self.cancel.set()


class Jobs:
    """What is running for an app. Call it from the UI thread only."""

    def __init__(self, app: App[int], show_error: Failed) -> None:
        self._app = app
        self._show_error = show_error
        self._running: list[Job] = []
        self._waiting: list[tuple[list[Job], DOMNode, Callable[[], object]]] = []

    def read(
        self, node: DOMNode, call: Callable[[], T], then: Callable[[T], object], failed: Failed | None = None
    ) -> Job:
        """Runs ``call`` in a thread, then ``then`` with its result on the UI thread (never if ``node`` is gone)."""
        job = Job("", "read")
        self._start(node, job, lambda: node.call_later(then, call()), failed)
        return job

    def open(
        self, node: DOMNode, call: Callable[[], T], then: Callable[[T], object], failed: Failed | None = None
    ) -> Job:
        """As ``read``, for a key whose dialog ``then`` opens: never when another screen came to the front since.

        So a key that is pressed again while its dialog is being read lays no second one on the first.
        """
        front = self._app.screen
        return self.read(node, call, lambda read: then(read) if self._app.screen is front else None, failed)

    def run(
        self,
        node: DOMNode,
        title: str,
        call: Callable[[Cancel], Iterator[T]],
        *,
        each: Callable[[T], Message] | None = None,
        then: Callable[[T | None], object] | None = None,
        failed: Failed | None = None,
        describe: Callable[[Job, T], None] | None = None,
        kind: Literal["work", "watch"] = "work",
    ) -> Job:
        """Iterates ``call(cancel)`` in a thread.

        Args:
            each: makes the message that is posted to ``node`` for what is yielded.
            then: gets the last that was yielded (None when nothing was), on the UI thread, cancelled or not.
            failed: gets the error instead of the error dialog.
            describe: writes the job's detail and fraction from what was yielded, in the worker thread.
        """
        job = Job(title, kind)

        def iterate() -> None:
            last: T | None = None
            try:
                for last in call(job.cancel):
                    if describe:
                        describe(job, last)
                        self._app.post_message(WorkMoved())
                    if each:
                        node.post_message(each(last))
            except Cancelled:
                pass
            if then:
                node.call_later(then, last)

        self._start(node, job, iterate, failed)
        return job

    def after_reads(self, node: DOMNode, then: Callable[[], object]) -> None:
        """Calls ``then`` when what is being read now is there: a screen that was just opened knows its rows then."""
        reads = [job for job in self._running if job.kind == "read"]
        if reads:
            self._waiting.append((reads, node, then))
        else:
            node.call_later(then)

    @property
    def works(self) -> tuple[Job, ...]:
        """Works that a person would miss, oldest first."""
        return tuple(j for j in self._running if j.kind == "work")

    @property
    def idle(self) -> bool:
        """Nothing runs but what runs with the app."""
        return all(j.kind == "watch" for j in self._running)

    def stop_works(self) -> int:
        """Asks every work to stop; returns how many there were."""
        for job in self.works:
            job.stop()
        return len(self.works)

    def stop_all(self) -> None:
        """Before the app ends: everything is asked to stop."""
        for job in self._running:
            job.stop()

    def _start(self, node: DOMNode, job: Job, work: Callable[[], object], failed: Failed | None) -> None:
        def guarded() -> None:
            try:
                work()
            except Cancelled:
                pass
            except Exception as error:  # noqa: BLE001 -- whatever a work raises, the person is told and the app lives on
                if not job.cancel.is_set() or isinstance(error, WorkbenchError):
                    tell, known = failed or self._show_error, as_workbench_error(error)
                    if not node.call_later(tell, known):  # by way of the node: never before the last that was yielded
                        self._app.call_later(tell, known)
            finally:
                self._app.call_later(self._ended, job)

        self._running.append(job)
        self._app.post_message(WorkMoved())
        self._app.run_worker(guarded, thread=True, exit_on_error=False, group=job.kind)

    def _ended(self, job: Job) -> None:
        self._running.remove(job)
        self._app.post_message(WorkMoved())
        for waiting in tuple(self._waiting):
            reads, node, then = waiting
            if job in reads:
                reads.remove(job)
            if not reads:
                self._waiting.remove(waiting)
                node.call_later(then)


class Latest(Generic[Q, T]):
    """Answers the newest request only: one thread at most, one request waiting at most, stale results never shown."""

    def __init__(
        self, jobs: Jobs, node: DOMNode, call: Callable[[Q], T], then: Callable[[Q, T], None], failed: Failed
    ) -> None:
        self._jobs, self._node, self._call, self._then, self._failed = jobs, node, call, then, failed
        self._newest: Q | None = None
        self._asked: Q | None = None
        self._running = False

    def submit(self, request: Q) -> None:
        """Asks for ``request`` as soon as the thread is free."""
        self._newest = request
        if not self._running:
            self._next()

    def drop(self) -> None:
        """Forgets what was asked: a result that is still on its way is not shown."""
        self._newest = None

    def _next(self) -> None:
        request = self._newest
        if request is None:
            return
        self._asked, self._running = request, True
        self._jobs.read(self._node, lambda: self._call(request), self._arrived, self._broke)

    def _arrived(self, result: T) -> None:
        self._running = False
        asked = self._asked
        if asked is not None and asked is self._newest:
            self._then(asked, result)
        else:
            self._next()

    def _broke(self, error: WorkbenchError) -> None:
        self._running = False
        if self._asked is self._newest:
            self._failed(error)
        else:
            self._next()


def as_workbench_error(error: Exception) -> WorkbenchError:
    """``error`` as a person can read it: itself when it was made for that, else its type and message."""
    if isinstance(error, WorkbenchError):
        return error
    return WorkbenchError(
        tr("Something unexpected happened"),
        f"{type(error).__name__}: {error}",
        tr("The work was given up, and nothing else. Please report it with what you were doing."),
    )
