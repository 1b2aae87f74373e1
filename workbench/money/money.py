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
from workbench.records.servers import short_name
from workbench.records.usage import UsageSum
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

    def speed(self, model: str) -> Speed | None:
        """Generated tokens per second of a model, None where none were measured.

        Of its newest bench, else of the ledger: one request at a time. A server that batches does more: where that was
        measured, by the load test in which it wrote most.
        """
        alone, together = self._speed_alone(model), self._speed_together(model)
        measured = [speed for speed in (alone, together) if speed]
        return max(measured, key=lambda speed: speed.tokens_per_second, default=None)

    def _speed_together(self, model: str) -> Speed | None:
        tests = [test for test in self._loads.all() if short_name(test.model) == model and not test.failed]
        if not tests:
            return None
        most = max(tests, key=lambda test: test.tokens_per_second)
        when = f"{most.created.astimezone():%Y-%m-%d %H:%M}"
        told = tr("load test of {when}, {rate}/s", when=when, rate=f"{most.rate:g}")
        marked = marks_told(most.estimated)
        return Speed(most.tokens_per_second, told + (f", {marked}" if marked else ""))

    def _speed_alone(self, model: str) -> Speed | None:
        """Of the ledger only the calls to where the newest one went count: speeds of several servers don't mix."""
        for bench in self._benchmarks.benches():
            rows = self._benchmarks.report(bench.id).rows if any(m.name == model for m in bench.models) else ()
            for row in rows:
                found = next((figure for test, figure in row.speeds if test.startswith("tg")), None)
                if row.model.name == model and found:
                    return Speed(found.mean, tr("bench {id}", id=bench.id))
        timed = [call for call in self._ledger.calls(model=model) if call.tpot_ms]
        there = [call for call in timed if call.server == timed[0].server]
        tpots = [call.tpot_ms for call in there if call.tpot_ms]
        if not tpots:
            return None
        told = tr("ledger, calls: {count}", count=len(tpots)) + (f", {timed[0].server}" if timed[0].server else "")
        marked = marks_told(estimated_among(call.usage for call in there))
        return Speed(1000 * len(tpots) / sum(tpots), told + (f", {marked}" if marked else ""))


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
