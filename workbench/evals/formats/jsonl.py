"""JSON Lines in the workbench's own fields: every field of ``Case``, one case a line. The one format that keeps all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.evals.formats import json_text
from workbench.evals.formats.rows import FIELDS, case_from, fields_of
from workbench.evals.formats.source import Format, Found, Locate, Source, TextOf
from workbench.i18n import tr
from workbench.records.cases import Case, RowProblem


def read(source: Source, _locate: Locate | None) -> Iterator[Found]:
    """A case a line. A field that no case has is named once."""
    strangers: set[str] = set()
    for number, line in json_text.lines(source.text):
        try:
            row = json_text.parse(line)
            yield number, case_from(row)
        except ValueError as error:
            yield RowProblem(number, str(error))
            continue
        for name in sorted(row.keys() - set(FIELDS) - strangers):
            strangers.add(name)
            yield RowProblem(number, tr("there is no field “{field}”: it was left out", field=name), skipped=False)


def write(cases: Sequence[Case], path: Path, _text_of: TextOf) -> None:
    """Only the fields that a case gives a value to."""
    lines = (json.dumps(fields_of(case), ensure_ascii=False) for case in cases)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")


def _recognises(source: Source) -> bool:
    return source.first_line.lstrip().startswith("{")


FORMAT = Format("jsonl", read, _recognises, frozenset(FIELDS), write)
