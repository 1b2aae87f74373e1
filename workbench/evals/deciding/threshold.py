"""Choosing τ, the least support that an answer needs, from what a run answered: the risk–coverage curve.

Coverage is the share of cases answered at a τ, risk the share of those answers that are wrong (El-Yaniv & Wiener,
*On the foundations of noise-free selective classification*, JMLR 2010; the rule of rejection is Chow's, 1970).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.evals.measuring.statistics import wilson
from workbench.records.cases import Case
from workbench.records.evals import CaseResult, ThresholdPoint

_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class _Judged:
    """A case as the curve sees it; ``support`` is None where it isn't answered at any τ."""

    support: float | None
    answerable: bool
    right: bool


def risk_coverage(results: Iterable[CaseResult], cases: Iterable[Case]) -> tuple[ThresholdPoint, ...]:
    """A point for each distinct support of an answer, τ rising: at that τ, answers of that support and more are given.

    An answer to a case that can't be answered is wrong. Below the τ of the run itself nothing is known of the answers
    it held back, so the curve begins there: run with τ = 0 to see all of it. Cases without an answer on record, and
    answerable ones that were answered and not scored, are left out. Empty when nothing was answered.

    Each τ is its point's support, rounded down as far as that lets no other answer through, so that what is read, typed
    and stored is one number: 0.8876, shown as 0.888, would hold the answer back that its own row counts.
    """
    known = tuple(results)
    judged = _judged(known, {case.id: case for case in cases})
    measured = sorted({result.answer.support for result in known if result.answer})
    supports = sorted({case.support for case in judged if case.support is not None})
    return tuple(_point(_rounded(support, measured), judged) for support in supports)


def threshold_text(threshold: float) -> str:
    """τ with all its digits, three at least: "0.700"."""
    return max(f"{threshold:.{_DIGITS}f}", str(threshold), key=len)


def choose_threshold(points: Sequence[ThresholdPoint], max_risk: float) -> ThresholdPoint | None:
    """The point of largest coverage whose risk is at most ``max_risk`` with its bound, as with gates; None without one.

    It is chosen on the cases it was measured on, so it looks better than it is: check it on others.
    """
    return max((p for p in points if risk_bound(p) <= max_risk), key=lambda p: p.coverage, default=None)


def nearest_threshold(points: Sequence[ThresholdPoint]) -> ThresholdPoint:
    """The point whose risk is bounded lowest: what comes nearest where ``choose_threshold`` finds none."""
    return min(points, key=lambda p: (risk_bound(p), -p.coverage))


def risk_bound(point: ThresholdPoint) -> float:
    """The upper end of the risk's interval (Wilson)."""
    return wilson(point.risk, point.answered).high


def _rounded(support: float, measured: Sequence[float]) -> float:
    """Between the next lower one of ``measured`` and ``support``, with as few digits as there are room for."""
    at = bisect_left(measured, support)
    below = measured[at - 1] if at else -math.inf
    for digits in range(_DIGITS, 16):
        rounded = math.floor(round(support * 10.0**digits, 3)) / 10.0**digits  # 0.57 · 1000 is a little less than 570
        if below < rounded <= support:
            return rounded
    return support


def _judged(results: Iterable[CaseResult], cases: Mapping[str, Case]) -> list[_Judged]:
    found: list[_Judged] = []
    for result in results:
        case, answer = cases.get(result.case_id), result.answer
        if case is None or answer is None or result.error:
            continue
        answered = answer.spoken
        if answered and case.answerable and result.passed is None:
            continue
        right = answered and case.answerable and bool(result.passed)
        found.append(_Judged(answer.support if answered else None, case.answerable, right))
    return found


def _point(threshold: float, judged: Sequence[_Judged]) -> ThresholdPoint:
    given = [case for case in judged if case.support is not None and case.support >= threshold]
    hopeless = sum(not case.answerable for case in judged)
    unsupported = sum(not case.answerable for case in given) / hopeless if hopeless else None
    return ThresholdPoint(
        threshold=threshold,
        coverage=len(given) / len(judged),
        risk=sum(not case.right for case in given) / len(given),
        correct_abstention=None if unsupported is None else 1 - unsupported,
        unsupported=unsupported,
        cases=len(judged),
        answered=len(given),
        unanswerable=hopeless,
    )
