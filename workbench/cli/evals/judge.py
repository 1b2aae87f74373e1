"""``workbench eval judge``: a model's verdicts on a run's answers, beside the scores."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.cli.ask.answers import load
from workbench.cli.display import StatusLine, print_json, say, stoppable
from workbench.cli.evals.runs import group, run_number
from workbench.cli.front import FrontEnds
from workbench.errors import UsageError, reason_of
from workbench.evals.judging.judge import RUBRIC, judged_before
from workbench.evals.reporting.reports import judged_text
from workbench.i18n import tr


@group.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--model", default="", help="What judges: a GGUF file, or URL#NAME; without it what was judged is listed."
)
@click.option("--rubric", "file", type=click.Path(path_type=Path), help="A text file: what makes an answer right.")
@click.option("--against", default="", metavar="RUN", help="Compare with this run's answers, in both orders.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def judge(front: FrontEnds, run_id: str, model: str, file: Path | None, against: str, as_json: bool) -> None:
    """Lets a model judge a run's answers. Scores stay as they are; what it says is shown with people's agreement."""
    rubric = _read(file) if file else RUBRIC
    with front.desk("change" if model else "read") as desk, stoppable() as stop:
        number = run_number(desk, run_id)
        if model:
            line = StatusLine()
            load(desk, model, line)
            other = run_number(desk, against) if against else 0
            before = [told.judgement for told in desk.evals.judgements(number)]
            for judgement in desk.evals.judge(number, rubric, other, stop):
                line.say(tr("judged {count}", count=len(judgement.cases)))
            line.clear()
            if judgement in before and not stop.is_set():
                say(judged_before(), err=True)
        found = desk.evals.judgements(number)
    if as_json:
        print_json(found)
    elif not found:
        say(tr("No model has judged run {id}.", id=number))
    else:
        for told in found:
            say(judged_text(told), newlines=False)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        told = f"{file}: {reason_of(error)}"
        raise UsageError(tr("The rubric can't be read"), told, tr("Give a text file.")) from error


COMMANDS = (group,)
