"""What one key does where a person has to decide: it opens what the decision is made with, on what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from workbench.i18n import tr

Act: TypeAlias = Literal["rechunk", "edit", "delete", "retire", "indexes", "filter", "read"]

ACTS: Final[dict[str, Act]] = {
    "truncated": "rechunk",
    "tiny": "rechunk",
    "chunk-languages": "rechunk",
    "copies": "retire",
    "near-duplicates": "retire",
    "metadata": "edit",
    "retired": "delete",
    "embedder": "indexes",
    "languages": "filter",
    "warnings": "read",
    "encoding": "read",
}
"""By the key of the check; of the others, the doctor makes the repair itself."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to open, on the documents of these ids."""

    act: Act
    documents: tuple[str, ...]


def act_words(act: Act) -> str:
    """What the key does, in a clause."""
    return {
        "rechunk": tr("opens the re-chunk lab on them"),
        "edit": tr("edits their metadata"),
        "delete": tr("asks, then deletes them"),
        "retire": tr("retires the chosen one's document"),
        "indexes": tr("opens the indexes"),
        "filter": tr("lists its chunks in other languages"),
        "read": tr("reads them again, once they are mended"),
    }[act]
