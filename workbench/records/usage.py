"""Calls of language models as the ledger keeps them, and sums of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from workbench.records.money import Usage

Purpose: TypeAlias = Literal["ask", "search", "chat", "eval", "judge", "bench", "probe"]
"""What a model was called for; "search": to word a question anew."""


@dataclass(frozen=True, slots=True)
class Call:
    """One generation, whoever ran it. No text is kept.

    Attributes:
        began: when it was sent.
        server: the server's address, "" for a model in a process of this machine.
        ttft_ms: to the first token; None when none came.
        queue_ms: waiting and loading on the server; this and the next two by the runtime's own clock, None untold.
        prefill_ms: reading the prompt.
        decode_ms: writing the answer.
        ended: why it stopped, as ``Generation.stop_reason``.
    """

    began: datetime
    server: str
    model: str
    purpose: Purpose
    usage: Usage
    total_ms: float
    ttft_ms: float | None = None
    queue_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    ended: str = ""

    @property
    def tpot_ms(self) -> float | None:
        """Time per output token after the first; None with fewer than two."""
        if self.ttft_ms is None or self.usage.output < 2:
            return None
        return (self.total_ms - self.ttft_ms) / (self.usage.output - 1)


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Calls added up. What they weren't grouped by is "".

    Attributes:
        day: ISO date, UTC.
        seconds: of all calls, one after the other.
    """

    day: str
    server: str
    model: str
    purpose: str
    calls: int
    usage: Usage
    seconds: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """L = TTFT + (N - 1)·TPOT held against the stored calls of a model.

    Attributes:
        ttft_ms, tpot_ms: medians over the calls.
        calls: those with two output tokens or more.
        error: median of |predicted - measured| / measured, each call with its own TTFT and length.
        estimated: as ``Usage.estimated``, of the calls: TPOT is then of estimates.
    """

    ttft_ms: float
    tpot_ms: float
    calls: int
    error: float
    estimated: bool | None = False
