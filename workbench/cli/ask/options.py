"""Options that ``ask`` takes beside the question: who answers and how, how it is searched, what is judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

import click

from workbench.cli.ask.transforms import chosen_transforms
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.answers import AskOptions
from workbench.records.retrieval import SearchOptions
from workbench.traces.changes import ORDERS

F = TypeVar("F", bound=Callable[..., object])
Mode = Literal["auto", "extractive", "generated", "grammar", "free"]

MODES: Final[dict[Mode, tuple[Literal["auto", "extractive", "generated"], bool | None]]] = {
    "auto": ("auto", None),
    "extractive": ("extractive", None),
    "generated": ("generated", None),
    "grammar": ("generated", True),
    "free": ("generated", False),
}
"""What a mode is to ``AskOptions``: who answers, and whether a grammar holds the model (None: by its size)."""

RERANK: Final = click.option(
    "--rerank", metavar="NAME", help="Rank the first hits anew: none, late or a reranker [as on for the collection]."
)
TRANSFORM: Final = click.option(
    "--transform",
    "transforms",
    callback=chosen_transforms,
    metavar="NAMES",
    help="spelling, languages, split, multi, hyde; commas between, or none [as chosen for the collection].",
)
_ANSWERING: Final = (
    click.option(
        "--mode",
        type=click.Choice(list(MODES)),
        default="auto",
        show_default=True,
        help="Who answers: the sources' sentences, or a model, held by a grammar or free.",
    ),
    click.option(
        "--evidence",
        default=5,
        show_default=True,
        type=click.IntRange(1, 50),
        help="Chunks put in the context at most.",
    ),
    click.option("--threshold", type=click.FloatRange(0, 1), help="τ: abstain when the support is below it."),
    click.option("--mmr", type=click.FloatRange(0, 1), help="λ: choose evidence that doesn't repeat itself [off]."),
    click.option("--duplicates", is_flag=True, default=None, help="Keep chunks that repeat others."),
    click.option(
        "--no-parents", "parents", flag_value=False, default=None, help="Chunks alone, without the spans around them."
    ),
    click.option(
        "--budget", type=click.IntRange(1), help="Tokens of all the evidence at most [what the window leaves]."
    ),
    click.option(
        "--order", type=click.Choice(list(ORDERS)), default="first", show_default=True, help="Where the best stands."
    ),
    click.option("--follow", "follows", default="", metavar="TRACE", help="Read it after that question; last."),
    click.option(
        "--retries",
        default=1,
        show_default=True,
        type=click.IntRange(0, 3),
        help="Searches more, when the evidence is weak, before abstaining.",
    ),
    click.option(
        "--rewrite",
        type=click.Choice(["rules", "model"]),
        default="rules",
        show_default=True,
        help="Who words follow-ups and second searches.",
    ),
    click.option("--judge", is_flag=True, help="Ask the model of each claim, too, whether its sources say it."),
)
_SEARCHING: Final = (
    RERANK,
    TRANSFORM,
    click.option(
        "--extra-searches",
        default=12,
        show_default=True,
        type=click.IntRange(0),
        help="Lanes asked at most beyond the question's own.",
    ),
    click.option(
        "--query-tokens",
        default=2000,
        show_default=True,
        type=click.IntRange(0),
        help="Tokens a model may spend on the question before it answers.",
    ),
)


def answering(command: F) -> F:
    """Adds the options of ``ask_options`` and ``search_options`` to a command."""
    for option in reversed((*_ANSWERING, *_SEARCHING)):
        command = option(command)
    return command


def ask_options(told: dict[str, Any], model: str) -> AskOptions:
    """The options as given. Raises UsageError when a model is needed and none is named."""
    mode, constrained = MODES[told["mode"]]
    if mode == "generated" and not model:
        raise UsageError(
            tr("No model to generate with"),
            tr("A generated answer needs a model, and none is named."),
            tr("Add --model FILE; workbench models lists the files there are."),
        )
    if told["judge"] and not model:
        raise UsageError(
            tr("No model to judge with"),
            tr("A judge is a model, and none is named."),
            tr("Add --model FILE; workbench models lists the files there are."),
        )
    taken = (
        "evidence",
        "threshold",
        "mmr",
        "budget",
        "follows",
        "retries",
        "rewrite",
        "judge",
        "duplicates",
        "parents",
    )
    return AskOptions(
        mode=mode, constrained=constrained, order=ORDERS[told["order"]], **{name: told[name] for name in taken}
    )


def search_options(told: dict[str, Any], collection: str, expression: str) -> SearchOptions:
    """How the question is searched."""
    taken = ("rerank", "transforms", "extra_searches", "query_tokens")
    return SearchOptions(collection, filter=expression, **{name: told[name] for name in taken})
