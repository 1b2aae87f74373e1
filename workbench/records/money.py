"""What calls use and cost: tokens by the category they are billed in, prices with their date, times that add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or of many, each in the one category it is billed in.

    Attributes:
        fresh: input that no cache served.
        cache_read: input served from a prompt cache.
        cache_write: input stored in a prompt cache.
        estimated: some of it is an estimate, as its server counts no tokens; None where that wasn't noted.
    """

    fresh: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    estimated: bool | None = False

    @property
    def input(self) -> int:
        """All tokens sent."""
        return self.fresh + self.cache_read + self.cache_write


def estimated_among(used: Iterable[Usage]) -> bool | None:
    """What ``Usage.estimated`` is of them together: True where one is estimated, None where of one it wasn't noted."""
    noted = {one.estimated for one in used}
    return True if True in noted else None if None in noted else False


@dataclass(frozen=True, slots=True)
class Price:
    """What a provider asked for a model on a day, per million tokens. People enter it; none is built in.

    Attributes:
        cache_read: None where the provider has no such category: such tokens then cost what input costs.
        checked: the day the price was looked up.
        source: where, in the person's words.
    """

    provider: str
    model: str
    currency: str
    input: float
    output: float
    checked: date
    cache_read: float | None = None
    cache_write: float | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls cost, each at the price of its model where it ran.

    Attributes:
        amounts: by currency; they aren't converted.
        unpriced: calls that no price is known for, which are in no amount.
        stale: one of the prices was looked up too long ago.
        estimated: as ``Usage.estimated``, of the calls in the amounts.
    """

    amounts: Mapping[str, float]
    unpriced: int = 0
    stale: bool = False
    estimated: bool | None = False


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What a prompt cache does to the cost of calls that share a prefix.

    Attributes:
        full: a call without cache.
        write: the first call, which stores the prefix.
        read: every later one.
        break_even: calls from which on the cache costs less in all, None when it never does.
    """

    full: float
    write: float
    read: float
    break_even: int | None

    def mean(self, calls: int) -> float:
        """Mean cost of one of ``calls`` calls with the cache: (write + (calls - 1) · read) / calls."""
        return (self.write + (calls - 1) * self.read) / calls


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a call's time. ``name`` is one of network, queue, prefill, decode, tools, checks, unexplained."""

    name: str
    ms: float


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Where a call's time went: the phases follow each other and add up to ``total_ms``."""

    phases: tuple[Phase, ...]
    total_ms: float


@dataclass(frozen=True, slots=True)
class LatencyFit:
    """L ≈ fixed + alpha · fresh input tokens + beta · output tokens, fitted to stored calls.

    Attributes:
        fixed_ms: network, queue, preparation.
        alpha_ms: per fresh input token.
        beta_ms: per output token.
        error_ms: root mean square of what the fit misses.
        r2: share of the variance that it explains; None when all calls took the same time.
        estimated: as ``Usage.estimated``, of the calls: α and β are then of estimates.
    """

    fixed_ms: float
    alpha_ms: float
    beta_ms: float
    calls: int
    error_ms: float
    r2: float | None
    estimated: bool | None = False

    @property
    def flaw(self) -> Literal["", "negative", "loose"]:
        """Why it foretells nothing: a part takes time off (by more than rounding), or it explains less than half."""
        if min(self.fixed_ms, self.alpha_ms, self.beta_ms) < -1e-6:
            return "negative"
        return "loose" if self.r2 is not None and self.r2 < 0.5 else ""

    def predict(self, fresh: int, output: int) -> float | None:
        """Milliseconds; None where it has a ``flaw``."""
        if self.flaw:
            return None
        return self.fixed_ms + self.alpha_ms * fresh + self.beta_ms * output
