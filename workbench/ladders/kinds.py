"""The quantizations that can be made, and those that can't be without an importance matrix."""

from __future__ import annotations

from typing import Final

from workbench.errors import UsageError
from workbench.i18n import tr

KINDS: Final = (
    *("F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q5_1", "Q5_0", "Q4_K_M", "Q4_K_S", "Q4_1", "Q4_0"),
    *("IQ4_NL", "IQ4_XS", "Q3_K_L", "Q3_K_M", "Q3_K_S", "IQ3_M", "IQ3_S", "IQ3_XS", "IQ3_XXS", "Q2_K"),
)
"""llama.cpp's names, largest first."""
NEED_IMATRIX: Final = frozenset({"Q2_K_S", "IQ2_M", "IQ2_S", "IQ2_XS", "IQ2_XXS", "IQ1_M", "IQ1_S"})
"""llama.cpp refuses these without the importance of each weight, measured on text (an "imatrix")."""
WHOLE: Final = frozenset({"F32", "F16", "BF16"})
"""Not quantized: nothing of the weights that were trained in 16 bits is lost."""
DEFAULT: Final = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "Q3_K_M", "Q2_K")


def check_kinds(kinds: tuple[str, ...]) -> None:
    """Raises UsageError for one that isn't there, can't be made, or is named twice."""
    if len(set(kinds)) < len(kinds):
        raise UsageError(tr("A quantization twice"), ", ".join(kinds), tr("Name each quantization once."))
    for kind in kinds:
        if reason := refused(kind):
            raise UsageError(
                tr("{kind} can't be made", kind=kind), reason, tr("Choose others: {kinds}.", kinds=" ".join(KINDS))
            )


def refused(kind: str) -> str:
    """Why it can't be made, "" when it can."""
    if kind in NEED_IMATRIX:
        return imatrix_reason()
    return "" if kind in KINDS else tr("There is no such quantization.")


def imatrix_reason() -> str:
    """Why a kind of two bits or less is refused."""
    return tr(
        "It needs an importance matrix, which says how much each weight counts on real text; without one its model"
        " talks nonsense. It can't be made here."
    )
