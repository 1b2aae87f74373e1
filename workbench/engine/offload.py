"""Whether a GPU took the layers that it was asked to, and how that is said."""

from __future__ import annotations

from workbench.i18n import tr
from workbench.records.models import Offload


def offload_words(found: Offload) -> str:
    """ "0 of 31 layers on the GPU: …" where it took fewer than it was asked to, else ""."""
    if not found.reason:
        return ""
    told = tr("{taken} of {asked} layers on the GPU:", taken=found.taken, asked=found.asked)
    return f"{told} {found.reason}"


def offload(asked: int, layers: int, taken: tuple[int, int] | None) -> Offload:
    """What became of ``asked`` layers.

    Args:
        layers: the model's, its output counted as one.
        taken: as the engine's log tells: layers that lie on a GPU, of all; None where none lies there.
    """
    asked = min(asked, taken[1] if taken else layers)
    if asked <= 0:
        return Offload(0, 0, layers)
    if taken is None:
        return Offload(asked, 0, layers, tr("this engine has no GPU that it can use, so the CPU computes"))
    on_gpu, layers = taken
    reason = tr("the GPU took only some, the CPU computes the others") if on_gpu < asked else ""
    return Offload(asked, on_gpu, layers, reason)
