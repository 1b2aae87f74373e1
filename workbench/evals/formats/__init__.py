"""Reading and writing datasets: one module per format, recognised by content. No file of the workbench is touched here.

A bad row is named with its line and the rest comes in. Only what gives no case at all is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from workbench.errors import DocumentError, FileError, NotFoundError, UsageError, reason_of
from workbench.evals.formats import beir, jsonl, promptfoo, ragas, squad, table, trec
from workbench.evals.formats.rows import fields_of
from workbench.evals.formats.source import Format, Locate, Passage, Source, TextOf, open_source
from workbench.evals.tasks.checks import expected_rows
from workbench.i18n import tr
from workbench.ports import SqlRunner
from workbench.records.cases import Case, ImportResult, RowProblem
from workbench.text.language import detect

FORMATS: Final[dict[str, Format]] = {
    f.name: f
    for f in (
        beir.FORMAT,
        trec.FORMAT,
        squad.FORMAT,
        promptfoo.FORMAT,
        ragas.FORMAT,
        jsonl.FORMAT,
        table.TSV,
        table.CSV,
    )
}
"""By name, in the order in which they are tried on a file: what is surest by its content goes first."""

_TOLD: Final = 3  # rows that an error quotes


def read_dataset(
    path: Path, *, format: str = "", locate: Locate | None = None, sql: SqlRunner | None = None
) -> ImportResult:
    """The cases of a file or folder, and what was wrong with its other rows.

    Args:
        format: a name of ``FORMATS``, "" to go by the content.
        locate: finds passages in the collection's documents, for formats whose gold is text (Ragas, SQuAD).
        sql: runs the expected query of each SQL task, so that one which can't be checked is told; its row comes in.

    Raises:
        UsageError: no such format.
        DocumentError: it can't be read, is in no known format, or not one row is a case.
    """
    named = _named(format) if format else None
    source = open_source(path)
    used = named or _recognised(source)
    cases: dict[str, tuple[int, Case]] = {}
    problems = [RowProblem(0, note, skipped=False) for note in source.notes]
    for found in used.read(source, locate):
        if isinstance(found, RowProblem):
            problems.append(found)
            continue
        line, case = found
        if case.id in cases:
            problems.append(_repeated(line, case.id, cases[case.id][0]))
        else:
            cases[case.id] = (line, _with_fixture(case, path))
            problems += _unchecked(*cases[case.id], sql)
    if not cases:
        raise _nothing(path, problems)
    return ImportResult(
        tuple(case if "language" in used.keeps else _with_language(case) for _, case in cases.values()),
        tuple(_told_once(problems)),
        used.name,
    )


def read_documents(path: Path, *, format: str = "") -> Iterator[Passage | RowProblem]:
    """The documents that a dataset brings along (BEIR's corpus, SQuAD's paragraphs), and the rows that are none.

    Raises:
        UsageError: no such format, or one that holds no documents.
        DocumentError: it can't be read, or is in no known format.
    """
    source = open_source(path)
    used = _named(format) if format else _recognised(source)
    if used.documents is None:
        raise UsageError(
            tr("No documents in it"),
            tr("The format “{name}” holds questions and judgements, not the documents they are about.", name=used.name),
            tr("Bring the documents in by themselves: workbench ingest PATH --collection NAME"),
        )
    return used.documents(source)


def write_dataset(
    cases: Sequence[Case], path: Path, format: str = "jsonl", *, text_of: TextOf | None = None
) -> tuple[str, ...]:
    """Writes ``cases`` to a file (a folder for BEIR and TREC); returns what the format couldn't keep, fields by name.

    Args:
        text_of: the documents' texts, for formats that hold them (BEIR's corpus, SQuAD, Ragas).

    Raises:
        UsageError: no such format, a document's text is missing, or the path can't be written.
    """
    used = _named(format)
    texts = text_of or (lambda _source_id: "")
    try:
        used.write(cases, path, texts)
    except OSError as error:
        raise UsageError(
            tr("The dataset can't be written"), f"{path}: {reason_of(error)}", tr("Choose another place.")
        ) from error
    given = {name for case in cases for name in fields_of(case)}
    return tuple(sorted({*(given - used.keeps), *used.loses(cases, texts)}))


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise UsageError(
            tr("No such format"),
            tr("“{name}” is no format of datasets.", name=name),
            tr("There are: {names}.", names=", ".join(sorted(FORMATS))),
        )
    return FORMATS[name]


def _recognised(source: Source) -> Format:
    found = next((f for f in FORMATS.values() if f.recognises(source)), None)
    if found is None:
        raise DocumentError(
            tr("Not a dataset"),
            tr("{path} is in none of the formats that are known by their content.", path=source.path),
            tr("Name its format; there are: {names}.", names=", ".join(sorted(FORMATS))),
        )
    return found


def _repeated(line: int, name: str, first: int) -> RowProblem:
    return RowProblem(line, tr("the id “{id}” occurs more than once (first in line {line})", id=name, line=first))


def _nothing(path: Path, problems: Sequence[RowProblem]) -> DocumentError:
    told = [tr("line {line}: {reason}", line=p.line, reason=p.reason) for p in problems if p.skipped][:_TOLD]
    return DocumentError(
        tr("No case came in"),
        f"{path}: " + ("; ".join(told) or tr("there is no case in it.")),
        tr("Each row needs at least a question; docs/datasets.md describes the formats."),
    )


def _with_language(case: Case) -> Case:
    """Formats that know no language: the question tells it. A model task's prompt mixes them too often."""
    return case if case.expectation else replace(case, language=detect(case.question))


def _told_once(problems: Sequence[RowProblem]) -> Iterator[RowProblem]:
    """What is true of many rows that came in is told once, with the first line and how many there are."""
    count = Counter(problem.reason for problem in problems if not problem.skipped)
    for problem in problems:
        times = 1 if problem.skipped else count.pop(problem.reason, 0)
        if times > 1:
            yield replace(problem, reason=tr("{reason} ({count} times)", reason=problem.reason, count=f"{times:,}"))
        elif times:
            yield problem


def _unchecked(line: int, case: Case, sql: SqlRunner | None) -> Iterator[RowProblem]:
    """Why the expected query of an SQL task gives no rows."""
    if sql is None or case.expectation is None or case.expectation.kind != "sql":
        return
    try:
        expected_rows(case.expectation, sql)
    except (UsageError, NotFoundError, FileError) as error:
        yield RowProblem(line, tr("{reason} The case stays unscored.", reason=error.message), skipped=False)


def _with_fixture(case: Case, dataset: Path) -> Case:
    """A fixture that lies beside its dataset is found there from now on, whatever the working folder."""
    if not (case.expectation and case.expectation.fixture):
        return case
    beside = (dataset if dataset.is_dir() else dataset.parent).resolve() / case.expectation.fixture
    if not beside.is_file():
        return case
    return replace(case, expectation=replace(case.expectation, fixture=str(beside)))
