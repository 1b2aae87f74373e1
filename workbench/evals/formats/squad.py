"""SQuAD-style JSON (data → paragraphs → qas): SQuAD 1.1 and 2.0, XQuAD, MLQA.

Gold is the answer's own span, where the paragraph is found in the collection's documents; else it is the whole
document ``<article>/<number>``, which is what a paragraph is called when each one is a document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from workbench.errors import UsageError
from workbench.evals.formats import json_text
from workbench.evals.formats.rows import case_from, case_id
from workbench.evals.formats.source import Format, Found, Locate, Passage, Source, TextOf, unreadable
from workbench.i18n import tr
from workbench.records.cases import Case, GoldSpan, RowProblem
from workbench.records.codec import encode

_CENTRAL: Final = 3  # the grade of a span that is the answer itself
_OUR_KEY: Final = "source_id"  # in a paragraph; other readers ignore it


def read(source: Source, locate: Locate | None) -> Iterator[Found]:
    """A case a question. Raises DocumentError when there is no ``data`` list."""
    articles = _articles(source)
    lines = json_text.Lines(source.text)
    for a, article in enumerate(articles):
        paragraphs = article.get("paragraphs") if isinstance(article, Mapping) else None
        if not isinstance(paragraphs, list):
            yield RowProblem(lines.of("data", a), tr("an article without paragraphs"))
            continue
        for p, paragraph in enumerate(paragraphs):
            if not (isinstance(paragraph, Mapping) and isinstance(paragraph.get("qas"), list)):
                yield RowProblem(lines.of("data", a, "paragraphs", p), tr("a paragraph without questions"))
                continue
            context = paragraph.get("context")
            text = context if isinstance(context, str) else ""
            name = _name(article, p, paragraph) if text.strip() else ""
            spans = _Spans(text, locate) if locate and name else None
            for q, question in enumerate(paragraph["qas"]):
                line = lines.of("data", a, "paragraphs", p, "qas", q)
                try:
                    yield line, _case(question, name, spans)
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    yield RowProblem(line, tr("it is no question of SQuAD ({reason})", reason=error))


def documents(source: Source) -> Iterator[Passage | RowProblem]:
    """Each paragraph, called as its questions' gold calls it. Raises DocumentError when there is no ``data`` list."""
    for article in _articles(source):
        paragraphs = article.get("paragraphs") if isinstance(article, Mapping) else None
        for p, paragraph in enumerate(paragraphs if isinstance(paragraphs, list) else ()):
            context = paragraph.get("context") if isinstance(paragraph, Mapping) else None
            if isinstance(context, str) and context.strip():
                yield Passage(_name(article, p, paragraph), context)


def write(cases: Sequence[Case], path: Path, text_of: TextOf) -> None:
    """A document is an article of one paragraph. Raises UsageError when a gold document's text isn't known."""
    by_source: dict[str, list[Case]] = {}
    for case in cases:
        by_source.setdefault(next((g.source_id for g in case.gold if g.grade), ""), []).append(case)
    articles = []
    for source_id, asked in by_source.items():
        context = text_of(source_id) if source_id else ""
        if source_id and not context:
            raise UsageError(
                tr("A document is missing"),
                tr("SQuAD's format holds the documents' texts, and “{name}” is not in the collection.", name=source_id),
                tr("Export from the collection that the dataset asks about, or as JSONL."),
            )
        qas = [_question(case, source_id, context) for case in asked]
        paragraph = {_OUR_KEY: source_id, "context": context, "qas": qas}
        articles.append({"title": source_id, "paragraphs": [paragraph]})
    body = json.dumps({"version": "v2.0", "data": articles}, ensure_ascii=False, indent=1)
    path.write_text(body + "\n", "utf-8", newline="\n")


def _articles(source: Source) -> list[Any]:
    try:
        return list(json_text.parse(source.text)["data"])
    except (ValueError, KeyError, TypeError) as error:
        raise unreadable(source.path, tr("it is no SQuAD-style JSON ({reason})", reason=error)) from error


