"""The command that looks at stored traces: what-if, autopsy, comparison, replay, exports, history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

from workbench.cli.ask.answers import load, print_answer
from workbench.cli.ask.attempts import print_attempt
from workbench.cli.display import StatusLine, duration, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import FileError, UsageError, reason_of
from workbench.i18n import tr
from workbench.records.answers import Context, Manifest, Trace, TraceSpan
from workbench.records.models import LoadSettings
from workbench.records.traces import Autopsy, Move, TraceComparison, WhatIfResult
from workbench.traces.autopsy import fix_text
from workbench.traces.exports import TraceForm, trace_text
from workbench.traces.outcomes import attempts, outcome_name
from workbench.traces.telling import stage_name, told_ledger, told_span

_RANKING_SHOWN = 20
_NAME_WIDE, _FLOW_WIDE = 12, 32
_SIGNS = {"entered": "+", "left": "−", "up": "↑", "down": "↓", "same": "="}


@click.command()
@click.argument("trace_id", metavar="ID", default="")
@click.option("--what-if", "changes", metavar="CHANGES", help="Other settings, e.g. k0=10,lexical.k=20,order=edges.")
@click.option("--autopsy", metavar="CHUNK_OR_TEXT", help="What became of the chunk that should have been found.")
@click.option("--compare", "other", metavar="ID", help="Another trace beside it.")
@click.option("--replay", is_flag=True, help="Ask the question again with its settings, and say what differs.")
@click.option("--model", default="", help="The GGUF file to replay with [the one it was asked with].")
@click.option("--export", "form", type=click.Choice(["markdown", "otel", "json"]), help="Write it for other programs.")
@click.option("--output", "-o", "path", type=click.Path(path_type=Path), help="Write it here [stdout].")
@click.option("--search", "text", default="", help="List the questions that hold these words.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def trace(
    front: FrontEnds,
    trace_id: str,
    changes: str | None,
    autopsy: str | None,
    other: str | None,
    replay: bool,
    model: str,
    form: TraceForm | None,
    path: Path | None,
    text: str,
    as_json: bool,
) -> None:
    """Shows the trace of a question, by id or "last"; without an id, lists the newest."""
    _refuse_two_tasks(changes, autopsy, other, replay or None, form, text or None)
    with front.desk("change" if replay else "read") as desk:
        if not trace_id and (changes or autopsy or other or replay or form):
            trace_id = "last"
        if not trace_id:
            _list(desk, text, as_json)
        elif changes is not None:
            _show(desk.inspector.weighed(trace_id, desk.inspector.what_if(trace_id, changes)), as_json)
        elif autopsy is not None:
            _show(desk.inspector.autopsy(trace_id, autopsy), as_json)
        elif other is not None:
            _show(desk.inspector.compare(trace_id, other), as_json)
        elif replay:
            _replay(desk, trace_id, model, as_json)
        elif form is not None:
            _write(trace_text(desk.trace(trace_id), form), path)
        else:
            _show(desk.trace(trace_id), as_json)


def _refuse_two_tasks(*tasks: object) -> None:
    if sum(task is not None for task in tasks) > 1:
        raise UsageError(
            tr("One at a time"),
            tr("--what-if, --autopsy, --compare, --replay, --export and --search each do one thing."),
            tr("Give one of them."),
        )


def _list(desk: Desk, text: str, as_json: bool) -> None:
    listed = desk.inspector.history(text)
    if as_json:
        print_json(listed)
        return
    rows = [(t.id, t.created[:19], outcome_name(t.outcome), duration(t.duration_ms / 1000), t.query) for t in listed]
    print_table(("id", tr("when"), tr("outcome"), tr("time"), tr("question")), rows, right=(3,))


def _show(found: Trace | WhatIfResult | Autopsy | TraceComparison, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    match found:
        case Trace():
            _print_trace(found)
        case WhatIfResult():
            _print_what_if(found)
        case Autopsy():
            _print_autopsy(found)
        case TraceComparison():
            _print_comparison(found)


def _print_trace(found: Trace) -> None:
    say(found.query)
    say(_made_of(found))
    say("")
    for span in found.spans:
        _print_span(span)
    say("")
    for attempt in attempts(found):
        print_attempt(attempt)
    print_answer(found)


def _made_of(found: Trace) -> str:
    """Collection, index, embedder and model; the file and the model of a question of tables."""
    made, schema = found.manifest, found.span("schema")
    if schema:
        return f"{schema.input['file']} · {made.model}"
    index = f"{made.collection} v{made.collection_version} · {tr('index {id}', id=made.index_id)}"
    return " · ".join([index, made.embedder, made.recipe, *([made.model] if made.model else [])])


def _print_span(span: TraceSpan) -> None:
    """A stage with its in → out and its time, and below it what it dropped, and why; the context's token ledger."""
    name, flow, note = told_span(span) or (stage_name(span.name), "", "")
    took = f"{span.duration_ms:,.1f} ms"
    say(f"{name:<{_NAME_WIDE}}{flow:<{_FLOW_WIDE}}{took:>12}", newlines=False)
    ledger = told_ledger(span.output.ledger) if isinstance(span.output, Context) else ""
    for line in filter(None, (note, ledger)):
        say(f"    {line}", dim=True, newlines=False)


