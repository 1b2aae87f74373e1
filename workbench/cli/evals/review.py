"""``workbench eval``: new cases: questions that a model proposes, and the queue in which a person decides on them."""

from __future__ import annotations

from dataclasses import replace

import click

from workbench.cli.ask.answers import load
from workbench.cli.display import StatusLine, print_json, print_table, say, stoppable
from workbench.cli.evals.runs import group
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.evals.gold.whereabouts import named
from workbench.i18n import tr
from workbench.records.cases import GoldSpan


@group.command()
@click.argument("collection")
@click.option("--dataset", default="", metavar="NAME", help="What they wait to join [the collection's name].")
@click.option(
    "--count", default=10, show_default=True, type=click.IntRange(1, 1000), help="Chunks that are asked about."
)
@click.option("--model", default="", help="A GGUF file that asks.")
@click.option("--seed", default=0, show_default=True, help="Which chunks.")
@click.option("--unanswerable", is_flag=True, help="The dataset's own questions, their gold's documents left out.")
@click.pass_obj
def propose(
    front: FrontEnds, collection: str, dataset: str, count: int, model: str, seed: int, unanswerable: bool
) -> None:
    """Puts new questions about a collection's chunks into a review queue; only accepted ones count."""
    name = dataset or collection
    with front.desk() as desk, stoppable() as stop:
        if unanswerable:
            desk.evals.propose_unanswerable(name, count)
        else:
            if model:
                load(desk, model, StatusLine())
            for proposal in desk.evals.propose(name, count, collection, seed, stop):
                told = proposal.text if proposal.case else f"{proposal.text} ({proposal.dropped})"
                say(f"{'+' if proposal.case else '✗'} {told}", err=True, newlines=False)
        waiting = len(desk.evals.review(name).waiting())
    say(tr("{count} wait for review: workbench eval review {name}", count=waiting, name=name))


@group.command()
@click.argument("dataset")
@click.option("--accept", multiple=True, type=int, metavar="ID", help="It joins the dataset; may be repeated.")
@click.option("--reject", multiple=True, type=int, metavar="ID", help="It stays out for good; may be repeated.")
@click.option("--undo", multiple=True, type=int, metavar="ID", help="It waits again; may be repeated.")
@click.option("--edit", type=int, metavar="ID", help="It joins with this --question or --answer.")
@click.option("--question", default="", help="Of --edit.")
@click.option("--answer", "answers", multiple=True, help="Of --edit: an expected answer; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print those that wait as JSON.")
@click.pass_obj
def review(
    front: FrontEnds,
    dataset: str,
    accept: tuple[int, ...],
    reject: tuple[int, ...],
    undo: tuple[int, ...],
    edit: int | None,
    question: str,
    answers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Lists the proposed questions that wait; accepts, rejects or edits them. What is accepted makes a new version."""
    deciding = bool(accept or reject or undo or edit is not None)
    with front.desk("change" if deciding else "read") as desk:
        queue = desk.evals.review(dataset)
        for candidate_id in (*accept, *reject, *undo):
            desk.evals.find_candidate(dataset, candidate_id)
        if edit is not None:
            _edit(desk, dataset, edit, question, answers)
        for ids, decide in ((accept, queue.accept), (reject, queue.reject), (undo, queue.undo)):
            for candidate_id in ids:
                decide(candidate_id)
        if deciding:
            joined = desk.evals.join_accepted(dataset)
            if joined:
                say(tr("“{name}” has {count} cases now.", name=joined.name, count=f"{joined.cases:,}"), err=True)
        else:
            desk.evals.dataset(dataset)
        waiting = queue.waiting()
    if as_json:
        print_json(waiting)
        return
    rows = [
        (str(c.id), "" if c.case.answerable else tr("no answer"), _place(c.case.gold), c.case.question) for c in waiting
    ]
    print_table(("#", "", tr("gold"), tr("question")), rows, right=(0,))


def _edit(desk: Desk, dataset: str, candidate_id: int, question: str, answers: tuple[str, ...]) -> None:
    """Accepts a candidate as edited. Raises UsageError, NotFoundError."""
    found = desk.evals.find_candidate(dataset, candidate_id)
    if not (question.strip() or answers):
        raise UsageError(
            tr("Nothing is edited"),
            tr("--edit needs the new text."),
            tr("E.g. --edit 3 --question 'Who pays the fee?'"),
        )
    edited = replace(
        found.case, question=question.strip() or found.case.question, answers=answers or found.case.answers
    )
    desk.evals.review(dataset).accept(candidate_id, edited)


def _place(gold: tuple[GoldSpan, ...]) -> str:
    return "; ".join(map(named, gold))


COMMANDS = (group,)
