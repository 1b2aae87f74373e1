"""The words of the interface in English (the source) and Spanish.

``tr`` is called with the English sentence; ``es/*.toml`` hold its Spanish. A sentence without a translation is shown in
English; a test lists those. Text of documents never passes through here.
"""

from __future__ import annotations

import os
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

LANGUAGES: Final = ("en", "es")
_chosen: list[str] = []


def language() -> str:
    """The language of the interface: as chosen, else ``WORKBENCH_LANG``, else the locale's variables, else "en"."""
    if _chosen:
        return _chosen[0]
    for name in ("WORKBENCH_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return value[:2] if value[:2] in LANGUAGES else "en"
    return "en"


def chosen() -> bool:
    """Someone named a language for this process: with an option, or in ``WORKBENCH_LANG``."""
    return bool(_chosen) or bool(os.environ.get("WORKBENCH_LANG"))


def choose_language(code: str) -> None:
    """Sets the language for this process. Raises ValueError for one there is none of."""
    if code not in LANGUAGES:
        raise ValueError(f"no interface language {code!r}; there are {', '.join(LANGUAGES)}")
    _chosen[:] = [code]


def tr(sentence: str, lang: str | None = None, /, **values: object) -> str:
    """``sentence`` in ``lang`` (the interface's language when None), its ``{named}`` places filled with ``values``."""
    words = catalogue(lang or language())
    text = words.get(sentence, sentence)
    return text.format(**values) if values else text


@cache
def catalogue(lang: str) -> dict[str, str]:
    """English sentence → translation; empty for English."""
    folder = files(__name__) / lang
    merged: dict[str, str] = {}
    if lang == "en" or not folder.is_dir():
        return merged
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml"):
            merged |= tomllib.loads(entry.read_text("utf-8"))
    return merged
