"""A command that talks to a model: chat."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from workbench import paths
from workbench.cli.ask.answers import load
from workbench.cli.display import StatusLine, print_json, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.cli.numbers import Number
from workbench.desk import Desk
from workbench.errors import UsageError, reason_of
from workbench.i18n import tr
from workbench.library.presets import opening
from workbench.playground.structured import INVOICE, SchemaCheck
from workbench.playground.words import figure_words, progress_words, silence_words, state_words
from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.library import Preset
from workbench.records.playground import ChatReply, ChatRequest
from workbench.text.clean import printable

SAMPLING: Final = (
    click.option("--max-tokens", default=256, show_default=True, type=click.IntRange(1), help="Longest answer."),
    click.option("--temperature", default=0.0, show_default=True, type=Number(0), help="0 is always the same."),
    click.option("--top-p", default=0.95, show_default=True, type=Number(0, 1), help="Share of the likeliest."),
    click.option("--top-k", default=40, show_default=True, type=click.IntRange(0), help="Likeliest tokens; 0 is all."),
    click.option("--min-p", default=0.0, show_default=True, type=Number(0, 1), help="Least share of the best."),
    click.option("--repeat-penalty", default=1.0, show_default=True, type=Number(0.1, 10), help="1 is none."),
    click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Of sampling."),
    click.option("--stop", multiple=True, help="A string that ends the answer; may be given again."),
)


def sampling_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of ``GenerationSettings``; ``given`` tells which of them a person gave."""
    for option in reversed(SAMPLING):
        command = option(command)
    return command


@click.command()
@click.option("--message", "-m", default="", help="What to say to the model [standard input].")
@click.option("--system", "-s", default="", help="Instructions that come first.")
@click.option("--model", default="", help="A GGUF file [the preset's, or the starter model].")
@click.option("--preset", "named", default="", metavar="NAME", help="Load and ask as it says; options go before it.")
@click.option(
    "--schema",
    type=click.Path(path_type=Path),
    help="A file with the JSON Schema that the answer has to fit; or: invoice.",
)
@click.option("--retries", default=3, show_default=True, type=click.IntRange(0, 10), help="For answers that don't fit.")
@click.option("--free", is_flag=True, help="Let the model write anything; the schema is only checked.")
@click.option("--show-prompt", is_flag=True, help="Print the prompt as it is sent, too.")
@sampling_options
@click.option("--json", "as_json", is_flag=True, help="Print prompts, answers, times and faults as JSON.")
@click.pass_obj
def chat(
    front: FrontEnds,
    /,
    message: str,
    system: str,
    model: str,
    named: str,
    schema: Path | None,
    retries: int,
    free: bool,
    show_prompt: bool,
    as_json: bool,
    **sampling: Any,
) -> None:
    """Says something to a model and prints its answer; nothing else comes on standard output.

    Exits with 1 when the answer is cut off by an error, is empty or doesn't fit its schema.
    """
    said, checked = Message("user", message or _standard_input()), _schema(schema)
    with front.desk("create") as desk, stoppable() as stopped:
        preset = desk.library.presets.get(named) if named else Preset("")
        request = ChatRequest(
            (*opening(preset, system), said),
            replace(preset.generation, **given(sampling)),
            checked,
            retries,
            not free,
        )
        line = StatusLine()
        load(desk, model or preset.model or paths.STARTER_MODEL, line, preset.load)
        line.clear()
        for lint in desk.playground.lint():
            say(f"~ {lint.message} {lint.remedy}", err=True, dim=True)
        if show_prompt and not as_json:
            say(desk.playground.prompt(request), err=True, dim=True)
        last = _talk(desk, request, stopped, quiet=as_json or bool(request.schema), line=line)
    if as_json:
        print_json(last)
    elif last:
        _print_end(last, whole=bool(request.schema))
    if last is None or last.failed:
        sys.exit(1)


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Those that stand on the command line: a preset gives way to them alone."""
    source = click.get_current_context().get_parameter_source
    return {name: value for name, value in options.items() if source(name) is not ParameterSource.DEFAULT}


def _talk(desk: Desk, request: ChatRequest, stop: Cancel, *, quiet: bool, line: StatusLine) -> ChatReply | None:
    """The last reply; its text printed as it comes, unless ``quiet``."""
    shown, reply = 0, None
    for reply in desk.playground.chat(request, stop):
        generation = reply.last.generation
        if generation.state == "started" or quiet:
            line.say(_progress(reply))
        elif len(generation.text) > shown:
            line.clear()
            click.echo(printable(generation.text[shown:]), nl=False)
            shown = len(generation.text)
    line.clear()
    if shown:
        click.echo()
    return reply


def _progress(reply: ChatReply) -> str:
    attempt = tr("attempt {number}: ", number=len(reply.attempts)) if len(reply.attempts) > 1 else ""
    return attempt + progress_words(reply.last.generation)


def _print_end(reply: ChatReply, *, whole: bool) -> None:
    """The output where it wasn't streamed; faults and figures on standard error."""
    for number, attempt in enumerate(reply.attempts, 1):
        for fault in attempt.faults:
            where = tr("attempt {number}: ", number=number) if len(reply.attempts) > 1 else ""
            say(f"✗ {where}{fault.path}: {fault.message}", err=True, newlines=False)
    if whole and not reply.failed:
        say(reply.text)
    generation = reply.last.generation
    if generation.error:
        say(f"✗ {generation.error}", err=True)
    if reply.silent:
        say(f"✗ {silence_words()}", err=True)
    say(f"{state_words(generation)} · {figure_words(generation)}", err=True, dim=True)


def _standard_input() -> str:
    text = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read().strip()
    if not text:
        raise UsageError(
            tr("Nothing to say"),
            tr("There is no message, and standard input is empty."),
            tr("Give one with -m, or pipe it in."),
        )
    return text


def _schema(path: Path | None) -> str:
    """The schema's text, known to be one before a model is loaded for it; "invoice" is the example's name."""
    if path == Path("invoice") and not path.exists():
        return INVOICE
    try:
        schema = path.read_text("utf-8") if path else ""
    except (OSError, UnicodeError) as error:
        raise UsageError(
            tr("The schema can't be read"),
            tr("{what} failed: {reason}.", what=path, reason=reason_of(error)),
            tr("Name a file that holds a JSON Schema, or take the example: invoice."),
        ) from error
    if path:
        SchemaCheck(schema)
    return schema


COMMANDS = (chat,)
