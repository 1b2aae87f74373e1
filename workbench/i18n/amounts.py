"""Amounts in words, in the interface's language: one is no plural."""

from __future__ import annotations

from workbench.i18n import tr


def tokens(count: int) -> str:
    """So many tokens: "1 token", "1,204 tokens"."""
    return tr("1 token") if count == 1 else tr("{count} tokens", count=f"{count:,}")


def questions(count: int) -> str:
    """So many questions: "1 question", "1,190 questions"."""
    return tr("1 question") if count == 1 else tr("{count} questions", count=f"{count:,}")


def indexes(count: int) -> str:
    """So many indexes: "1 index", "2 indexes"."""
    return tr("1 index") if count == 1 else tr("{count} indexes", count=f"{count:,}")
