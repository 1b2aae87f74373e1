"""Reading eval datasets: JSONL in the workbench's own fields, and SQuAD-style JSON such as XQuAD."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.errors import UsageError
from workbench.i18n import tr
from workbench.records.codec import decode
from workbench.records.evals import Case, GoldSpan


def read_cases(path: Path) -> tuple[Case, ...]:
    """The cases in ``path``.

    A ``.json`` file is read as SQuAD (``data → paragraphs → qas``): the gold of each question is its whole paragraph,
    named ``<article>/<paragraph number>``. Any other file is JSONL with the fields of ``Case``.

    Raises:
        UsageError: the file can't be read, or a line isn't a case; it names the line.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            tr("The dataset can't be read"),
            f"{path}: {error.strerror if isinstance(error, OSError) else error}",
            tr("Give a UTF-8 file that can be read."),
        ) from error
    cases = tuple(_squad(text, path) if path.suffix.lower() == ".json" else _jsonl(text, path))
    if not cases:
        raise UsageError(tr("An empty dataset"), f"{path}: " + tr("there is no case in it."), "")
    repeated = _first_repeated([c.id for c in cases])
    if repeated:
        raise UsageError(
            tr("Two cases with one id"),
            tr("The id “{id}” occurs more than once in {path}.", id=repeated, path=path),
            tr("Give every case an id of its own."),
        )
    return cases


def _jsonl(text: str, path: Path) -> Iterator[Case]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield _checked(decode(Case, json.loads(line)))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise UsageError(
                    tr("A line is not a case"),
                    tr("{path}, line {number}: {problem}", path=path, number=number, problem=error),
                    tr("Each line is a JSON object with at least id and question."),
                ) from error


def _checked(case: Case) -> Case:
    if not (isinstance(case.id, str) and case.id and isinstance(case.question, str) and case.question.strip()):
        raise ValueError("id and question must be texts that are not empty")
    return case


def _squad(text: str, path: Path) -> Iterator[Case]:
    try:
        data: Any = json.loads(text)["data"]
        for article in data:
            for number, paragraph in enumerate(article["paragraphs"], start=1):
                gold = (GoldSpan(f"{article.get('title', '')}/{number}"),)
                for question in paragraph["qas"]:
                    answers = tuple(dict.fromkeys(a["text"] for a in question.get("answers", ())))
                    unanswerable = bool(question.get("is_impossible", False))
                    yield Case(
                        id=str(question["id"]),
                        question=question["question"],
                        answerable=not unanswerable,
                        gold=() if unanswerable else gold,
                        answers=answers,
                    )
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            tr("Not a SQuAD-style file"),
            tr("{path} lacks what such a file has: {problem}", path=path, problem=error),
            tr("Give JSON with data, paragraphs and qas, or JSONL with one case a line."),
        ) from error


def _first_repeated(ids: list[str]) -> str:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            return name
        seen.add(name)
    return ""
