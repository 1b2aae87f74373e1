"""Messages that carry records from worker threads to screens.

Each is posted by ``screens.work`` for what a long work yields. Those whose record holds all that went before
coalesce: a newer one that is waiting takes the place of an older one, so that a flood paints once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.desk import DeskStatus
    from workbench.evals.collecting.synthetic import Proposal
    from workbench.records.answers import Trace
    from workbench.records.benchmarks import BenchProgress
    from workbench.records.evals import RunProgress
    from workbench.records.ladders import LadderProgress
    from workbench.records.library import HashProgress
    from workbench.records.models import LoadProgress
    from workbench.records.servers import Server
    from workbench.sqltools.asking import SqlAsked


class Snapshot(Message):
    """A message whose newest instance says all that the older ones said."""

    def can_replace(self, message: Message) -> bool:
        """A waiting message of the same class makes this one needless."""
        return type(message) is type(self)


class StatusRead(Snapshot):
    """Fires several times a second while the app runs; carries what the top line and the gauges show."""

    def __init__(self, status: DeskStatus) -> None:
        super().__init__()
        self.status = status


class TraceGrew(Snapshot):
    """Fires for every stage and every few tokens of a running answer; carries the whole trace so far."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace


class SqlGrew(Snapshot):
    """Fires for every attempt of a model to write a query; carries all of them."""

    def __init__(self, asked: SqlAsked) -> None:
        super().__init__()
        self.asked = asked


class LoadMoved(Snapshot):
    """Fires while a model loads; the last one carries the loaded model."""

    def __init__(self, progress: LoadProgress) -> None:
        super().__init__()
        self.progress = progress


class BenchMoved(Snapshot):
    """Fires for every repetition that a running bench ends; carries all its figures so far."""

    def __init__(self, progress: BenchProgress) -> None:
        super().__init__()
        self.progress = progress


class LadderMoved(Snapshot):
    """Fires for every step of a running ladder; carries all its figures so far."""

    def __init__(self, progress: LadderProgress) -> None:
        super().__init__()
        self.progress = progress


class HashMoved(Message):
    """Fires while model files are hashed in the background; carries how far that is."""

    def __init__(self, progress: HashProgress) -> None:
        super().__init__()
        self.progress = progress


class ServerSeen(Message):
    """Fires for every model server that answers, or that was added and doesn't."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server = server


class WorkMoved(Snapshot):
    """Fires when a running work begins, ends or has something new to tell; the top line asks the jobs what."""


class RunMoved(Snapshot):
    """Fires for every case that a running evaluation ends; carries how far it is. Its cases are read from the file."""

    def __init__(self, progress: RunProgress) -> None:
        super().__init__()
        self.progress = progress


class ProposalMade(Snapshot):
    """Fires for every question that a model proposes for review; the list of them is read from the file."""

    def __init__(self, proposal: Proposal) -> None:
        super().__init__()
        self.proposal = proposal
