"""Two lines under the documents: how the collection was when it was last looked at."""

from __future__ import annotations

from textual.message import Message
from textual.widgets import Static

from screens.style import Line, Tone, content
from workbench.i18n import tr
from workbench.records.corpus import Collection
from workbench.records.health import Health


class HealthLines(Static):
    """What was found, and whether it still holds."""

    class Opened(Message):
        """Fires on a click."""

    def __init__(self) -> None:
        super().__init__(id="health", classes="pane")

    def on_mount(self) -> None:
        """Its title."""
        self.border_title = content(tr("Health"))

    def on_click(self) -> None:
        """To the page."""
        self.post_message(self.Opened())

    def show(self, health: Health | None, collection: Collection | None) -> None:
        """Tells of the last examination of the collection."""
        if collection is None:
            self.update("")
        elif health is None or health.at is None:
            self.update(content((tr("not examined yet"), Tone.DIM), "\n", ("h", Tone.ACCENT), " " + tr("examines it")))
        else:
            when = f"{health.at.astimezone():%d %b %H:%M}"
            old = is_outdated(health, collection)
            told: Line = (tr("{when}, changed since: h", when=when), Tone.WARN) if old else (when, Tone.DIM)
            self.update(content(found(health), "\n", told))


def is_outdated(health: Health, collection: Collection) -> bool:
    """The collection changed since it was examined, or is another one of that name."""
    return health.version != collection.version or (health.at is not None and health.at < collection.created)


def found(health: Health) -> Line:
    """How many checks found something, by severity."""
    errors, warnings, notes = (health.found(severity) for severity in ("error", "warning", "note"))
    passed = sum(check.passed for check in health.checks)
    parts: list[Line] = []
    if errors:
        parts.append((f"✗ {errors}  ", Tone.BAD))
    if warnings:
        parts.append((f"~ {warnings}  ", Tone.WARN))
    if notes:
        parts.append((f"◦ {notes}  ", Tone.DIM))
    return (*parts, (tr("✓ {passed} of {all} checks", passed=passed, all=len(health.checks)), Tone.GOOD))
