"""The loaded model as a writer of other wordings: each under a grammar, greedily, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workbench.answers.prompt import neutral, plain
from workbench.errors import BudgetError, Cancelled, EngineError
from workbench.i18n import tr
from workbench.ports import Cancel, Generator
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.text.words import fold, words

WORDINGS: Final = 3
"""Reformulations, and parts of a split question, at most."""
_LIST: Final = r"""root ::= line{{{low},{high}}}
line ::= "- " text "\n"
text ::= [^\n\r\[\]<>|]{{8,160}}
"""
_TEXT: Final = r"""root ::= [^\n\r\[\]<>|]{20,400}
"""
_MULTI: Final = (
    "You reword search queries. Write {count} other wordings of the question, in its language, one a line, each "
    'beginning with "- ". Keep its meaning and its names; use other words. Answer nothing.'
)
_SPLIT: Final = (
    "You take questions apart. Write the simpler questions that the question is made of, in its language, one a line, "
    'each beginning with "- ". Each must be understood alone. Where it is only one question, write it once. '
    "Answer nothing."
)
_HYDE: Final = (
    "Write one short passage, as a document would have it, that answers the question, in its language. It is only "
    "searched with, so facts may be guessed."
)
_FOLLOW: Final = (
    "Rewrite the second question so that it is understood without the first, in its language, on one line that begins "
    'with "- ". Change nothing else. Answer nothing.'
)


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote: its texts, and what they cost; none, and ``problem`` says why."""

    texts: tuple[str, ...]
    prompt_tokens: int = 0
    output_tokens: int = 0
    problem: str = ""


class Rewriter:
    """Rewords questions with one model. The same model writes the same again.

    Args:
        most_tokens: that it may read and write in all; a step that could exceed it isn't begun.
    """

    def __init__(self, generator: Generator, most_tokens: int, cancel: Cancel | None = None) -> None:
        self._generator = generator
        self._left = most_tokens
        self._cancel = cancel

    @property
    def name(self) -> str:
        """The model's."""
        return self._generator.model.file.name

    def multi(self, question: str) -> Written:
        """Up to ``WORDINGS`` other wordings of ``question``. Raises Cancelled."""
        return self._list(_MULTI.format(count=WORDINGS), question, low=1)

    def split(self, question: str) -> Written:
        """The questions that ``question`` is made of; none when it is one. Raises Cancelled."""
        found = self._list(_SPLIT, question, low=1)
        if len(found.texts) > 1 or found.problem:
            return found
        return Written((), found.prompt_tokens, found.output_tokens, tr("the model sees one question"))

    def hyde(self, question: str) -> Written:
        """A passage that might answer ``question`` (HyDE: Gao et al., ACL 2023). Raises Cancelled."""
        return self._write(_HYDE, _question(question), _TEXT, 120)

    def follow(self, question: str, earlier: str) -> Written:
        """``question`` as it reads without ``earlier``. Raises Cancelled."""
        asked = f"First question: {neutral(earlier)}\nSecond question: {neutral(question)}"
        return _lines(self._write(_FOLLOW, asked, _LIST.format(low=1, high=1), 64), "")

    def _list(self, instructions: str, question: str, low: int) -> Written:
        grammar = _LIST.format(low=low, high=WORDINGS)
        return _lines(self._write(instructions, _question(question), grammar, 48 * WORDINGS), question)

    def _write(self, instructions: str, asked: str, grammar: str, most: int) -> Written:
        parts = (Message("system", instructions), Message("user", asked))
        try:
            has_template = bool(self._generator.model.file.chat_template)
            prompt = self._generator.render(parts) if has_template else plain(parts, "en")
            needed = self._generator.count_tokens(prompt) + most
            if needed > self._left:
                told = tr("it could take {needed} tokens and {left} are left", needed=needed, left=self._left)
                return Written((), problem=told)
            *_, last = self._generator.generate(prompt, GenerationSettings(most, grammar=grammar), self._cancel)
        except (EngineError, BudgetError) as error:
            return Written((), problem=f"{error.title}: {error.message}")
        if last.state == "cancelled":
            raise Cancelled
        self._left -= last.prompt_tokens + last.output_tokens
        problem = last.error if last.state == "error" else "" if last.text.strip() else tr("the model wrote nothing")
        texts = (last.text,) if not problem else ()
        return Written(texts, last.prompt_tokens, last.output_tokens, problem)


def _question(question: str) -> str:
    """The question as it stands in a prompt."""
    return f"Question: {neutral(question)}"


def _lines(written: Written, question: str) -> Written:
    """The lines of a list, without those that say the same as another or as ``question``."""
    seen = {_said(question)}
    texts: list[str] = []
    for line in "\n".join(written.texts).splitlines():
        text = line.removeprefix("- ").strip()
        if (said := _said(text)) and said not in seen:
            seen.add(said)
            texts.append(text)
    nothing = tr("the model only repeats the question") if written.texts and not texts else written.problem
    return Written(tuple(texts), written.prompt_tokens, written.output_tokens, nothing)


def _said(text: str) -> Sequence[str]:
    return tuple(map(fold, words(text)))
