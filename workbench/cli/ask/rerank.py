"""The command about reranking: measure what it brings, turn it on where it brings something, off again."""

from __future__ import annotations

import click

from workbench.cli.display import StatusLine, print_json, say, stoppable
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.evals.measuring.compare import p_text
from workbench.i18n import tr
from workbench.records.retrieval import RerankGain


@click.command()
@click.option("--measure", "dataset", default="", metavar="DATASET", help="Search its questions with and without.")
@click.option("--use", is_flag=True, help="Turn it on for the dataset's collection when it gained.")
@click.option("--off", is_flag=True, help="Turn it off.")
@click.option("--collection", "-c", default="", help="To look at or turn off [the chosen one].")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def rerank(front: FrontEnds, dataset: str, use: bool, off: bool, collection: str, as_json: bool) -> None:
    """Shows what late interaction brings to a collection's searches, measures it, turns it on or off."""
    with front.desk() as desk:
        if off:
            desk.stop_rerank(collection)
        gain = _measured(desk, dataset) if dataset else desk.rerank_gain(collection)
        if as_json:
            print_json(gain)
        else:
            say(gain_text(gain) if gain else tr("Reranking is off."))
        if dataset and use and gain:
            desk.use_rerank(gain)
            say(tr("On for “{collection}”.", collection=gain.collection), err=True)


def _measured(desk: Desk, dataset: str) -> RerankGain | None:
    gain: RerankGain | None = None
    line = StatusLine()
    with stoppable() as stop:
        for gain in desk.measure_rerank(dataset, stop):
            line.say(f"{gain.cases:,}/{gain.total:,}")
    line.clear()
    return gain


def gain_text(gain: RerankGain) -> str:
    """ "late: R@1 .942 → .949, MRR@10 .966 → .969 on xquad-es (n = 1,190; 21 better, 13 worse, McNemar p = 0.23)"."""
    return tr(
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


def _change(values: tuple[float, float]) -> str:
    return f"{values[0]:.3f} → {values[1]:.3f}"


COMMANDS = (rerank,)
