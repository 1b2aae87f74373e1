"""Which process holds a piece of work: told by machine, process id and the moment the process began.

The id alone would not do: after a crash another program may have it.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from typing import Final

import psutil

_SAME_S: Final = 2.0
"""Seconds that two readings of one process's beginning may lie apart, as where the clock was set meanwhile."""


@cache
def _holder(pid: int) -> str:
    return f"{platform.node()} {pid} {psutil.Process(pid).create_time():.2f}"


def this_process() -> str:
    """What is stored for work of this process."""
    return _holder(os.getpid())


def is_alive(holder: str) -> bool:
    """Whether the process that stored ``holder`` still runs, on this machine; what can't be read is not."""
    try:
        node, pid, began = holder.rsplit(" ", 2)
        process = psutil.Process(int(pid))
        same = node == platform.node() and abs(process.create_time() - float(began)) <= _SAME_S
        return same and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError, OverflowError):
        return False


def pid_of(holder: str) -> int:
    """Its process id. ``holder`` was found alive."""
    return int(holder.rsplit(" ", 2)[1])
