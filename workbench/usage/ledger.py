"""The ledger: what was called, how much, how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from workbench.errors import FileError
from workbench.money.times import MeasuredCall, fit_latency
from workbench.ports import CallRepository, Generator
from workbench.records.money import LatencyFit, Usage, estimated_among
from workbench.records.usage import Call, Forecast, Purpose, UsageSum
from workbench.usage.recording import RecordingGenerator
from workbench.usage.times import forecast

Group: TypeAlias = Literal["day", "server", "model", "purpose"]
GROUPS: Final[tuple[Group, ...]] = ("day", "server", "model", "purpose")


class Ledger:
    """Every call of a language model, local or served. Every method may be called from any thread."""

    def __init__(self, calls: CallRepository) -> None:
        self._calls = calls

    def watched(self, loaded: Callable[[], Generator | None], purpose: Purpose) -> Callable[[], Generator | None]:
        """``loaded``, with what its model generates entered here."""
        return lambda: self.watch(model, purpose) if (model := loaded()) else None

    def watch(self, generator: Generator, purpose: Purpose) -> Generator:
        """``generator``, with what it generates entered here."""
        return RecordingGenerator(generator, purpose, self.record)

    def record(self, call: Call) -> None:
        """Enters a call. A file that can't be written keeps nobody from an answer: then it is left out."""
        with suppress(FileError):
            self._calls.add(call)

    def calls(self, limit: int = 1000, model: str = "", server: str | None = None) -> tuple[Call, ...]:
        """Newest first; the last ten thousand are kept one by one."""
        return self._calls.calls(limit, model, server)

    def sums(self, by: Sequence[Group] = GROUPS) -> tuple[UsageSum, ...]:
        """All calls ever, added up by what is named; in the order of the newest day."""
        return added(self._calls.sums(), by)

    def total(self) -> UsageSum | None:
        """The sum of all calls, to divide by; None when there is none."""
        return next(iter(self.sums(())), None)

    def fit(self, model: str, server: str = "") -> LatencyFit | None:
        """L = L0 + α·fresh + β·output over the model's stored calls; None when they can't tell."""
        calls = self._calls.calls(model=model, server=server)
        fit = fit_latency([MeasuredCall(c.usage.fresh, c.usage.output, c.total_ms) for c in calls])
        return fit and replace(fit, estimated=estimated_among(c.usage for c in calls))

    def forecast(self, model: str, server: str = "") -> Forecast | None:
        """How well TTFT + (N - 1)·TPOT foretells the model's calls."""
        return forecast(self._calls.calls(model=model, server=server))


def added(sums: Iterable[UsageSum], by: Sequence[Group]) -> tuple[UsageSum, ...]:
    """Sums of sums: one for each value of what is named, in the order in which it first comes."""
    groups: dict[tuple[str, ...], UsageSum] = {}
    for one in sums:
        key = tuple(getattr(one, name) for name in by)
        apart: dict[str, Any] = {name: "" for name in GROUPS if name not in by}
        named = replace(one, **apart)
        groups[key] = _plus(groups[key], one) if key in groups else named
    return tuple(groups.values())


def _plus(a: UsageSum, b: UsageSum) -> UsageSum:
    used = Usage(
        a.usage.fresh + b.usage.fresh,
        a.usage.output + b.usage.output,
        a.usage.cache_read + b.usage.cache_read,
        estimated=estimated_among((a.usage, b.usage)),
    )
    return replace(a, calls=a.calls + b.calls, usage=used, seconds=a.seconds + b.seconds)
