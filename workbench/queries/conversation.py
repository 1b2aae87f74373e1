"""A follow-up in a conversation of stored traces: the earlier question helps to read the new one, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from workbench.errors import Cancelled
from workbench.queries.following import read_in_full, read_with
from workbench.queries.rewriting import Rewriter
from workbench.records.answers import Trace
from workbench.records.queries import FollowUp


def followed(question: str, earlier: Trace, rewriter: Rewriter | None) -> FollowUp:
    """``question`` as it reads after that of ``earlier``; by ``rewriter``, or by rules where it writes nothing.

    What stands alone by the rules isn't rewritten: a model would only add to it.
    """
    span = earlier.span("follow")
    follow = span.output if span and isinstance(span.output, FollowUp) else None
    before = follow.question if follow else earlier.query
    context = read_with(question, earlier.query, follow) if follow else before
    ruled = replace(read_in_full(question, context, earlier.id), earlier=before)
    if rewriter is None or not ruled.carried:
        return ruled
    with suppress(Cancelled):  # the question's next stage stops at once
        written = rewriter.follow(question, before)
        spent = replace(ruled, prompt_tokens=written.prompt_tokens, output_tokens=written.output_tokens)
        if not written.texts:
            return replace(spent, note=written.problem)
        return replace(spent, question=written.texts[0], carried=(), by=rewriter.name)
    return ruled
