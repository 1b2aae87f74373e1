"""``workbench tokens``: a text under several tokenizers, the window's budget, and prompts that spoil their cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli.display import print_json, print_table, say
from workbench.cli.front import FrontEnds
from workbench.errors import UsageError, reason_of
from workbench.i18n import tr
from workbench.records.answers import Context
from workbench.records.tokens import PARTS, Cut, PrefixReport, WindowBudget
from workbench.tokens.window import budget_of
from workbench.tokens.words import break_text, part_name, untold_words, window_words

SHOWN: int = 200
"""Pieces that a terminal is shown of a text."""


@click.group()
def tokens() -> None:
    """Counts and shows tokens, budgets a window, and finds what keeps a prompt out of a cache."""


@tokens.command()
@click.argument("text", required=False)
@click.option("--file", type=click.Path(path_type=Path), help="Take the text of a file instead.")
@click.option("--model", default="", help="Load this model file first, or use URL#NAME: its own tokenizer counts too.")
@click.option("--pieces/--no-pieces", default=True, help="Show where the text is cut.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def show(front: FrontEnds, text: str | None, file: Path | None, model: str, pieces: bool, as_json: bool) -> None:
    """Cuts a text by every tokenizer that is here: tiktoken's, the model's, the embedder's."""
    if (text is None) == (file is None):
        raise UsageError(tr("No text"), tr("Give a text, or a file with --file."), tr("One of them."))
    asked = _read(file) if file else text or ""
    with front.glance() as desk:
        for _ in desk.open_model(model) if model else ():
            pass
        cuts = desk.tokens.cuts(asked)
    if as_json:
        print_json(cuts)
        return
    for cut in cuts:
        print_cut(cut, len(asked), pieces)
    if not cuts:
        say(tr("No tokenizer is here. Run: workbench starter"))


def print_cut(cut: Cut, characters: int, pieces: bool) -> None:
    """Its count, then the text with a bar between its pieces."""
    kinds = {"encoding": tr("encoding"), "model": tr("model"), "embedder": tr("embedder")}
    if not cut.told:
        say(f"{cut.tokenizer} ({kinds[cut.kind]}): {untold_words()}", newlines=False, bold=True)
        return
    each = f" · {characters / cut.count:.2f} " + tr("characters each") if cut.count else ""
    say(f"{cut.tokenizer} ({kinds[cut.kind]}): {cut.count:,}{each}", newlines=False, bold=True)
    if pieces and cut.pieces:
        more = "…" if cut.count > SHOWN else ""
        say("  " + "│".join(p.text.replace("\n", "⏎") for p in cut.pieces[:SHOWN]) + more, newlines=False)


@tokens.command()
@click.option("--window", type=click.IntRange(1), help="Tokens of the model's window.")
@click.option("--instructions", type=click.IntRange(0), default=0, help="Tokens of instructions.")
@click.option("--history", type=click.IntRange(0), default=0, help="Of the conversation so far.")
@click.option("--documents", type=click.IntRange(0), default=0, help="Of evidence.")
@click.option("--tools", type=click.IntRange(0), default=0, help="Of tool definitions and schemas.")
@click.option("--question", type=click.IntRange(0), default=0, help="Of the question.")
@click.option("--output", type=click.IntRange(0), default=0, help="Reserved for the answer.")
@click.option("--trace", default="", metavar="TRACE", help="Take the parts of a stored question instead.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def budget(context: click.Context, /, window: int | None, trace: str, as_json: bool, **parts: Any) -> None:
    """Divides a window: what is sent and what is reserved must fit. Exits with 1 when it doesn't."""
    if trace:
        with context.obj.desk("read") as desk:
            span = desk.trace(trace).span("context")
        if span is None or not isinstance(span.output, Context):
            raise UsageError(tr("No context"), tr("That question came to none."), tr("Choose another trace."))
        found = budget_of(span.output.ledger, window)
    elif window is None:
        raise UsageError(tr("No window"), tr("A budget is of a window."), tr("Give --window, or --trace."))
    else:
        found = WindowBudget(window, **parts)
    if as_json:
        print_json(found)
    else:
        print_budget(found)
    if not found.fits:
        context.exit(1)


def print_budget(found: WindowBudget) -> None:
    """A line a part, then the sum against the window."""
    near = "≈ " if found.estimated else ""
    marks = {name: "" if name == "output" else near for name in PARTS}  # what is reserved is known
    rows = [(part_name(name), f"{marks[name]}{n:,}", f"{n / found.window:.1%}") for name, n in found.parts if n]
    print_table((tr("part"), tr("tokens"), tr("of the window")), rows, right=(1, 2))
    verdict = (
        tr("{left} left", left=f"{found.left:,}") if found.fits else tr("{over} too many", over=f"{-found.left:,}")
    )
    sign = "≤" if found.fits else ">"
    sums = f"{near}{found.input:,} + {found.output:,} = {near}{found.total:,}"
    say(f"{sums} {sign} {window_words(found)} · {near}{verdict}")


@tokens.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--tokenizer", default="", help="Count in this one's tokens [the model's, or tiktoken's].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def prefix(front: FrontEnds, first: Path, second: Path, tokenizer: str, as_json: bool) -> None:
    """Compares two prompts, in files, as one would be sent after the other: where they part, what that costs.

    Exits with 1 when the second reads something again that the first one had.
    """
    with front.glance() as desk:
        report = desk.tokens.compare(_read(first), _read(second), tokenizer)
    if as_json:
        print_json(report)
    else:
        print_prefix(report)
    if report.again:
        raise click.exceptions.Exit(1)


def print_prefix(report: PrefixReport) -> None:
    """The hit ratio, the first difference, and what broke the prefix."""
    say(
        tr(
            "{shared} of {tokens} tokens are the same from the start on: H = {hit} ({tokenizer})",
            shared=f"{report.shared:,}",
            tokens=f"{report.tokens:,}",
            hit=f"{report.hit:.0%}",
            tokenizer=report.tokenizer,
        )
    )
    if not report.line:
        return
    say(tr("First difference: line {line}, column {column}", line=report.line, column=report.column))
    say(f"  - {report.before}", newlines=False)
    say(f"  + {report.after}", newlines=False)
    say(
        tr(
            "{lost} tokens come after it and are read again; {again} of them stood in the first prompt too.",
            lost=f"{report.lost:,}",
            again=f"{report.again:,}",
        )
    )
    for found in report.breaks:
        say("  ✗ " + break_text(found), newlines=False)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            tr("The file can't be read"), f"{path}: {reason_of(error)}", tr("Give a UTF-8 text file.")
        ) from error


COMMANDS = (tokens,)
