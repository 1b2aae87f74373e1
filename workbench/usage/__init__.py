"""The ledger of what models are used for: every call's tokens and times, sums of them, and what they say of speed.

Calls are counted where generations end, in the one wrapper that the desk hands models out in. No text of a prompt or an
answer comes here, and no price: what usage costs is ``workbench.money``'s.
"""

from workbench.usage.ledger import Ledger

__all__ = ["Ledger"]
