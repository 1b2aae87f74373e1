"""Expected utility (von Neumann & Morgenstern, 1944) and the value of information (Howard, 1966)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.decisions import InformationValue


def expected_utility(probabilities: Mapping[str, float], utilities: Mapping[str, float]) -> float:
    """E[U(a)] = Σ P(s) · U(a, s) of one action.

    Raises:
        UsageError: the probabilities aren't shares that add up to 1, or a state has no utility.
    """
    total = math.fsum(probabilities.values())
    if any(not 0 <= p <= 1 for p in probabilities.values()) or not math.isclose(total, 1.0, abs_tol=1e-6):
        raise UsageError(
            tr("Not probabilities"),
            tr("They add up to {total}.", total=round(total, 6)),
            tr("Give each state a share between 0 and 1; together they make 1."),
        )
    missing = next((state for state in probabilities if state not in utilities), None)
    if missing is not None:
        raise UsageError(
            tr("A utility is missing"), tr("Nothing is said of “{state}”.", state=missing), tr("Give every state one.")
        )
    return math.fsum(p * utilities[state] for state, p in probabilities.items())


def value_of_information(
    probabilities: Mapping[str, float], actions: Mapping[str, Mapping[str, float]]
) -> InformationValue:
    """VoI = E_s[max_a U(a, s)] - max_a E[U(a)], for evidence that tells the state for certain.

    Args:
        actions: for each action its utility in each state.

    Raises:
        UsageError: no action, probabilities that don't add up to 1, or a state without a utility.
    """
    if not actions:
        raise UsageError(tr("No actions"), tr("There is nothing to choose from."), tr("Name at least one action."))
    utilities = {action: expected_utility(probabilities, table) for action, table in actions.items()}
    best = max(utilities, key=lambda action: utilities[action])
    known = math.fsum(p * max(table[state] for table in actions.values()) for state, p in probabilities.items())
    return InformationValue(utilities, best, utilities[best], known)
