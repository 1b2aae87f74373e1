"""Judgements of whole documents, as BEIR's and TREC's qrels hold them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from workbench.i18n import tr
from workbench.records.cases import Case, GoldSpan

_HIGHEST: Final = 3
_NAMED: Final = 5  # names of what isn't there that are told


class Judgements:
    """Grades by query and document.

    Our grades go from 0 to 3: higher ones (some TREC tracks have 4) become 3, negative ones (spam) 0; ``note`` says so.
    """

    def __init__(self) -> None:
        self._grades: dict[str, dict[str, int]] = {}
        self.note = ""

    @property
    def queries(self) -> tuple[str, ...]:
        """Those that have a judgement, in order."""
        return tuple(self._grades)

    def add(self, query: str, document: str, grade: str) -> str:
        """Takes one row; returns what is wrong with it, "" when nothing is."""
        try:
            given = int(grade)
        except ValueError:
            return tr("“{grade}” is no whole number", grade=grade[:40])
        if not (query and document):
            return tr("the query or the document has no name")
        used = min(max(given, 0), _HIGHEST)
        if used != given:
            self.note = tr("grades beyond 0–3 became 0 or 3")
        self._grades.setdefault(query, {})[document] = used
        return ""

    def strangers(self, queries: Collection[str], documents: Collection[str] | None = None) -> list[str]:
        """What is judged and isn't there, in sentences.

        Args:
            documents: all there are, None when that isn't known.
        """
        lost = [query for query in self._grades if query not in queries]
        told = [tr("judgements of {count} unknown queries stayed out: {names}", **_counted(lost))] if lost else []
        if documents is not None:
            judged = dict.fromkeys(name for query in self._grades for name in self._grades[query])
            absent = [name for name in judged if name not in documents]
            told += [tr("{count} judged documents aren't there: {names}", **_counted(absent))] if absent else []
        return told

    def update(self, other: Judgements, query: str) -> None:
        """Takes over what ``other`` says of one query."""
        self._grades.setdefault(query, {}).update(other._grades[query])

    def spans(self, query: str) -> tuple[GoldSpan, ...]:
        """The query's gold: whole documents."""
        return tuple(GoldSpan(document, grade=grade) for document, grade in self._grades.get(query, {}).items())


def _counted(names: Sequence[str]) -> dict[str, str]:
    """For a sentence: how many, and the first of them."""
    return {"count": f"{len(names):,}", "names": first_of(names)}


def first_of(names: Sequence[str]) -> str:
    """ "a, b, c, d, e, …"."""
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def lost_by_judging(cases: Iterable[Case]) -> set[str]:
    """What doesn't survive where whole documents are judged: where gold is, and cases that have none to be judged."""
    spans = [case.gold for case in cases]
    lost = {"gold.start", "gold.end"} if any(span.end for gold in spans for span in gold) else set()
    without = sum(not gold for gold in spans)
    return lost | {tr("{count} cases without gold", count=f"{without:,}")} if without else lost


def whole_documents(gold: Iterable[GoldSpan]) -> list[tuple[str, int]]:
    """(source_id, grade): the documents of ``gold`` in order, each with the best grade of its spans."""
    best: dict[str, int] = {}
    for span in gold:
        best[span.source_id] = max(span.grade, best.get(span.source_id, 0))
    return list(best.items())