def _name(article: Mapping[str, Any], number: int, paragraph: Mapping[str, Any]) -> str:
    return str(paragraph.get(_OUR_KEY) or f"{article.get('title', '')}/{number + 1}")


class _Spans:
    """Where a paragraph, and what is in it, stands in the collection's documents."""

    def __init__(self, context: str, locate: Locate) -> None:
        self._context = context
        self._locate = locate
        self.whole = locate(context)

    def of(self, start: int, end: int) -> GoldSpan | None:
        """The span of ``context[start:end]``: by what comes before and after, since white space may differ there."""
        place = self.whole
        if place is None or not 0 <= start < end <= len(self._context):
            return None
        if place.end - place.start == len(self._context):
            return GoldSpan(place.source_id, place.start + start, place.start + end, _CENTRAL)
        before, after = self._locate(self._context[:end]), self._locate(self._context[start:])
        if not (before and after and before.source_id == after.source_id == place.source_id):
            return None
        inside = place.start <= after.start < before.end <= place.end
        return GoldSpan(place.source_id, after.start, before.end, _CENTRAL) if inside else None


def _case(question: Mapping[str, Any], name: str, spans: _Spans | None) -> Case:
    answers = question.get("answers") or []
    unanswerable = bool(question.get("is_impossible", False))
    gold = () if unanswerable else _gold(answers, name, spans)
    return case_from(
        {
            "id": question.get("id") or case_id(str(question["question"])),
            "question": question["question"],
            "answerable": not unanswerable,
            "gold": [encode(span) for span in gold],
            "answers": [] if unanswerable else list(dict.fromkeys(answer["text"] for answer in answers)),
        }
    )


def _gold(answers: Sequence[Mapping[str, Any]], name: str, spans: _Spans | None) -> tuple[GoldSpan, ...]:
    """The answers' spans, else the paragraph's, else the document called ``name``; none where there is no paragraph."""
    if not name:
        return ()
    if spans is None or spans.whole is None:
        return (GoldSpan(name),)
    ends = ((answer["answer_start"], answer["answer_start"] + len(answer["text"])) for answer in answers)
    found = (spans.of(start, end) for start, end in ends)
    return tuple(dict.fromkeys(span for span in found if span)) or (spans.whole,)


def _question(case: Case, source_id: str, context: str) -> dict[str, Any]:
    spans = [(context[g.start : g.end], g.start) for g in case.gold if g.source_id == source_id and g.end and g.grade]
    # A short answer stands in a paragraph more than once: where the gold is comes before where it's first found.
    judged = [span for span in spans if span[0] in case.answers]
    unjudged = [(text, context.find(text)) for text in case.answers if text not in dict(judged)]
    placed = [*judged, *(pair for pair in unjudged if pair[1] >= 0)] or spans
    return {
        "id": case.id,
        "question": case.question,
        "is_impossible": not case.answerable,
        "answers": [{"text": text, "answer_start": start} for text, start in placed],
    }


def _recognises(source: Source) -> bool:
    head = source.text[:4096]
    return source.text.lstrip().startswith("{") and '"data"' in head and '"paragraphs"' in source.text


def _loses(cases: Sequence[Case], text_of: TextOf) -> set[str]:
    return set() if all(_keeps_gold(case, text_of) for case in cases) else {"gold"}


def _keeps_gold(case: Case, text_of: TextOf) -> bool:
    """Whether its gold is what is written as answers: spans of one document, all central."""
    graded = [span for span in case.gold if span.grade]
    if not graded:
        return not case.gold
    first = graded[0].source_id
    answers = _question(case, first, text_of(first))["answers"]
    written = {GoldSpan(first, a["answer_start"], a["answer_start"] + len(a["text"]), _CENTRAL) for a in answers}
    return written == set(case.gold)


FORMAT = Format(
    "squad",
    read,
    _recognises,
    frozenset({"id", "question", "answerable", "gold", "answers"}),
    write,
    documents,
    _loses,
)
