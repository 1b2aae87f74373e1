"""What commands say of a question's transformations, and the command that chooses a collection's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from workbench.cli.display import print_json, say
from workbench.cli.front import FrontEnds
from workbench.i18n import amounts, tr
from workbench.records.answers import Stage
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.retrieval import Transform, Transformed
from workbench.retrieval.transforms import TRANSFORMS, parse_transforms


@click.command()
@click.option("--use", "names", default="", metavar="NAMES", help="From now on, e.g. spelling,languages.")
@click.option("--off", is_flag=True, help="Turn all of them off.")
@click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def transforms(front: FrontEnds, names: str, off: bool, collection: str, as_json: bool) -> None:
    """Shows or chooses how a collection's questions are transformed: spelling, languages, split, multi, hyde."""
    with front.desk("change" if names or off else "read") as desk:
        if names or off:
            desk.use_transforms(() if off else parse_transforms(names), collection)
        chosen = desk.transforms(collection)
    if as_json:
        print_json(chosen)
    elif chosen:
        say(", ".join(chosen))
    else:
        say(tr("None: questions are searched as they are. There are {names}.", names=", ".join(TRANSFORMS)))


def chosen_transforms(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[Transform, ...] | None:
    """The value of ``--transform``; None where it isn't given, and the collection's own are taken."""
    return None if value is None else parse_transforms(value)


def print_queries(stages: Iterable[Stage]) -> None:
    """On stderr: how the question was read, what else was searched, and why."""
    for stage in stages:
        for line in _told(stage):
            say(f"~ {line}", err=True, newlines=False)


def _told(stage: Stage) -> Iterator[str]:
    match stage:
        case FollowUp():
            yield tr("follow-up: {question} ({note})", question=stage.question, note=stage.note)
        case EvidenceCheck():
            figures = f"s {stage.support:.2f} < τ {stage.threshold:.2f}"
            told = tr("weak evidence ({figures}): {reason}", figures=figures, reason=stage.reason)
            yield f"{told} → {stage.query}" if stage.query else told
        case Transformed(kind="spelling", variants=()) if stage.corrections:
            meant = ", ".join(f"{one.word} → {one.suggestion}" for one in stage.corrections)
            yield tr("did you mean: {words}? --transform spelling searches for it", words=meant)
        case Transformed():
            yield _transformed(stage)


def _transformed(stage: Transformed) -> str:
    name = tr(stage.kind)
    if stage.skipped:
        return f"{name}: {stage.skipped}"
    tokens = stage.prompt_tokens + stage.output_tokens
    cost = tr("1 more search") if stage.searches == 1 else tr("{count} more searches", count=stage.searches)
    spent = f"{cost}, {amounts.tokens(tokens)}" if tokens else cost
    texts = dict.fromkeys(variant.name if stage.kind == "languages" else variant.text for variant in stage.variants)
    return f"{name} ({spent}): {' | '.join(texts)}"


COMMANDS = (transforms,)
