"""TREC's run files (topic, Q0, document, rank, score, tag): what other systems found comes in, ours goes out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from workbench.evals.formats import json_text
from workbench.evals.formats.source import open_source, unreadable
from workbench.evals.formats.trec import escaped
from workbench.i18n import tr
from workbench.records.cases import RowProblem
from workbench.records.evals import CaseResult

_COLUMNS: Final = 6
_LONGEST_LINE: Final = 4096


@dataclass(frozen=True, slots=True)
class RunFile:
    """What a run file says.

    Attributes:
        rankings: topic → documents, best first.
        tag: what the system calls itself, of the first line.
        problems: lines that are none of a run's, or name a document again.
    """

    rankings: Mapping[str, tuple[str, ...]]
    tag: str
    problems: tuple[RowProblem, ...]


def read_run(path: Path) -> RunFile:
    """The rankings of a run file.

    As trec_eval does, documents are ranked by score, whatever their rank says; equal scores by name, the last first.

    Raises:
        DocumentError: it can't be read, or no line of it is one of a run.
    """
    scores: dict[str, dict[str, float]] = {}
    problems: list[RowProblem] = []
    tag = ""
    for number, line in json_text.lines(open_source(path).text):
        cells = line.split()
        problem = _problem(cells, scores)
        if problem:
            problems.append(RowProblem(number, problem))
            continue
        topic, _, document, _, score, name = cells
        tag = tag or unquote(name)
        scores.setdefault(unquote(topic), {})[unquote(document)] = float(score)
    if not scores:
        raise unreadable(path, tr("it is no TREC run: topic, Q0, document, rank, score, tag"))
    return RunFile({topic: _ranked(found) for topic, found in scores.items()}, tag, tuple(problems))


def is_run(path: Path) -> bool:
    """Whether a file begins as a run does: six columns, the second of them Q0. One that can't be read does not."""
    try:
        with path.open("rb") as file:
            cells = file.readline(_LONGEST_LINE).split()
    except OSError:
        return False
    return len(cells) == _COLUMNS and cells[1].upper() == b"Q0"


def run_text(results: Iterable[CaseResult], tag: str) -> str:
    """A run's rankings of documents (each at its best chunk's rank): topic, Q0, document, rank, score, tag.

    The score only falls with the rank, because trec_eval sorts by it.
    """
    lines: list[str] = []
    for result in results:
        documents = list(dict.fromkeys(ranked.source_id for ranked in sorted(result.ranked, key=lambda r: r.rank)))
        lines += [
            f"{escaped(result.case_id)} Q0 {escaped(document)} {rank} {len(documents) - rank + 1} {escaped(tag)}\n"
            for rank, document in enumerate(documents, start=1)
        ]
    return "".join(lines)


def _problem(cells: Sequence[str], scores: Mapping[str, Mapping[str, float]]) -> str:
    """What is wrong with a line, "" when nothing is."""
    if len(cells) != _COLUMNS:
        return tr("it has not six columns")
    topic, document = unquote(cells[0]), unquote(cells[2])
    if document in scores.get(topic, {}):
        return tr("“{document}” occurs again for “{query}”", document=document, query=topic)
    try:
        score = float(cells[4])
    except ValueError:
        score = math.nan
    return "" if math.isfinite(score) else tr("“{score}” is no score", score=cells[4][:40])


def _ranked(scores: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(name for name, _ in sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True))
