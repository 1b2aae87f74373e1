"""The root command: options that hold for every command, errors in words, and the TUI when no command is named."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from workbench import __version__, i18n
from workbench.cli import starter
from workbench.cli.ask import answers, keystrokes, rerank, trace, transforms
from workbench.cli.click_words import translate_click
from workbench.cli.corpus import chunks, doctor, documents, edit, embedders, exchange, indexes
from workbench.cli.display import print_error, say
from workbench.cli.evals import datasets, decide, imports, judge, review
from workbench.cli.front import DEFAULT_FILE, FrontEnds, open_screens
from workbench.cli.models import bench, cards, chat, files, ladder, presets
from workbench.cli.servers import servers
from workbench.cli.streams import discard_output, prepare_streams
from workbench.cli.tools import decide as decisions
from workbench.cli.tools import inventory, money, sql, tokens, usage
from workbench.errors import UsageError, WorkbenchError, reason_of
from workbench.i18n import tr


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--db",
    "file",
    type=click.Path(path_type=Path, readable=False),
    help="The workbench file [WORKBENCH_DB or workbench.db].",
)
@click.option(
    "--lang",
    type=click.Choice(i18n.LANGUAGES),
    is_eager=True,
    expose_value=False,
    callback=lambda context, _option, lang: _speak(context.command, lang),
    help="Language of the interface [WORKBENCH_LANG or the locale's].",
)
@click.version_option(__version__, prog_name="workbench")
@click.pass_context
def workbench(context: click.Context, file: Path | None) -> None:
    """Choose local language models and build retrieval on them, offline, in one file.

    Without a command it opens the four screens on the file.
    """
    chosen = file or Path(os.environ.get("WORKBENCH_DB") or DEFAULT_FILE)
    context.obj = replace(context.obj, file=chosen)
    if context.invoked_subcommand is None:
        open_screens(context.obj)


def _speak(command: click.Command, lang: str | None) -> None:
    """Chooses the language and puts the help of ``command`` and of all those below it into it."""
    if lang:
        i18n.choose_language(lang)
    if i18n.language() != "en":
        _translate(command)


def _translate(command: click.Command) -> None:
    command.help = tr(inspect.cleandoc(command.help or ""))
    command.options_metavar = tr("[OPTIONS]")
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            parameter.help = tr(parameter.help)
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        _translate(below)


for family in (
    documents,
    chunks,
    doctor,
    edit,
    exchange,
    indexes,
    embedders,
    servers,
    answers,
    keystrokes,
    trace,
    files,
    cards,
    presets,
    chat,
    bench,
    ladder,
    starter,
    datasets,
    decide,
    imports,
    judge,
    review,
    rerank,
    transforms,
    usage,
    tokens,
    money,
    decisions,
    inventory,
    sql,
):
    for command in family.COMMANDS:
        workbench.add_command(command)


def run(arguments: Sequence[str], front: FrontEnds) -> int:
    """Runs a command line; prints errors as title, cause and remedy; returns the exit code."""
    prepare_streams()
    translate_click()
    try:
        code = _run(arguments, front)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader went away (`| head`)
        discard_output()
        return 0
    except OSError as error:
        discard_output()
        print_error(_refused(error))
        return 1
    return code


def _run(arguments: Sequence[str], front: FrontEnds) -> int:
    try:
        # Not workbench.main: it hides that the reader of a pipe went away.
        with workbench.make_context("workbench", list(arguments), obj=front) as context:
            workbench.invoke(context)
    except WorkbenchError as error:
        print_error(error)
        return 2 if isinstance(error, UsageError) else 1
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        told = io.StringIO()
        error.show(told)
        say(told.getvalue().rstrip(), err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0


def _refused(error: OSError) -> WorkbenchError:
    """An error of the operating system that no command met by itself."""
    what = str(error.filename) if error.filename else tr("Reading or writing")
    return WorkbenchError(
        tr("The system refused"),
        tr("{what} failed: {reason}.", what=what, reason=reason_of(error)),
        tr("Check the disk and your permissions, then run it again."),
    )
