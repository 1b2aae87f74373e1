"""The window of a question that was asked, as a budget."""

from __future__ import annotations

from workbench.records.answers import Ledger
from workbench.records.tokens import WindowBudget


def budget_of(ledger: Ledger, window: int | None = None) -> WindowBudget:
    """The parts of a question's prompt; a ``window`` that is given takes the place of its model's."""
    return WindowBudget(
        window or ledger.window,
        instructions=ledger.instructions,
        documents=ledger.evidence,
        question=ledger.question,
        output=ledger.reserve,
        estimated=ledger.estimated,
        assumed=ledger.assumed and not window,
    )
