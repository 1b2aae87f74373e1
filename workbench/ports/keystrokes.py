"""Saved sessions of typing in the file."""

from __future__ import annotations

from typing import Protocol

from workbench.records.keystrokes import KeystrokeSession, SessionSummary


class KeystrokeRepository(Protocol):
    """Sessions of typing: questions as they stood, and ids and ranks of what they found."""

    def save(self, session: KeystrokeSession) -> None:
        """In one transaction."""
        ...

    def session(self, session_id: str) -> KeystrokeSession:
        """By id or unambiguous prefix ("last" for the newest). Raises NotFoundError."""
        ...

    def recent(self, limit: int) -> tuple[SessionSummary, ...]:
        """Newest first."""
        ...

    def delete(self, session_id: str) -> None:
        """Drops one."""
        ...
