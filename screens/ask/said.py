"""Pages of the stages that answer: what was kept for the prompt, what was sent, written, claimed, cited, decided."""

from __future__ import annotations

from screens.ask.page import Page
from screens.ask.story import Story
from screens.style import SUPPORT, bar, count, place
from screens.widgets.answer import claim_mark, doubt
from workbench.answers.support import arithmetic
from workbench.i18n import amounts, tr
from workbench.i18n.retelling import retold
from workbench.records.answers import Answer, Context, Decision, Evidence, Generation, Ledger, Prompt
from workbench.records.corpus import Chunk
from workbench.traces.outcomes import outcome_name
from workbench.traces.stages import evidence_of, final_hits, settled

_BAR = 24


def duplicates_page(story: Story, context: Context, page: Page) -> None:
    """What repeats something that is kept, and how much novelty was asked for."""
    ask, search = settled(story.trace)
    found = len(final_hits(story.trace))
    told = tr("the first {offered} of {all} hits", offered=min(found, max(search.k, ask.evidence)), all=found)
    page.head(tr("in")).say(told)
    lam = tr("off: the ranking's own order")
    if ask.mmr is not None:
        lam = tr("λ = {value}: 1 is relevance alone, 0 novelty alone", value=f"{ask.mmr:g}")
    kept = tr("are kept") if ask.duplicates else ""
    page.facts([("MMR", lam), (tr("duplicates"), kept)])
    gone = [d for d in context.dropped if d.reason == "duplicate"]
    page.head(tr("dropped"))
    if not gone:
        page.say(tr("Nothing.") if ask.duplicates else tr("Nothing: no two of them say the same."))
    rows = [(d.source_id, story.named(d.chunk_id)[1], tr("as {label}", label=d.of)) for d in gone]
    page.table((tr("source"), "§", tr("says the same")), rows)


def with_parents(story: Story) -> list[tuple[Evidence, Chunk]]:
    """Evidence that is more than its chunk, each with the chunk."""
    both = ((piece, story.chunks.get(piece.chunk_id)) for piece in evidence_of(story.trace))
    return [(piece, chunk) for piece, chunk in both if chunk and (piece.start, piece.end) != (chunk.start, chunk.end)]


def parents_page(story: Story, page: Page) -> None:
    """Which chunks were delivered with what stands around them."""
    rows = [
        (e.label, e.source_id, _span(c.start, c.end), _span(e.start, e.end), f"+{e.end - e.start - c.end + c.start:,}")
        for e, c in with_parents(story)
    ]
    page.head(tr("out"))
    if not rows:
        page.say(tr("Every chunk is delivered as it was found: this recipe has no larger spans around its chunks."))
    page.table(("", tr("source"), tr("found"), tr("delivered"), tr("characters more")), rows, right=(4,))


def _span(start: int, end: int) -> str:
    return f"{start:,}–{end:,}"


def context_page(story: Story, context: Context, page: Page) -> None:
    """Kept and cut."""
    ranks = {hit.chunk_id: hit.rank for hit in final_hits(story.trace)}
    kept = [
        (
            e.label,
            f"{ranks.get(e.chunk_id, '–')}",
            f"{'' if context.ledger.tokenizer and not context.ledger.estimated else '≈ '}{count(e.tokens)}",
            e.source_id,
            place(e.heading, e.page_label, e.page),
            e.text,
        )
        for e in context.evidence
    ]
    page.head(tr("kept")).table(("", "#", tr("tokens"), tr("source"), "§", tr("text")), kept, right=(1, 2))
    why = {
        "duplicate": tr("repeats what is kept"),
        "budget": tr("does not fit the tokens that are left"),
        "limit": tr("enough pieces are kept already"),
    }
    cut = [
        (f"{ranks.get(d.chunk_id, '–')}", d.source_id, story.named(d.chunk_id)[1], f"{why[d.reason]} {d.of}")
        for d in context.dropped
    ]
    page.head(tr("cut")).table(("#", tr("source"), "§", tr("why")), cut, right=(0,), spare=(2,))
    if not cut:
        page.say(tr("Nothing of what was offered."))


def prompt_page(prompt: Prompt, context: Context | None, page: Page) -> None:
    """Where the window goes, then every character that was sent."""
    if context:
        _ledger(context.ledger, page)
    page.head(tr("as sent: {count} characters, the template's own marks included", count=count(len(prompt.rendered))))
    page.say(prompt.words, indent=0)


