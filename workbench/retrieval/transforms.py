"""The names of the transformations of a question, and where a collection's own are remembered."""

from __future__ import annotations

from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.retrieval import Transform

TRANSFORMS: Final[tuple[Transform, ...]] = ("spelling", "languages", "split", "multi", "hyde")
"""In the order in which they run: what costs nothing first."""
TRANSFORMS_SETTING: Final = "retrieval.transforms.{collection}"
"""Where a collection's transformations are remembered, with commas between."""


def parse_transforms(written: str) -> tuple[Transform, ...]:
    """The transformations of "spelling,split", in the order in which they run; none of "none" or "".

    Raises:
        UsageError: there is no such transformation.
    """
    named = {name.strip() for name in written.split(",")} - {"", "none"}
    if unknown := named - set(TRANSFORMS):
        raise UsageError(
            tr("No such transformation"),
            tr("There is none called “{name}”.", name=min(unknown)),
            tr("Choose from: {names}.", names=", ".join(TRANSFORMS)),
        )
    return tuple(name for name in TRANSFORMS if name in named)
