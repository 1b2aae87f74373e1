"""Commands about what is in the file: ingest, collections, documents, retire, restore, delete."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import click

from workbench.cli.display import StatusLine, duration, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.corpus.chunking import describe_recipe, parse_recipe
from workbench.corpus.identity import document_id
from workbench.corpus.metadata import parse_assignments
from workbench.desk import Desk
from workbench.errors import NotFoundError, UsageError
from workbench.exchange.exchange import keepers
from workbench.i18n import tr
from workbench.ports import Cancel, DeleteCheck
from workbench.records.codec import encode
from workbench.records.corpus import IngestOutcome, IngestProgress, IngestRequest
from workbench.records.exchange import Snapshot
from workbench.text.clean import printable

DEFAULT_COLLECTION = "main"


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--collection", "-c", default="", help="Where to put the documents [the chosen one, or main].")
@click.option(
    "--meta",
    "-m",
    multiple=True,
    metavar="KEY=VALUE",
    help="Metadata for every document, remembered until given anew; KEY= clears it. May be repeated.",
)
@click.option(
    "--recipe",
    default="",
    help="How to cut: structure, window, sentence, semantic or parent; sizes as structure:size=300.",
)
@click.option(
    "--on-missing",
    type=click.Choice(["keep", "retire", "delete"]),
    default="keep",
    help="What to do with documents whose source is gone.",
)
@click.option("--rechunk", is_flag=True, help="Apply the recipe to the whole collection when it differs.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcomes as JSON.")
@click.pass_obj
def ingest(
    front: FrontEnds,
    paths: tuple[str, ...],
    collection: str,
    meta: tuple[str, ...],
    recipe: str,
    on_missing: Literal["keep", "retire", "delete"],
    rechunk: bool,
    as_json: bool,
) -> None:
    """Reads files and folders into a collection. Only what changed is embedded again."""
    metadata = parse_assignments(meta)
    chosen_recipe = parse_recipe(recipe) if recipe else None
    with front.desk("create") as desk, stoppable() as stop:
        name = collection or desk.collection or DEFAULT_COLLECTION
        request = IngestRequest(paths, name, metadata, chosen_recipe, on_missing, rechunk)
        last, outcomes = follow_ingest(desk, request, stop)
    if as_json:
        print_json(outcomes)
    elif last:
        report_ingest(last, outcomes)
    if any(o.action == "failed" for o in outcomes) or (last and last.cancelled):
        sys.exit(1)


def follow_ingest(
    desk: Desk, request: IngestRequest, stop: Cancel
) -> tuple[IngestProgress | None, list[IngestOutcome]]:
    """Ingests, each step told on the status line; returns the last one and what became of every document."""
    outcomes: list[IngestOutcome] = []
    line = StatusLine()
    last: IngestProgress | None = None
    for progress in desk.ingest(request, stop):
        outcomes.extend(progress.outcomes)
        line.say(progress_line(progress), matters=bool(progress.outcomes) and progress.done % 25 == 0)
        last = progress
    line.clear()
    return last, outcomes


def progress_line(progress: IngestProgress) -> str:
    """ "ingest 412/1,400 · 7.7 chunks/s · 2:10 left · faq.md"."""
    parts = [f"ingest {progress.done:,}/{progress.total:,}"]
    if progress.rate:
        parts.append(tr("{rate} chunks/s", rate=f"{progress.rate:.1f}"))
    if progress.eta_s is not None:
        parts.append(tr("{time} left", time=duration(progress.eta_s)))
    return " · ".join([*parts, progress.current]).rstrip(" ·")


def report_ingest(last: IngestProgress, outcomes: list[IngestOutcome], *, err: bool = False) -> None:
    """What failed or is to be known, and the sum; on stderr with ``err``."""
    for outcome in outcomes:
        reason = outcome.reason or _settled(outcome)
        if reason:
            mark = "✗" if outcome.action == "failed" else "~"
            remedy = f" → {outcome.remedy}" if outcome.remedy else ""
            say(f"{mark} {outcome.source_id}: {reason}{remedy}", err=err, newlines=False)
    counts = Counter(o.action for o in outcomes)
    told = ", ".join(f"{n:,} {tr(action)}" for action, n in sorted(counts.items())) or tr("nothing to do")
    embedded = sum(o.embedded for o in outcomes)
    say(
        tr(
            "{collection}: {told}; {embedded} chunks embedded in {time}.",
            collection=last.collection,
            told=told,
            embedded=f"{embedded:,}",
            time=duration(last.elapsed_s),
        ),
        err=err,
    )
    if last.cancelled:
        say(tr("Stopped. What is done is kept; the same command goes on from there."), err=err)


def _settled(outcome: IngestOutcome) -> str:
    """What was done about a document whose source is gone."""
    if outcome.action == "retired":
        return tr("its source is gone, so it was retired")
    return tr("its source is gone, so it was deleted") if outcome.action == "deleted" else ""


@click.command()
@click.option(
    "--filter",
    "mandatory",
    nargs=2,
    metavar="NAME EXPRESSION",
    help="Set a filter that no query of that collection can drop.",
)
@click.option("--delete", "doomed", metavar="NAME", default="", help="Delete a collection with everything in it.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--use", "chosen", metavar="NAME", default="", help="Make it the one that questions go to.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def collections(
    front: FrontEnds, mandatory: tuple[str, str] | None, doomed: str, yes: bool, chosen: str, as_json: bool
) -> None:
    """Lists the collections; sets mandatory filters, chooses or deletes one."""
    with front.desk("change" if mandatory or doomed or chosen else "read") as desk:
        if mandatory:
            desk.set_mandatory_filter(*mandatory)
        if doomed:
            count = len(desk.documents(doomed))
            _confirm(
                tr("Delete “{name}” with its {count} documents for good?", name=doomed, count=count),
                yes,
                desk.exchange.snapshots(),
            )
            desk.delete_collection(doomed)
        if chosen:
            desk.choose_collection(chosen)
        found = desk.collections()
        current = desk.collection
    if as_json:
        print_json(found)
        return
    rows = [
        (
            "●" if c.name == current else " ",
            c.name,
            f"{c.documents:,}",
            f"{c.chunks:,}",
            describe_recipe(c.recipe),
            c.mandatory_filter or "–",
        )
        for c in found
    ]
    print_table(
        ("", tr("name"), tr("documents"), tr("chunks"), tr("recipe"), tr("mandatory filter")), rows, right=(2, 3)
    )


@click.command()
@click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def documents(front: FrontEnds, collection: str, as_json: bool) -> None:
    """Lists the documents of a collection."""
    with front.desk("read") as desk:
        found = desk.documents(collection)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            d.source_id,
            "✓" if d.status == "current" else "✗ " + tr("retired"),
            d.language,
            f"{d.chunks:,}",
            f"{d.characters:,}",
            d.id,
            d.title,
        )
        for d in found
    ]
    head = (tr("source"), tr("status"), tr("language"), tr("chunks"), tr("characters"), "id", tr("title"))
    print_table(head, rows, right=(3, 4))


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
@click.pass_obj
def retire(front: FrontEnds, names: tuple[str, ...], collection: str) -> None:
    """Keeps documents listed, and out of every search whose filter doesn't name the status."""
    with front.desk() as desk:
        count = desk.set_status([d.id for d in desk.find_documents(names, collection)], "retired")
    say(tr("{count} retired.", count=count))


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
@click.pass_obj
def restore(front: FrontEnds, names: tuple[str, ...], collection: str) -> None:
    """Brings retired documents back into searches."""
    with front.desk() as desk:
        count = desk.set_status([d.id for d in desk.find_documents(names, collection)], "current")
    say(tr("{count} restored.", count=count))


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
@click.option("--traces", is_flag=True, help="Take their words out of stored traces and evaluation results as well.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def delete(front: FrontEnds, names: tuple[str, ...], collection: str, traces: bool, yes: bool, as_json: bool) -> None:
    """Deletes documents everywhere and checks that no search can return them.

    Traces and evaluation results keep the passages that they quote, as they tell what was asked and answered; --traces
    takes these out too, also of documents that were deleted before.
    """
    with front.desk() as desk:
        names = tuple(dict.fromkeys(names))
        ids = [_document_id(desk, name, collection, gone=traces) for name in names]
        snapshots = desk.exchange.snapshots()
        _confirm(tr("Delete {count} documents for good?", count=len(ids)), yes, snapshots)
        checks = desk.delete_documents(ids, traces=traces)
    if as_json:
        kept = {"snapshots": [snapshot.name for snapshot in snapshots]}
        print_json([encode(check) | {"gone": check.gone} | kept for check in checks])
    else:
        _report_deletions(checks, dict(zip(ids, names, strict=True)), snapshots)
    if not all(c.gone for c in checks):
        sys.exit(1)


def _report_deletions(checks: Sequence[DeleteCheck], names: Mapping[str, str], snapshots: Sequence[Snapshot]) -> None:
    for check in checks:
        name = check.source_id or names[check.document_id]
        say(f"{'✓' if check.gone else '✗'} {name}: {_deletion(check)}", newlines=False)
    if snapshots:
        say(f"{keepers(snapshots)} {tr('See workbench snapshot list')}", newlines=False)


def _document_id(desk: Desk, name: str, collection: str, *, gone: bool) -> str:
    """Its id; ``gone``: it may have been deleted before. Raises NotFoundError."""
    try:
        return desk.find_documents([name], collection)[0].id
    except NotFoundError:
        if not gone:
            raise
        return document_id(collection or desk.collection, name)


def _deletion(check: DeleteCheck) -> str:
    """What became of a document and of the traces that quote it."""
    rows = ", ".join(f"{tr(place)} {count:,}" for place, count in check.remaining.items())
    if not check.gone:
        return tr("rows of it are still there: {rows}", rows=rows)
    told = tr("gone; looked for again in the file: {rows}", rows=rows)
    if not check.source_id:
        told = tr("it isn't in the collection")
    if check.redacted:
        told += "; " + tr("its words were taken out of {count} traces and results", count=check.redacted)
    if check.quoted:
        told += "; " + tr("kept by policy: {count} traces and results quote it (--traces)", count=check.quoted)
    return told


def _confirm(question: str, yes: bool, snapshots: Sequence[Snapshot]) -> None:
    """Raises UsageError without a terminal to ask on, click.Abort when the answer is no."""
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        told = tr("Deleting can't be undone."), keepers(snapshots)
        raise UsageError(tr("Not confirmed"), " ".join(told).rstrip(), tr("Add --yes."))
    if snapshots:
        say(keepers(snapshots), newlines=False)
    choice = tr("y/N")
    answer = click.prompt(
        f"{printable(question, newlines=False)} [{choice}]", default="", show_default=False, prompt_suffix=" "
    )
    if answer.strip()[:1].casefold() != choice[0]:
        raise click.Abort


COMMANDS = (ingest, collections, documents, retire, restore, delete)
