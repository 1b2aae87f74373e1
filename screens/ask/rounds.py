"""Pages of the stages that only some questions have: follow-ups, transformations, weak evidence, a model's verdicts."""

from __future__ import annotations

from screens.ask.page import Page
from screens.style import count
from workbench.i18n import tr
from workbench.records.answers import Judged
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.retrieval import Transformed
from workbench.traces.telling import stage_name


def follow_page(found: FollowUp, page: Page) -> None:
    """The question as it is read after the one before it."""
    page.head(tr("in")).facts([(tr("question before"), found.earlier), (tr("made by"), found.by)])
    page.head(tr("out")).say(found.question)
    page.facts([(tr("taken over"), " ".join(found.carried)), (tr("why"), found.note)])
    _cost(page, found.prompt_tokens, found.output_tokens)


def transformed_page(found: Transformed, page: Page) -> None:
    """What else was asked in place of the question, by what, at which cost, and what each wording found."""
    page.head(tr("in")).facts([(tr("transformation"), stage_name(found.kind)), (tr("made by"), found.by)])
    page.head(tr("out"))
    if found.skipped:
        page.say(tr("Nothing came of it: {reason}", reason=found.skipped))
    if found.note:
        page.say(found.note)
    spelt = [(c.word, c.suggestion, count(c.chunks), f"{c.distance}") for c in found.corrections]
    page.table((tr("word"), tr("may be"), tr("chunks"), tr("edits")), spelt, right=(2, 3))
    for variant in found.variants:
        hits = " · ".join(f"{stage_name(lane.lane)} {len(lane.hits)}" for lane in variant.lanes)
        page.head(variant.name).say(variant.text)
        page.facts([(tr("hits"), hits), (tr("weight"), f"{variant.weight:g}")])
    _cost(page, found.prompt_tokens, found.output_tokens, len(found.lanes))


def evidence_page(found: EvidenceCheck, page: Page) -> None:
    """Why the evidence is too weak, and what comes next."""
    page.head(tr("in"))
    page.facts(
        [
            (tr("support"), f"s = {found.support:.2f} < τ = {found.threshold:.2f}"),
            (tr("coverage"), f"{found.coverage:.2f}"),
            (tr("words that none has"), ", ".join(found.lacking)),
            (tr("searches"), f"{found.step}/{found.steps}"),
            (tr("tokens"), f"{count(found.tokens)}/{count(found.most_tokens)}"),
        ]
    )
    page.head(tr("out"))
    page.say(tr("Searched once more: {query}", query=found.query) if found.next == "search" else tr("Abstains."))
    page.say(found.reason)


def judged_page(found: Judged, page: Page) -> None:
    """What the model says of each claim; it stands beside the support, never in place of it."""
    page.head(tr("in")).facts([(tr("judge"), found.judge)])
    page.head(tr("out"))
    rows = [(f"{n}", v.verdict or tr("unscored"), v.reason) for n, v in enumerate(found.verdicts, 1)]
    page.table((tr("claim"), tr("verdict"), tr("reason")), rows, right=(0,))
    _cost(page, found.prompt_tokens, found.output_tokens)


def _cost(page: Page, read: int, written: int, searches: int = 0) -> None:
    spent = [(tr("searches"), searches), (tr("tokens read"), read), (tr("tokens written"), written)]
    page.head(tr("cost"))
    if not (searches or read or written):
        page.say(tr("Nothing but time."))
    page.facts([(name, count(number) if number else "") for name, number in spent])
