"""What a server promises by its dialect, held against what it does: where "compatible" is true, and where it isn't."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import jsonschema

from workbench.errors import ServerError
from workbench.i18n import tr
from workbench.i18n.retelling import retold
from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.models import GenerationSettings
from workbench.records.servers import ContractCheck, ContractReport, Outcome, ServedModel, Server, short_name
from workbench.servers.dialect import OTHER_SHAPE, Delta, Dialect
from workbench.servers.openai import takes_json_schema
from workbench.servers.wire import Wire
from workbench.servers.words import promise_name
from workbench.text.clean import printable

_ASK: Final = (Message("user", "Count from one to twenty in words."),)
_PLAIN: Final = GenerationSettings(max_tokens=24)
_SCHEMA: Final = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
_GRAMMAR: Final = 'root ::= "yes" | "no"'
_OVERLONG: Final = (4_000, 16_000, 64_000)
"""Words of the requests that look for the context of a server that doesn't tell it: a word is a token or more."""
_STOP_S: Final = 5.0
"""Seconds within which a server has to be free again after a call was stopped."""


class _Differs(Exception):  # noqa: N818 -- no error: what a check found
    """The server answered, and otherwise than it promises."""


class _Answered(_Differs):
    """It answered what it was to refuse."""


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    pieces: int
    reason: str
    counted: int | None
    prompt: int | None


def contract(
    wire: Wire, dialect: Dialect, server: Server, model: ServedModel, cancel: Cancel | None = None
) -> Iterator[ContractReport]:
    """Holds every promise in turn; the report grows by a check at a time. A stop ends it where it is."""
    examiner = _Examiner(wire, dialect, model)
    report = ContractReport(server.endpoint.url, server.kind, server.version, model.id, (), datetime.now(UTC))
    for key, check in examiner.checks():
        if cancel is not None and cancel.is_set():
            return
        start = time.perf_counter()
        outcome, detail = _held(check)
        spent = (time.perf_counter() - start) * 1000
        report = replace(report, checks=(*report.checks, ContractCheck(key, promise_name(key), outcome, detail, spent)))
        yield report


