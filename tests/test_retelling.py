"""What was stored in one language is read in another; what isn't ours stays as it is."""

from __future__ import annotations

import time

import pytest

from workbench.evals.gold.whereabouts import Whereabouts
from workbench.evals.running.failure import Findings, name_failure
from workbench.i18n import choose_language, tr
from workbench.i18n.retelling import retold
from workbench.records.cases import Case
from workbench.records.evals import CaseResult, Ranked

RANK = "The gold was found at rank {rank} ({lanes}) and left out of the context {why}."


def nowhere() -> Whereabouts:
    return Whereabouts(in_corpus=False, retired=False, indexed=False, truncated=False, passing=False)


def worded(lang: str) -> str:
    return tr(
        RANK,
        lang,
        rank=7,
        lanes=tr("lexical {lexical}, dense {dense}", lang, lexical=3, dense="–"),
        why=tr("because the window was full", lang),
    )


@pytest.mark.parametrize("stored", ["en", "es"])
@pytest.mark.parametrize("read", ["en", "es"])
def test_a_sentence_with_values_is_read_in_either_language(stored: str, read: str) -> None:
    assert worded("en") != worded("es")
    assert retold(worded(stored), read) == worded(read)


def test_a_stage_named_in_spanish_is_read_in_english() -> None:
    choose_language("es")
    hit = Ranked("c", "s", 0, 9, 8, lexical_rank=8, dense_rank=None, grade=2)
    result = CaseResult(1, "q", 0, False, ranked=(hit,))
    found = name_failure(Case("q", "?"), result, Findings(5, nowhere))
    assert "rango" in found.reason or "puesto" in found.reason
    choose_language("en")
    assert retold(found.reason) == "The gold is at rank 8 (lexical 8, dense –), behind the cut of 5."
    assert retold(found.advice).startswith("Only words found it")


def test_the_text_of_a_document_is_never_translated() -> None:
    """“passed” is a word of the interface, and here a claim."""
    stored = tr("The cited text doesn't say: “{claim}”", "en", claim="passed")
    assert retold(stored, "es") == tr("The cited text doesn't say: “{claim}”", "es", claim="passed")
    assert retold("passed {by} a % sign, and nothing of ours", "es") == "passed {by} a % sign, and nothing of ours"
    assert retold("", "es") == ""


def test_a_long_hostile_text_takes_no_time() -> None:
    began = time.process_time()
    retold("The gold is at rank " * 5_000, "es")
    assert time.process_time() - began < 5  # not a measurement: backtracking would take for ever
