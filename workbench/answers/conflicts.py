"""Conflicts: two sources of one subject, of different version or date, that give different numbers for the same thing.

The rule, made to stay silent unless it is nearly sure. A unit that the answer cites clashes with a unit of another
document in the evidence when

1. both documents have the same title (but for numbers), or both units' chunks stand under the same last heading;
2. the documents' metadata differ in version, or in date (``valid_from``, else ``date``);
3. of that document's units it is the one most like it, it shares at least three content words with it, and three
   quarters of the shorter one's;
4. each has a number that the other hasn't (words for numbers count), and they don't each name a year of their own:
   "in 2024, 100 visitors" and "in 2025, 120 visitors" are both true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from workbench.answers.citations import citation_of
from workbench.answers.extractive import UnitsOf
from workbench.answers.numerals import counted, uncounted
from workbench.answers.prompt import quotable
from workbench.answers.units import Unit
from workbench.i18n import tr
from workbench.records.answers import Claim, Conflict, Evidence
from workbench.records.corpus import Metadata
from workbench.text.words import fold, stems, words

SHARED: Final = 3
ALIKE: Final = 0.75

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_COUNTING: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Clash:
    """Two units that contradict each other, the newer one first where that can be told."""

    newer: tuple[Evidence, Unit]
    older: tuple[Evidence, Unit]


def clashes(
    claims: Sequence[Claim],
    evidence: Sequence[Evidence],
    units_of: UnitsOf,
    metadata_of: Callable[[str], Metadata],
) -> tuple[Clash, ...]:
    """The clashes of what ``claims`` cite with the other evidence, each pair once.

    Args:
        metadata_of: of the document with that id.
    """
    found: dict[frozenset[tuple[str, int]], Clash] = {}
    for piece, unit in _cited(claims, evidence, units_of):
        for other in evidence:
            if not _one_subject(piece, other):
                continue
            mine, its = metadata_of(piece.document_id), metadata_of(other.document_id)
            if not _versions_differ(mine, its):
                continue
            rival = _rival(unit, piece.language, units_of(other), other.language)
            if rival:
                pair = ((piece, unit), (other, rival))
                newer, older = pair if _age(mine) >= _age(its) else pair[::-1]
                key = frozenset({(piece.document_id, unit.start), (other.document_id, rival.start)})
                found.setdefault(key, Clash(newer, older))
    return tuple(found.values())


def conflict(clash: Clash, metadata_of: Callable[[str], Metadata], language: str) -> Conflict:
    """The clash in words, which name both sources with their versions and dates, in ``language``."""
    (one, first), (other, second) = clash.newer, clash.older
    when, before = (_when(metadata_of(piece.document_id), language) for piece in (one, other))
    text = tr(
        "The sources disagree. “{title}” ({when}): “{newer}” [{label}]; “{other}” ({before}): “{older}” [{mark}].",
        language,
        title=_line(one.title),
        when=when,
        newer=_line(first.shown),
        label=one.label,
        other=_line(other.title),
        before=before,
        older=_line(second.shown),
        mark=other.label,
    )
    return Conflict(text, citation_of(one, first.start, first.end), citation_of(other, second.start, second.end))


def _cited(claims: Iterable[Claim], evidence: Sequence[Evidence], units_of: UnitsOf) -> Iterator[tuple[Evidence, Unit]]:
    by_label = {piece.label: piece for piece in evidence}
    for citation in (citation for claim in claims for citation in claim.citations):
        piece = by_label[citation.label]
        yield from (
            (piece, unit) for unit in units_of(piece) if (unit.start, unit.end) == (citation.start, citation.end)
        )


def _one_subject(one: Evidence, other: Evidence) -> bool:
    if one.document_id == other.document_id:
        return False
    titles = _COUNTING.sub("", fold(one.title)).split(), _COUNTING.sub("", fold(other.title)).split()
    headings = [fold(piece.heading[-1]) if piece.heading else "" for piece in (one, other)]
    return (bool(titles[0]) and titles[0] == titles[1]) or (bool(headings[0]) and headings[0] == headings[1])


def _versions_differ(one: Metadata, other: Metadata) -> bool:
    return any(
        mine is not None and its is not None and mine != its
        for mine, its in ((one.get("version"), other.get("version")), (_moment(one), _moment(other)))
    )


def _moment(metadata: Metadata) -> date | None:
    return next((v for key in ("valid_from", "date") if isinstance(v := metadata.get(key), date)), None)


def _age(metadata: Metadata) -> tuple[date, tuple[int, ...]]:
    """Sorts by date, then by the numbers of the version."""
    return _moment(metadata) or date.min, tuple(map(int, _COUNTING.findall(str(metadata.get("version", "")))))


def _when(metadata: Metadata, language: str) -> str:
    moment, version = _moment(metadata), metadata.get("version")
    told = (tr("version {version}", language, version=_line(str(version))) if version is not None else "", moment)
    return ", ".join(str(part) for part in told if part)


def _rival(unit: Unit, language: str, units: Sequence[Unit], its_language: str) -> Unit | None:
    """The unit most like ``unit``, when it gives other numbers; as like and with the same numbers, nothing clashes."""
    mine = _content(unit.shown, language)
    alike: list[tuple[float, bool, Unit]] = []
    for other in units:
        its = _content(other.shown, its_language)
        shared = len(mine & its)
        if shared >= SHARED and shared >= ALIKE * min(len(mine), len(its)):
            alike.append((shared / len(mine | its), not _disagree(unit.shown, other.shown, language), other))
    if not alike:
        return None
    _, agrees, rival = max(alike, key=lambda found: found[:2])
    return None if agrees else rival


def _disagree(one: str, other: str, language: str) -> bool:
    a, b = counted(one, language), counted(other, language)
    if not (a - b and b - a):
        return False
    return not (any(map(_YEAR.fullmatch, a - b)) and any(map(_YEAR.fullmatch, b - a)))


def _content(text: str, language: str) -> frozenset[str]:
    """Stems of the content words that are no numbers."""
    kept = (w for w in words(uncounted(text, language)) if not any(map(str.isdigit, w)))
    return frozenset(stems(" ".join(kept), language))


def _line(text: str) -> str:
    return quotable(text)
