"""The cases of a run as they are stepped through: which are shown, and which comes next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from workbench.records.cases import Case
from workbench.records.evals import CaseResult, JudgedCase, Label

View: TypeAlias = Literal["failing", "flips", "unlabelled", "disagreements", "all"]
Narrow: TypeAlias = tuple[str, str]
"""A failure stage ("stage", "cut") or a segment ("type", "table"); ("", "") for no narrowing."""

VIEWS: Final[tuple[View, ...]] = get_args(View)
EVERYTHING: Final[Narrow] = ("", "")


@dataclass(frozen=True, slots=True)
class CaseItem:
    """A case with what the run made of it, what the other run did, and a person's verdict.

    Attributes:
        collection: the one that its gold is in.
        result: None when the run hasn't come to it, or no run is shown.
        other: the run compared with; ``segments``: (field, value) pairs that the case belongs to.
        judged: what judges said of it, newest first, each by its model's name.
    """

    case: Case
    collection: str = ""
    result: CaseResult | None = None
    other: CaseResult | None = None
    label: Label | None = None
    segments: tuple[Narrow, ...] = ()
    judged: tuple[tuple[str, JudgedCase], ...] = ()

    @property
    def failed(self) -> bool:
        """It was scored and did not pass."""
        return self.result is not None and self.result.passed is False

    @property
    def flip(self) -> Literal["", "fixed", "broken"]:
        """Passed in one of the two runs only."""
        after = self.result.passed if self.result else None
        before = self.other.passed if self.other else None
        if after is None or before is None or after == before:
            return ""
        return "fixed" if after else "broken"

    @property
    def unlabelled(self) -> bool:
        """It has a result, and nobody has judged it."""
        return self.result is not None and self.label is None

    @property
    def against_score(self) -> bool:
        """The person's verdict is the opposite of the score's."""
        return len({self._person, self.result.passed if self.result else None} - {None}) > 1

    @property
    def disagrees(self) -> bool:
        """Not all who say right or wrong say the same: the score, the person, the judges of answers alone."""
        judges = (said.verdict == "right" for _, said in self.judged if said.verdict in ("right", "wrong"))
        return len({self._person, self.result.passed if self.result else None, *judges} - {None}) > 1

    @property
    def _person(self) -> bool | None:
        return self.label.value > 0 if self.label and self.label.value else None


def shown(item: CaseItem, view: View, narrow: Narrow = EVERYTHING) -> bool:
    """Whether the item is in the view, and in the failure stage or segment it is narrowed to."""
    tests: dict[View, bool] = {
        "failing": item.failed,
        "flips": bool(item.flip),
        "unlabelled": item.unlabelled,
        "disagreements": item.disagrees,
        "all": True,
    }
    if not tests[view] or narrow == EVERYTHING:
        return tests[view]
    if narrow[0] == "stage":
        return item.result is not None and item.result.failure == narrow[1]
    return narrow in item.segments


def next_item(
    items: Sequence[CaseItem], after: str, wanted: Callable[[CaseItem], bool], step: int = 1
) -> CaseItem | None:
    """The nearest wanted item after (step 1) or before (−1) the case ``after``, going round; never that case itself."""
    at = next((i for i, item in enumerate(items) if item.case.id == after), -1 if step > 0 else 0)
    order = (items[(at + step * n) % len(items)] for n in range(1, len(items) + 1))
    return next((item for item in order if wanted(item) and item.case.id != after), None)


def narrowings(items: Sequence[CaseItem]) -> list[tuple[Narrow, int]]:
    """The failure stages, then the segments, that items have, with how many; stages by size."""
    stages = Counter(("stage", str(i.result.failure)) for i in items if i.result and i.result.failure)
    segments = Counter(segment for item in items for segment in item.segments)
    by_field = sorted(segments.items(), key=lambda entry: (entry[0][0], -entry[1], entry[0][1]))
    return [*stages.most_common(), *by_field]
