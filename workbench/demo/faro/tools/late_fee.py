"""What a late loan costs at the Faro, as the front desk's program computes it."""

from dataclasses import dataclass

GRACE_DAYS = 2
LIMIT_CENTS = 600


@dataclass(frozen=True)
class Rate:
    """Cents per day, and whether the first days are free."""

    cents: int
    grace: bool = True


RATES = {"book": Rate(20), "film": Rate(40), "magazine": Rate(40), "kit": Rate(300, grace=False)}


def late_fee(kind: str, days_late: int) -> int:
    """Cents owed for one item: nothing in the grace days, then the daily rate, never more than the limit."""
    rate = RATES[kind]
    charged = days_late - GRACE_DAYS if rate.grace else days_late
    return min(LIMIT_CENTS, max(0, charged) * rate.cents)


def may_borrow(debt_cents: int) -> bool:
    """A member who owes more than ten euros can't borrow until it is paid."""
    return debt_cents <= 1000