def _ledger(ledger: Ledger, page: Page) -> None:
    window = max(1, ledger.window)
    parts = [
        (tr("instructions"), ledger.instructions),
        (tr("evidence"), ledger.evidence),
        (tr("question"), ledger.question),
        (tr("reserve for the answer"), ledger.reserve),
        (tr("together"), ledger.total),
        (tr("window"), ledger.window),
    ]
    page.head(tr("tokens, by {tokenizer}", tokenizer=ledger.tokenizer or "–"))
    if ledger.estimated:
        page.say(tr("≈ estimated: its server counts no tokens"))
    if ledger.assumed:
        page.say(tr("The window is assumed: its server doesn't tell its context."))
    rows = [(name, count(tokens), bar(tokens / window, _BAR)) for name, tokens in parts]
    page.table(("", tr("tokens"), tr("of the window")), rows, right=(1,))
    sign = "≤" if ledger.total <= ledger.window else ">"
    page.say(f"{count(ledger.total)} {sign} {count(ledger.window)}")


def generation_page(story: Story, made: Generation, page: Page) -> None:
    """What the model wrote, to the letter, and how fast."""
    reused = tr("{reused} of them still at hand", reused=count(made.reused_tokens))
    near = "≈ " if made.estimated else ""
    page.head(tr("out"))
    page.facts(
        [
            (tr("ended by"), made.stop_reason or made.state),
            (
                tr("prompt"),
                f"{near}{amounts.tokens(made.prompt_tokens)}, {reused}",
            ),
            (tr("written"), near + amounts.tokens(made.output_tokens)),
            ("TTFT", "" if made.ttft_ms is None else f"{made.ttft_ms:,.0f} ms"),
            (tr("prefill"), f"{made.prefill_tps:,.0f} t/s" if made.prefill_tps else ""),
            (tr("decode"), f"{near}{made.decode_tps:,.1f} t/s" if made.decode_tps else ""),
            (tr("error"), made.error),
        ]
    )
    page.head(tr("to the letter")).say(made.text)


def claims_page(story: Story, answer: Answer, page: Page) -> None:
    """Every sentence, how far what it cites says it, and what is wrong where it isn't supported."""
    evidence = evidence_of(story.trace)
    page.head(tr("out"))
    for number, claim in enumerate(answer.claims, 1):
        mark, _ = claim_mark(claim)
        labels = " ".join(f"[{c.label}]" for c in claim.citations) or tr("no source")
        page.say(f"{number}. {mark} {claim.support:.2f}  {claim.text}  {labels}")
        if claim.relevance is not None:
            page.say(tr("relevance to the question {value}", value=f"{claim.relevance:.2f}"), indent=6)
        if why := doubt(claim, evidence):
            page.say(why, indent=6)
    if not answer.claims:
        page.say(tr("Nothing was claimed: {outcome}.", outcome=outcome_name(answer.outcome)))
    for conflict in answer.conflicts:
        page.head(tr("conflict")).say(conflict.text)


def citations_page(answer: Answer, page: Page) -> None:
    """Every citation at its span, and the marks that were taken out."""
    for claim in answer.claims:
        for c in claim.citations:
            mark, _ = SUPPORT[c.level]
            where = " ".join(filter(None, [c.source_id, place(c.heading, c.page_label, c.page)]))
            page.head(f"[{c.label}] {mark} {c.support:.2f} {where} {c.start:,}–{c.end:,}")
            page.say(f"“{c.quote}”")
            if c.likeness is not None:
                page.say(tr("likeness in meaning {value}", value=f"{c.likeness:.2f}"))
    page.head(tr("dropped"))
    page.facts(
        [
            (tr("names no evidence"), ", ".join(answer.removed)),
            (tr("does not say it"), ", ".join(answer.unsaid)),
        ]
    )
    if not answer.removed and not answer.unsaid:
        page.say(tr("Nothing."))


def decision_page(story: Story, made: Decision, page: Page) -> None:
    """s against τ with the parts of s, the outcome, and what would help."""
    names = {
        "coverage": tr("coverage"),
        "likeness": tr("likeness"),
        "agreement": tr("agreement"),
        "named": tr("numbers and codes asked for"),
    }
    page.head(tr("in"))
    page.table((tr("part"), tr("value")), [(names.get(n, n), f"{v:.2f} {bar(v, _BAR)}") for n, v in made.parts])
    if made.parts:
        page.say(f"s = {arithmetic(made.parts)}")
    sign = "≥" if made.support >= made.threshold else "<"
    page.head(tr("out"))
    page.facts(
        [
            (tr("support"), made.reason or f"s = {made.support:.2f} {sign} τ = {made.threshold:.2f}"),
            (tr("outcome"), outcome_name(made.outcome)),
        ]
    )
    answer = story.trace.answer
    if answer:
        page.facts([(tr("missing"), answer.missing), (tr("what helps"), retold(answer.remedy))])
