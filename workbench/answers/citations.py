"""From an answer's text to claims with citations: of retrieved evidence only, each at the sentence that supports it.

A mark cites the words before it, back to the mark before; the last one of a sentence, what follows it too. Marks side
by side cite the same words. Each citation is held against its own words, and a claim is only as good as the weakest
citation it keeps. Where marks stand side by side and some sources say the words, those that don't are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.answers.attribution import unattributed
from workbench.answers.claims import DOUBTED, claim_support
from workbench.answers.extractive import Quote, UnitsOf
from workbench.answers.meaning import Meaning
from workbench.answers.orders import gives_orders, without_orders
from workbench.answers.prompt import quotable
from workbench.corpus.places import Places
from workbench.records.answers import Citation, Claim, Evidence
from workbench.text.sentences import sentences
from workbench.text.words import stems

_MARK: Final = re.compile(r"\[\s*F\d+(?:\s*[,;]\s*F?\d+)*\s*\]")
_MARKS_AFTER_STOP: Final = re.compile(r"([.!?…])((?:\s*\[F\d+\])+)")
_RUN: Final = re.compile(r"(?:\s*\[F\d+\])+")


@dataclass(frozen=True, slots=True)
class CitedText:
    """An answer's text with valid marks only, its claims, and the marks that were taken out.

    Attributes:
        removed: marks that named no evidence.
        unsaid: marks of evidence that doesn't say what it was cited for, beside one that does.
    """

    text: str
    claims: tuple[Claim, ...]
    removed: tuple[str, ...]
    unsaid: tuple[str, ...] = ()


def quoted_answer(quotes: Sequence[Quote]) -> CitedText:
    """The extractive answer: each unit on its own line, word for word, with its mark; a row with its header's names.

    What would pass for a mark or a chat's control token in it is shown as what it is: text.
    """
    shown = [(quotable(quote.unit.shown), quote) for quote in quotes]
    cited = [citation_of(q.evidence, q.unit.start, q.unit.end) for q in quotes]
    cited = [_doubted(one) if gives_orders(one.quote) else one for one in cited]
    claims = tuple(Claim(text, (c,), c.support, c.level) for (text, _), c in zip(shown, cited, strict=True))
    return CitedText("\n".join(f"{text} [{quote.evidence.label}]" for text, quote in shown), claims, ())


def cited_answer(
    text: str, evidence: Sequence[Evidence], units_of: UnitsOf, language: str, meaning: Meaning | None = None
) -> CitedText:
    """A generated text as claims: one a sentence, cited by the marks in it.

    Marks that name no evidence are taken out and listed, and so are those that the module's rule takes out. A sentence
    without any is "uncited".

    Args:
        language: of the answer.
        meaning: that claims are held against what they cite by, beside their words.
    """
    check = _Check(units_of, language, meaning)
    by_label = {piece.label: piece for piece in evidence}
    removed: list[str] = []

    def valid(match: re.Match[str]) -> str:
        labels = [f"F{number}" for number in re.findall(r"\d+", match[0])]
        removed.extend(label for label in labels if label not in by_label)
        return "".join(f"[{label}]" for label in dict.fromkeys(labels) if label in by_label)

    marked = re.sub(r"\s+([.,;:!?])", r"\1", re.sub(r" {2,}", " ", _MARK.sub(valid, text))).strip()
    marked = _MARKS_AFTER_STOP.sub(lambda m: f" {''.join(m[2].split())}{m[1]}", marked)
    read = [_read(marked[start:end], by_label, check) for start, end in sentences(marked)]
    kept = _joined(marked, [sentence for sentence, _, _ in read])
    unsaid = dict.fromkeys(label for _, _, labels in read for label in labels)
    return CitedText(kept, tuple(claim for _, claim, _ in read), tuple(dict.fromkeys(removed)), tuple(unsaid))


def _joined(text: str, kept: Sequence[str]) -> str:
    """``text`` with its sentences replaced by ``kept``; what is between them stays."""
    parts, end = [], 0
    for (start, stop), sentence in zip(sentences(text), kept, strict=True):
        parts += [text[end:start], sentence]
        end = stop
    return "".join([*parts, text[end:]])


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


@dataclass(frozen=True, slots=True)
class _Check:
    """What the words of an answer are held against their sources with."""

    units_of: UnitsOf
    language: str
    meaning: Meaning | None

    def supporting(self, said: str, evidence: Evidence) -> Citation:
        """The citation of the unit of ``evidence`` that says most of ``said``; how far the whole evidence says it."""
        said = unattributed(said, evidence, self.language)
        units = self.units_of(evidence)
        parts = [unit.shown for unit in units]
        found = claim_support(said, evidence.text, self.language, parts, self.meaning)
        best = units[found.part]
        cited = citation_of(evidence, best.start, best.end)
        cited = replace(cited, support=found.score, level=found.level, likeness=found.likeness)
        stated = without_orders(cited.quote)
        if stated == cited.quote or claim_support(said, stated, self.language).level == "supported":
            return cited
        return _doubted(cited)


def _read(sentence: str, by_label: dict[str, Evidence], check: _Check) -> tuple[str, Claim, list[str]]:
    """The sentence with the marks it keeps, its claim, and the labels of those it doesn't."""
    said = _RUN.sub("", sentence).strip()
    runs = list(_RUN.finditer(sentence))
    kept: list[Citation] = []
    unsaid: list[str] = []
    parts, begin = [], 0
    for run in runs:
        words = sentence[begin : run.start()] + (sentence[run.end() :] if run is runs[-1] else "")
        cited = words if stems(words, check.language) else said
        found = [check.supporting(cited, by_label[label]) for label in re.findall(r"F\d+", run[0])]
        says = [citation for citation in found if citation.level != "unsupported"] or found
        unsaid += [citation.label for citation in found if citation not in says]
        kept += says
        marks = "".join(f"[{citation.label}]" for citation in says)
        parts += [sentence[begin : run.start()], f" {marks}" if run[0][0].isspace() else marks]
        begin = run.end()
    if not kept:
        return sentence, Claim(said, (), 0.0, "uncited"), []
    weakest = min(kept, key=lambda citation: citation.support)
    claim = Claim(said, tuple(kept), weakest.support, weakest.level)
    return "".join([*parts, sentence[begin:]]), claim, unsaid


def _doubted(citation: Citation) -> Citation:
    """Weak at most: what is cited gives orders to whoever answers, and that states nothing."""
    if citation.level != "supported":
        return citation
    return replace(citation, support=min(citation.support, DOUBTED), level="weak")


def citation_of(evidence: Evidence, start: int, end: int) -> Citation:
    """The citation of a span of the source text that lies in ``evidence``."""
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
