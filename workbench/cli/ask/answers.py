"""Commands that ask: search, ask."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from workbench.answers.prompt import quotable
from workbench.cli.ask.options import RERANK, TRANSFORM, answering, ask_options, search_options
from workbench.cli.ask.transforms import print_queries
from workbench.cli.display import StatusLine, duration, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.cli.models.files import model_path
from workbench.desk import Desk
from workbench.engine.offload import offload_words
from workbench.errors import NotFoundError, UsageError
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.paths import is_gone
from workbench.records.answers import Answer, Citation, Trace
from workbench.records.library import Preset
from workbench.records.models import LoadSettings
from workbench.records.retrieval import (
    FusionMethod,
    HitView,
    Lane,
    LaneResult,
    RerankMode,
    RerankResult,
    SearchOptions,
    SearchResult,
    Transform,
)
from workbench.retrieval.rerank import describe_gain
from workbench.traces.outcomes import outcome_name

TEXT_SHOWN = 160
"""Characters of a chunk that a line of ``search`` shows at most."""

OFF_TOPIC = "○"
MARKS = {"supported": "✓", "weak": "~", "unsupported": "✗", "uncited": "?"}


@click.command()
@click.argument("query")
@click.option("--collection", "-c", default="", help="Where to search [the chosen one].")
@click.option("--lane", type=click.Choice(["lexical", "dense"]), help="Search one lane only.")
@click.option("--filter", "-f", "expression", default="", help="""E.g. 'status = current and "student" in roles'.""")
@click.option("-k", "count", default=10, show_default=True, type=click.IntRange(1, 1000), help="Hits wanted.")
@click.option(
    "--fusion", type=click.Choice(["rrf", "weights"]), default="rrf", show_default=True, help="How lanes are fused."
)
@RERANK
@TRANSFORM
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_obj
def search(
    front: FrontEnds,
    query: str,
    collection: str,
    lane: Lane | None,
    expression: str,
    count: int,
    fusion: FusionMethod,
    rerank: RerankMode | None,
    transforms: tuple[Transform, ...] | None,
    as_json: bool,
) -> None:
    """Finds chunks, with the rank and score that each lane gave them. Exits with 1 when no lane could be searched."""
    lanes: tuple[Lane, ...] = (lane,) if lane else ("lexical", "dense")
    options = SearchOptions(
        collection,
        k=count,
        candidates=max(50, count),
        lanes=lanes,
        fusion=fusion,
        filter=expression,
        rerank=rerank,
        transforms=transforms,
    )
    with front.desk("read") as desk:
        result = desk.search(query, options)
    # A question without words is none of the lexical lane's faults: it finds nothing, and that is the answer.
    nowhere = all(one.skipped for one in result.lanes) and any(one.lane == "dense" for one in result.lanes)
    if as_json:
        print_json(result)
    elif nowhere:
        _print_notes(result.lanes)
    else:
        _print_search(result)
    if nowhere:
        raise click.exceptions.Exit(1)


def _print_search(result: SearchResult) -> None:
    reranked = result.rerank is not None and not result.rerank.skipped
    rows = [
        (
            str(view.hit.rank),
            _rank(view.hit.lexical_rank),
            _rank(view.hit.dense_rank),
            *([_rank(view.hit.fused_rank)] if reranked else []),
            view.source_id,
            place(view),
            _start_of(view.text),
        )
        for view in result.hits
    ]
    ranks = ("#", "lex", "dense", *([tr("fused")] if reranked else []))
    print_table((*ranks, tr("source"), "§", tr("text")), rows, right=range(len(ranks)))
    _print_notes(result.lanes)
    print_queries(result.transforms)
    if result.rerank:
        say(_rerank_line(result.rerank), err=True)
    passed = f"{result.filter.matching:,}/{result.filter.total:,}"
    say(
        tr("{passed} chunks pass the filters · {time}", passed=passed, time=duration(result.duration_ms / 1000)),
        err=True,
    )


def _print_notes(lanes: Iterable[LaneResult]) -> None:
    """On stderr: why a lane was skipped, or what is to be known of how it ran."""
    for lane in lanes:
        if lane.skipped or lane.note:
            say(f"~ {tr(lane.lane)}: {lane.skipped or lane.note}", err=True)


def _rerank_line(told: RerankResult) -> str:
    """ "~ rerank: …" when it was skipped, else "rerank late: +.007 R@1 on xquad-es (n = 1,190)"."""
    if told.skipped:
        return f"~ rerank: {told.skipped}"
    gain = describe_gain(told.gain) if told.gain else tr("its gain was never measured here")
    return f"rerank {told.mode}: " + "; ".join(filter(None, (gain, told.note)))


def _start_of(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TEXT_SHOWN else line[: TEXT_SHOWN - 1] + "…"


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def place(where: HitView | Citation) -> str:
    """Where in the document: the heading path, and the page when it has pages."""
    parts = [" › ".join(where.heading)] if where.heading else []
    if where.page is not None:
        parts.append(f"p. {where.page_label or where.page}")
    return ", ".join(parts)


@click.command()
@click.argument("query")
@click.option("--collection", "-c", default="", help="Where to search [the chosen one].")
@click.option("--filter", "-f", "expression", default="", help="""E.g. 'status = current and year >= 2026'.""")
@click.option("--model", "model", default="", help="A GGUF file that writes the answer; without one it is extractive.")
@click.option("--preset", "named", default="", metavar="NAME", help="Load and sample as it says; --model goes before.")
@click.option("--save-case", "dataset", default="", metavar="DATASET", help="Keep it as a case; what it cites is gold.")
@answering
@click.option("--json", "as_json", is_flag=True, help="Print the whole trace as JSON.")
@click.pass_obj
def ask(
    front: FrontEnds,
    /,
    query: str,
    collection: str,
    expression: str,
    model: str,
    named: str,
    dataset: str,
    as_json: bool,
    **told: Any,
) -> None:
    """Answers from the documents, with citations, or says what is missing."""
    search = search_options(told, collection, expression)
    if not named:
        ask_options(told, model)  # what can't work is told before the file is opened
    with front.desk() as desk, stoppable() as stop:
        preset = _preset(desk, named, model)
        options = ask_options(told, preset.model)
        if named:
            how = preset.generation
            options = replace(options, temperature=how.temperature, seed=how.seed, max_output=how.max_tokens)
        line = StatusLine()
        if preset.model:
            load(desk, preset.model, line, preset.load)
        trace: Trace | None = None
        for trace in desk.ask(query, options, search, stop):
            line.say(tr(trace.spans[-1].name) if trace.spans else "")
        line.clear()
        if trace is None:
            return
        if as_json:
            print_json(trace)
        else:
            print_answer(trace)
        _print_notes(span.output for span in trace.spans if isinstance(span.output, LaneResult))
        print_queries(span.output for span in trace.spans)
        if dataset:
            saved = desk.evals.save_case(trace.id, dataset)
            say(tr("“{name}” has {count} cases now.", name=saved.name, count=f"{saved.cases:,}"), err=True)
    if trace.answer and trace.answer.outcome == "cancelled":
        sys.exit(1)


def _preset(desk: Desk, name: str, model: str) -> Preset:
    """The preset, meant for ``model`` where one is named; without a name, one of defaults.

    Raises:
        NotFoundError: no such preset.
        UsageError: neither it nor the person names a model.
    """
    preset = desk.library.presets.get(name) if name else Preset("")
    preset = replace(preset, model=model or preset.model)
    if name and not preset.model:
        raise UsageError(
            tr("No model to load"),
            tr("The preset “{name}” is for any model, and none is named.", name=name),
            tr("Add --model FILE; workbench models lists the files there are."),
        )
    return preset


def load(desk: Desk, model: str, line: StatusLine, settings: LoadSettings | None = None) -> None:
    """A model for this command: by path, by the name that ``workbench models`` shows, or a server's (URL#NAME).

    Raises:
        NotFoundError: there is no such file.
    """
    path = model_path(desk, model)
    if "://" not in path and is_gone(Path(path).expanduser()):
        raise NotFoundError(
            tr("No such model"),
            tr("There is no model “{name}”.", name=model),
            tr("workbench models lists the files there are; workbench starter fetches a small one."),
        )
    for progress in desk.open_model(path, settings):
        line.say(tr("loading {name}: {percent} %", name=model, percent=round(progress.fraction * 100)))
        if progress.model and (fell_back := offload_words(progress.model.offload)):
            line.clear()
            say(f"~ {fell_back}", err=True)


def print_answer(trace: Trace) -> None:
    """The answer, how well it is supported, and its citations with document, section, page and offsets."""
    answer = trace.answer
    if answer is None:
        return
    if answer.outcome == "unsupported":
        cites = tr("The model wrote this, and nothing that it cites says it:")
        say("✗ " + (tr("The model wrote this, and cites no source:") if answer.uncited else cites))
    say(answer.text)
    say("")
    for claim in answer.claims:
        for citation in claim.citations:
            where = ", ".join(filter(None, [citation.source_id, place(citation), f"{citation.start}–{citation.end}"]))
            beside = claim.off_topic and citation.level == "supported"
            say(f"{OFF_TOPIC if beside else MARKS[citation.level]} [{citation.label}] {where}", newlines=False)
            say(f"    “{quotable(citation.quote)}”", dim=True, newlines=False)
        if claim.judged:
            said = tr(claim.judged.verdict) if claim.judged.verdict else tr("unscored")
            say("    " + tr("judge: {verdict} ({reason})", verdict=said, reason=claim.judged.reason), newlines=False)
        if not claim.citations and answer.spoken:
            say(f"{MARKS[claim.level]} " + tr("no citation: {text}", text=" ".join(claim.text.split())))
    _print_verdict(answer, trace.id)
    span = trace.span("rerank")
    if span and isinstance(span.output, RerankResult):
        say(_rerank_line(span.output), dim=True)


def _print_verdict(answer: Answer, trace_id: str) -> None:
    if answer.missing and answer.missing not in answer.text:
        say(f"~ {answer.missing}")
    if answer.removed:
        say(tr("removed: {marks} name no evidence", marks=", ".join(answer.removed)))
    if answer.unsaid:
        say(tr("removed: {marks} does not say it", marks=", ".join(answer.unsaid)))
    if answer.remedy:
        say(f"→ {retold(answer.remedy)}")
    sign = "≥" if answer.support >= answer.threshold else "<"
    good = sum(claim.level == "supported" for claim in answer.claims)
    beside = sum(claim.off_topic for claim in answer.claims)
    mark = OFF_TOPIC if answer.off_topic else MARKS[answer.level if answer.spoken else "weak"]
    mark = "≠" if answer.conflicts else mark
    facts = [
        f"{mark} {outcome_name(answer.outcome)}",
        tr("supported {good}/{all}", good=good, all=len(answer.claims)) if answer.claims else "",
        tr("{count} off topic", count=beside) if beside else "",
        f"s {answer.support:.2f} {sign} τ {answer.threshold:.2f}" if answer.weighed else "",
        tr(answer.mode),
        f"trace {trace_id}",
    ]
    say(" · ".join(filter(None, facts)), dim=True)


COMMANDS = (search, ask)
