"""The command about reranking: what there is, what it brings, turn it on where it brings something, off again."""

from __future__ import annotations

import click

from workbench.cli.display import StatusLine, print_json, print_table, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.errors import UsageError
from workbench.evals.gold.anchors import left_out_told
from workbench.evals.measuring.compare import p_text
from workbench.i18n import tr
from workbench.records.rerankers import LATE, RerankerInfo
from workbench.records.retrieval import RerankGain


@click.command()
@click.option("--measure", "dataset", default="", metavar="DATASET", help="Search its questions with and without.")
@click.option("--rerank", "name", default=LATE, show_default=True, metavar="NAME", help="The reranker to measure.")
@click.option("--use", is_flag=True, help="Turn it on for the dataset's collection when it gained.")
@click.option("--off", is_flag=True, help="Turn it off.")
@click.option("--list", "listing", is_flag=True, help="The rerankers there are, and their last measurements.")
@click.option("--depth", type=click.IntRange(1, 200), help="First hits to rank anew, from now on [20].")
@click.option("--ms", type=click.IntRange(0), help="What a cross-encoder may take, from now on; 0: any time [2000].")
@click.option("--collection", "-c", default="", help="To look at or turn off [the chosen one].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def rerank(
    front: FrontEnds,
    dataset: str,
    name: str,
    use: bool,
    off: bool,
    listing: bool,
    depth: int | None,
    ms: int | None,
    collection: str,
    as_json: bool,
) -> None:
    """Lists rerankers, measures what one brings to a collection's searches, turns it on or off."""
    if use and not dataset:
        raise UsageError(
            tr("Nothing was measured"),
            tr("--use turns on what gained in the measurement beside it, and there is none."),
            tr("Add --measure DATASET."),
        )
    with front.desk() as desk:
        if off:
            desk.rerankers.stop(collection)
        desk.rerankers.limit(depth, ms)
        if listing:
            _print_list(desk, collection, as_json=as_json)
            return
        gain = _measured(desk, dataset, name) if dataset else desk.rerankers.gain(collection)
        if as_json:
            print_json(gain)
        else:
            say(gain_text(gain) if gain else tr("Reranking is off."))
        if dataset and use and gain:
            desk.rerankers.use(gain)
            say(tr("On for “{collection}”.", collection=gain.collection), err=True)
            if not gain.certain:
                say(tr("Its interval holds 0: the gain may be chance. More questions tell."), err=True)


def _measured(desk: Desk, dataset: str, name: str) -> RerankGain | None:
    gain: RerankGain | None = None
    line = StatusLine()
    with stoppable() as stop:
        for gain in desk.rerankers.measure(dataset, name, stop):
            line.say(f"{gain.cases:,}/{gain.total:,}")
    line.clear()
    return gain


def _print_list(desk: Desk, collection: str, *, as_json: bool) -> None:
    found, gains = desk.rerankers.installed(), desk.rerankers.gains(collection)
    if as_json:
        print_json({"rerankers": found, "gains": gains})
        return
    on = desk.rerankers.gain(collection)
    rows = [
        (info.name, info.kind, _size(info), tr("on") if on and on.mode == info.name else "", info.problem)
        for info in found
    ]
    print_table((tr("reranker"), tr("kind"), tr("size"), "", tr("problem")), rows, right=(2,))
    for gain in gains:
        say(gain_text(gain))


def _size(info: RerankerInfo) -> str:
    return f"{info.size / 1e6:,.1f} MB" if info.size else "–"


def gain_text(gain: RerankGain) -> str:
    """ "late: R@1 .942 → .949 [+.001, +.013], MRR@10 .966 → .969 on xquad-es (n = 1,190; 21 better, 13 worse, …)"."""
    told = tr(
        "{mode}: R@1 {recall}, MRR@10 {mrr} on {dataset} (n = {n}; {fixed} better, {broken} worse, McNemar {p})",
        mode=gain.mode,
        recall=_change(gain.recall_1),
        mrr=_change(gain.mrr_10),
        dataset=gain.dataset,
        n=f"{gain.cases:,}",
        fixed=gain.fixed,
        broken=gain.broken,
        p=p_text(gain.p_value),
    )
    parts = [told]
    if gain.interval:
        low, high = gain.interval
        parts.append(tr("change of R@1 {low:+.3f} to {high:+.3f} (95 %)", low=low, high=high))
    if gain.milliseconds:
        parts.append(tr("{ms} ms a question", ms=f"{gain.milliseconds:,.0f}"))
    if gain.unfinished:
        parts.append(tr("its time ended at {count} questions", count=gain.unfinished))
    if gain.left_out:
        parts.append(left_out_told(gain.left_out))
    return "; ".join(parts)


def _change(values: tuple[float, float]) -> str:
    return f"{values[0]:.3f} → {values[1]:.3f}"


COMMANDS = (rerank,)
