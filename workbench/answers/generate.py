"""The loaded model as the writer of one answer: its budget, its prompt, its stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from workbench.answers.context import Budget, ordered
from workbench.answers.free import readable, refuses
from workbench.answers.grammar import answer_grammar
from workbench.answers.loops import without_loop
from workbench.answers.prompt import evidence_block, messages, plain, refusal
from workbench.errors import EngineError
from workbench.ports import Cancel, Generator
from workbench.records.answers import AskOptions, Evidence, Generation, Message, Prompt
from workbench.records.models import GenerationSettings

_BEGUN_MARK: Final = re.compile(r"\s*\[\s*F?\d*\s*\Z")

LARGE: Final = 3_000_000_000
"""Parameters from which on a model cites by itself, and writes freely unless it is told otherwise."""


class Writer:
    """Writes one answer with one model.

    Args:
        language: of the question, "" when unknown.
    """

    def __init__(self, generator: Generator, question: str, language: str, options: AskOptions) -> None:
        self._generator = generator
        self._question = question
        self._language = language
        self._options = options

    @property
    def constrained(self) -> bool:
        """Whether a grammar holds the model: as asked, else where the model is small."""
        asked = self._options.constrained
        wanted = self._generator.model.file.parameters < LARGE if asked is None else asked
        return wanted and self._generator.grammars

    def budget(self) -> Budget:
        """What the evidence shares the window with, in the model's own tokens. Raises EngineError."""
        count = self._generator.count_tokens
        around = count(self._rendered(messages("", (), self._language)))
        whole = count(self._rendered(messages(self._question, (), self._language)))
        return Budget(
            measure=lambda evidence: count(evidence_block(evidence)),
            window=self._generator.model.context,
            instructions=around,
            question=whole - around,
            reserve=self._options.max_output,
            tokenizer=self._generator.model.file.name,
            most=self._options.budget,
            estimated=not self._generator.model.counted,
            assumed=not self._generator.model.context_told,
        )

    def prompt(self, evidence: Sequence[Evidence]) -> Prompt:
        """The exact prompt, ``evidence`` in the order asked for. Raises EngineError when the template refuses it."""
        parts = messages(self._question, ordered(evidence, self._options.order), self._language)
        return Prompt(parts, self._rendered(parts))

    def write(self, prompt: Prompt, evidence: Sequence[Evidence], cancel: Cancel | None) -> Iterator[Generation]:
        """The growing generation. A dying engine is its last state, "error", and no exception.

        A model that says the same words over and over is stopped, and what it said again is left out.

        Raises:
            BudgetError: the prompt doesn't fit after all.
        """
        labels = [piece.label for piece in evidence]
        settings = GenerationSettings(
            max_tokens=self._options.max_output,
            temperature=self._options.temperature,
            seed=self._options.seed,
            grammar=answer_grammar(labels, refusal(self._language)) if self.constrained else "",
        )
        latest = Generation("started", "")
        try:
            for latest in self._generator.generate(prompt.rendered, settings, cancel):
                said = without_loop(latest.text) if latest.state in ("partial", "complete") else latest.text
                if said != latest.text:  # leaving the stream early cancels it
                    yield replace(latest, state="complete", text=said, stop_reason="repetition")
                    return
                yield latest
        except EngineError as error:
            yield replace(latest, state="error", stop_reason="error", error=f"{error.title}: {error.message}")

    def refused(self, text: str) -> bool:
        """Whether the model said that the sources don't say it, and nothing else."""
        return text.strip().startswith(refusal(self._language)) or (not self.constrained and refuses(text))

    def finished(self, generation: Generation) -> str:
        """The text with citations as marks, without what was cut: a last sentence before its own, a mark. The trace
        keeps it whole."""
        text = generation.text if self.constrained else readable(generation.text)
        if self.constrained and generation.stop_reason in ("length", "repetition") and "]" in text:
            return text[: text.rindex("]") + 1]
        return _BEGUN_MARK.sub("", text)

    def _rendered(self, parts: Sequence[Message]) -> str:
        if not self._generator.model.file.chat_template:
            return plain(parts, self._language)
        return self._generator.render(parts)
