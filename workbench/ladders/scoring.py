"""Holds a model against its reference, passage by passage, in a child process that has both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.engine import protocol
from workbench.errors import Cancelled, EngineError
from workbench.i18n import tr
from workbench.ladders.making import ladder_child
from workbench.ladders.texts import too_short
from workbench.ports import Cancel
from workbench.records.ladders import LadderPlan, Rung, TextPlan, WindowScores


def score(
    reference: Rung,
    rung: Rung,
    plan: LadderPlan,
    text: TextPlan,
    numbered: Sequence[tuple[int, str]],
    cancel: Cancel,
) -> Iterator[float | WindowScores]:
    """Yields 0–1 while the models load, then the scores of each passage.

    Raises:
        EngineError: a model can't be loaded, their vocabularies differ, or the process died.
        UsageError: a passage gives too few tokens.
        Cancelled: ``cancel`` was set; in the middle of a computation too.
    """
    with ladder_child() as child:
        for event in child.ask(
            lambda id_: protocol.CompareModels(id_, reference.path, rung.path, tuple(numbered), text.tokens, plan.load),
            cancel,
        ):
            match event:
                case protocol.LoadFraction():
                    yield event.fraction
                case protocol.Compared():
                    yield event.scores
                case protocol.Failed(kind="text"):
                    raise too_short(text)
                case protocol.Failed():
                    raise _error(event, rung, child.log)
        if cancel.is_set():
            raise Cancelled


def _error(failed: protocol.Failed, rung: Rung, log: tuple[str, ...]) -> EngineError:
    if failed.kind == "vocabulary":
        return EngineError(
            tr("{name} has another tokenizer", name=rung.name),
            tr(
                "Its vocabulary isn't the reference's ({where}), so their distributions can't be compared.",
                where=failed.detail,
            ),
            tr("Compare quantizations of one model."),
        )
    return EngineError(
        tr("{name} can't be scored", name=rung.name),
        failed.detail or tr("The engine gave no reason."),
        tr("Leave it out, or free some memory: scoring holds two models at once."),
        log=log,
    )
