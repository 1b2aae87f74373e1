"""Offers and layers in a few words."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.inventory.inventory import FILTERS
from workbench.records.inventory import Filter, Offer


def marks(offer: Offer) -> str:
    """A sign for each of the four filters."""
    return "".join("·" if (seen := offer.filters.get(f)) is None else "✓" if seen.passed else "✗" for f in FILTERS)


def sign(passed: bool | None) -> str:
    """A tick, a cross, or a dot for what wasn't tried."""
    return "·" if passed is None else "✓" if passed else "✗"


def filter_name(filter_: Filter) -> str:
    """One of the four in a word."""
    return {
        "exists": tr("exists"),
        "usable": tr("usable"),
        "accepts": tr("accepts"),
        "approved": tr("approved"),
    }[filter_]


def takes(offer: Offer) -> str:
    """Modalities, tools and JSON."""
    extras = [name for name, has in (("tools", offer.tools), ("JSON", offer.json)) if has]
    return ", ".join([*offer.modalities, *extras])
