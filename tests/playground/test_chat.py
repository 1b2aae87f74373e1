"""Conversations with the real model: states, prompts, schemas and their retries, cancelling."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from storage import open_store
from tests.answers.fake_generator import FakeGenerator
from tests.engine.conftest import model_path
from workbench.desk import Desk
from workbench.errors import MissingModelError, UsageError
from workbench.playground import Playground
from workbench.playground.playground import markdown
from workbench.playground.structured import INVOICE
from workbench.records.answers import Generation, Message
from workbench.records.models import GenerationSettings
from workbench.records.playground import ChatReply, ChatRequest

HELLO = (Message("user", "Say hello."),)
SHORT = GenerationSettings(max_tokens=16)
GOOD = '{"supplier": "Norte S.L.", "amount": 184.3, "date": "2026-05-14", "concept": "Paper"}'
BAD = GOOD.replace("184.3", '"cuarenta"')


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(open_store(tmp_path_factory.mktemp("chat") / "lab.db"))
    for _ in desk.library.load(str(model_path())):
        pass
    yield desk
    desk.close()


class Scripted(FakeGenerator):
    """Says one thing after another, and keeps what it was told."""

    def __init__(self, said: Sequence[str]) -> None:
        super().__init__("")
        self.said, self.told = list(said), list[str]()

    def render(self, messages: Sequence[Message]) -> str:
        return "\n".join(f"{message.role}: {message.content}" for message in messages)

    def generate(self, prompt: str, settings: GenerationSettings, cancel: object = None) -> Iterator[Generation]:
        self.told.append(prompt)
        yield Generation("complete", self.said.pop(0), stop_reason="eos")


class Remembering:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, key: str, default: str = "") -> str:
        return self.kept.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.kept[key] = value


def scripted(*said: str) -> tuple[Scripted, Playground]:
    model = Scripted(said)
    return model, Playground(lambda: model, Remembering())


def reply_to(playground: Playground, request: ChatRequest) -> ChatReply:
    *_, last = playground.chat(request)
    return last


def test_a_wrong_output_goes_back_with_its_fault_until_it_fits() -> None:
    model, playground = scripted("I can't.", BAD, GOOD)
    reply = reply_to(playground, ChatRequest(HELLO, schema=INVOICE))
    assert [bool(attempt.faults) for attempt in reply.attempts] == [True, True, False]
    assert reply.value["amount"] == 184.3
    assert not reply.failed
    assert "it is no JSON" in model.told[1]
    assert "$.amount: “cuarenta” is no number" in model.told[2]
    assert model.told[2].startswith(model.told[1])  # what was read stays read


def test_after_three_retries_it_is_given_up_and_says_why() -> None:
    model, playground = scripted(*[BAD] * 9)
    reply = reply_to(playground, ChatRequest(HELLO, schema=INVOICE))
    assert len(reply.attempts) == len(model.told) == 4
    assert reply.failed
    assert reply.value is None
    assert reply.last.faults[0].path == "$.amount"


def test_free_text_is_asked_for_once() -> None:
    model, playground = scripted("Hello.")
    assert reply_to(playground, ChatRequest(HELLO)).text == "Hello."
    assert model.told == ["user: Say hello."]


def test_a_bad_schema_and_a_missing_model_are_refused_before_anything_is_sent() -> None:
    model, playground = scripted("Hello.")
    with pytest.raises(UsageError, match="schema"):
        reply_to(playground, ChatRequest(HELLO, schema="{"))
    assert model.told == []
    with pytest.raises(MissingModelError, match="nobody to talk to"):
        Playground(lambda: None, Remembering()).lint()


def test_the_last_conversation_is_remembered_and_damage_to_it_forgotten() -> None:
    _, playground = scripted()
    assert playground.kept() == ()
    playground.keep([Message("user", "¿Año?\x1b")])
    assert playground.kept() == (Message("user", "¿Año?\x1b"),)
    for damaged in ("{", "3", '[{"role": "user"}]', "[4]"):
        playground._settings.set("playground.conversation", damaged)
        assert playground.kept() == ()


def test_a_conversation_as_markdown() -> None:
    said = [Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "Hello\n")]
    assert markdown(said, "m.gguf") == (
        "# Conversation\n\n## System\n\nBe brief.\n\n## You\n\nHi\n\n## m.gguf\n\nHello\n"
    )


@pytest.mark.model
def test_a_real_reply_passes_through_its_states(desk: Desk) -> None:
    replies = list(desk.playground.chat(ChatRequest(HELLO, SHORT)))
    assert [replies[0].state, replies[-1].state] == ["started", "complete"]
    assert any(reply.state == "partial" for reply in replies)
    assert replies[-1].text
    assert replies[-1].last.prompt.endswith("<|im_start|>assistant\n")


@pytest.mark.model
def test_the_real_model_s_template_is_good_and_its_prompt_is_seen_token_by_token(desk: Desk) -> None:
    assert desk.playground.lint() == ()
    prompt = desk.playground.prompt(ChatRequest(HELLO))
    tokens = desk.playground.tokens(prompt)
    assert "".join(token.text for token in tokens) == prompt
    assert tokens[0].special


@pytest.mark.model
def test_a_schema_makes_the_real_model_write_an_invoice(desk: Desk) -> None:
    asked = Message("user", "Invoice of Norte S.L., 14 May 2026 (2026-05-14): paper, 184.30 EUR.")
    reply = reply_to(desk.playground, ChatRequest((asked,), GenerationSettings(max_tokens=120), INVOICE, retries=1))
    assert reply.state == "complete"
    # A small model may get a value wrong; the grammar leaves it no wrong shape.
    assert all(fault.kind == "semantic" for attempt in reply.attempts for fault in attempt.faults)
    assert set(reply.value or {"supplier", "amount", "date", "concept"}) == {"supplier", "amount", "date", "concept"}


@pytest.mark.model
def test_a_long_prompt_can_be_stopped_while_it_is_read(desk: Desk) -> None:
    cancel = threading.Event()
    states = []
    long = Message("user", "The harbour master writes down every ship. " * 200)
    for reply in desk.playground.chat(ChatRequest((long,), SHORT), cancel):
        states.append(reply.state)
        cancel.set()
    assert states[-1] == "cancelled"
    assert "partial" not in states


@pytest.mark.model
def test_a_conversation_that_does_not_fit_is_refused_and_the_next_one_answered(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="doesn't fit"):
        reply_to(desk.playground, ChatRequest((Message("user", "sea " * 5000),), SHORT))
    assert reply_to(desk.playground, ChatRequest(HELLO, SHORT)).state == "complete"
