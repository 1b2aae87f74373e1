"""A generator that says what it is told, counts words, and can die on the way; test_ask_model.py meets the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.errors import BudgetError, EngineError
from workbench.ports import Cancel
from workbench.records.answers import Generation, Message
from workbench.records.models import Gauges, GenerationSettings, LoadedModel, LoadSettings, MemorySplit, ModelFile


class FakeGenerator:
    """Streams ``text`` in three pieces.

    Args:
        dies: raise EngineError after the first piece.
        counts: False makes counting tokens fail: the child is dead already.
        on_piece: called after each piece.
    """

    def __init__(
        self,
        text: str,
        *,
        context: int = 4096,
        dies: bool = False,
        counts: bool = True,
        template: str = "chatml",
        stop: str = "eos",
        on_piece: Callable[[], None] | None = None,
    ) -> None:
        file = ModelFile("fake.gguf", "fake", 1, chat_template=template, hash="abc123")
        self.model = LoadedModel(file, LoadSettings(context=context), context, MemorySplit(), 1.0, 1)
        self.grammars = True
        self.prompts: list[str] = []
        self.settings: list[GenerationSettings] = []
        self._text, self._dies, self._counts, self._on_piece, self._stop = text, dies, counts, on_piece, stop

    @property
    def death(self) -> EngineError | None:
        return None if self._counts else EngineError("The engine is gone", "It was killed by signal 9.")

    def count_tokens(self, text: str) -> int:
        if not self._counts:
            raise EngineError("The engine is gone", "It was killed by signal 9.")
        return len(text.split())

    def render(self, messages: Sequence[Message]) -> str:
        return "".join(f"<|{m.role}|>\n{m.content}\n" for m in messages)

    def generate(self, prompt: str, settings: GenerationSettings, cancel: Cancel | None = None) -> Iterator[Generation]:
        if self.count_tokens(prompt) + settings.max_tokens > self.model.context:
            raise BudgetError("The prompt doesn't fit", "Too long.")
        self.prompts.append(prompt)
        self.settings.append(settings)
        return self._stream(cancel)

    def _stream(self, cancel: Cancel | None) -> Iterator[Generation]:
        third = len(self._text) // 3 + 1
        for n in (1, 2, 3):
            if cancel and cancel.is_set():
                yield Generation("cancelled", self._text[: third * (n - 1)], stop_reason="cancelled")
                return
            yield Generation("partial", self._text[: third * n], output_tokens=n)
            if self._dies:
                raise EngineError("The engine is gone", "It was killed by signal 9.")
            if self._on_piece:
                self._on_piece()
        yield Generation("complete", self._text, output_tokens=3, stop_reason=self._stop)

    def gauges(self) -> Gauges:
        return Gauges(1, 1, 0.0, 1, 1)

    def close(self) -> None:
        pass
