"""Hashes model files in the background: on a thread of the lowest priority, stopped between two pieces of a file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from workbench.engine.gguf_header import HeaderError, all_parts
from workbench.ports import Cancel
from workbench.records.library import HashProgress
from workbench.records.models import ModelFile

PIECE: Final = 1 << 20
TOLD: Final = 0.02
"""Share of a file after which progress is told again."""


def hash_files(files: Sequence[ModelFile], cancel: Cancel | None = None) -> Iterator[HashProgress]:
    """The SHA-256 of each file, the smallest first; of a split one over all its parts in order.

    Progress is told on the way, and a last one with the hash. Files that can't be read are passed over. Setting
    ``cancel``, or closing the iterator, stops within a piece.
    """
    told: queue.SimpleQueue[HashProgress | None] = queue.SimpleQueue()
    left_alone = threading.Event()

    def stopped() -> bool:
        return left_alone.is_set() or (cancel is not None and cancel.is_set())

    def work() -> None:
        _lowest_priority()
        for left, file in reversed(list(enumerate(sorted(files, key=lambda file: -file.size)))):
            with contextlib.suppress(OSError, HeaderError):
                _hash(file, left, stopped, told.put)
        told.put(None)

    threading.Thread(target=work, name="hash models", daemon=True).start()
    try:
        while progress := told.get():
            yield progress
    finally:
        left_alone.set()


def _hash(file: ModelFile, left: int, stopped: Callable[[], bool], tell: Callable[[HashProgress], None]) -> None:
    digest, done, told = hashlib.sha256(), 0, -1.0
    for part in all_parts(Path(file.path)):
        with part.open("rb", buffering=0) as stream:
            while piece := stream.read(PIECE):
                if stopped():
                    return
                digest.update(piece)
                done += len(piece)
                if (fraction := min(done / max(1, file.size), 0.999)) - told >= TOLD:
                    told = fraction
                    tell(HashProgress(file.path, fraction, left))
    found = digest.hexdigest()
    tell(HashProgress(file.path, 1.0, left, found, differs=file.hash not in ("", found)))


def _lowest_priority() -> None:
    """For this thread alone; where the system can't, it runs as the others do."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
