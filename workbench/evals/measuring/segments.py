"""Segments: cases that share a type, a language, a difficulty or a tag, because a mean over all hides what they do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.cases import Case

FIELDS: Final = ("type", "language", "difficulty", "tag")


def segments_of(case: Case) -> tuple[tuple[str, str], ...]:
    """The segments that a case belongs to: (field, value) of each field with a value, and each of its tags."""
    fields = tuple((name, getattr(case, name)) for name in FIELDS if name != "tag")
    return tuple((name, value) for name, value in fields if value) + tuple(("tag", tag) for tag in case.tags)


def groups_of(cases: Sequence[Case]) -> dict[tuple[str, str], list[Case]]:
    """The cases of each segment, fields in the order of ``FIELDS``, the largest first; one that has all is left out."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        for key in segments_of(case):
            groups.setdefault(key, []).append(case)
    ordered = sorted(groups.items(), key=lambda item: (FIELDS.index(item[0][0]), -len(item[1]), item[0][1]))
    return {key: members for key, members in ordered if len(members) < len(cases)}


def members_of(segment: tuple[str, str], cases: Iterable[Case]) -> tuple[Case, ...]:
    """The cases in a segment. Raises UsageError, naming the segments there are, when there is none."""
    known = list(cases)
    found = tuple(case for case in known if segment in segments_of(case))
    if not found:
        raise UsageError(
            tr("No such segment"),
            tr("No case has {field}={value}.", field=segment[0], value=segment[1]),
            _there_are(known),
        )
    return found


def parts_by(field: str, cases: Sequence[Case]) -> dict[str, tuple[Case, ...]]:
    """The cases by their values of ``field``, in the order in which these come first. Raises UsageError for none."""
    values = dict.fromkeys(value for case in cases for name, value in segments_of(case) if name == field)
    if not values:
        raise UsageError(
            tr("Nothing to split by"), tr("No case has a value of “{field}”.", field=field), _there_are(cases)
        )
    return {value: members_of((field, value), cases) for value in values}


def _there_are(cases: Iterable[Case]) -> str:
    """ "There are: type=table, text; language=en, es." """
    there = sorted({segment for case in cases for segment in segments_of(case)})
    told = (f"{field}={', '.join(value for _, value in those)}" for field, those in groupby(there, lambda s: s[0]))
    return tr("There are: {names}.", names="; ".join(told)) if there else tr("Its cases have no segments.")
