"""What the token lab finds, in the interface's language."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.tokens import CacheBreak, WindowBudget


def part_name(name: str) -> str:
    """A part of the window in the interface's language."""
    names = {
        "instructions": tr("instructions"),
        "history": tr("history"),
        "documents": tr("documents"),
        "tools": tr("tools"),
        "question": tr("question"),
        "output": tr("output"),
    }
    return names[name]


def window_words(budget: WindowBudget) -> str:
    """The window's tokens, and whether they are an assumption."""
    window = f"{budget.window:,}"
    return tr("{window} (assumed: its server doesn't tell)", window=window) if budget.assumed else window


def untold_words() -> str:
    """In place of a count that there is none of."""
    return tr("its server doesn't tell its tokens")


def break_text(found: CacheBreak) -> str:
    """What broke the prefix, and what to do about it."""
    said = {
        "time": tr("line {line}: a date or time ({text}): put it at the end", line=found.line, text=found.excerpt),
        "key_order": tr("line {line}: the same object, written otherwise: sort its keys", line=found.line),
        "moved": tr(
            "line {line}: examples or parts moved ({text}): keep their order", line=found.line, text=found.excerpt
        ),
        "changed": tr("line {line}: other text ({text}): what changes goes last", line=found.line, text=found.excerpt),
    }
    return said[found.kind]
