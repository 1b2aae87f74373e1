"""What every child process does: it keeps its streams safe, serves, and ends with its parent.

Requests come on standard input and events leave on standard output; both are taken over before anything native is
imported, so that whatever native code prints goes to standard error, which the parent keeps. When the input ends, the
parent has closed it or is gone, and the child ends too, in the middle of a computation if need be.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from workbench.processes.wire import Wire

GIVEN_WAY: Final = 5
"""Steps of niceness: a process at 0 that wants the same core gets three quarters of it."""

Request_contra = TypeVar("Request_contra", contravariant=True)
Request = TypeVar("Request")
Event = TypeVar("Event")


class Server(Protocol[Request_contra]):
    """What a kind of child does with requests."""

    def receive(self, request: Request_contra) -> None:
        """Called on the reading thread for each request: answers at once, or leaves it for ``run``."""
        ...

    def run(self) -> None:
        """Works on the main thread for ever."""
        ...


def serve(make_server: Callable[[Wire[Request, Event]], Server[Request]]) -> None:
    """Reads requests on a thread of its own while the server works on this one; ends the process when either ends.

    Args:
        make_server: imports what is native, now that the streams are safe.
    """
    with contextlib.suppress(OSError):  # when memory runs out, Linux shall take this process and not the workbench
        Path("/proc/self/oom_score_adj").write_text("1000")
    # Ctrl+C reaches the whole terminal group; the parent decides what it means and closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wire: Wire[Request, Event] = _take_over_streams()
    server = make_server(wire)

    def read() -> None:
        while (request := wire.receive()) is not None:
            server.receive(request)

    threading.Thread(target=_end_after, args=(read,), name="requests", daemon=True).start()
    _end_after(server.run)


def give_way() -> None:
    """Lets whatever a person waits for go first: this process takes the cores' time that the others leave."""
    if sys.platform == "win32":
        import psutil  # there alone: nothing else of this module needs it

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(GIVEN_WAY)


def _take_over_streams() -> Wire[Any, Any]:
    """Moves the pipe off descriptors 0 and 1 and puts nothing and standard error in their place."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return Wire(os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb"))


def _end_after(work: Callable[[], None]) -> None:
    """Ends the process at once when ``work`` returns (0) or fails (1): no native destructor gets a chance to hang."""
    try:
        work()
    except BaseException:  # noqa: BLE001 -- the process ends with it; its traceback reaches the parent
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
