"""Fields of dialogs, reading numbers and choices from them, and telling what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from textual.dom import DOMNode
from textual.widgets import Input, Select, Static

from screens.style import content
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.retrieval import FusionMethod, Lane

LANES: Final[dict[str, tuple[Lane, ...]]] = {
    "both": ("lexical", "dense"),
    "lexical": ("lexical",),
    "dense": ("dense",),
}
"""Choice of lanes → lanes."""

Pick = Select[str]


def field(name: str, label: str, value: str = "", placeholder: str = "") -> Input:
    """A line of text under its label."""
    made = Input(value, placeholder=placeholder, id=name, classes="pane")
    made.border_title = content(label)
    return made


def pick(name: str, label: str, choices: Sequence[tuple[str, str]], value: str) -> Pick:
    """One of several (value, words) under its label."""
    known = {key for key, _ in choices}
    options = [(content(words), key) for key, words in choices]
    made: Pick = Select(
        options,
        value=value if value in known else choices[0][0],
        allow_blank=False,
        id=name,
        compact=True,
        classes="pick",
    )
    made.border_title = content(label)
    return made


def lanes_pick(lanes: tuple[Lane, ...]) -> Pick:
    """Both lanes, or one of them."""
    words = [("both", tr("both")), ("lexical", tr("lexical only")), ("dense", tr("dense only"))]
    return pick("lanes", tr("Lanes"), words, lanes_key(lanes))


def lanes_key(lanes: tuple[Lane, ...]) -> str:
    """What ``lanes_pick`` shows of lanes, in whatever order they stand."""
    return next((key for key, value in LANES.items() if set(value) == set(lanes)), "both")


def fusion_pick(fusion: FusionMethod) -> Pick:
    """How the lanes become one ranking."""
    return pick("fusion", tr("Fusion"), [("rrf", tr("RRF: by rank")), ("weights", tr("weights: by score"))], fusion)


def written(dialog: DOMNode, name: str) -> str:
    """What stands in a line of text."""
    return dialog.query_one(f"#{name}", Input).value.strip()


def chosen(dialog: DOMNode, name: str) -> str:
    """What is picked."""
    return cast(str, dialog.query_one(f"#{name}", Select).value)


def whole(dialog: DOMNode, name: str, label: str, low: int) -> int:
    """A whole number of at least ``low``. Raises ValueError with a sentence."""
    value = written(dialog, name)
    if not value.isdecimal() or int(value) < low:
        raise ValueError(tr("{field}: give a whole number from {low} on.", field=label, low=low))
    return int(value)


def number(words: str, label: str) -> float:
    """A number from 0 on, with a point or a comma. Raises ValueError with a sentence."""
    try:
        value = float(words.replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError(tr("{field}: give a number from 0 on.", field=label))
    return value


def fraction(dialog: DOMNode, name: str, label: str) -> float | None:
    """A number between 0 and 1, None when the line is empty. Raises ValueError with a sentence."""
    value = written(dialog, name).replace(",", ".")
    if not value:
        return None
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError(tr("{field}: give a number between 0 and 1.", field=label))
    return number


def tell_problem(dialog: DOMNode, error: WorkbenchError | ValueError) -> None:
    """Shows in the dialog what is wrong with it."""
    message = f"{error.message} {error.remedy}".strip() if isinstance(error, WorkbenchError) else str(error)
    problem = dialog.query_one(".problem", Static)
    problem.update(content("✗ ", message))
    problem.add_class("-open")
