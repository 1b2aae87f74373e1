"""The phases of a call, in the interface's language."""

from __future__ import annotations

from workbench.i18n import tr


def phase_name(name: str) -> str:
    """A phase in the interface's language."""
    names = {
        "network": tr("network"),
        "queue": tr("queue"),
        "prefill": tr("prefill"),
        "decode": tr("decode"),
        "tools": tr("tools"),
        "checks": tr("checks"),
        "unexplained": tr("unexplained"),
    }
    return names[name]
