"""From an answer's text to claims with citations: of retrieved evidence only, each at the sentence that supports it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.answers.extractive import Quote, UnitsOf
from workbench.answers.support import best_part, claim_support
from workbench.corpus.places import Places
from workbench.records.answers import Citation, Claim, Evidence, SupportLevel
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
    """The extractive answer: each unit on its own line, word for word, with its mark; a row with its header's names."""
    shown = [(printable(" ".join(quote.unit.shown.split())), quote) for quote in quotes]
    claims = tuple(
        Claim(text, (_citation(q.evidence, q.unit.start, q.unit.end),), 1.0, "supported") for text, q in shown
    )
    return CitedText("\n".join(f"{text} [{quote.evidence.label}]" for text, quote in shown), claims, ())


def cited_answer(text: str, evidence: Sequence[Evidence], units_of: UnitsOf, language: str) -> CitedText:
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
    claims = tuple(_claim(marked[start:end], by_label, units_of, language) for start, end in sentences(marked))
    return CitedText(marked, claims, tuple(dict.fromkeys(removed)))


def placed(cited: CitedText, places_of: Callable[[str], Places]) -> CitedText:
    """The same, each citation with the headings and the page of its own span: a chunk may reach over several.

    Args:
        places_of: of the stored document with that id.
    """

    def put(citation: Citation) -> Citation:
        where = places_of(citation.document_id)
        page = where.page(citation.start)
        return replace(
            citation,
            heading=where.heading(citation.start, citation.end),
            page=page.number if page else None,
            page_label=page.label if page else "",
        )

    claims = tuple(replace(claim, citations=tuple(map(put, claim.citations))) for claim in cited.claims)
    return replace(cited, claims=claims)


def _claim(sentence: str, by_label: dict[str, Evidence], units_of: UnitsOf, language: str) -> Claim:
    labels = dict.fromkeys(re.findall(r"\[(F\d+)\]", sentence))
    said = re.sub(r"\s*\[F\d+\]", "", sentence).strip()
    if not labels:
        return Claim(said, (), 0.0, "uncited")
    supports = [_supporting(said, by_label[label], units_of, language) for label in labels]
    support, level = max(found for found, _ in supports)
    return Claim(said, tuple(citation for _, citation in supports), support, level)


def _supporting(
    claim: str, evidence: Evidence, units_of: UnitsOf, language: str
) -> tuple[tuple[float, SupportLevel], Citation]:
    """How far ``evidence`` supports the claim, and the citation of its unit that does most."""
    units = units_of(evidence)
    parts = [unit.shown for unit in units]
    best = units[best_part(claim, parts, evidence.language)]
    return claim_support(claim, evidence.text, language, parts), _citation(evidence, best.start, best.end)


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
