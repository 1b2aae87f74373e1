"""BEIR folders (Thakur et al. 2021): corpus.jsonl, queries.jsonl and a table of judgements per split in qrels/.

Documents are judged as wholes. A query comes in when a split judges it, with the split as a tag; the other fields of
our cases travel in a query's ``metadata``, where BEIR's own readers let them be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workbench.evals.formats import json_text
from workbench.evals.formats.judgements import Judgements, lost_by_judging, whole_documents
from workbench.evals.formats.rows import FIELDS, case_from, fields_of
from workbench.evals.formats.source import Format, Found, Locate, Passage, Source, TextOf, open_source
from workbench.i18n import tr
from workbench.records.cases import Case, RowProblem
from workbench.records.codec import encode

CORPUS: Final = "corpus.jsonl"
QUERIES: Final = "queries.jsonl"
QRELS: Final = "qrels"
_HEADER: Final = ("query-id", "corpus-id", "score")
_OWN: Final = ("id", "question", "gold")  # what BEIR has a place for


def read(source: Source, _locate: Locate | None) -> Iterator[Found]:
    """A case for each query that is judged, or that says that it has no answer or is a model task."""
    judged: dict[str, Judgements] = {}
    tags: dict[str, list[str]] = {}
    for file in sorted((source.path / QRELS).glob("*.tsv")):
        judgements = Judgements()
        yield from _read_qrels(file, judgements)
        for query in judgements.queries:
            judged.setdefault(query, Judgements()).update(judgements, query)
            tags.setdefault(query, []).append(file.stem)
    left_out, asked = 0, set()
    for number, line in json_text.lines(open_source(source.path / QUERIES).text):
        try:
            row = json_text.parse(line)
            asked.add(str(row["_id"]))
            case = _case(row, judged, tags)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            yield RowProblem(number, tr("{file}: {reason}", file=QUERIES, reason=error))
            continue
        if case is None:
            left_out += 1
        else:
            yield number, case
    if left_out:
        yield RowProblem(0, tr("{count} queries have no judgement and stayed out", count=left_out), skipped=False)
    everything = Judgements()
    for query, judgements in judged.items():
        everything.update(judgements, query)
    for told in everything.strangers(asked, _document_names(source)):
        yield RowProblem(0, tr("{file}: {reason}", file=QRELS, reason=told), skipped=False)


def documents(source: Source) -> Iterator[Passage | RowProblem]:
    """The corpus: a document a line, with its title and what else is known of it; a bad line is named."""
    for number, line in json_text.lines(open_source(source.path / CORPUS).text):
        try:
            row = json_text.parse(line)
            name, title, text = str(row["_id"]), str(row.get("title") or ""), str(row.get("text") or "")
            passage = Passage(name, text, title, dict(row.get("metadata") or {}))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            yield RowProblem(number, tr("{file}: {reason}", file=CORPUS, reason=error))
            continue
        if name and (title.strip() or text.strip()):
            yield passage
        else:
            yield RowProblem(number, tr("{file}: {reason}", file=CORPUS, reason=tr("it has no name or no text")))


def write(cases: Sequence[Case], path: Path, text_of: TextOf) -> None:
    """The folder at ``path``; one split, ``test``."""
    (path / QRELS).mkdir(parents=True, exist_ok=True)
    documents = dict.fromkeys(span.source_id for case in cases for span in (*case.gold, *case.negatives))
    _write_lines(path / CORPUS, ({"_id": name, "title": "", "text": text_of(name)} for name in documents))
    _write_lines(path / QUERIES, map(_query, cases))
    rows = [(case.id, source_id, str(grade)) for case in cases for source_id, grade in whole_documents(case.gold)]
    table = "".join("\t".join(row) + "\n" for row in (_HEADER, *rows))
    (path / QRELS / "test.tsv").write_text(table, "utf-8", newline="\n")


def _document_names(source: Source) -> set[str] | None:
    """What the corpus names, None when the folder has none."""
    if not (source.path / CORPUS).is_file():
        return None
    return {found.name for found in documents(source) if isinstance(found, Passage)}


def _read_qrels(file: Path, into: Judgements) -> Iterator[RowProblem]:
    for number, line in json_text.lines(open_source(file).text):
        cells = line.rstrip("\r").split("\t")
        if number == 1 and cells[0] == _HEADER[0]:
            continue
        problem = into.add(*cells) if len(cells) == len(_HEADER) else tr("it has not three columns")
        if problem:
            yield RowProblem(number, tr("{file}: {reason}", file=f"{QRELS}/{file.name}", reason=problem))
    if into.note:
        yield RowProblem(0, tr("{file}: {reason}", file=f"{QRELS}/{file.name}", reason=into.note), skipped=False)


def _case(row: Mapping[str, Any], judged: Mapping[str, Judgements], tags: Mapping[str, list[str]]) -> Case | None:
    name = str(row["_id"])
    extra = row.get("metadata") or {}
    given = {field: extra[field] for field in FIELDS if field in extra and field not in _OWN}
    if name not in judged and not _says_itself(given):
        return None
    gold = judged[name].spans(name) if name in judged else ()
    given.setdefault("tags", tags.get(name, []))
    return case_from({**given, "id": name, "question": row.get("text"), "gold": [encode(span) for span in gold]})


def _query(case: Case) -> dict[str, Any]:
    return {"_id": case.id, "text": case.question, "metadata": {"tags": [], **fields_of(case, without=_OWN)}}


def _write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, "utf-8", newline="\n")


def _recognises(source: Source) -> bool:
    return source.folder and (source.path / QUERIES).is_file()


def _loses(cases: Sequence[Case], _text_of: TextOf) -> set[str]:
    return lost_by_judging(case for case in cases if not _says_itself(fields_of(case)))


def _says_itself(fields: Mapping[str, Any]) -> bool:
    """Whether a query's own fields make a case of it, with no judgement."""
    return not fields.get("answerable", True) or bool(fields.get("expectation"))


FORMAT = Format("beir", read, _recognises, frozenset(FIELDS), write, documents, _loses)
