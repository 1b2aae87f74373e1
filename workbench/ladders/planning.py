"""The rungs of a ladder before anything is made: where each file goes, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.engine.gguf_header import QUANTIZATION_NAME
from workbench.errors import EngineError, UsageError
from workbench.i18n import tr
from workbench.ladders.kinds import WHOLE, check_kinds
from workbench.records.ladders import LadderPlan, Rung
from workbench.records.models import ModelFile


def rungs_of(plan: LadderPlan, source: ModelFile, identified: Callable[[str], ModelFile]) -> tuple[Rung, ...]:
    """The reference, what is made, then what was there.

    Args:
        identified: describes a model file by its path.

    Raises:
        UsageError: nothing to compare, a kind that can't be made, or the same file twice.
        EngineError: a file can't be used.
    """
    made = tuple(filter(None, (plan.reference, *plan.kinds)))
    check_kinds(made)
    if not plan.kinds and not plan.files:
        raise UsageError(
            tr("A ladder of one rung"),
            tr("There is nothing to hold against the reference."),
            tr("Choose quantizations to make, or files to compare."),
        )
    folder = Path(plan.folder).expanduser().absolute()
    stem = QUANTIZATION_NAME.split(source.name)[0].rstrip("-._ ") or source.name
    lossy = "" if source.quantization in WHOLE else source.quantization
    rungs = [] if plan.reference else [_given(0, source)]
    for kind in made:
        name = f"{stem}.{kind}"
        origin = lossy or (plan.reference if rungs and plan.reference not in WHOLE else "")
        rungs.append(Rung(len(rungs), kind, str(folder / f"{name}.gguf"), name, made=True, origin=origin))
    for path in plan.files:
        file = identified(path)
        if file.problem:
            raise unusable(file.name, file.problem)
        rungs.append(_given(len(rungs), file))
    if len({rung.path for rung in rungs}) < len(rungs):
        raise UsageError(tr("A file twice"), tr("Two rungs would be the same file."), tr("Name each file once."))
    return tuple(rungs)


def _given(place: int, file: ModelFile) -> Rung:
    return Rung(
        place,
        file.quantization,
        file.path,
        file.name,
        made=False,
        hash=file.hash,
        size=file.size,
        bits_per_weight=file.bits_per_weight,
        tensor_types=file.tensor_types,
        fallbacks=file.fallbacks,
    )


def unusable(name: str, problem: str) -> EngineError:
    """A file that no ladder can be made of."""
    return EngineError(
        tr("{name} can't be used", name=name), problem, tr("workbench models lists the files there are.")
    )


def origin_words(rung: Rung) -> str:
    """What was lost before this file was made, "" when nothing was."""
    if not rung.origin:
        return ""
    return tr("requantized from {kind}: dequantized first, what that had lost stays lost", kind=rung.origin)
