"""Amounts in words, in the interface's language: one is no plural."""

from __future__ import annotations

from workbench.i18n import tr


def tokens(count: int) -> str:
    """So many tokens: "1 token", "1,204 tokens"."""
    return tr("1 token") if count == 1 else tr("{count} tokens", count=f"{count:,}")
