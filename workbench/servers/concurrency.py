"""Many requests at once: a steady rate of arrivals, what each took, and Little's law held against the count."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from workbench.errors import ServerError
from workbench.evals.metrics.operation import percentile
from workbench.i18n import tr
from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import Flight, LoadTest
from workbench.servers.dialect import OTHER_SHAPE, Dialect
from workbench.servers.wire import Wire

_TOLD_S: Final = 0.5
_POLL_S: Final = 0.02  # how soon a stop is noticed
QUESTIONS: Final = (
    "Name three primary colours.",
    "Write a sentence about the sea.",
    "What is the capital of France?",
    "Escribe una frase sobre el mar.",
    "¿Cuántos días tiene una semana?",
)


def load_test(
    wire: Wire,
    dialect: Dialect,
    model: str,
    rate: float,
    requests: int,
    max_tokens: int = 16,
    cancel: Cancel | None = None,
) -> Iterator[LoadTest]:
    """Sends ``requests`` requests, ``rate`` a second, whether or not earlier ones are answered.

    Yields what there is by now, about twice a second, and at the end the whole. A stop sends no more and ends those
    under way, which count as failed.
    """
    start = told = time.perf_counter()
    flights: queue.SimpleQueue[Flight] = queue.SimpleQueue()
    ended: list[Flight] = []
    sent = 0

    def fly(number: int) -> None:
        flights.put(_fly(wire, dialect, model, number, max_tokens, start, cancel))

    def so_far() -> LoadTest:
        while not flights.empty():
            ended.append(flights.get())
        found = summary(wire.endpoint.url, model, rate, sorted(ended, key=lambda flight: flight.sent_s))
        now = datetime.now(UTC)
        return replace(found, sent=sent, asked=requests, max_tokens=max_tokens, kind=dialect.kind, created=now)

    while sent < requests and not (cancel is not None and cancel.is_set()):
        left = start + sent / rate - time.perf_counter()
        if left > 0:
            time.sleep(min(left, _POLL_S))
        elif _starts(fly, sent):
            sent += 1
        else:
            break
        if time.perf_counter() - told > _TOLD_S:
            told = time.perf_counter()
            yield so_far()
    while len(ended) < sent:  # a stop is noticed by each of them
        with suppress(queue.Empty):
            ended.append(flights.get(timeout=_TOLD_S))
        if time.perf_counter() - told > _TOLD_S:
            told = time.perf_counter()
            yield so_far()
    yield so_far()


def _starts(fly: Callable[[int], None], number: int) -> bool:
    """Whether a request could be sent: a machine has only so many threads."""
    try:
        threading.Thread(target=fly, args=(number,), name=f"request {number}", daemon=True).start()
    except RuntimeError:
        return False
    return True


def summary(url: str, model: str, rate: float, flights: Sequence[Flight]) -> LoadTest:
    """What the flights amount to.

    The mean number in the system is the area under the count of those in flight, divided by the time that passed; λ·W
    is arrivals per second over that time, times the mean time in the system. They are equal when every request is
    counted from its arrival to its end (Little, 1961), so a difference tells of one that isn't.
    """
    answered = [flight for flight in flights if not flight.error]
    if not answered:
        nothing = LoadTest(url, model, rate, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None, 0.0, len(flights), tuple(flights))
        return replace(nothing, sent=len(flights))
    seconds = [flight.seconds for flight in answered]
    first = min(flight.sent_s for flight in answered)
    passed = max(flight.done_s for flight in answered) - first
    ttft = [flight.ttft_s for flight in answered if flight.ttft_s is not None]
    mean = sum(seconds) / len(seconds)
    noted = {flight.estimated for flight in answered}
    return LoadTest(
        url,
        model,
        rate,
        served=len(answered) / passed,
        in_system=_mean_count(answered) if passed else 0.0,
        little=len(answered) / passed * mean,
        mean_s=mean,
        p50_s=percentile(seconds, 0.5) or 0.0,
        p95_s=percentile(seconds, 0.95) or 0.0,
        ttft_p50_s=percentile(ttft, 0.5),
        tokens_per_second=sum(flight.output_tokens for flight in answered) / passed,
        failed=len(flights) - len(answered),
        flights=tuple(flights),
        sent=len(flights),
        estimated=True if True in noted else None if None in noted else False,
    )


def _mean_count(flights: Sequence[Flight]) -> float:
    """Of those in flight, over the time from the first arrival to the last end."""
    moments = sorted([(flight.sent_s, 1) for flight in flights] + [(flight.done_s, -1) for flight in flights])
    area, count, before = 0.0, 0, moments[0][0]
    for moment, change in moments:
        area += count * (moment - before)
        count, before = count + change, moment
    return area / (moments[-1][0] - moments[0][0])


def _fly(
    wire: Wire, dialect: Dialect, model: str, number: int, max_tokens: int, start: float, cancel: Cancel | None
) -> Flight:
    sent = time.perf_counter() - start
    first: float | None = None
    pieces, counted, error, reason = 0, None, "", ""
    try:
        messages = [Message("user", QUESTIONS[number % len(QUESTIONS)])]
        settings = GenerationSettings(max_tokens=max_tokens, seed=number)
        for delta in dialect.chat(wire, model, messages, settings, cancel):
            if delta.text:
                first = first or delta.at - start
                pieces += 1
            if delta.times and delta.times.output_tokens is not None:
                counted = delta.times.output_tokens
            reason = delta.reason or reason
        error = "" if reason else tr("the answer has no end")
    except ServerError as failure:
        error = failure.message
    except OTHER_SHAPE as failure:  # in a thread of its own, where nobody else would hear of it
        error = tr("a reply of another shape: {reason}", reason=f"{type(failure).__name__} {failure}")
    if cancel is not None and cancel.is_set():
        error = tr("stopped")
    done = time.perf_counter() - start
    ttft = first - sent if first is not None else None
    return Flight(sent, ttft, done, pieces if counted is None else counted, error, counted is None)
