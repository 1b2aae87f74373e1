"""From an answer's text to claims with citations: of retrieved evidence only, each at the sentence that supports it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.answers.extractive import Quote
from workbench.answers.support import best_sentence, claim_support
from workbench.corpus.places import Places
from workbench.records.answers import Citation, Claim, Evidence
from workbench.records.corpus import ParsedDocument
from workbench.text.clean import printable
from workbench.text.sentences import sentences

_MARK: Final = re.compile(r"\[\s*F\d+(?:\s*[,;]\s*F?\d+)*\s*\]")
_MARKS_AFTER_STOP: Final = re.compile(r"([.!?…])((?:\s*\[F\d+\])+)")


@dataclass(frozen=True, slots=True)
class CitedText:
    """An answer's text with valid marks only, its claims, and the marks that named no evidence."""

    text: str
    claims: tuple[Claim, ...]
    removed: tuple[str, ...]


def quoted_answer(quotes: Sequence[Quote]) -> CitedText:
    """The extractive answer: each sentence on its own line, word for word, with its mark."""
    shown = [(printable(" ".join(quote.text.split())), quote) for quote in quotes]
    claims = tuple(Claim(text, (_citation(q.evidence, q.start, q.end),), 1.0, "supported") for text, q in shown)
    return CitedText("\n".join(f"{text} [{quote.evidence.label}]" for text, quote in shown), claims, ())


def cited_answer(text: str, evidence: Sequence[Evidence], language: str) -> CitedText:
    """A generated text as claims: one a sentence, cited by the marks in it.

    Marks that name no evidence are taken out and listed. A claim's support is that of its best citation; a sentence
    without any is "uncited".

    Args:
        language: of the answer.
    """
    by_label = {piece.label: piece for piece in evidence}
    removed: list[str] = []

    def valid(match: re.Match[str]) -> str:
        labels = [f"F{number}" for number in re.findall(r"\d+", match[0])]
        removed.extend(label for label in labels if label not in by_label)
        return "".join(f"[{label}]" for label in dict.fromkeys(labels) if label in by_label)

    marked = re.sub(r"\s+([.,;:!?])", r"\1", re.sub(r" {2,}", " ", _MARK.sub(valid, text))).strip()
    marked = _MARKS_AFTER_STOP.sub(lambda m: f" {''.join(m[2].split())}{m[1]}", marked)
    claims = tuple(_claim(marked[start:end], by_label, language) for start, end in sentences(marked))
    return CitedText(marked, claims, tuple(dict.fromkeys(removed)))


def placed(cited: CitedText, document: Callable[[str], ParsedDocument]) -> CitedText:
    """The same, each citation with the headings and the page of its own span: a chunk may reach over several.

    Args:
        document: the stored document by its id.
    """
    places: dict[str, Places] = {}

    def put(citation: Citation) -> Citation:
        if citation.document_id not in places:
            places[citation.document_id] = Places(document(citation.document_id))
        where = places[citation.document_id]
        page = where.page(citation.start)
        return replace(
            citation,
            heading=where.heading(citation.start, citation.end),
            page=page.number if page else None,
            page_label=page.label if page else "",
        )

    claims = tuple(replace(claim, citations=tuple(map(put, claim.citations))) for claim in cited.claims)
    return replace(cited, claims=claims)


def _claim(sentence: str, by_label: dict[str, Evidence], language: str) -> Claim:
    labels = dict.fromkeys(re.findall(r"\[(F\d+)\]", sentence))
    said = re.sub(r"\s*\[F\d+\]", "", sentence).strip()
    if not labels:
        return Claim(said, (), 0.0, "uncited")
    cited = [by_label[label] for label in labels]
    support, level = max(claim_support(said, piece.text, language) for piece in cited)
    return Claim(said, tuple(_supporting(said, piece) for piece in cited), support, level)


def _supporting(claim: str, evidence: Evidence) -> Citation:
    start, end = best_sentence(claim, evidence.body, evidence.language)
    return _citation(evidence, evidence.start + start, evidence.start + end)


def _citation(evidence: Evidence, start: int, end: int) -> Citation:
    return Citation(
        label=evidence.label,
        chunk_id=evidence.chunk_id,
        document_id=evidence.document_id,
        source_id=evidence.source_id,
        title=evidence.title,
        heading=evidence.heading,
        page=evidence.page,
        page_label=evidence.page_label,
        start=start,
        end=end,
        quote=evidence.body[start - evidence.start : end - evidence.start],
    )
