"""Costs of calls, months and machines.

Sources: the billing categories of hosted models; Ellram (1995) for total cost of ownership; cost-volume-profit analysis
for the break-even.
"""

from __future__ import annotations

import math
from datetime import date
from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.money import CachePlan, Price, Usage

MILLION: Final = 1_000_000
STALE_DAYS: Final = 90
"""A price, or facts of an offer, looked up longer ago than this are marked as stale."""


def call_cost(usage: Usage, price: Price) -> float:
    """C = (T_i·P_i + T_o·P_o + T_cr·P_cr + T_cw·P_cw) / 10⁶, in the price's currency."""
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    return (
        usage.fresh * price.input + usage.output * price.output + usage.cache_read * read + usage.cache_write * write
    ) / MILLION


def cache_plan(prefix: int, fresh: int, output: int, price: Price) -> CachePlan:
    """What caching a stable ``prefix`` does for calls that add ``fresh`` tokens and get ``output`` tokens.

    The cache pays from N calls on when write + (N - 1)·read < N·full, so N > (write - read) / (full - read).
    """
    full = call_cost(Usage(prefix + fresh, output), price)
    write = call_cost(Usage(fresh, output, cache_write=prefix), price)
    read = call_cost(Usage(fresh, output, cache_read=prefix), price)
    if write < full:
        return CachePlan(full, write, read, 1)
    saved = full - read
    # Rounded first: (w - r)/(f - r) that is a whole number must not become the next one by a bit of its binary tail.
    calls = math.floor(round((write - read) / saved, 9)) + 1 if saved > 0 else None
    return CachePlan(full, write, read, calls)


def amount(value: float) -> str:
    """Money with two decimals; under 1, with three digits that say something: "0.000846"."""
    if abs(value) >= 1 or value == 0:
        return f"{value:,.2f}"
    return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}"


def hit_ratio(usage: Usage) -> float | None:
    """H = input tokens served from the cache / input tokens; None without input."""
    return usage.cache_read / usage.input if usage.input else None


def is_stale(price: Price, today: date) -> bool:
    """It was looked up more than ``STALE_DAYS`` days ago."""
    return (today - price.checked).days > STALE_DAYS


def refuse_future(checked: date) -> None:
    """Raises UsageError for a day that is yet to come: what was looked up then would never be old."""
    if checked > date.today():
        raise UsageError(
            tr("Not a day to look something up"),
            tr("{day} is yet to come.", day=checked),
            tr("Give the day on which it was looked up."),
        )


def cloud_month(requests: float, per_request: float, fixed: float = 0.0) -> float:
    """N · cost of a request + what is paid whatever the volume (tools, storage, observability)."""
    return requests * per_request + fixed


def local_month(
    hardware: float,
    months: float,
    energy: float = 0.0,
    operation: float = 0.0,
    maintenance: float = 0.0,
    failures: float = 0.0,
) -> float:
    """Hardware written off over ``months``, and what it costs to keep it running, a month.

    Raises:
        UsageError: ``months`` isn't positive.
    """
    _positive(months, tr("Months of use"))
    return hardware / months + energy + operation + maintenance + failures


def break_even_requests(local: float, per_request: float) -> int | None:
    """Requests a month from which on a fixed ``local`` cost is less than paying per request; None when never.

    N = C_local / C_request, the break-even of cost-volume analysis, as the first whole number of requests.
    """
    return math.ceil(round(local / per_request, 6)) if per_request > 0 else None


def tco(tokens: float, infrastructure: float, operation: float, change: float) -> float:
    """Total cost of ownership of a month: tokens + infrastructure + operation + change (versions, migrations)."""
    return tokens + infrastructure + operation + change


def gpu_month(active_hours: float, idle_hours: float, hour: float, extras: float = 0.0) -> float:
    """A rented GPU's month: idle hours are paid like busy ones; storage, traffic, images and operation are extras."""
    return (active_hours + idle_hours) * hour + extras


def per_million_tokens(hour: float, tokens_per_second: float, utilisation: float) -> float:
    """C_1M = P_hour / (3600 · R · U) · 10⁶: what a million generated tokens cost on a machine paid by the hour.

    Args:
        tokens_per_second: measured, of all requests together.
        utilisation: share of the time that it generates, in (0, 1].

    Raises:
        UsageError: a speed that isn't positive, or a utilisation outside (0, 1].
    """
    _positive(tokens_per_second, tr("Tokens per second"))
    if not 0 < utilisation <= 1:
        raise UsageError(
            tr("Not a utilisation"),
            tr("{value} is not a share of the time.", value=utilisation),
            tr("Give a number above 0 and up to 1."),
        )
    return hour / (3600 * tokens_per_second * utilisation) * MILLION


def _positive(value: float, name: str) -> None:
    if not value > 0 or math.isinf(value):
        raise UsageError(
            tr("Not a positive number"), tr("{name}: {value}.", name=name, value=value), tr("Give a number above 0.")
        )
