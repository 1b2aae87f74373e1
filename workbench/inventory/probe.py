"""Is it alive? Each layer of a call is tried in turn, and the first that fails is named."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, cast, get_args

from workbench.errors import BudgetError, EngineError, ServerError, WorkbenchError
from workbench.i18n import amounts, tr
from workbench.ports import Cancel, Generator
from workbench.records.answers import Generation, Message
from workbench.records.inventory import ProbeReport, ProbeStep
from workbench.records.models import GenerationSettings
from workbench.records.servers import UNTOLD_TEMPLATE, Layer

SECONDS: Final = 60.0
"""A short answer that takes longer is a timeout."""

_SCHEMA: Final = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
_ASK: Final = (Message("user", "Say yes."),)
_ASK_JSON: Final = (Message("user", 'Answer with this JSON and nothing else: {"ok": true}'),)


class _Failed(Exception):  # noqa: N818 -- no error: what a step found
    """A layer fails without an error of its own."""

    def __init__(self, layer: Layer, detail: str, remedy: str = "") -> None:
        super().__init__(detail)
        self.layer, self.detail, self.remedy = layer, detail, remedy


class _Untried(Exception):  # noqa: N818 -- no error: there is nothing to try a layer by
    """A layer that only a real call shows."""


def probe(
    name: str, opened: Callable[[], Generator], cancel: Cancel | None = None, seconds: float = SECONDS
) -> Iterator[ProbeReport]:
    """The report grows by a step; after one that fails it ends.

    Args:
        opened: brings the model up, or raises what keeps it from that.
        seconds: after how long an answer counts as a timeout.
    """
    report = ProbeReport(name, datetime.now(UTC))
    prober = _Prober(opened, seconds, cancel)
    for layer, step in prober.steps():
        if cancel is not None and cancel.is_set():
            return
        start = time.perf_counter()
        done = _tried(layer, step)
        report = replace(report, steps=(*report.steps, replace(done, ms=(time.perf_counter() - start) * 1000)))
        yield report
        if done.passed is False:
            return


def _tried(layer: Layer, step: Callable[[], str]) -> ProbeStep:
    try:
        return ProbeStep(layer, True, step(), 0.0)
    except _Untried as found:
        return ProbeStep(layer, None, str(found), 0.0)
    except _Failed as found:
        return ProbeStep(found.layer, False, found.detail, 0.0, found.remedy)
    except WorkbenchError as error:
        return ProbeStep(layer_of(error, layer), False, f"{error.title}: {error.message}", 0.0, error.remedy)


def layer_of(error: WorkbenchError, tried: Layer) -> Layer:
    """Which layer an error is about; the one that was tried where it doesn't tell.

    A server that answered before, and refuses the same with a schema or fails on it, fails at that.
    """
    if isinstance(error, ServerError):
        told = cast(Layer, error.layer) if error.layer in get_args(Layer) else "server"
        return tried if tried == "json" and told in ("server", "request") else told
    if isinstance(error, BudgetError):
        return "context"
    if isinstance(error, EngineError) and error.cause in ("memory", "context"):
        return cast(Layer, error.cause)
    return tried


def layer_name(layer: str) -> str:
    """A layer in the interface's language."""
    names = {
        "endpoint": tr("address"),
        "key": tr("key"),
        "model": tr("model"),
        "memory": tr("memory"),
        "template": tr("template"),
        "context": tr("context"),
        "request": tr("request"),
        "json": "JSON",
        "overload": tr("overload"),
        "timeout": tr("time"),
        "server": tr("answer"),
    }
    return names[layer]


@dataclass
class _Prober:
    """The layers as functions: each says what it saw, or raises."""

    opened: Callable[[], Generator]
    seconds: float
    cancel: Cancel | None

    def steps(self) -> tuple[tuple[Layer, Callable[[], str]], ...]:
        """In the order in which a failure explains those that follow."""
        return (
            ("model", self._open),
            ("template", self._render),
            ("server", self._answers),
            ("context", self._context),
            ("json", self._json),
        )

    def _open(self) -> str:
        self._model = self.opened()
        return tr("{name} stands ready", name=self._model.model.file.name)

    def _render(self) -> str:
        if not self._model.model.file.chat_template.strip():
            raise _Failed(
                "template",
                tr("The model has no chat template: it goes on with text and doesn't answer."),
                tr("Take an instruct or chat version of it."),
            )
        if self._model.model.file.chat_template == UNTOLD_TEMPLATE:
            raise _Untried(tr("the server keeps it to itself: it can't be looked at"))
        return tr("{count} characters for a short question", count=len(self._model.render(_ASK)))

    def _answers(self) -> str:
        said = self._say(_ASK, GenerationSettings(max_tokens=8))
        if said.state == "error" or not said.output_tokens:
            raise _Failed("server", said.error or tr("It answered nothing."), tr("Look at its log."))
        ttft = tr("untold") if said.ttft_ms is None else f"{said.ttft_ms:.0f} ms"
        return tr("{tokens}, the first after {ttft}", tokens=amounts.tokens(said.output_tokens), ttft=ttft)

    def _context(self) -> str:
        context = self._model.model.context
        try:
            self._model.generate(self._model.render(_ASK), GenerationSettings(max_tokens=context))
        except BudgetError:
            return tr("{count} tokens; what doesn't fit is refused", count=context)
        raise _Untried(tr("its size is untold: what doesn't fit shows only in the call"))

    def _json(self) -> str:
        said = self._say(_ASK_JSON, GenerationSettings(max_tokens=32, json_schema=json.dumps(_SCHEMA)))
        try:
            fits = isinstance(json.loads(said.text)["ok"], bool)
        except (ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            raise _Failed(
                "json",
                tr("Asked for JSON by a schema it wrote: {text}", text=said.error or said.text[:80]),
                tr("Check its answers, and ask again: workbench chat --schema does."),
            )
        return tr("JSON by a schema: {text}", text=said.text.strip())

    def _say(self, messages: tuple[Message, ...], settings: GenerationSettings) -> Generation:
        """The whole answer. Raises when it takes longer than ``seconds``."""
        stop, late = threading.Event(), threading.Event()

        def give_up() -> None:
            late.set()
            stop.set()

        timer = threading.Timer(self.seconds, give_up)
        timer.start()
        latest = Generation("started", "")
        try:
            for said in self._model.generate(self._model.render(messages), settings, stop):
                latest = said
                if self.cancel is not None and self.cancel.is_set():
                    stop.set()
        finally:
            timer.cancel()
        if late.is_set():
            raise _Failed(
                "timeout",
                tr("No whole answer within {seconds} s.", seconds=f"{self.seconds:g}"),
                tr("Try a smaller model or context, or wait until the machine has less to do."),
            )
        return latest
