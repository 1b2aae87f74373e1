"""Only one process measures in a workbench file: two at once would measure each other."""

from __future__ import annotations

import threading
from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.ports import Store

CLAIM: Final = "measuring"


class Alone:
    """The file's one place for what measures speed; a ladder holds it and its bench within it holds it again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._held = 0

    def elsewhere(self) -> int:
        """The process that measures now, unless it is this one; else 0."""
        return self._store.settings.claimed(CLAIM)

    def __enter__(self) -> None:
        """Raises UsageError while another process measures."""
        with self._lock:
            other = 0 if self._held else self._store.settings.claim(CLAIM)
            if other:
                raise UsageError(
                    tr("Another process measures"),
                    tr("Process {pid} runs a bench or a ladder of this file; two would measure each other.", pid=other),
                    tr("Wait for it, or stop it first."),
                )
            self._held += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._held -= 1
            if not self._held:
                self._store.settings.release(CLAIM)
