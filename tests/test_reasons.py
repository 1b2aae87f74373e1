"""What Python and the operating system say, in the person's language."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.corpus.chunking import describe_recipe, parse_recipe
from workbench.errors import reason_of
from workbench.i18n import choose_language


def _raised(act: Callable[[], object]) -> Exception:
    with pytest.raises((OSError, ValueError)) as caught:
        act()
    return caught.value


@pytest.mark.parametrize(
    ("act", "english", "spanish"),
    [
        (
            lambda: Path("/nowhere/at/all").read_text(),
            "there is no such file or folder",
            "no existe ese archivo o carpeta",
        ),
        (lambda: Path("/").read_bytes(), "it is a folder", "es una carpeta"),
        (b"\xff".decode, "it is no UTF-8 text", "no es texto en UTF-8"),
        (
            lambda: json.loads('{"a": }'),
            "line 1, column 7: Expecting value",
            "línea 1, columna 7: se esperaba un valor",
        ),
        (lambda: json.loads("1 2"), "line 1, column 3: Extra data", "línea 1, columna 3: hay algo más tras el final"),
    ],
)
def test_a_reason_in_each_language(act: Callable[[], object], english: str, spanish: str) -> None:
    error = _raised(act)
    try:
        assert reason_of(error) == english
        choose_language("es")
        assert reason_of(error) == spanish
    finally:
        choose_language("en")


def test_a_rare_reason_is_the_systems_own() -> None:
    assert reason_of(OSError(errno.ENOTEMPTY, "Directory not empty")) == "Directory not empty"
    assert reason_of(OSError(errno.ENOTEMPTY, "")) != ""


def test_a_large_number_in_a_recipe_is_written_out() -> None:
    assert "size=1234567" in describe_recipe(parse_recipe("structure:size=1234567"))
