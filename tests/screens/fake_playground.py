"""The playground of the fake desk: says what it is told to, a token at a time, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from workbench.errors import EngineError
from workbench.records.answers import EngineTimes, Generation, Message
from workbench.records.playground import Attempt, ChatReply, ChatRequest, Lint, Token


class FakePlayground:
    """``hold`` is waited for after the first token, or where there is none; ``dies``: the process ends there."""

    def __init__(self) -> None:
        self.said: list[str] = ["It opens at nine."]
        self.found: tuple[Lint, ...] = ()
        self.requests: list[ChatRequest] = []
        self.remembered: tuple[Message, ...] = ()
        self.hold: threading.Event | None = None
        self.dies = False
        self.size = 1

    def lint(self) -> tuple[Lint, ...]:
        return self.found

    def prompt(self, request: ChatRequest) -> str:
        turns = "".join(f"<|im_start|>{m.role}\n{m.content}<|im_end|>\n" for m in request.messages)
        return turns + "<|im_start|>assistant\n"

    def tokens(self, prompt: str) -> tuple[Token, ...]:
        parts = prompt.replace("<|", "\0<|").replace("|>", "|>\0").split("\0")
        return tuple(Token(100 + i, part, part.startswith("<|")) for i, part in enumerate(filter(None, parts)))

    def chat(self, request: ChatRequest, cancel: threading.Event | None = None) -> Iterator[ChatReply]:
        self.requests.append(request)
        text = self.said.pop(0)
        prompt = self.prompt(request)

        def reply(state: str, end: int, reason: str = "") -> ChatReply:
            times = EngineTimes(40, 320.0, end, end * 17.5)
            generation = Generation(
                state,
                text[:end],
                40,
                end,
                12,
                118.0,
                146.0,
                57.2,
                900.0,
                reason,
                "",
                40,
                times,  # type: ignore[arg-type]  # of the shape that is asked for
            )
            return ChatReply((Attempt(prompt, generation),))

        waiting = Generation("started", "", 40, 0, 12, None, 90.0, None, 100.0, prefilled_tokens=22)
        yield ChatReply((Attempt(prompt, waiting),))
        for end in range(self.size, len(text) + 1, self.size) or (0,):
            yield reply("partial", end)
            if self.dies:
                raise EngineError("The language model's process ended", "Something killed it.", "Load it again.")
            while self.hold and not self.hold.wait(0.01):
                if cancel and cancel.is_set():
                    yield reply("cancelled", end, "cancelled")
                    return
        yield reply("complete", len(text), "eos")

    def keep(self, messages: Sequence[Message]) -> None:
        self.remembered = tuple(messages)

    def kept(self) -> tuple[Message, ...]:
        return self.remembered
