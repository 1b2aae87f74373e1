"""Load tests that the file keeps: listed without their requests, and two of them held against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from workbench.evals.measuring.statistics import order_interval
from workbench.i18n import tr
from workbench.ports import EntryRepository
from workbench.records.servers import Flight, Flights, LoadFigure, LoadFigureName, LoadTest


class LoadTests:
    """Every method may be called from any thread."""

    def __init__(self, entries: EntryRepository) -> None:
        self._entries = entries

    def keep(self, test: LoadTest) -> None:
        """One more, beside those of other days; its requests apart, so that a list reads none."""
        self._entries.put(_name(test), Flights(test.flights))
        self._entries.put(_name(test), replace(test, flights=()))

    def all(self, url: str = "", model: str = "") -> tuple[LoadTest, ...]:
        """Newest first, without their requests; only of that address and model when given."""
        found = [t for t in self._entries.all(LoadTest) if url in ("", t.url) and model in ("", t.model)]
        return tuple(sorted(found, key=lambda test: test.created, reverse=True))

    def whole(self, test: LoadTest) -> LoadTest:
        """It with its requests, where the file has them."""
        kept = self._entries.get(Flights, _name(test)) if not test.flights else None
        return replace(test, flights=kept.flights) if kept else test

    def before(self, test: LoadTest) -> LoadTest | None:
        """The last one of the same model at the same address, made before this one."""
        return next((t for t in self.all(test.url, test.model) if t.created < test.created), None)

    def remove(self, test: LoadTest) -> None:
        """Drops it with its requests."""
        self._entries.remove(LoadTest, _name(test))
        self._entries.remove(Flights, _name(test))

    def figures(self, before: LoadTest, now: LoadTest) -> tuple[LoadFigure, ...]:
        """The times of two tests with the intervals that order statistics give, whatever their distribution."""
        one, other = self.whole(before).flights, self.whole(now).flights
        return (
            _figure("p50", _seconds(one), _seconds(other), 0.5),
            _figure("p95", _seconds(one), _seconds(other), 0.95),
            _figure("ttft_p50", _first(one), _first(other), 0.5),
            _figure("ttft_p95", _first(one), _first(other), 0.95),
        )


def caveats(before: LoadTest, now: LoadTest) -> tuple[str, ...]:
    """Why the figures of two tests don't compare, a sentence each; none when they do."""
    return tuple(f"{name}: {one} ↔ {other}" for name, one, other in _pairs(before, now) if one != other)


def _pairs(a: LoadTest, b: LoadTest) -> Iterator[tuple[str, str, str]]:
    yield tr("another address"), a.url, b.url
    yield tr("another model"), a.model, b.model
    yield tr("another server"), f"{a.kind} {a.version}".strip(), f"{b.kind} {b.version}".strip()
    yield tr("requests a second"), f"{a.rate:g}", f"{b.rate:g}"
    yield tr("tokens of an answer"), str(a.max_tokens), str(b.max_tokens)


def _seconds(flights: Sequence[Flight]) -> list[float]:
    return [flight.seconds for flight in flights if not flight.error]


def _first(flights: Sequence[Flight]) -> list[float]:
    return [flight.ttft_s for flight in flights if not flight.error and flight.ttft_s is not None]


def _figure(name: LoadFigureName, before: Sequence[float], now: Sequence[float], q: float) -> LoadFigure:
    one, other = (order_interval(np.array(values), q) if values else None for values in (before, now))
    apart = one is not None and other is not None and (other.low > one.high or other.high < one.low)
    return LoadFigure(name, one, other, apart)


def _name(test: LoadTest) -> str:
    return f"{test.url}#{test.model} {test.created.isoformat()}"
