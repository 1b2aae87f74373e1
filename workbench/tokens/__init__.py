"""The token lab: texts under several tokenizers, the window's budget, and what keeps prompts out of a prefix cache.

Cutting and comparing live here. What tokens cost is ``workbench.money``'s; where a question's context goes is told by
its own ledger (``workbench.answers``), which is counted in the model's tokens too.
"""

from workbench.tokens.lab import TokenLab

__all__ = ["TokenLab"]
