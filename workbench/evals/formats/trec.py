"""TREC's datasets: topics (SGML) and qrels (topic, iteration, document, grade).

Names must be free of white space there: it is written as %20, and read back. Topics without a judgement stay out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from workbench.errors import DocumentError
from workbench.evals.formats import json_text
from workbench.evals.formats.judgements import Judgements, lost_by_judging, whole_documents
from workbench.evals.formats.rows import case_from
from workbench.evals.formats.source import Format, Found, Locate, Source, TextOf, open_source, unreadable
from workbench.i18n import tr
from workbench.records.cases import Case, RowProblem
from workbench.records.codec import encode

TOPICS: Final = "topics.txt"
QRELS: Final = "qrels.txt"
_TOPIC: Final = re.compile(r"<top>(.*?)(?=</top>|<top>|\Z)", re.DOTALL | re.IGNORECASE)
_FIELD: Final = re.compile(r"<(num|title|desc|narr)>([^<]*)", re.IGNORECASE)
_LABEL: Final = re.compile(r"\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)
_HEAD: Final = 100_000  # characters in which the first topic begins
_LARGEST: Final = 64 << 20  # bytes of a file that is looked into for topics


def read(source: Source, _locate: Locate | None) -> Iterator[Found]:
    """A case for each topic that the qrels beside it judge. Raises DocumentError when there are none, or several."""
    topics, qrels = _files(source)
    judgements = Judgements()
    for number, line in json_text.lines(open_source(qrels).text):
        cells = line.split()
        problem = (
            judgements.add(unquote(cells[0]), unquote(cells[2]), cells[3])
            if len(cells) == 4
            else tr("it has not four columns: topic, iteration, document, grade")
        )
        if problem:
            yield RowProblem(number, tr("{file}: {reason}", file=qrels.name, reason=problem))
    if judgements.note:
        yield RowProblem(0, tr("{file}: {reason}", file=qrels.name, reason=judgements.note), skipped=False)
    left_out, asked = 0, set()
    for match in _TOPIC.finditer(topics.text):
        line_number = topics.text.count("\n", 0, match.start()) + 1
        fields = {name.lower(): _content(value) for name, value in _FIELD.findall(match[1])}
        name = unquote(fields.get("num", ""))
        asked.add(name)
        if name and name not in judgements.queries:
            left_out += 1
            continue
        try:
            yield line_number, _case(name, fields, judgements)
        except ValueError as error:
            yield RowProblem(line_number, str(error))
    if left_out:
        yield RowProblem(0, tr("{count} queries have no judgement and stayed out", count=left_out), skipped=False)
    for told in judgements.strangers(asked):
        yield RowProblem(0, tr("{file}: {reason}", file=qrels.name, reason=told), skipped=False)


def write(cases: Sequence[Case], path: Path, _text_of: TextOf) -> None:
    """topics.txt and qrels.txt in the folder ``path``."""
    path.mkdir(parents=True, exist_ok=True)
    (path / TOPICS).write_text("".join(map(_topic, cases)), "utf-8", newline="\n")
    (path / QRELS).write_text(qrels_text(cases), "utf-8", newline="\n")


def qrels_text(cases: Iterable[Case]) -> str:
    """Judgements of whole documents, each with the best grade of its spans."""
    rows = ((case.id, source_id, grade) for case in cases for source_id, grade in whole_documents(case.gold))
    return "".join(f"{escaped(case_id)} 0 {escaped(source_id)} {grade}\n" for case_id, source_id, grade in rows)


def _files(source: Source) -> tuple[Source, Path]:
    """The topics, and the one file of judgements beside them."""
    folder = source.path if source.folder else source.path.parent
    topics = source
    if source.folder:
        named = _topics_in(folder)
        if named is None:
            raise unreadable(folder, tr("there are no topics in it"))
        topics = open_source(named)
    qrels = [file for file in sorted(folder.iterdir()) if "qrel" in file.name.lower() and file.is_file()]
    qrels = [file for file in qrels if file.suffix.lower() not in (".md", ".readme")]
    if len(qrels) != 1:
        raise DocumentError(
            tr("Which judgements?"),
            tr("There are {count} files with “qrel” in their name beside the topics.", count=len(qrels)),
            tr("Put the topics and one file of judgements in a folder of their own."),
        )
    return topics, qrels[0]


def _topics_in(folder: Path) -> Path | None:
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.stat().st_size <= _LARGEST and b"<top>" in file.read_bytes().lower():
            return file
    return None


def _case(name: str, fields: dict[str, str], judgements: Judgements) -> Case:
    gold = judgements.spans(name)
    return case_from(
        {
            "id": name,
            "question": fields.get("title") or fields.get("desc"),
            "gold": [encode(span) for span in gold],
            "notes": fields.get("desc", ""),
            "criterion": fields.get("narr", ""),
        }
    )


def _content(value: str) -> str:
    return html.unescape(" ".join(_LABEL.sub("", value, count=1).split()))


def _topic(case: Case) -> str:
    fields = (("num", escaped(case.id)), ("title", case.question), ("desc", case.notes), ("narr", case.criterion))
    body = "".join(f"<{name}> {html.escape(' '.join(value.split()), quote=False)}\n" for name, value in fields if value)
    return f"<top>\n{body}</top>\n\n"


def escaped(text: str) -> str:
    """``text`` without white space, and with nothing that ``unquote`` would take for an escape of its own."""
    return "".join("".join(f"%{b:02X}" for b in c.encode()) if c.isspace() or c == "%" else c for c in text)


def _recognises(source: Source) -> bool:
    if source.folder:
        return _topics_in(source.path) is not None
    return source.text.lstrip().startswith("<") and "<top>" in source.text[:_HEAD].lower()


FORMAT = Format(
    "trec",
    read,
    _recognises,
    frozenset({"id", "question", "gold", "notes", "criterion"}),
    write,
    loses=lambda cases, _text_of: lost_by_judging(cases),
)
