"""Commands about indexes side by side and the embedders they are made with."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from workbench.cli.display import StatusLine, duration, print_json, print_table, say, size, stoppable
from workbench.cli.front import FrontEnds
from workbench.corpus.chunking import describe_recipe, parse_recipe
from workbench.desk import Desk
from workbench.evals.gold.anchors import left_out_told
from workbench.evals.measuring.compare import p_text
from workbench.i18n import tr
from workbench.i18n.amounts import questions
from workbench.indexing.comparing import unequal_told
from workbench.indexing.forms import form_name
from workbench.records.corpus import VectorForm
from workbench.records.evals import Estimate
from workbench.records.indexes import BuildProgress, FormRecall, IndexComparison, IndexState

_COLLECTION = click.option("--collection", "-c", default="", help="Of which collection [the chosen one].")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


@click.group()
def indexes() -> None:
    """Indexes of one collection side by side: build, compare, switch, go back, drop."""


@indexes.command("list")
@_COLLECTION
@_JSON
@click.pass_obj
def list_indexes(front: FrontEnds, collection: str, as_json: bool) -> None:
    """Lists them: embedder, recipe, form, how far they are built, memory of their vectors."""
    with front.desk("read") as desk:
        states = desk.indexes.states(collection or desk.collection)
    if as_json:
        print_json(states)
        return
    head = (
        tr("index"),
        tr("status"),
        tr("embedder"),
        tr("form"),
        tr("documents"),
        tr("vectors"),
        "N·d·b",
        tr("recall"),
        tr("recipe"),
    )
    print_table(head, [_row(state) for state in states], right=(0, 4, 5, 6))


def _row(state: IndexState) -> tuple[str, ...]:
    index = state.index
    own = next((one for one in state.measured if one.form == index.form), None)
    return (
        str(index.id),
        tr(state.standing),
        index.embedder.name + ("" if state.installed else f" ({tr('not installed')})"),
        form_name(index.form),
        f"{state.complete:,}" if state.whole else f"{state.complete:,}/{state.documents:,}",
        f"{index.vectors:,}",
        size(round(state.bytes)),
        _own_recall(own) if own else "–",
        describe_recipe(index.recipe),
    )


def _own_recall(own: FormRecall) -> str:
    filtered = f" · {own.filter}" if own.filter else ""
    outdated = f" · {tr('outdated')}" if own.outdated else ""
    return f"{own.recall.value:.3f} @{own.k}{filtered}{outdated}"


@indexes.command()
@_COLLECTION
@click.option("--embedder", "-e", default="", help="An installed embedder [that of the current index].")
@click.option("--recipe", "-r", default="", help="How to cut, as with ingest [that of the current index].")
@click.option("--form", "-f", default="", help="float32, int8, bit, bit+int8, bit+float32; @256 keeps 256 components.")
@click.option("--index", "index_id", type=int, default=0, help="Complete this one instead of building another.")
@_JSON
@click.pass_obj
def build(
    front: FrontEnds, collection: str, embedder: str, recipe: str, form: str, index_id: int, as_json: bool
) -> None:
    """Builds an index beside the current one from the stored texts; stopped or killed, it goes on where it ended."""
    with front.desk() as desk, stoppable() as stop:
        cut = parse_recipe(recipe) if recipe else None
        steps = (
            desk.indexes.complete(index_id, stop)
            if index_id
            else desk.indexes.build(collection or desk.collection, embedder, cut, form, stop)
        )
        last = _watch(steps)
        state = desk.indexes.state(desk.indexes.index(last.index.id)) if last else None
    if state is None:
        return
    if as_json:
        print_json(state)
    else:
        told = tr(
            "Index {id} holds {done} of {total} documents.",
            id=state.index.id,
            done=state.complete,
            total=state.documents,
        )
        say(
            told
            + " "
            + (
                tr("Switch to it: workbench indexes switch {id}", id=state.index.id)
                if state.whole
                else tr("Run it again to go on.")
            )
        )
    if not state.whole:
        sys.exit(1)


def _watch(steps: Iterator[BuildProgress]) -> BuildProgress | None:
    line, last = StatusLine(), None
    for last in steps:
        line.say(build_line(last))
        for outcome in last.progress.outcomes:
            if outcome.action == "failed":
                line.clear()
                say(f"✗ {outcome.source_id}: {outcome.reason}", err=True)
    line.clear()
    return last


def build_line(step: BuildProgress) -> str:
    """How far a build is: "index 2: 120/240 documents · 31 chunks/s · 4.1 s left"."""
    progress = step.progress
    eta = tr("{time} left", time=duration(progress.eta_s)) if progress.eta_s is not None else ""
    rate = tr("{rate} chunks/s", rate=f"{progress.rate:.{0 if progress.rate >= 10 else 1}f}") if progress.rate else ""
    done = tr("index {id}: {done}/{total} documents", id=step.index.id, done=step.done, total=step.total)
    return " · ".join(filter(None, (done, rate, eta)))


@indexes.command()
@click.argument("first", type=int)
@click.argument("second", type=int)
@click.option("--dataset", "-d", default="", help="Whose questions to ask [those asked of the collection].")
@_JSON
@click.pass_obj
def compare(front: FrontEnds, first: int, second: int, dataset: str, as_json: bool) -> None:
    """Asks two indexes the same questions: recall and MRR, paired, with intervals."""
    line, last = StatusLine(), None
    with front.desk("read") as desk, stoppable() as stop:
        for last in desk.indexes.compare(first, second, dataset, stop):
            line.say(f"{last.cases:,}/{last.total:,}")
    line.clear()
    if as_json:
        print_json(last)
    elif last:
        _print_comparison(last)


def _print_comparison(found: IndexComparison) -> None:
    sides = [f"{i.id} {i.embedder.name} {form_name(i.form)}" for i in (found.first, found.second)]
    head = (tr("measure"), *sides, tr("difference"), "")
    rows = [
        (m.metric, _figure(m.a), _figure(m.b), _signed(m.difference), f"{p_text(m.p_value)} ({m.test})")
        for m in found.metrics
    ]
    print_table(head, rows, right=(1, 2, 3))
    say(
        tr(
            "{questions}, by fusion recall@1: {fixed} right only with {second}, {broken} only with {first}.",
            questions=questions(found.cases),
            fixed=found.fixed,
            broken=found.broken,
            first=found.first.id,
            second=found.second.id,
        )
    )
    if found.left_out:
        say(left_out_told(found.left_out) + ".")
    for sentence in unequal_told(found):
        say(sentence + ".")
    if not found.source:
        say(tr("These questions have no gold: the figures tell how far the second agrees with the first."))


def _figure(value: Estimate) -> str:
    return f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _signed(value: Estimate) -> str:
    return f"{value.value:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"


@indexes.command()
@click.argument("index_id", metavar="INDEX", type=int)
@click.pass_obj
def switch(front: FrontEnds, index_id: int) -> None:
    """Questions meet INDEX from now on; the previous one is kept."""
    with front.desk() as desk:
        found = desk.indexes.switch(index_id)
    say(
        tr(
            "“{collection}” is asked through index {id} now. Go back: workbench indexes back",
            collection=found.collection,
            id=found.id,
        )
    )


@indexes.command()
@_COLLECTION
@click.pass_obj
def back(front: FrontEnds, collection: str) -> None:
    """Switches to the previous index, completed first where documents came in since."""
    with front.desk() as desk, stoppable() as stop:
        name = collection or desk.collection
        _watch(desk.indexes.back(name, stop))
        states = desk.indexes.states(name)
    say(tr("“{collection}” is asked through index {id} now.", collection=name, id=states[0].index.id))


@indexes.command()
@click.argument("index_id", metavar="INDEX", type=int)
@click.pass_obj
def drop(front: FrontEnds, index_id: int) -> None:
    """Removes INDEX for good; the one in use can't be dropped."""
    with front.desk() as desk:
        desk.indexes.drop(index_id)
    say(tr("Index {id} is dropped. Give the room back: workbench space --compact", id=index_id))


