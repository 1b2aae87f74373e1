"""The process's own streams: closed ones, encodings that lack a character, readers that go away."""

from __future__ import annotations

import io
import os
import sys
from typing import Final

_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def prepare_streams() -> None:
    """Closed streams lead nowhere from now on, and a character that an encoding lacks is shown as "?".

    A closed stream's number would otherwise be given to the next file that is opened, such as the workbench's.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper) and mode == "w":
            stream.reconfigure(errors="replace")


def discard_output() -> None:
    """What stdout still holds goes nowhere, so that writing it out at exit can't fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
