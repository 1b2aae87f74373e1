"""What to search for once more when the evidence is weak: one other wording, and why, or nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from workbench.answers.expected import is_asking
from workbench.i18n import tr
from workbench.queries.rewriting import Rewriter, Written
from workbench.queries.spelling import corrected
from workbench.queries.splitting import split
from workbench.records.retrieval import Analysis, Correction
from workbench.text.words import fold, is_stopword, words


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A wording for a second search.

    Attributes:
        texts: to search for; none when there is nothing left to try, and ``reason`` says so.
        by: "rules", "index" or the model's name.
        corrects: it says what the question meant, so evidence is judged by it from then on.
    """

    texts: tuple[str, ...]
    by: str
    reason: str
    corrects: bool = False
    written: Written | None = None


def rewrite(
    analysis: Analysis, corrections: tuple[Correction, ...], tried: Collection[str], rewriter: Rewriter | None
) -> Rewrite:
    """The first of these that wasn't tried: corrected spelling, the model's wording, the question's parts, its words.

    Args:
        tried: texts that were searched already.
        rewriter: the model that may reword it, None when none may.
    """
    if corrections and (text := corrected(analysis.query, corrections)) not in tried:
        pairs = ", ".join(f"{one.word} → {one.suggestion}" for one in corrections)
        return Rewrite((text,), "index", tr("words that no source has: {pairs}", pairs=pairs), corrects=True)
    if rewriter:
        written = rewriter.multi(analysis.query)
        texts = tuple(text for text in written.texts if text not in tried)
        if texts:
            return Rewrite(texts[:1], rewriter.name, tr("the model words it anew"), written=written)
    if (parts := split(analysis.query)) and not set(parts) <= set(tried):
        return Rewrite(parts, "rules", tr("it asks several things"))
    text = content_words(analysis)
    if text and text not in tried and text != analysis.query:
        return Rewrite((text,), "rules", tr("its content words alone"))
    return Rewrite((), "rules", tr("there is no other wording to try"))


def content_words(analysis: Analysis) -> str:
    """The question's words without those that only ask."""
    kept = (w for w in words(analysis.query) if not is_stopword(w, analysis.language) and not is_asking(w))
    return " ".join({fold(word): word for word in kept}.values())
