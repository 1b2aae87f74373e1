"""What models cost here: prices that a person wrote down, and the measured numbers that the formulas take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from workbench.benchmarks import Benchmarks
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.money.costs import amount, call_cost, is_stale, refuse_future
from workbench.ports import EntryRepository
from workbench.records.money import Price, Spent, Usage, estimated_among
from workbench.records.servers import LoadTest, short_name
from workbench.records.usage import Call, UsageSum
from workbench.servers.loads import LoadTests
from workbench.usage import Ledger
from workbench.usage.ledger import Group, added
from workbench.usage.words import marks_told, near

LOCAL: Final = "local"
"""The provider of what runs in a process of this machine."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Measured tokens per second, and where: "bench 3", "ledger, calls: 41"."""

    tokens_per_second: float
    evidence: str


class Money:
    """Prices in the file, and inputs that were measured. Every method may be called from any thread."""

    def __init__(self, entries: EntryRepository, ledger: Ledger, benchmarks: Benchmarks) -> None:
        self._entries, self._ledger, self._benchmarks = entries, ledger, benchmarks
        self._loads = LoadTests(entries)

    @property
    def ledger(self) -> Ledger:
        """Every call of a model: tokens, times, sums."""
        return self._ledger

    @property
    def loads(self) -> LoadTests:
        """Load tests of servers."""
        return self._loads

    def prices(self) -> tuple[Price, ...]:
        """By provider and model."""
        return self._entries.all(Price)

    def price(self, name: str) -> Price:
        """By "provider#model", or by the model alone where one provider has it. Raises NotFoundError."""
        found = [p for p in self.prices() if name in (price_name(p), p.model)]
        if len(found) != 1:
            raise NotFoundError(
                tr("More than one price") if found else tr("No such price"),
                tr("“{name}” names {count} prices.", name=name, count=len(found)),
                tr("Name it as PROVIDER#MODEL; workbench money prices lists them."),
            )
        return found[0]

    def put_price(self, price: Price) -> None:
        """Writes a price down, in place of the model's earlier one. Raises UsageError for one that can't be."""
        amounts = (price.input, price.output, price.cache_read, price.cache_write)
        if any(amount is not None and not 0 <= amount < float("inf") for amount in amounts):
            raise UsageError(
                tr("Not a price"), tr("A price is a number from 0 on, per million tokens."), tr("Correct it.")
            )
        if not price.provider.strip() or not price.model.strip():
            raise UsageError(tr("Not a price"), tr("A price has a provider and a model."), tr("Name both."))
        refuse_future(price.checked)
        self._entries.put(price_name(price), price)

    def remove_price(self, name: str) -> None:
        """Raises NotFoundError."""
        self._entries.remove(Price, price_name(self.price(name)))

    def stale(self, price: Price) -> bool:
        """It was looked up more than 90 days ago."""
        return is_stale(price, date.today())

    def price_of(self, provider: str, model: str) -> Price | None:
        """What a call of that model costs: the price of its provider, else of any ("*"); None where none is known.

        Args:
            provider: "local", a server's address, or a name; ``model`` as the ledger names it.
        """
        return _price_of(provider, model, self.prices())

    def spent(self, by: Sequence[Group]) -> tuple[tuple[UsageSum, Spent], ...]:
        """All calls ever, added up by what is named, with what they cost: each at the price of where it ran."""
        sums, prices = self._ledger.sums(), self.prices()
        return tuple(
            (one, _spent([s for s in sums if all(getattr(s, name) == getattr(one, name) for name in by)], prices))
            for one in added(sums, by)
        )

    def mean_call(self) -> Usage | None:
        """The mean call of the ledger; None when it is empty."""
        summed = self._ledger.total()
        if summed is None:
            return None
        n, used = summed.calls, summed.usage
        means = round(used.fresh / n), round(used.output / n), round(used.cache_read / n)
        return Usage(*means, estimated=used.estimated)

    def mean_seconds(self) -> float | None:
        """Of a call of the ledger; None when it is empty."""
        summed = self._ledger.total()
        return summed.seconds / summed.calls if summed else None

    def speed(self, name: str) -> Speed | None:
        """Generated tokens per second of a model, None where none were measured.

        Of its newest bench, else of the ledger: one request at a time. A server that batches does more: where that was
        measured, by the load test in which it wrote most.

        Args:
            name: the model's, or "URL#MODEL" for that server's ("local" for one that ran here).

        Raises:
            UsageError: it was measured in several places, whose speeds don't mix, and ``name`` doesn't say which.
        """
        place, _, model = name.rpartition("#")
        places = self.speed_places(model)
        if not place and len(places) > 1:
            why = tr("Calls of this model went to {places}.", places=", ".join(places))
            raise UsageError(tr("Which server?"), why, tr("Name it: {name}", name=f"{places[0]}#{model}"))
        where = place or next(iter(places), LOCAL)
        calls = [call for call in self._timed(model) if (call.server or LOCAL) == where]
        alone = (self._speed_of_bench(model) if where == LOCAL else None) or _speed_of_calls(calls)
        together = _speed_of_tests([test for test in self._tests(model) if test.url == where])
        return max(filter(None, (alone, together)), key=lambda speed: speed.tokens_per_second, default=None)

    def speed_places(self, model: str) -> tuple[str, ...]:
        """Where a model's speed was measured: addresses of servers, "local" for here."""
        found = {call.server or LOCAL for call in self._timed(model)} | {test.url for test in self._tests(model)}
        return tuple(sorted(found | ({LOCAL} if self._speed_of_bench(model) else set())))

    def _timed(self, model: str) -> list[Call]:
        return [call for call in self._ledger.calls(model=model) if call.tpot_ms]

    def _tests(self, model: str) -> list[LoadTest]:
        return [test for test in self._loads.all() if short_name(test.model) == model and not test.failed]

    def _speed_of_bench(self, model: str) -> Speed | None:
        for bench in self._benchmarks.benches():
            rows = self._benchmarks.report(bench.id).rows if any(m.name == model for m in bench.models) else ()
            for row in rows:
                found = next((figure for test, figure in row.speeds if test.startswith("tg")), None)
                if row.model.name == model and found:
                    return Speed(found.mean, tr("bench {id}", id=bench.id))
        return None