@indexes.command()
@click.argument("index_id", metavar="INDEX", type=int, default=0)
@_COLLECTION
@click.option("--dataset", "-d", default="", help="Whose questions to ask [those asked, else chunks stand in].")
@click.option("--filter", "filter_text", default="", help="Search among the chunks that pass.")
@_JSON
@click.pass_obj
def recall(front: FrontEnds, index_id: int, collection: str, dataset: str, filter_text: str, as_json: bool) -> None:
    """Measures what each form of storing INDEX's vectors loses against exact search [the current index]."""
    line, last = StatusLine(), None
    with front.desk() as desk, stoppable() as stop:
        chosen = index_id or _current(desk, collection)
        for last in desk.indexes.recall(chosen, dataset, filter_text, stop):
            line.say(tr("measuring {done}/{total}", done=last.done, total=last.total))
        own = desk.indexes.index(chosen).form
    line.clear()
    measured = last.measured if last else ()
    if as_json:
        print_json(measured)
        return
    _print_recall(measured, own)


def _print_recall(measured: Sequence[FormRecall], own: VectorForm) -> None:
    """Milliseconds stand only where the index was asked as it is in use: a form beside exact search has none."""
    timed = any(one.milliseconds is not None for one in measured)
    rows = [(*_recall_row(one, timed=timed), tr("as stored") if one.form == own else "") for one in measured]
    head = (tr("form"), "k", "Recall_ANN@k", "N·d·b", *(("ms",) if timed else ()), "")
    print_table(head, rows, right=range(1, len(head) - 1))
    if measured:
        first, n = measured[0], measured[0].recall.n
        asked = tr("{count} chunks stood in for questions.", count=n) if first.stand_in else f"{questions(n)}."
        passing = tr("{passing} of {vectors} chunks pass the filter.", passing=first.passing, vectors=first.vectors)
        say(f"{asked} {passing}")


def _recall_row(one: FormRecall, *, timed: bool) -> tuple[str, ...]:
    took = f"{one.milliseconds:.1f}" if one.milliseconds is not None else ""
    return (form_name(one.form), str(one.k), _figure(one.recall), size(round(one.bytes)), *((took,) if timed else ()))


def _current(desk: Desk, collection: str) -> int:
    return desk.indexes.states(collection or desk.collection)[0].index.id


COMMANDS = (indexes,)
