"""Every sentence of the interface has its Spanish, with the same named places in it."""

from __future__ import annotations

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.i18n import catalogue, tr

ROOT = Path(__file__).parents[1]
ROOMS = ("workbench", "screens")


def _sentences() -> Iterator[tuple[str, str]]:
    """(where, sentence) of each literal that is given to ``tr``, and of each key's name and tooltip."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                for told in _told(node) if isinstance(node, ast.Call) else ():
                    for literal in filter(None, _literals(told)):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", literal


def _told(call: ast.Call) -> list[ast.expr]:
    """What of a call's arguments people read."""
    if _name(call.func) == "tr":
        return call.args[:1]
    if _name(call.func) in ("Binding", "with_alt"):
        return [*call.args[2:3], *(word.value for word in call.keywords if word.arg == "tooltip")]
    return []


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _literals(argument: ast.expr) -> Iterator[str]:
    """A plain string, or both arms of ``"one" if … else "many"``."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        yield argument.value
    elif isinstance(argument, ast.IfExp):
        yield from _literals(argument.body)
        yield from _literals(argument.orelse)


def _places(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def test_every_sentence_has_a_spanish_entry() -> None:
    spanish = catalogue("es")
    missing = {sentence: where for where, sentence in _sentences() if sentence not in spanish}
    assert not missing, "\n".join(f"{where}: {sentence!r}" for sentence, where in missing.items())


def test_translations_keep_the_named_places() -> None:
    for english, spanish in catalogue("es").items():
        assert _places(english) == _places(spanish), english
        assert spanish.strip(), english


def test_one_english_sentence_has_one_spanish() -> None:
    seen: dict[str, tuple[str, str]] = {}
    for path in sorted((ROOT / "workbench/i18n/es").glob("*.toml")):
        for english, spanish in tomllib.loads(path.read_text("utf-8")).items():
            before = seen.setdefault(english, (spanish, path.name))
            assert before[0] == spanish, f"{english!r} in {before[1]} and {path.name}"


@pytest.mark.parametrize(("lang", "expected"), [("en", "Stopped"), ("es", "Detenido")])
def test_a_sentence_in_each_language(lang: str, expected: str) -> None:
    assert tr("Stopped", lang) == expected


def test_spanish_says_tu_to_the_person() -> None:
    formal = re.compile(
        r"\b(usted|elija|indique|ejecute|compruebe|cargue|descargue|escriba|pruebe|cierre|abra|ponga|vuelva|instale"
        r"|revise|repita|reinicie|incorpore|pida|corrija|libere|acorte|omita|actualice|deje|quite|pulse|bórrelo|guárdelo|cárguelo|descárguelo|déjelo|quítelo|ábralo|conviértalo)\b",
        re.IGNORECASE,
    )
    told = {words: formal.findall(words) for words in catalogue("es").values() if formal.search(words)}
    assert told == {}


def test_a_thing_has_one_name_in_spanish() -> None:
    others = {
        "modelo de embeddings": "embedder",
        "carril": "vía",
        "ingier": "incorpora",
        "ingiér": "incorpora",
        " oro ": "evidencia esperada",
        "ngesta": "incorporación",
        "clase de": "tipo de",
    }
    found = [(told, name) for told in catalogue("es").values() for other, name in others.items() if other in told]
    assert not found, "\n".join(f"{told!r} instead of {name!r}" for told, name in found)
