"""Links to what was measured here, and the values that they name: how a sheet is filled without typing numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from workbench.benchmarks import Benchmarks
from workbench.errors import NotFoundError, UsageError
from workbench.evals.lab import EvalLab
from workbench.evals.measuring.statistics import open_ended, order_interval
from workbench.i18n import tr
from workbench.money.costs import call_cost
from workbench.money.money import LOCAL, Money
from workbench.records.decisions import Value
from workbench.records.evals import Estimate
from workbench.records.money import estimated_among
from workbench.records.servers import short_name

LINKS: Final = "run:12:recall@5, bench:3:MODEL:tg128, calls:MODEL:p95, load:MODEL:p95, cost:PROVIDER#MODEL:call"
_NAMED: Final = ("calls", "load", "cost")
"""Kinds of links that name a model, which may hold colons."""
_SENTENCE: Final = re.compile(r"(.*) \(((?:run|bench|calls|load|cost):.+)\)")


def links_in(sentences: Iterable[str]) -> dict[str, str]:
    """The links in a decision's evidence, as it was written down from a sheet, each with what is said of it."""
    return {found[2]: found[1] for said in sentences if (found := _SENTENCE.fullmatch(said))}


class Measurements:
    """Values by their links.

    ``run:ID:METRIC`` is an evaluation's metric over all its cases; ``bench:ID:MODEL:TEST`` a benchmark's speed, or
    ``ttft|ttft_p95|total|total_p95`` of its prompts in milliseconds, which a server's model has too;
    ``calls:MODEL:ttft|tpot|p95`` of the ledger's calls, in milliseconds: medians, and the time that 95 % stay under; of
    those on one server as ``calls:URL#MODEL:…`` ("local" for here), which has to be said where there are several;
    ``load:MODEL:p50|p95|ttft|ttft_p95|tokens`` of a model's newest load test (or ``load:URL#MODEL:…``): times in
    milliseconds, tokens per second of all answers together;
    ``cost:PROVIDER#MODEL:input|output|call`` a price of a million tokens, or the ledger's mean call at it: the same
    call for every option, so that a model that was never called here can be compared.
    """

    def __init__(self, evals: EvalLab, benchmarks: Benchmarks, money: Money) -> None:
        self._evals, self._benchmarks, self._money = evals, benchmarks, money

    def value(self, link: str) -> Value:
        """The value that a link names, with its interval where it has one, and the link as its evidence.

        Raises:
            UsageError: it is no link.
            NotFoundError: no such run, bench or price, or nothing of that name was measured there.
        """
        kind, _, rest = link.partition(":")
        number, _, name = rest.partition(":")
        whose, _, figure = rest.rpartition(":")
        if kind in ("run", "bench") and number.isdecimal() and name:
            found = self._of_run(int(number)) if kind == "run" else self._of_bench(int(number))
        elif kind in _NAMED and whose and figure:
            found = {"calls": self._of_calls, "load": self._of_load, "cost": self._of_price}[kind](whose)
            name = figure
        else:
            raise UsageError(
                tr("Not a link to a measurement"),
                tr("“{link}” names none.", link=link),
                tr("E.g. {links}", links=LINKS),
            )
        if name not in found:
            raise NotFoundError(
                tr("Nothing was measured there"), tr("“{link}” names no figure.", link=link), _there_are(found)
            )
        return replace(found[name], evidence=link)

    def _of_run(self, run_id: int) -> dict[str, Value]:
        return {name: _of(found) for name, found in self._evals.report(run_id).overall.metrics.items()}

    def _of_bench(self, bench_id: int) -> dict[str, Value]:
        """By "MODEL:TEST"; a server's model has times alone."""
        found: dict[str, Value] = {}
        for row in self._benchmarks.report(bench_id).rows:
            named = {test: Value(speed.mean, speed.low, speed.high) for test, speed in row.speeds}
            for name, times in (("ttft", row.ttft_ms), ("total", row.total_ms)):
                if times and times.values:
                    named |= {name: _percentile(times.values, 0.5), f"{name}_p95": _percentile(times.values, 0.95)}
            found |= {f"{row.model.name}:{name}": value for name, value in named.items()}
        return found

    def _of_calls(self, whose: str) -> dict[str, Value]:
        place, hash_, model = whose.rpartition("#")
        server = ("" if place == LOCAL else place) if hash_ else None
        calls = self._money.ledger.calls(model=model, server=server)
        places = sorted({call.server or LOCAL for call in calls})
        if len(places) > 1:
            why = tr("Calls of this model went to {places}.", places=", ".join(places))
            named = tr("Name it: calls:{place}#{model}:p95", place=places[0], model=model)
            raise UsageError(tr("Which server?"), why, named)
        times = {
            "ttft": ([c.ttft_ms for c in calls if c.ttft_ms is not None], 0.5),
            "tpot": ([c.tpot_ms for c in calls if c.tpot_ms is not None], 0.5),
            "p95": ([c.total_ms for c in calls], 0.95),
        }
        found = {name: _percentile(measured, q) for name, (measured, q) in times.items() if measured}
        if tpot := found.get("tpot"):  # a time by tokens; the others are times alone
            found["tpot"] = replace(tpot, estimated=estimated_among(c.usage for c in calls if c.tpot_ms is not None))
        return found

    def _of_load(self, whose: str) -> dict[str, Value]:
        place, _, model = whose.rpartition("#")
        loads = self._money.loads
        tests = [test for test in loads.all(place) if model in (test.model, short_name(test.model))]
        if not tests:
            return {}
        measured = {f.name: _of(f.now, 1000) for f in loads.figures(tests[0], tests[0]) if f.now}
        known = {"ttft": "ttft_p50", "ttft_p95": "ttft_p95", "p50": "p50", "p95": "p95"}
        times = {name: measured[figure] for name, figure in known.items() if figure in measured}
        return {"tokens": Value(tests[0].tokens_per_second, estimated=tests[0].estimated)} | times

    def _of_price(self, name: str) -> dict[str, Value]:
        price = self._money.price(name)
        call = self._money.mean_call()
        asked = {"input": price.input, "output": price.output}
        found = {figure: Value(cost, unit=price.currency) for figure, cost in asked.items()}
        if call:
            found["call"] = Value(call_cost(call, price), unit=price.currency, estimated=call.estimated)
        return found


def _of(found: Estimate, scale: float = 1.0) -> Value:
    """An interval whose upper bound lies beyond all that was measured has none here either."""
    high = None if open_ended(found) else found.high * scale
    return Value(found.value * scale, found.low * scale, high, estimated=found.estimated)


def _percentile(measured: Sequence[float], q: float) -> Value:
    return _of(order_interval(np.array(measured), q))


def _there_are(found: Iterable[str]) -> str:
    names = ", ".join(found)
    return tr("There are: {names}", names=names) if names else tr("Ask, bench or load it first.")
