"""Relevance: whether a claim concerns the question at all, whatever its sources say of it.

Calibrated on XQuAD (``python -m bench.claims``), sentences held against a question, with θ = 0. Of the questions that
chose no figure (``2 1``, n = 537):

==================================  =======  ==============  ============  =============
share off topic                     answers  same paragraph  same article  other article
==================================  =======  ==============  ============  =============
question and sentence English       .017     .335            .685          .993
question and sentence Spanish       .006     .201            .495          .939
Spanish question, English sentence  .032     .360            .661          .976
English question, Spanish sentence  .041     .365            .700          .987
==================================  =======  ==============  ============  =============

A claim is only off topic when neither its own words nor those that it cites concern the question: "In 1912." says
nothing alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.answers.extractive import CONTEXT_SHARE
from workbench.answers.meaning import Meaning
from workbench.answers.terms import Term, coverage, forms_of
from workbench.errors import EngineError
from workbench.records.answers import Claim
from workbench.text.language import detect

OFF_TOPIC: Final = 0.0
"""θ: a claim that is less relevant is off topic. Low, since most of what is said does concern the question."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """What a question is about.

    Attributes:
        terms: its content words.
        language: its own, "" when unknown.
        meaning: None where no embedder works: then nothing is off topic, as words alone can't tell.
    """

    terms: Sequence[Term]
    language: str
    meaning: Meaning | None

    def rated(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """The claims, each with its relevance, that of its own words or of what it cites, whichever is higher."""
        if self.meaning is None:
            return tuple(claims)
        try:
            return tuple(map(self._rated, claims))
        except EngineError:  # the embedder ended
            return tuple(claims)

    def of(self, texts: Sequence[str], headings: Sequence[str] = ()) -> list[float]:
        """½ · coverage of the question's words + ½ · likeness to its meaning; likeness alone across languages.

        Args:
            headings: that the text with the same place stands under; words that only they have count 0.6.
        """
        if self.meaning is None:
            return []
        languages = [detect(text) or self.language for text in texts]
        across = [bool(self.language) and language != self.language for language in languages]
        likeness = self.meaning.likeness(texts, across)
        above = [*headings, *[""] * (len(texts) - len(headings))]
        return [
            like if foreign else (self._covered(text, heading, language) + like) / 2
            for text, heading, language, foreign, like in zip(texts, above, languages, across, likeness, strict=True)
        ]

    def _covered(self, text: str, heading: str, language: str) -> float:
        return coverage(self.terms, forms_of(text, language), forms_of(heading, language), CONTEXT_SHARE)

    def _rated(self, claim: Claim) -> Claim:
        cited = [citation for citation in claim.citations if citation.quote]
        texts = [claim.text, *(citation.quote for citation in cited)]
        headings = ["", *(" ".join(citation.heading) for citation in cited)]
        relevance = max(self.of(texts, headings))
        return replace(claim, relevance=relevance, off_topic=relevance < OFF_TOPIC)
