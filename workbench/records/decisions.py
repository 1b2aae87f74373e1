"""Decision sheets: options judged by criteria, what is required of them, and how firm the winner is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that options are judged by.

    Attributes:
        weight: its importance, not negative; the weights of a sheet are scaled to add up to 1.
        better: which values are better.
        least: a value below this rules an option out, before anything is weighed; ``most`` likewise above.
        best: the value that counts as 1, and ``worst`` as 0; None: the best and worst of the options.
    """

    name: str
    weight: float
    better: Literal["more", "less"] = "more"
    unit: str = ""
    least: float | None = None
    most: float | None = None
    best: float | None = None
    worst: float | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """What an option reaches on a criterion.

    Attributes:
        low: lower end of its interval where it was measured with one, and ``high`` the upper; None beside a ``low``
            where too few measurements bound it from above.
        evidence: where it comes from ("run 12", "bench 3"), "" when it is somebody's judgement.
        unit: the currency of what was reckoned at a price, "" for all else; one criterion's values share it.
        estimated: it is made of tokens that are estimates, as ``records.money.Usage.estimated``.
    """

    value: float
    low: float | None = None
    high: float | None = None
    evidence: str = ""
    unit: str = ""
    estimated: bool | None = False

    @property
    def unbounded(self) -> bool:
        """It was measured, and its interval has no upper end."""
        return self.low is not None and self.high is None


@dataclass(frozen=True, slots=True)
class Option:
    """One of the things to choose from, with its value on each criterion by name.

    Attributes:
        penalty: taken off its score, for what no criterion says.
    """

    name: str
    values: Mapping[str, Value]
    penalty: float = 0.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A decision to take. Values are on each option; nothing is computed here."""

    title: str
    criteria: tuple[Criterion, ...]
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """An option as the sheet judges it.

    Attributes:
        score: the weighted sum of its scaled values less its penalty; None for an option that is out.
        shares: what each criterion contributes to the score.
        out: why it was ruled out, "" when it wasn't.
        dominated_by: options at least as good everywhere and better somewhere.
        crosses: criteria of which the interval lies across a bound, so that the option may be out after all, or in.
    """

    option: Option
    score: float | None
    shares: Mapping[str, float]
    out: str = ""
    dominated_by: tuple[str, ...] = ()
    crosses: tuple[str, ...] = ()

    @property
    def on_front(self) -> bool:
        """Not ruled out, and no other option dominates it."""
        return not self.out and not self.dominated_by


@dataclass(frozen=True, slots=True)
class Flip:
    """How far a criterion's weight (of weights that add up to 1) can move before another option wins.

    Attributes:
        weight: where it is.
        down: the nearest lower weight at which ``down_to`` wins, None when the winner stays down to 0.
        up: the nearest higher one at which ``up_to`` wins, None when the winner stays up to 1.
    """

    criterion: str
    weight: float
    down: float | None = None
    down_to: str = ""
    up: float | None = None
    up_to: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The sheet worked out: best first, those ruled out last.

    Attributes:
        flips: sensitivity of the first place, by criterion.
        close: the intervals of measured values alone can change the first place, across bounds too.
    """

    ranking: tuple[Scored, ...]
    flips: tuple[Flip, ...]
    close: bool

    @property
    def winner(self) -> str:
        """Name of the first option, "" when all are out."""
        return self.ranking[0].option.name if self.ranking and not self.ranking[0].out else ""


@dataclass(frozen=True, slots=True)
class InformationValue:
    """What knowing the state before acting is worth.

    Attributes:
        utilities: expected utility of each action without the evidence.
        without: the best of them, and ``action`` whose it is.
        with_evidence: expected utility when the state is known first.
    """

    utilities: Mapping[str, float]
    action: str
    without: float
    with_evidence: float

    @property
    def value(self) -> float:
        """VoI, never negative: the most that the evidence may cost."""
        return self.with_evidence - self.without
