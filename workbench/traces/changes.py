"""Changes of a what-if as a person writes them: ``k0=10,lexical.k=20,evidence=8,order=edges``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final, NoReturn, TypeAlias

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.answers import EvidenceOrder
from workbench.records.rerankers import LATE, NONE
from workbench.records.retrieval import Lane, RerankMode
from workbench.records.traces import WhatIf

OFF: Final = "off"
_OWN: Final = "own"
ORDERS: Final[Mapping[str, EvidenceOrder]] = {"first": "best_first", "last": "best_last", "edges": "edges"}

_Change: TypeAlias = Callable[[WhatIf, str], WhatIf]


def parse_changes(written: str, settings: WhatIf, rerankers: Collection[RerankMode] = ()) -> WhatIf:
    """``settings`` with the changes of ``written``: ``name=value`` pairs between commas.

    Names: lexical.k, dense.k, lexical, dense (off), fusion (rrf, weights), k0, lexical.weight, dense.weight (a weight
    implies fusion=weights), rerank (on, off, one of ``rerankers``), k, evidence, mmr (0–1, off), budget (tokens, off),
    order (first, last, edges), duplicates, parents (on, off), threshold (0–1, own: the collection's).

    Args:
        rerankers: that the trace has scores of, beside the one of ``settings``.

    Raises:
        UsageError: a name isn't known, or its value makes no sense.
    """
    scored = dict.fromkeys((NONE, settings.rerank, *rerankers))
    for pair in filter(None, (part.strip() for part in written.split(","))):
        name, _, value = (part.strip() for part in pair.partition("="))
        change = _CHANGES.get(name)
        if change is None:
            _fail(tr("There is no setting “{name}”.", name=name))
        try:
            settings = change(settings, value)
        except (ValueError, KeyError):
            takes = _TAKES[name.partition(".")[2] or name]
            _fail(tr("“{value}” is no value for “{name}”, which takes {takes}.", value=value, name=name, takes=takes))
    if settings.rerank not in scored:
        names = ", ".join(OFF if name == NONE else name for name in scored)
        _fail(tr("The trace holds no scores of “{name}”. Rerankers: {names}.", name=settings.rerank, names=names))
    if problem := nothing_ranked(settings):
        _fail(problem)
    return settings


def nothing_ranked(settings: WhatIf) -> str:
    """Why no hit could be ranked under ``settings``, "" when some can."""
    most: Mapping[Lane, int] = {"lexical": settings.lexical_k, "dense": settings.dense_k}
    if not any(most.values()):
        return tr("With both lanes off there is nothing to rank.")
    if settings.fusion == "weights" and not any(weight for lane, weight in settings.weights if most[lane]):
        return tr("With no weight on any lane there is nothing to rank.")
    return ""


def _fail(problem: str) -> NoReturn:
    raise UsageError(
        tr("Change not understood"),
        problem,
        tr("Write name=value between commas. Names: {names}.", names=", ".join(_CHANGES)),
    )


def _whole(value: str, least: int = 1) -> int:
    number = int(value)
    if number < least:
        raise ValueError(value)
    return number


def _real(value: str, most: float) -> float:
    number = float(value)
    if not 0 <= number <= most:
        raise ValueError(value)
    return number


def _lane_k(settings: WhatIf, lane: Lane, k: int) -> WhatIf:
    return replace(settings, lexical_k=k) if lane == "lexical" else replace(settings, dense_k=k)


def _evidence(settings: WhatIf, evidence: int) -> WhatIf:
    """No more is kept than is offered."""
    return replace(settings, evidence=evidence, k=max(settings.k, evidence))


def _off(lane: Lane) -> _Change:
    def change(settings: WhatIf, value: str) -> WhatIf:
        if value != OFF:
            raise ValueError(value)
        return _lane_k(settings, lane, 0)

    return change


def _weight(lane: Lane) -> _Change:
    def change(settings: WhatIf, value: str) -> WhatIf:
        weights = tuple((name, _real(value, 1e6) if name == lane else old) for name, old in settings.weights)
        return replace(settings, fusion="weights", weights=weights)

    return change


def _fusion(settings: WhatIf, value: str) -> WhatIf:
    if value not in ("rrf", "weights"):
        raise ValueError(value)
    return replace(settings, fusion="rrf" if value == "rrf" else "weights")


def _rerank(settings: WhatIf, value: str) -> WhatIf:
    if not value:
        raise ValueError(value)
    words = {OFF: NONE, "on": LATE if settings.rerank == NONE else settings.rerank}
    return replace(settings, rerank=words.get(value, value))


_CHANGES: Final[Mapping[str, _Change]] = {
    "lexical.k": lambda s, value: _lane_k(s, "lexical", _whole(value)),
    "dense.k": lambda s, value: _lane_k(s, "dense", _whole(value)),
    "lexical": _off("lexical"),
    "dense": _off("dense"),
    "fusion": _fusion,
    "k0": lambda s, value: replace(s, k0=_whole(value, 0)),
    "lexical.weight": _weight("lexical"),
    "dense.weight": _weight("dense"),
    "rerank": _rerank,
    "k": lambda s, value: replace(s, k=_whole(value)),
    "evidence": lambda s, value: _evidence(s, _whole(value)),
    "mmr": lambda s, value: replace(s, mmr=None if value == OFF else _real(value, 1)),
    "budget": lambda s, value: replace(s, budget=None if value == OFF else _whole(value)),
    "order": lambda s, value: replace(s, order=ORDERS[value]),
    "duplicates": lambda s, value: replace(s, duplicates={"on": True, OFF: None}[value]),
    "parents": lambda s, value: replace(s, parents={"on": None, OFF: False}[value]),
    "threshold": lambda s, value: replace(s, threshold=None if value == _OWN else _real(value, 1)),
}
_TAKES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("k", "evidence"), "1, 2, 3 …"),
    **dict.fromkeys(("lexical", "dense"), OFF),
    "k0": "0, 1, 2 …",
    "weight": "0 … 1000000",
    "fusion": "rrf, weights",
    "rerank": "on, off, late …",
    "threshold": f"0 … 1, {_OWN}",
    "mmr": "0 … 1, off",
    "budget": "1, 2, 3 …, off",
    "order": ", ".join(ORDERS),
    **dict.fromkeys(("duplicates", "parents"), f"on, {OFF}"),
}
"""Values by the last part of a setting's name."""
