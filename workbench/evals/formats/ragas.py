"""Ragas datasets, as JSON Lines, a JSON list, a JSON object of columns, or CSV; both generations of its names.

``user_input``/``question`` is the question, ``reference``/``ground_truth`` the answer. ``reference_contexts`` are the
passages that answer; older files call them ``contexts``, but there they are what a system retrieved whenever its
``answer`` stands beside them, and no gold. A passage becomes gold where it is found in the collection's documents.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workbench.evals.formats import json_text, table
from workbench.evals.formats.rows import RowError, case_from, case_id, text_of
from workbench.evals.formats.source import Format, Found, Locate, Source, TextOf
from workbench.i18n import tr
from workbench.records.cases import Case, GoldSpan, RowProblem
from workbench.records.codec import encode

_QUESTION: Final = ("user_input", "question")
_ANSWER: Final = ("reference", "ground_truth", "ground_truths")
_SYSTEM: Final = ("answer", "response")
_MARKS: Final = frozenset(
    {"user_input", "reference", "reference_contexts", "ground_truth", "ground_truths", "contexts"}
)
# As keys: a question may well be the word "contexts" itself.
_MARK_AS_KEY: Final = re.compile(rf'(?<!\\)"(?:{"|".join(sorted(_MARKS))})"\s*:')
_MARK_WITH_LIST: Final = re.compile(_MARK_AS_KEY.pattern + r"\s*\[")
_CENTRAL: Final = 3
_MAX_LIST: Final = 200_000  # characters of a cell that is read as a Python list


def read(source: Source, locate: Locate | None) -> Iterator[Found]:
    """A case a row. A passage that is nowhere in the collection is named, and its case comes in without it."""
    for row in _rows(source):
        if isinstance(row, RowProblem):
            yield row
            continue
        line, fields = row
        notes: list[str] = []
        try:
            case = _case(fields, locate, notes)
        except RowError as error:
            yield RowProblem(line, str(error))
            continue
        yield line, case
        for note in notes:
            yield RowProblem(line, note, skipped=False)


def write(cases: Sequence[Case], path: Path, text_of_document: TextOf) -> None:
    """JSON Lines in the names of Ragas 0.2 and later."""
    lines: list[str] = []
    for case in cases:
        passages = [_passage(span, text_of_document) for span in case.gold if span.grade]
        row = {
            "user_input": case.question,
            "reference": case.answers[0] if case.answers else "",
            "reference_contexts": [passage for passage in passages if passage],
        }
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), "utf-8", newline="\n")


def _rows(source: Source) -> Iterator[tuple[int, Mapping[str, Any]] | RowProblem]:
    first = source.text.lstrip()[:1]
    if first not in "{[":
        yield from table.rows(source)
        return
    try:
        whole = json_text.parse(source.text)
    except ValueError:
        for number, text in json_text.lines(source.text):
            try:
                yield number, json_text.parse(text)
            except ValueError as error:
                yield RowProblem(number, str(error))
        return
    lines = json_text.Lines(source.text)
    if isinstance(whole, dict) and all(isinstance(column, list) for column in whole.values()):
        for values in zip(*whole.values(), strict=False):
            yield 1, dict(zip(whole, values, strict=True))
        return
    for index, row in enumerate(whole if isinstance(whole, list) else [whole]):
        yield lines.of(index), row


def _case(row: object, locate: Locate | None, notes: list[str]) -> Case:
    if not isinstance(row, Mapping):
        raise RowError(tr("it is not an object with fields"))
    question = text_of(row, *_QUESTION)
    if not question:
        raise RowError(tr("there is no question of one turn in it"))
    passages = _texts(row.get("reference_contexts"))
    if not passages and not text_of(row, *_SYSTEM):
        passages = _texts(row.get("contexts"))
    gold: list[GoldSpan] = []
    for passage in passages:
        place = locate(passage) if locate else None
        if place is None:
            notes.append(tr("a passage is not in the collection: “{start}…”", start=" ".join(passage.split())[:40]))
        else:
            gold.append(GoldSpan(place.source_id, place.start, place.end, _CENTRAL))
    answers = [text for name in _ANSWER for text in _texts(row.get(name))]
    return case_from(
        {
            "id": text_of(row, "id") or case_id(question),
            "question": question,
            "gold": [encode(span) for span in dict.fromkeys(gold)],
            "answers": list(dict.fromkeys(answers)),
            "type": text_of(row, "synthesizer_name", "evolution_type"),
        }
    )


def _texts(value: object) -> list[str]:
    """A list of texts; a cell of a CSV holds it as JSON or as Python writes a list."""
    if isinstance(value, str):
        value = _list_in(value) if value.lstrip().startswith("[") else [value]
    return [text for text in value if isinstance(text, str) and text.strip()] if isinstance(value, list) else []


def _list_in(cell: str) -> object:
    try:
        return json_text.parse(cell)
    except ValueError:
        pass
    try:
        return ast.literal_eval(cell) if len(cell) <= _MAX_LIST else [cell]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return [cell]


def _passage(span: GoldSpan, text_of_document: TextOf) -> str:
    text = text_of_document(span.source_id)
    return text[span.start : span.end] if span.end else text


def _recognises(source: Source) -> bool:
    first = source.text.lstrip()[:1]
    if first == "[":
        return bool(_MARK_AS_KEY.search(source.text))
    if first == "{":
        return bool(_MARK_AS_KEY.search(source.first_line) or _MARK_WITH_LIST.search(source.text))
    names = {name.strip().strip('"') for name in source.first_line.split(table.delimiter(source.first_line))}
    return bool(names & _MARKS) and bool(names & set(_QUESTION))


FORMAT = Format("ragas", read, _recognises, frozenset({"question"}), write)
