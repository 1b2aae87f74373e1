"""Typing as something to look back on: the log of a session in memory, and sessions saved in the file.

What a keystroke searches is in ``workbench.retrieval.typed``; what is drawn of it in ``screens``.
"""

from __future__ import annotations

from workbench.keystrokes.log import KeystrokeLog, change, moves, of_result, options_of, result_of
from workbench.keystrokes.sessions import Keystrokes

__all__ = ["KeystrokeLog", "Keystrokes", "change", "moves", "of_result", "options_of", "result_of"]
