"""What the lenses find in words, for the command line and the screens alike."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.lenses import Flag, FlagKind, Likeness, Near


def kind_words(kind: FlagKind) -> str:
    """What is taken apart, in a word or two."""
    return {
        "sentence": tr("sentence"),
        "code": tr("code"),
        "header": tr("table without header"),
        "table": tr("table"),
        "list": tr("list"),
        "heading": tr("lone heading"),
    }[kind]


def flag_words(flag: Flag) -> str:
    """What the cut does, in a clause."""
    told = {
        "sentence": tr("a sentence goes on in the next chunk"),
        "code": tr("a block of code goes on in the next chunk"),
        "header": tr("a table's rows go on without its header"),
        "table": tr("a table goes on in the next chunk"),
        "list": tr("a list goes on in the next chunk"),
        "heading": tr("a heading stands apart from its text"),
    }[flag.kind]
    return told if flag.weight == "warning" else f"{told} ({tr('too long for one')})"


def column_words(columns: str) -> str:
    """Where a word is looked for: the columns of the full-text index as a person would call them."""
    names = {"heading": tr("heading"), "text": tr("text"), "stems": tr("stems"), "exact": tr("accents")}
    return ", ".join(names[name] for name in columns.split())


def group_mark(near: Near, found: Likeness) -> str:
    """How near a text is: a copy, a near-duplicate of the chunk asked for, or of others that are listed."""
    if near.copy:
        return tr("copy")
    if not near.group:
        return ""
    return "≈" if near.group == found.group else f"≈{near.group}"
