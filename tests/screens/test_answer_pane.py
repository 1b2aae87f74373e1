"""The answer's words: claims that no source backs, what a source lacks, sources that contradict each other."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest

from screens.widgets.answer import body, cited_rows, claim_mark, doubt, headline
from tests.screens.fake_desk import FakeDesk
from workbench.i18n import tr
from workbench.records.answers import Claim, Conflict, Trace
from workbench.traces.stages import evidence_of


@pytest.fixture
def trace() -> Trace:
    *_, last = FakeDesk().ask("overdue payments")
    return last


def test_what_no_source_backs_is_not_shown_as_answered(trace: Trace) -> None:
    assert trace.answer is not None
    unbacked = (replace(claim, level="unsupported", support=0.0) for claim in trace.answer.claims)
    claims = tuple(replace(claim, off_topic=True) for claim in unbacked)  # which is the lesser defect
    answer = replace(trace.answer, outcome="unsupported", mode="generated", claims=claims)
    shown = dataclasses.replace(trace, answer=answer)
    head = headline(shown, streaming=False).plain
    assert "✗ no source backs it" in head
    assert "answered" not in head
    assert body(shown, streaming=False).plain.startswith("✗ The model wrote this, and nothing that it cites says it:")
    bare = replace(answer, claims=tuple(replace(claim, level="uncited", citations=()) for claim in claims))
    told = body(dataclasses.replace(trace, answer=bare), streaming=False).plain
    assert told.startswith("✗ The model wrote this, and cites no source:")
    assert " s 0." in head
    nothing = replace(answer, outcome="filtered_out", claims=())  # no evidence, so no support was measured
    assert " s 0." not in headline(dataclasses.replace(trace, answer=nothing), streaming=False).plain


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("A payment is overdue when 45 days have passed.", "The source has no «45»."),
        (
            "A payment is not overdue when thirty days have passed since the date on the invoice.",
            "One of them is negated",
        ),
        ("Elephants eat bananas.", "The source doesn't speak of «Elephants», «eat», «bananas»."),
    ],
)
def test_a_claim_that_is_not_supported_says_why(trace: Trace, said: str, reason: str) -> None:
    assert trace.answer is not None
    first = next(c for c in trace.answer.claims if "Overdue" in c.text)
    cited = replace(first.citations[0], level="unsupported", support=0.0)
    claim = Claim(said, (cited,), 0.0, "unsupported")
    assert doubt(claim, evidence_of(trace)).startswith(reason)
    assert doubt(first, evidence_of(trace)) == "" or first.level != "supported"
    assert doubt(Claim(said, (), 0.0, "uncited"), evidence_of(trace)) == "It cites nothing."


def test_what_helps_is_told_in_the_language_of_the_reader_and_the_answer_in_that_of_the_question(trace: Trace) -> None:
    assert trace.answer is not None
    helps = "Take the sources' own words (mode extractive), or ask a larger model."
    answer = replace(trace.answer, text="No lo dicen las fuentes.", claims=(), remedy=tr(helps, "es"))
    shown = body(dataclasses.replace(trace, answer=answer), streaming=False).plain
    assert answer.remedy not in shown
    assert shown.startswith("No lo dicen las fuentes.")
    assert f"→ {helps}" in shown


def test_a_claim_beside_the_question_has_its_own_mark_and_says_so(trace: Trace) -> None:
    assert trace.answer is not None
    first, *others = trace.answer.claims
    beside = replace(first, relevance=-0.4, off_topic=True)
    answer = replace(trace.answer, claims=(beside, *others))
    assert "1 off topic" in headline(dataclasses.replace(trace, answer=answer), streaming=False).plain
    assert doubt(beside, evidence_of(trace)) == "The source says it, but it hardly concerns the question."
    assert claim_mark(beside, beside.citations[0])[0] == "○"
    assert claim_mark(first, first.citations[0])[0] == "✓"
    alone = replace(trace.answer, claims=(beside,))
    assert headline(dataclasses.replace(trace, answer=alone), streaming=False).plain.startswith("Answer ── ○")


def test_sources_that_contradict_each_other_are_marked_and_can_be_opened(trace: Trace) -> None:
    assert trace.answer is not None
    one, other = (claim.citations[0] for claim in trace.answer.claims[:2])
    told = "The sources disagree: 24 euros [F1] and 18 euros [F2]."
    answer = replace(
        trace.answer,
        text=f"{trace.answer.text}\n{told}",
        claims=trace.answer.claims[:1],
        conflicts=(Conflict(told, one, other),),
    )
    lines = body(dataclasses.replace(trace, answer=answer), streaming=False).plain.splitlines()
    assert lines[-1] == f"≠ {told}"
    assert told not in "\n".join(lines[:-1])
    assert [row.citation for row in cited_rows(answer)] == [one, other]
