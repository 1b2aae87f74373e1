"""What a keystroke asks: results as they come, the newest question only, work that nobody waits for told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from textual.dom import DOMNode
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from screens.ask.words import Request
from screens.work import Failed, Jobs
from workbench.errors import Cancelled, WorkbenchError
from workbench.records.retrieval import SearchResult

if TYPE_CHECKING:
    from workbench.ports import Cancel


class Question(Input):
    """A text field of a width of its own: a longer text moves nothing around it, so a key costs no layout."""

    virtual_size = Reactive(Size(0, 0), layout=False)


class Typed:
    """One thread at most, one request waiting at most. Call it from the UI thread only.

    Args:
        call: iterated in the thread; each result is shown, unless a newer request came meanwhile.
        then: shows a result, on the UI thread.
    """

    def __init__(
        self,
        jobs: Jobs,
        node: DOMNode,
        call: Callable[[Request, Cancel], Iterator[SearchResult]],
        then: Callable[[Request, SearchResult], None],
        failed: Failed,
    ) -> None:
        self._jobs, self._node, self._call, self._then, self._failed = jobs, node, call, then, failed
        self._newest: Request | None = None
        self._cancel: Cancel | None = None

    def submit(self, request: Request) -> None:
        """Asks for ``request`` as soon as the thread is free, and tells it to leave what it is busy with."""
        self.drop()
        self._newest = request
        if self._cancel is None:
            self._next()

    def drop(self) -> None:
        """Forgets what was asked: a result that is still on its way is not shown."""
        self._newest = None
        if self._cancel:
            self._cancel.set()

    def _next(self) -> None:
        request = self._newest
        if request is None:
            return
        cancel = self._cancel = threading.Event()

        def search() -> None:
            try:
                for result in self._call(request, cancel):
                    self._node.call_later(self._arrived, request, result)
            except Cancelled:
                pass

        self._jobs.read(self._node, search, lambda _: self._ended(request), lambda error: self._broke(request, error))

    def _arrived(self, request: Request, result: SearchResult) -> None:
        if request is self._newest:
            self._then(request, result)

    def _ended(self, request: Request) -> None:
        self._cancel = None
        if request is not self._newest:
            self._next()

    def _broke(self, request: Request, error: WorkbenchError) -> None:
        self._cancel = None
        if request is self._newest:
            self._failed(error)
        else:
            self._next()