def _print_what_if(found: WhatIfResult) -> None:
    _print_moves(tr("ranking"), found.ranking, _RANKING_SHOWN)
    _print_moves(tr("evidence"), found.evidence_moves)
    if found.problem:
        say(f"✗ {found.problem}")
    for note in found.notes:
        say(f"~ {note}")
    one = found.changed == 1
    say(tr("1 piece of evidence changes.") if one else tr("{count} pieces of evidence change.", count=found.changed))
    if found.decision:
        made = found.decision
        sign, verdict = ("≥", tr("answers")) if made.outcome == "answered" else ("<", tr("abstains"))
        say(f"s {made.support:.2f} {sign} τ {made.threshold:.2f}: {verdict}")


def _print_moves(title: str, moves: Sequence[Move], most: int = 1000) -> None:
    """The first moves, and of the others those that left."""
    shown = [*moves[:most], *(move for move in moves[most:] if move.after is None and (move.before or 0) <= most)]
    rows = [(_SIGNS[m.kind], _place(m.before), _place(m.after), m.source_id, m.chunk_id[:12]) for m in shown]
    print_table(("", tr("before"), tr("after"), title, "id"), rows, right=(1, 2))
    say("")


def _place(place: int | None) -> str:
    return "–" if place is None else str(place)


def _print_autopsy(found: Autopsy) -> None:
    say(f"{found.source_id} {found.chunk_id[:12]}", newlines=False)
    say(f"    “{' '.join(found.text.split())[:160]}”", dim=True, newlines=False)
    context = found.label or (tr("left out ({why})", why=tr(found.dropped)) if found.dropped else "–")
    rows = [
        (tr("filter"), "✓" if found.passes_filter else "✗"),
        *((lane, _looked(rank, lane in found.looked_up)) for lane, rank in _lane_ranks(found)),
        (tr("fusion"), _place(found.fused_rank)),
        (tr("rerank"), _place(found.reranked_rank)),
        (tr("context"), context),
        (tr("cited"), "✓" if found.cited else "✗"),
    ]
    print_table((tr("stage"), ""), rows)
    say("")
    if found.lost_at:
        say(tr("lost at: {stage}. {reason}", stage=tr(found.lost_at), reason=found.reason))
    else:
        say(found.reason or tr("Nothing lost it: it is in the evidence and cited."))
    for fix in found.fixes:
        say(f"→ {fix_text(fix)}")


def _lane_ranks(found: Autopsy) -> tuple[tuple[str, int | None], ...]:
    return (("lexical", found.lexical_rank), ("dense", found.dense_rank))


def _looked(rank: int | None, looked_up: bool) -> str:
    return f"{_place(rank)} ({tr('in the whole index')})" if looked_up else _place(rank)


def _print_comparison(found: TraceComparison) -> None:
    say(f"{found.a}  →  {found.b}")
    for question in dict.fromkeys(found.questions):
        say(question)
    say("")
    if found.differences:
        rows = [(d.name, d.before or "–", d.after or "–") for d in found.differences]
        print_table((tr("setting"), tr("before"), tr("after")), rows)
        say("")
    if not found.same_ranking:
        _print_moves(tr("ranking"), found.ranking, _RANKING_SHOWN)
    if not found.same_evidence:
        _print_moves(tr("evidence"), found.evidence)
    if not found.same_answer:
        for sign, answer in zip("−+", found.answers, strict=True):
            say(f"{sign} {answer.text if answer else '–'}")
        say("")
    for reason in found.reasons:
        say(f"→ {reason}")


def _replay(desk: Desk, trace_id: str, model: str, as_json: bool) -> None:
    before = desk.trace(trace_id)
    line = StatusLine()
    if wanted := model or _its_model(desk, before.manifest):
        load(desk, wanted, line, _load_settings(before.manifest))
    elif name := before.manifest.model:
        told = tr("Replayed without a model: {name} is not among the files here. --model FILE gives it.", name=name)
        say(told, err=as_json, newlines=False)
    after: Trace | None = None
    with stoppable() as stop:
        for after in desk.inspector.replay(before.id, stop):
            line.say(after.spans[-1].name if after.spans else "")
    line.clear()
    if after is not None:
        _show(desk.inspector.compare(before.id, after.id), as_json)


def _its_model(desk: Desk, made: Manifest) -> str:
    """Path of the model file that the manifest names: by its hash; by its name where no hash is known yet."""
    if not made.model:
        return ""
    files = [file for file in desk.library.files() if not file.problem]
    by_hash = [file.path for file in files if file.hash and file.hash == made.model_hash]
    return next(iter(by_hash or [file.path for file in files if file.name == made.model and not file.hash]), "")


def _load_settings(made: Manifest) -> LoadSettings:
    """How it was loaded, as far as the manifest tells it in plain values."""
    default = LoadSettings()
    told = {field.name: made.settings.get(f"model.{field.name}") for field in fields(default)}
    fit = {n: value for n, value in told.items() if isinstance(value, type(getattr(default, n))) and value != ""}
    plain: dict[str, Any] = dict(fit)
    return replace(default, **plain)


def _write(text: str, path: Path | None) -> None:
    if path is None:
        click.echo(text, nl=False)
        return
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise FileError(
            tr("Not written"),
            tr("{path} can't be written: {reason}", path=str(path), reason=reason_of(error)),
            tr("Give another file with -o."),
        ) from error


COMMANDS = (trace,)
