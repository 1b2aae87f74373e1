"""What weakens a figure before anyone looks at it: too few cases, nothing unanswerable, a suspicious 100 %."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench.i18n import tr
from workbench.records.evals import Case

FEW: Final = 30


def dataset_cautions(cases: Sequence[Case]) -> tuple[str, ...]:
    """Of a dataset: under 30 cases, or questions of which every one has an answer."""
    found = []
    if len(cases) < FEW:
        found.append(
            tr("Only {count} cases: with fewer than {few}, a rate's interval is wider than most differences.",
               count=len(cases), few=FEW)
        )  # fmt: skip
    questions = [case for case in cases if case.expectation is None]
    if questions and all(case.answerable for case in questions):
        found.append(tr("Every question has an answer: a system that never abstains looks perfect here."))
    return tuple(found)


def result_cautions(passed: int, scored: int) -> tuple[str, ...]:
    """Of a run: everything passed, which more often says that the cases are easy than that the system is right."""
    if scored == 0 or passed < scored:
        return ()
    return (
        tr("All {count} cases passed: the dataset may be too easy, or written from the very passages it asks about.",
           count=scored),
    )  # fmt: skip
