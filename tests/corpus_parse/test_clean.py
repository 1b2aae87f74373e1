"""Document text never acts on a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from workbench.text.clean import printable

ANY = st.text(st.characters() | st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))


def test_controls_become_visible() -> None:
    assert printable("\x1b[31mred\x1b[0m\x07\x7f") == "␛[31mred␛[0m␇␡"
    assert printable("a\u202eb\u200dc\ufeff\x9b\ud800") == "a‹U+202E›b‹U+200D›c‹U+FEFF›‹U+009B›‹U+D800›"
    assert printable("a\tb\nc\r\nd") == "a    b\nc␍\nd"
    assert printable("a\nb", newlines=False) == "a␊b"


def test_ordinary_text_stays() -> None:
    text = "El año próximo — 東京, עברית, 😀, e\u0301, [bold]x[/bold]"
    assert printable(text) == text


@given(ANY, st.booleans())
def test_nothing_that_acts_is_left(text: str, newlines: bool) -> None:
    shown = printable(text, newlines=newlines)
    assert not {unicodedata.category(c) for c in shown.replace("\n", "" if newlines else "\n")} & {
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    }
    assert printable(shown, newlines=newlines) == shown
    shown.encode("utf-8")
