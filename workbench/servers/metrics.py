"""What a server says of itself in Prometheus' text format: gauges by name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.records.servers import ServerState

_LINE: Final = re.compile(r"([A-Za-z_:][\w:]*)(?:\{[^}]*\})?\s+(\S+)")


def gauges(text: str) -> dict[str, float]:
    """Values by name, those of several label sets added up; lines that hold no number are passed over."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        if match := _LINE.match(line):
            try:
                found[match[1]] = found.get(match[1], 0.0) + float(match[2])
            except ValueError:
                continue
    return found


def stated(told: Mapping[str, float], names: Mapping[str, Sequence[str]]) -> ServerState:
    """The fields that ``names`` gives names to, as far as the server tells them."""
    read = {
        field: next((told[name] for name in candidates if name in told), None) for field, candidates in names.items()
    }
    taken: dict[str, Any] = {
        field: int(value) if field in ("busy", "waiting") else value
        for field, value in read.items()
        if value is not None and math.isfinite(value)
    }
    return ServerState(**taken)