def _price_of(provider: str, model: str, prices: Iterable[Price]) -> Price | None:
    found = [p for p in prices if p.model == model and p.provider in (provider, "*")]
    return min(found, key=lambda p: p.provider == "*", default=None)


def _spent(sums: Iterable[UsageSum], prices: Sequence[Price]) -> Spent:
    amounts: dict[str, float] = {}
    unpriced, stale, priced = 0, False, list[Usage]()
    for one in sums:
        price = _price_of(one.server or LOCAL, one.model, prices)
        if price is None:
            unpriced += one.calls
            continue
        amounts[price.currency] = amounts.get(price.currency, 0.0) + call_cost(one.usage, price)
        stale = stale or is_stale(price, date.today())
        priced.append(one.usage)
    return Spent(amounts, unpriced, stale, estimated_among(priced))


def spent_words(spent: Spent) -> str:
    """ "0.0123 EUR": "≈" before estimates, "!" after an old price, "+ ?" for calls without one; "–" where none has."""
    told = [f"{amount(value)} {currency}" for currency, value in spent.amounts.items()]
    if not told:
        return "–"
    return (
        near(spent.estimated) + " + ".join([*told, *(["?"] if spent.unpriced else [])]) + (" !" if spent.stale else "")
    )


def price_name(price: Price) -> str:
    """ "provider#model"."""
    return f"{price.provider}#{price.model}"


def price_words(price: Price | None) -> str:
    """ "2/8 EUR": a million tokens read and written; "" for none."""
    return f"{price.input:g}/{price.output:g} {price.currency}" if price else ""


def _speed_of_tests(tests: Sequence[LoadTest]) -> Speed | None:
    if not tests:
        return None
    most = max(tests, key=lambda test: test.tokens_per_second)
    told = tr(
        "load test of {when}, {rate}/s", when=f"{most.created.astimezone():%Y-%m-%d %H:%M}", rate=f"{most.rate:g}"
    )
    return Speed(most.tokens_per_second, _marked(told, most.estimated))


def _speed_of_calls(calls: Sequence[Call]) -> Speed | None:
    tpots = [call.tpot_ms for call in calls if call.tpot_ms]
    if not tpots:
        return None
    told = tr("ledger, calls: {count}", count=len(tpots)) + (f", {calls[0].server}" if calls[0].server else "")
    return Speed(1000 * len(tpots) / sum(tpots), _marked(told, estimated_among(call.usage for call in calls)))


def _marked(told: str, estimated: bool | None) -> str:
    return ", ".join(filter(None, (told, marks_told(estimated))))