def markdown(report: ContractReport) -> str:
    """A report as a Markdown table, to be put into an issue at the server's makers."""
    words = {"kept": tr("holds"), "differs": tr("differs"), "refused": tr("says that it can't"), "broken": tr("fails")}
    rows = [
        f"| {_cell(promise_name(c.key))} | {words[c.outcome]} | {_cell(retold(c.detail))} | {c.ms:,.0f} |"
        for c in report.checks
    ]
    told = tr("{kept} of {all} promises kept", kept=report.kept, all=len(report.checks))
    head = [
        f"## {_cell(f'{report.kind} {report.version}'.strip())}",
        "",
        f"{_cell(short_name(report.model))} · {report.created:%Y-%m-%d %H:%M} UTC · {told}",
        "",
        f"| {tr('promise')} | {tr('outcome')} | {tr('seen')} | ms |",
        "|---|---|---|---:|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _cell(text: str) -> str:
    """What a server said, with nothing in it that Markdown or a terminal acts on."""
    flat = printable(" ".join(text.split()), newlines=False)
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", flat)


def _held(check: Callable[[], str]) -> tuple[Outcome, str]:
    try:
        return "kept", check()
    except _Differs as found:
        return "differs", str(found)
    except ServerError as error:
        return ("refused" if 400 <= error.status < 500 or error.status == 501 else "broken"), error.message
    except OTHER_SHAPE as error:
        return "broken", tr("a reply of another shape: {reason}", reason=f"{type(error).__name__} {error}")


class _Examiner:
    """The promises as functions: each returns what it saw, or raises."""

    def __init__(self, wire: Wire, dialect: Dialect, model: ServedModel) -> None:
        self._wire, self._dialect, self._model = wire, dialect, model

    @property
    def _path(self) -> str:
        """Where a chat is asked for."""
        return "/api/chat" if self._dialect.kind == "ollama" else "/v1/chat/completions"

    def checks(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """In the order in which a failure explains those that follow."""
        if self._model.kind == "embedding":
            yield "embeddings", self._embeddings
            yield "unknown_model", self._unknown_model
            return
        yield "stream", self._streams
        yield "reason", self._reason
        yield "usage", self._counts
        yield "max_tokens", self._most
        yield "stop", self._stops
        yield "repeat", self._repeats
        yield "schema", self._schema
        if self._dialect.grammars:
            yield "grammar", self._grammar
        yield "bad_request", self._bad_request
        yield "unknown_model", self._unknown_model
        yield "overflow", self._overflow
        yield "cancel", self._cancels
        yield "two_at_once", self._two_at_once
        yield "embeddings", self._embeddings

    def _ask(self, settings: GenerationSettings = _PLAIN, messages: tuple[Message, ...] = _ASK) -> _Said:
        pieces: list[Delta] = list(self._dialect.chat(self._wire, self._model.id, messages, settings, None))
        times = next((piece.times for piece in reversed(pieces) if piece.times), None)
        return _Said(
            "".join(piece.text for piece in pieces),
            sum(bool(piece.text) for piece in pieces),
            next((piece.reason for piece in reversed(pieces) if piece.reason), ""),
            times.output_tokens if times else None,
            times.prompt_tokens if times else None,
        )

    def _streams(self) -> str:
        said = self._ask()
        if said.pieces < 2:
            raise _Differs(tr("the whole answer came in {count} pieces", count=said.pieces))
        return tr("{count} pieces of text", count=said.pieces)

    def _reason(self) -> str:
        said = self._ask(GenerationSettings(max_tokens=4))
        if said.reason != "length":
            raise _Differs(tr("cut at 4 tokens, and the reason given is “{reason}”", reason=said.reason or "–"))
        return "length"

    def _counts(self) -> str:
        said = self._ask()
        if said.counted is None or said.prompt is None:
            raise _Differs(tr("no usage at the end of the stream"))
        return tr("{prompt} tokens in, {output} out", prompt=said.prompt, output=said.counted)

    def _most(self) -> str:
        said = self._ask(GenerationSettings(max_tokens=5))
        count = said.counted if said.counted is not None else said.pieces
        if count > 5:
            raise _Differs(tr("{count} tokens came of at most {most}", count=count, most=5))
        return tr("{count} tokens in all", count=count)

    def _stops(self) -> str:
        whole = self._ask(GenerationSettings(max_tokens=24)).text
        words = whole.split()
        if len(words) < 3:
            raise _Differs(tr("too short an answer to stop: “{text}”", text=whole))
        stop = words[2]
        said = self._ask(GenerationSettings(max_tokens=24, stop=(stop,)))
        if stop in said.text:
            raise _Differs(tr("“{stop}” is in the answer that it was to stop", stop=stop))
        return tr("stopped before “{stop}”", stop=stop)

    def _repeats(self) -> str:
        one, other = self._ask().text, self._ask().text
        if one != other:
            raise _Differs(tr("two answers: “{one}” and “{other}”", one=one[:40], other=other[:40]))
        return tr("the same twice")

    def _schema(self) -> str:
        ask = (Message("user", "Describe a person as JSON with name and age."),)
        said = self._ask(GenerationSettings(max_tokens=80, json_schema=json.dumps(_SCHEMA)), ask)
        try:
            jsonschema.validate(json.loads(said.text), _SCHEMA)
        except (ValueError, jsonschema.ValidationError):
            raise _Differs(tr("not what the schema allows: “{text}”", text=said.text[:60])) from None
        if self._dialect.kind == "openai" and not takes_json_schema(self._wire, self._model.id, _SCHEMA):
            raise _Differs(tr("json_schema is refused; it holds as json_object with a schema"))
        return said.text[:60]

    def _grammar(self) -> str:
        said = self._ask(GenerationSettings(max_tokens=8, grammar=_GRAMMAR)).text
        if said not in ("yes", "no"):
            raise _Differs(tr("not what the grammar allows: “{text}”", text=said[:60]))
        return said

    def _bad_request(self) -> str:
        try:
            self._wire.post(self._path, {"model": self._model.id, "messages": "no list"})
        except ServerError as error:
            if 400 <= error.status < 500:
                return str(error.status)
            raise _Differs(tr("status {status} for a request that is at fault", status=error.status)) from error
        raise _Differs(tr("it was answered"))

    def _unknown_model(self) -> str:
        try:
            if self._model.kind == "embedding":
                self._dialect.embed(self._wire, "no-such-model", ["text"])
            else:
                list(self._dialect.chat(self._wire, "no-such-model", _ASK, GenerationSettings(max_tokens=2), None))
        except ServerError as error:
            if 400 <= error.status < 500:
                return str(error.status)
            raise _Differs(tr("status {status} for a request that is at fault", status=error.status)) from error
        raise _Differs(tr("any name is answered by the model it has"))

    def _overflow(self) -> str:
        context = self._model.context
        if context:
            return self._overlong(context + 64)
        for words in _OVERLONG:  # the context is untold: the first request that it refuses is beyond it
            with suppress(_Answered):
                return self._overlong(words)
        raise _Differs(tr("{count} words were answered; it doesn't tell its context", count=f"{_OVERLONG[-1]:,}"))

    def _overlong(self, words: int) -> str:
        """A request of so many words, a token each at the least, is refused. Raises _Answered when it isn't."""
        text = "word " * words
        try:
            said = self._ask(GenerationSettings(max_tokens=4), (Message("user", text),))
        except ServerError as error:
            if error.layer == "context":
                return tr("{status}, and it says why", status=error.status)
            raise _Differs(tr("refused for another reason: {reason}", reason=error.message)) from error
        if not said.pieces and not said.reason:
            raise _Differs(tr("the stream ends without a word; asked without one: {told}", told=self._unstreamed(text)))
        raise _Answered(
            tr("answered on a prompt cut to {count} tokens", count=said.prompt or "?")
            if said.prompt
            else tr("it was answered")
        )

    def _unstreamed(self, text: str) -> str:
        """What it says to the same request when the answer is to come as one reply."""
        body = {"model": self._model.id, "stream": False, "max_tokens": 4}
        try:
            self._wire.post(self._path, body | {"messages": [{"role": "user", "content": text}]})
        except ServerError as error:
            return tr("{status}, and it says why", status=error.status) if error.layer == "context" else error.message
        return tr("it was answered")

    def _cancels(self) -> str:
        stop = Cancel()
        settings = GenerationSettings(max_tokens=400)
        for delta in self._dialect.chat(self._wire, self._model.id, _ASK, settings, stop):
            if delta.text:
                stop.set()
        start = time.perf_counter()
        self._ask(GenerationSettings(max_tokens=1))
        waited = time.perf_counter() - start
        if waited > _STOP_S:
            raise _Differs(tr("the next call waited {seconds} s", seconds=f"{waited:.1f}"))
        return tr("the next call took {ms} ms", ms=round(waited * 1000))

    def _two_at_once(self) -> str:
        """Whether a second answer begins before the first has ended."""
        spans: list[tuple[float, float]] = []
        failures: list[Exception] = []

        def ask() -> None:
            try:
                deltas = self._dialect.chat(self._wire, self._model.id, _ASK, GenerationSettings(max_tokens=48), None)
                times = [delta.at for delta in deltas if delta.text]
                spans.append((times[0], times[-1]) if times else (0.0, 0.0))
            except (ServerError, *OTHER_SHAPE) as error:
                failures.append(error)

        threads = [threading.Thread(target=ask, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        (_, first_end), (second_begin, _) = sorted(spans)
        if second_begin >= first_end:
            raise _Differs(tr("the second waited until the first had ended"))
        return tr("both under way for {ms} ms", ms=round((first_end - second_begin) * 1000))

    def _embeddings(self) -> str:
        texts = ["one", "a longer text about something else", "three"]
        together = self._dialect.embed(self._wire, self._model.id, texts)
        alone = self._dialect.embed(self._wire, self._model.id, texts[1:2])[0]
        near = max(range(3), key=lambda place: sum(a * b for a, b in zip(together[place], alone, strict=True)))
        if near != 1:
            raise _Differs(tr("the second text's vector came in place {place}", place=near + 1))
        return tr("{count} dimensions", count=len(alone))
