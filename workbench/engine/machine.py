"""The memory that there is for a process: in a container its limit counts, and not what the host has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import psutil

CGROUPS: Final = Path("/sys/fs/cgroup")
OWN_GROUPS: Final = Path("/proc/self/cgroup")
FILES: Final = {
    2: ("memory.max", "memory.current", "inactive_file"),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""By version of Linux's control groups: the file with the limit, that with the use, and the line of ``memory.stat``
with what of that use is cache that the system gives back when memory runs short."""


def machine_memory() -> tuple[int, int]:
    """Bytes there are, and bytes that are free, of the machine or of the tightest limit that this process is under."""
    machine = psutil.virtual_memory()
    return within(machine.total, machine.available, _groups())


def within(total: int, free: int, groups: Sequence[tuple[int, Path]]) -> tuple[int, int]:
    """``total`` and ``free`` cut to what the groups leave; each is a version with its folder."""
    for version, folder in groups:
        limit_file, use_file, cache_line = FILES[version]
        limit, used = _number(folder / limit_file), _number(folder / use_file)
        if limit is None or used is None or limit >= total:
            continue
        held = max(0, used - _stat(folder / "memory.stat", cache_line))
        total, free = limit, max(0, min(free, limit - held))
    return total, free


def limited_groups(own: str, root: Path) -> Iterator[tuple[int, Path]]:
    """The groups that ``own`` (as ``/proc/self/cgroup`` has it) names, and all that those lie in, where they are seen.

    A container may see its group as the outermost one, under whatever name the host has for it.
    """
    for line in own.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers or "memory" in controllers.split(","):
            version, top = (1, root / "memory") if controllers else (2, root)
            inner = top / path.lstrip("/")
            yield from ((version, group) for group in (inner, *inner.parents) if group.is_relative_to(top))


@cache
def _groups() -> tuple[tuple[int, Path], ...]:
    try:
        own = OWN_GROUPS.read_text("utf-8")
    except OSError:  # no Linux
        return ()
    return tuple(limited_groups(own, CGROUPS))


def _number(path: Path) -> int | None:
    """None where there is no such file, or no limit in it ("max")."""
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _stat(path: Path, name: str) -> int:
    try:
        lines = (line.split() for line in path.read_text("ascii").splitlines())
        return next((int(line[1]) for line in lines if line[:1] == [name]), 0)
    except (OSError, ValueError, IndexError):
        return 0
