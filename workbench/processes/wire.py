"""The pipe between the workbench and a child process: one pickled message after another.

Pickle is safe here: both ends are this program, on one machine, over a pipe nobody else can open.
"""

from __future__ import annotations

import pickle
import threading
from typing import BinaryIO, Generic, TypeVar

Incoming = TypeVar("Incoming")
Outgoing = TypeVar("Outgoing")


class Wire(Generic[Incoming, Outgoing]):
    """One end of the pipe: sends from any thread, receives from one.

    Args:
        incoming, outgoing: buffered binary streams.
    """

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.Lock()

    def send(self, message: Outgoing) -> None:
        """Raises OSError or ValueError when the other end is gone or this one is closed."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        with self._sending:
            self._outgoing.write(data)
            self._outgoing.flush()

    def receive(self) -> Incoming | None:
        """The next message; None when the other end is gone, in the middle of a message too."""
        try:
            message: Incoming = pickle.load(self._incoming)  # noqa: S301 -- the other end is this program
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            return None
        return message
