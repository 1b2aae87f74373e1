"""The text that models are held against: passages spread over a collection of the person's own, or over a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from workbench.errors import DocumentError, UsageError, reason_of
from workbench.i18n import tr
from workbench.ports import CorpusRepository
from workbench.records.ladders import TextPlan

CHARACTERS: Final = 8
"""Taken for each token: more than any tokenizer needs of ordinary text, so that a passage is long enough."""

SURE: Final = 6
"""Characters of a passage for each token that are enough: tokens of ordinary text have four, seldom over five."""


def check_text(plan: TextPlan) -> None:
    """Raises UsageError when it names no text, or asks for too little of it."""
    if bool(plan.collection) == bool(plan.path):
        raise UsageError(
            tr("Which text?"), tr("Name a collection or a file, one of the two."), tr("Give the text to score.")
        )
    if plan.windows < 1 or plan.tokens < 64 or plan.tokens % 64:
        raise UsageError(
            tr("Bad plan"),
            tr("There is at least one passage, and its tokens are a multiple of 64."),
            tr("Correct the setting."),
        )


def fitting(corpus: CorpusRepository, plan: TextPlan) -> TextPlan:
    """The plan with as many passages as the text surely has, at most those it asks for. Raises as ``passages``."""
    check_text(plan)
    room = len(_text(corpus, plan)) // ((plan.tokens + 1) * SURE)
    return replace(plan, windows=max(1, min(plan.windows, room)))


def passages(corpus: CorpusRepository, plan: TextPlan) -> tuple[str, ...]:
    """``windows`` passages that begin at even distances; none reaches into the next.

    Raises:
        UsageError: see ``check_text``; or the text is much too short.
        NotFoundError: no such collection.
        DocumentError: the file can't be read.
    """
    check_text(plan)
    text = _text(corpus, plan)
    ends = [len(text) * n // plan.windows for n in range(plan.windows + 1)]
    cut = tuple(text[start:end][: (plan.tokens + 1) * CHARACTERS] for start, end in pairwise(ends))
    if len(cut[0]) <= plan.tokens:  # a token is seldom shorter than a character
        raise too_short(plan)
    return cut


def too_short(plan: TextPlan) -> UsageError:
    """The text doesn't give that many passages of that many tokens."""
    return UsageError(
        tr("Too little text"),
        tr(
            "“{name}” doesn't hold {passages} of {tokens} tokens.",
            name=plan.collection or plan.path,
            passages=passages_words(plan.windows),
            tokens=plan.tokens,
        ),
        tr("Ask for fewer passages, or give more text."),
    )


def passages_words(windows: int) -> str:
    """ "1 passage", "8 passages"."""
    return tr("1 passage") if windows == 1 else tr("{count} passages", count=windows)


def text_hash(cut: Sequence[str]) -> str:
    """SHA-256 of the passages, in hexadecimal: a ladder goes on with the same text only."""
    return hashlib.sha256("\0".join(cut).encode("utf-8", "surrogatepass")).hexdigest()


def _text(corpus: CorpusRepository, plan: TextPlan) -> str:
    return _of_file(Path(plan.path).expanduser()) if plan.path else _of_collection(corpus, plan.collection)


def _of_collection(corpus: CorpusRepository, name: str) -> str:
    documents = corpus.documents(corpus.collection(name).name)
    return "\n\n".join(corpus.document_text(document.id) for document in documents)


def _of_file(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise DocumentError(
            tr("{name} can't be read", name=path.name), reason_of(error), tr("Give a text file in UTF-8.")
        ) from error
