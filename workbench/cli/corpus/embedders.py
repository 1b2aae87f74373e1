"""Commands about the embedders that are installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from workbench.cli.display import print_json, print_table, say
from workbench.cli.front import FrontEnds
from workbench.i18n import tr
from workbench.indexing.adding import CATALOGUE, Given, add_embedder
from workbench.indexing.catalogue import known_models, language_words
from workbench.records.indexes import InstalledEmbedder, KnownModel, LintFinding


@click.group()
def embedders() -> None:
    """Embedders: what is installed, what is known of them, what is wrong with them."""


@embedders.command("list")
@click.option("--known", is_flag=True, help="The models that are known, installed or not.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def list_embedders(front: FrontEnds, known: bool, as_json: bool) -> None:
    """Lists them with prefixes, length, dimension, languages and licence."""
    if known:
        _show_known(as_json)
        return
    with front.glance() as desk:
        found = desk.indexes.embedders()
    if as_json:
        print_json(found)
        return
    head = (
        tr("embedder"),
        tr("runtime"),
        tr("dimension"),
        tr("tokens"),
        tr("prefixes"),
        tr("cut to"),
        tr("licence"),
        tr("languages"),
    )
    print_table(head, [_row(one) for one in found], right=(2, 3))


def _row(one: InstalledEmbedder) -> tuple[str, ...]:
    if one.problem:
        return (one.name, "✗", "", "", "", "", "", one.problem)
    known = one.known
    return (
        one.name + (" *" if one.default else ""),
        one.runtime,
        str(one.dimension),
        f"{one.max_tokens:,}",
        _prefixes(one),
        _listed(one.cuts),
        known.licence if known else "?",
        language_words(known) if known else "?",
    )


def _show_known(as_json: bool) -> None:
    """The table that prefixes are taken from, and that the lint compares with."""
    if as_json:
        print_json(known_models())
        return
    head = (
        tr("name holds"),
        tr("dimension"),
        tr("tokens"),
        tr("cut to"),
        tr("licence"),
        tr("languages"),
        tr("prefixes"),
    )
    rows = [
        (
            m.names[0],
            str(m.dimension),
            f"{m.max_tokens:,}",
            _listed(m.matryoshka),
            m.licence,
            language_words(m),
            _prefixes(m),
        )
        for m in known_models()
    ]
    print_table(head, rows, right=(1, 2))


def _prefixes(one: InstalledEmbedder | KnownModel) -> str:
    return f"{one.query_prefix!r} {one.passage_prefix!r}" if one.query_prefix or one.passage_prefix else "–"


def _listed(dimensions: Sequence[int]) -> str:
    return ", ".join(map(str, dimensions)) or "–"


@embedders.command()
@click.argument("source")
@click.option("--name", default="", help="What to call it [its own name].")
@click.option("--query-prefix", help="Put before questions [as the model's files or the table of known models say].")
@click.option("--passage-prefix", help="Put before passages [as the model's files or the table of known models say].")
@click.option("--cut-to", multiple=True, type=click.IntRange(1), help="It was trained to be cut to; may be repeated.")
@click.pass_obj
def add(
    front: FrontEnds,
    source: str,
    name: str,
    query_prefix: str | None,
    passage_prefix: str | None,
    cut_to: tuple[int, ...],
) -> None:
    """Adds an embedder: an ONNX folder, a GGUF file, or fastembed:NAME (this uses the network)."""
    if source.startswith(CATALOGUE):
        say(tr("Fetching {name} over the network…", name=source.removeprefix(CATALOGUE)), err=True)
    added = add_embedder(source, name, Given(query_prefix, passage_prefix, cut_to))
    say(tr("“{name}” is installed. Build an index with it: workbench indexes build -e {name}", name=added))
    with front.glance() as desk:
        _tell(desk.indexes.lint_embedder(added))


@embedders.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def lint(front: FrontEnds, as_json: bool) -> None:
    """Tells wrong prefixes, indexes whose embedder is another one, chunks it cuts off. Exits with 1 on an error."""
    with front.glance() as desk:
        found = desk.indexes.lint()
    if as_json:
        print_json(found)
    else:
        _tell(found)
        if not found:
            say(tr("Nothing is wrong."))
    if any(finding.level == "error" for finding in found):
        sys.exit(1)


def _tell(found: Sequence[LintFinding]) -> None:
    for finding in found:
        say(f"{'✗' if finding.level == 'error' else '~'} {finding.about}: {finding.message}", newlines=False)
        say(f"  → {finding.remedy}")


COMMANDS = (embedders,)
