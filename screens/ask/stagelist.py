"""The stages of a trace in order, those that did not run with the reason; each makes its page for a width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from screens.ask import found, queried, rounds, said
from screens.ask.page import Page
from screens.ask.story import Story
from screens.style import milliseconds
from screens.widgets.stages import span_line
from workbench.i18n import tr
from workbench.records.answers import Answer, Context, Judged, Prompt, Trace
from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.retrieval import Transformed
from workbench.retrieval.transforms import TRANSFORMS
from workbench.traces.outcomes import of_tables
from workbench.traces.stages import settled, stage
from workbench.traces.telling import stage_name, told

Write = Callable[[Page], object]

_PLAIN: Final[dict[type, Callable[[Any, Page], None]]] = {
    FollowUp: rounds.follow_page,
    Transformed: rounds.transformed_page,
    EvidenceCheck: rounds.evidence_page,
    Judged: rounds.judged_page,
}
_PAGES: Final[dict[str, Callable[[Story, Any, Page], None]]] = {
    "analysis": found.analysis_page,
    "filter": found.filter_page,
    "lexical": found.lane_page,
    "dense": found.lane_page,
    "fusion": found.fusion_page,
    "rerank": found.rerank_page,
    "generation": said.generation_page,
    "decision": said.decision_page,
}


@dataclass(frozen=True, slots=True)
class WalkStage:
    """One stage of the walk.

    Attributes:
        key: "query", "duplicates", "parents", "claims", or the span's name.
        flow: "8 → 4"; ``ms``: its time, "" where it has none of its own.
        ran: what it did is told; else why it didn't.
    """

    key: str
    name: str
    flow: str
    ms: str
    ran: bool
    write: Write

    def page(self, width: int) -> Page:
        """What it tells, for a width."""
        page = Page(width)
        self.write(page)
        return page


def walk_stages(story: Story) -> list[WalkStage]:
    """From the question to the decision; of a question of tables, to its last attempt."""
    trace = story.trace
    if of_tables(trace):
        return _sql(trace)
    answer = trace.answer or stage(trace, "citations", Answer)
    return [
        WalkStage("query", tr("question"), "", "", True, lambda page: found.query_page(story, page)),
        *_some(story, "follow"),
        _of_span(story, "analysis"),
        *(_some(story, *TRANSFORMS) or [_no_transformation()]),
        *(_of_span(story, name) for name in ("filter", "lexical", "dense", "fusion", "rerank")),
        *_context(story),
        *_some(story, "evidence", "retry"),
        _prompt(story),
        _of_span(story, "generation"),
        _claims(story, answer),
        *_some(story, "judge"),
        _citations(story, answer),
        _decision(story),
    ]


def _some(story: Story, *names: str) -> list[WalkStage]:
    """Those of the stages that this question has."""
    return [_of_span(story, name) for name in names if story.trace.span(name)]


def _sql(trace: Trace) -> list[WalkStage]:
    """The question, the part of the schema, and each attempt."""
    stages = [WalkStage("query", tr("question"), "", "", True, partial(queried.question_page, trace))]
    for span in trace.spans:
        write = queried.schema_page if span.name == "schema" else queried.attempt_page
        if line := span_line(span):
            stages.append(WalkStage(span.name, line.name, line.flow, line.ms, True, partial(write, span)))
    return stages


def _no_transformation() -> WalkStage:
    why = tr("No transformation was asked for: the question is searched as it stands.")
    return _absent("transformations", tr("transformations"), why)


def _of_span(story: Story, name: str) -> WalkStage:
    span = story.trace.span(name)
    title = walk_name(name)
    if span is None or span.output is None:
        return _absent(name, title, _why_absent(story, name))
    flow, note = told(span.output) or ("", "")
    known, plain = _PAGES.get(name), _PLAIN.get(type(span.output))

    def write(page: Page) -> None:
        if plain:
            plain(span.output, page)
        elif known:
            known(story, span.output, page)
        else:
            found.other_page(span, page)

    short = tr("skipped") if not flow and note else flow
    ms = milliseconds(span.duration_ms) if span.duration_ms else ""
    return WalkStage(name, title, short, ms, True, write)


def _context(story: Story) -> list[WalkStage]:
    """What a context is made by: duplicates and novelty, larger spans, what fits."""
    span, context = story.trace.span("context"), stage(story.trace, "context", Context)
    names = {"duplicates": tr("duplicates, MMR"), "parents": tr("parents"), "context": tr("context")}
    if span is None or context is None:
        why = _why_absent(story, "context")
        return [_absent(key, name, why) for key, name in names.items()]
    repeats = sum(d.reason == "duplicate" for d in context.dropped)
    kept, all_ = len(context.evidence), len(context.evidence) + len(context.dropped)
    pages: dict[str, Write] = {
        "duplicates": lambda page: said.duplicates_page(story, context, page),
        "parents": lambda page: said.parents_page(story, page),
        "context": lambda page: said.context_page(story, context, page),
    }
    longer = len(said.with_parents(story))
    flows = {"duplicates": f"−{repeats}" if repeats else "", "parents": f"{longer}" if longer else ""}
    flows["context"] = f"{all_} → {kept}"
    ms = {"context": milliseconds(span.duration_ms)}
    return [WalkStage(key, name, flows[key], ms.get(key, ""), True, pages[key]) for key, name in names.items()]


def _prompt(story: Story) -> WalkStage:
    span, context = story.trace.span("prompt"), stage(story.trace, "context", Context)
    prompt = stage(story.trace, "prompt", Prompt)
    if span is None or prompt is None:
        return _absent("prompt", walk_name("prompt"), _why_absent(story, "prompt"))
    used = f"{context.ledger.total:,}/{context.ledger.window:,}" if context else ""
    ms = milliseconds(span.duration_ms)
    write: Write = lambda page: said.prompt_page(prompt, context, page)  # noqa: E731 -- as the other pages
    return WalkStage("prompt", walk_name("prompt"), used, ms, True, write)


def _claims(story: Story, answer: Answer | None) -> WalkStage:
    if answer is None:
        return _absent("claims", tr("claims"), _why_absent(story, "citations"))
    good = sum(claim.level == "supported" for claim in answer.claims)
    write: Write = lambda page: said.claims_page(story, answer, page)  # noqa: E731 -- as the other pages
    return WalkStage("claims", tr("claims"), f"{good}/{len(answer.claims)} ✓", "", True, write)


def _citations(story: Story, answer: Answer | None) -> WalkStage:
    if answer is None:
        return _absent("citations", walk_name("citations"), _why_absent(story, "citations"))
    cited = sum(len(claim.citations) for claim in answer.claims)
    write: Write = lambda page: said.citations_page(answer, page)  # noqa: E731 -- as the other pages
    return WalkStage("citations", walk_name("citations"), f"{cited}", "", True, write)


def _decision(story: Story) -> WalkStage:
    """Its flow without the letters, for which the rail has no room."""
    line = _of_span(story, "decision")
    return replace(line, flow=line.flow.replace("s ", "").replace("τ ", ""))


def _absent(key: str, name: str, why: str) -> WalkStage:
    return WalkStage(key, name, "–", "", False, lambda page: page.head(tr("did not run")).say(why))


def _why_absent(story: Story, name: str) -> str:
    """Why a stage left nothing."""
    trace = story.trace
    ask, search = settled(trace)
    if name in ("lexical", "dense") and name not in search.lanes:
        return tr("This lane is off: l changes the lanes.")
    if name in ("lexical", "dense") and not trace.id:
        return tr("It had not answered yet.")
    if name == "rerank":
        return tr(
            "No reranker is on for this collection. r on the Ask screen measures what one would bring, and turns it on."
        )
    if not trace.id:
        return tr("The question was searched and not asked yet: enter answers it.")
    outcome = trace.answer.outcome if trace.answer else ""
    if outcome in ("cancelled", ""):
        return tr("The question was stopped before it came to this.")
    if outcome in ("no_result", "filtered_out", "empty_corpus", "does_not_fit"):
        return trace.answer.text if trace.answer else ""
    if name in ("prompt", "generation") and outcome == "low_support" and not trace.span("prompt"):
        return tr("The evidence has too little support, so that nothing was sent to a model.")
    if name in ("prompt", "generation") and (ask.mode == "extractive" or not trace.manifest.model):
        return tr("No model wrote this answer: it quotes the sources, and nothing is sent anywhere.")
    return tr("It left nothing in the trace.")


def walk_name(name: str) -> str:
    """A stage's name where there is room for it."""
    names = {"analysis": tr("analysis"), "generation": tr("generation")}
    return names.get(name) or stage_name(name)
