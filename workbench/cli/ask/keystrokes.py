"""The command that looks at saved sessions of typing."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import click

from workbench.cli.display import duration, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.keystrokes import KeystrokeLog
from workbench.records.keystrokes import Keystroke, KeystrokeSession, RankMove, Replayed

_MOVES_SHOWN = 4


@click.command()
@click.argument("session_id", metavar="ID", default="")
@click.option("--replay", is_flag=True, help="Search each keystroke again in today's index, and say what differs.")
@click.option("--delete", is_flag=True, help="Drop the session.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def keystrokes(front: FrontEnds, session_id: str, replay: bool, delete: bool, as_json: bool) -> None:
    """Shows a saved session of keystrokes, by id or "last"; without an id, lists them."""
    if replay and delete:
        raise UsageError(
            tr("One thing at a time"), tr("--replay and --delete exclude each other."), tr("Give one of them.")
        )
    with front.desk("change" if delete else "read") as desk:
        if delete:
            desk.keystrokes.delete(session_id)
        elif replay:
            _replay(desk, session_id or "last", as_json)
        elif session_id:
            _show(desk.keystrokes.session(session_id), as_json)
        else:
            _list(desk, as_json)


def _list(desk: Desk, as_json: bool) -> None:
    sessions = desk.keystrokes.sessions()
    if as_json:
        print_json(sessions)
    elif not sessions:
        say(tr("No session is saved: ctrl+s in Ask saves what was typed."))
    else:
        head = (tr("id"), tr("created"), tr("collection"), tr("question"), tr("keys"), tr("time"))
        rows = [
            (s.id, s.created[:16], s.collection, s.question, str(s.keystrokes), duration(s.seconds)) for s in sessions
        ]
        print_table(head, rows, right=(4, 5))


def _show(session: KeystrokeSession, as_json: bool) -> None:
    if as_json:
        print_json(session)
        return
    log = KeystrokeLog(session.keystrokes, len(session.keystrokes))
    rows = [_row(keystroke, changed) for keystroke, changed in zip(log.keystrokes, log.changes, strict=True)]
    head = (tr("s"), tr("question"), tr("ms"), tr("painted ms"), tr("difference"), tr("first hit"))
    print_table(head, rows, right=(0, 2, 3, 4))
    painted = [k.painted_ms for k in session.keystrokes if k.painted_ms is not None]
    if len(painted) > 1:
        cuts = statistics.quantiles(painted, n=20, method="inclusive")
        p50, p95 = f"{cuts[9]:.0f}", f"{cuts[18]:.0f}"
        say("\n" + tr("key → fused ranking painted: p50 {p50} ms, p95 {p95} ms", p50=p50, p95=p95))


def _row(keystroke: Keystroke, changed: float) -> tuple[str, ...]:
    painted = "–" if keystroke.painted_ms is None else f"{keystroke.painted_ms:.0f}"
    first = keystroke.hits[0].chunk_id if keystroke.hits else "–"
    return f"{keystroke.at:.2f}", keystroke.query, f"{keystroke.duration_ms:.0f}", painted, f"{changed:.2f}", first


def _replay(desk: Desk, session_id: str, as_json: bool) -> None:
    with stoppable() as cancel:
        replayed = list(desk.keystrokes.replay(session_id, cancel))
    if as_json:
        print_json(replayed)
        return
    differ = [one for one in replayed if one.moves]
    if not differ:
        say(tr("The same rankings as then, {count} of {count}.", count=len(replayed)))
        return
    rows = [_replayed_row(one) for one in differ]
    print_table((tr("question"), tr("difference"), tr("ms then"), tr("ms now"), tr("moves")), rows, right=(1, 2, 3))
    say("\n" + tr("{count} of {all} keystrokes rank differently today.", count=len(differ), all=len(replayed)))


def _replayed_row(one: Replayed) -> tuple[str, ...]:
    then, now = f"{one.keystroke.duration_ms:.0f}", f"{one.now.duration_ms:.0f}"
    return one.keystroke.query, f"{one.change:.2f}", then, now, _moves(one.moves)


def _moves(moves: Sequence[RankMove]) -> str:
    told = [f"{m.chunk_id} {m.before or '–'}→{m.after or '–'}" for m in moves[:_MOVES_SHOWN]]
    more = len(moves) - _MOVES_SHOWN
    return ", ".join(told) + (f" +{more}" if more > 0 else "")


COMMANDS = (keystrokes,)
