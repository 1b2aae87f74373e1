"""How long each phase of a call may take, as the file remembers it."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.ports import SettingsRepository
from workbench.records.codec import decode, encode
from workbench.records.servers import Timeouts

TIMEOUTS_SETTING: Final = "servers.timeouts"


def timeouts_in(settings: SettingsRepository) -> Timeouts:
    """Those that are remembered."""
    try:
        return _sound(decode(Timeouts, json.loads(settings.get(TIMEOUTS_SETTING, "{}"))))
    except (ValueError, TypeError, KeyError, AttributeError, UsageError):  # something else wrote there
        return Timeouts()


def remember_timeouts(settings: SettingsRepository, timeouts: Timeouts) -> None:
    """Raises UsageError for a phase that has no time."""
    settings.set(TIMEOUTS_SETTING, json.dumps(encode(_sound(timeouts))))


def _sound(timeouts: Timeouts) -> Timeouts:
    if all(0 < seconds <= 86_400 for seconds in astuple(timeouts)):
        return timeouts
    raise UsageError(
        tr("Not a time limit"),
        tr("Each phase needs more than 0 seconds, and a day at most."),
        tr("Leave out what shall stay as it is."),
    )
