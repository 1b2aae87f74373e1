"""Messages to the loaded model, and its answers as they come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from screens.ask.words import write_text
from screens.messages import Snapshot
from screens.models.prompt import prompt_content
from screens.models.room import Room
from screens.models.sampling import Sampling, SamplingDialog
from screens.models.transcript import Transcript, Turn, role_name
from screens.style import Line, Tone, content, count
from screens.widgets.keys import with_alt
from screens.widgets.message import MessageField
from screens.work import Job, Jobs, Latest
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.library.presets import opening
from workbench.playground.playground import markdown
from workbench.playground.words import figure_words, progress_words, silence_words, state_words
from workbench.records.answers import Message
from workbench.records.library import Preset
from workbench.records.models import GenerationSettings
from workbench.records.playground import Attempt, ChatReply, ChatRequest, Lint, Token

if TYPE_CHECKING:
    from screens.models.screen import ModelsScreen
    from workbench.desk import Desk, DeskStatus

Role = Literal["system", "user", "assistant"]
ROLES: Final[tuple[Role, ...]] = ("user", "system", "assistant")
MARKS: Final[dict[str, tuple[str, Tone]]] = {
    "started": ("◦", Tone.DIM),
    "partial": ("●", Tone.ACCENT),
    "complete": ("✓", Tone.GOOD),
    "cancelled": ("~", Tone.WARN),
    "error": ("✗", Tone.BAD),
}
LINT_MARKS: Final[dict[str, tuple[str, Tone]]] = {
    "error": ("✗", Tone.BAD),
    "warning": ("~", Tone.WARN),
    "note": ("◦", Tone.DIM),
}


class ReplyGrew(Snapshot):
    """Fires with every few tokens of a reply; carries all of it."""

    def __init__(self, reply: ChatReply) -> None:
        super().__init__()
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Draft:
    """What the prompt pane shows the prompt of."""

    model: str
    request: ChatRequest


class Playground(Room):
    """The conversation beside the prompt that is sent, and a field to write in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="talk.cancel", tooltip="The answer stops; what is written stays"),
        *with_alt("o", "role", "Role", id="talk.role", tooltip="Whose message you write: user, system, assistant"),
        *with_alt("s", "sampling", "Sampling", id="talk.sampling", tooltip="Temperature, stop strings, JSON Schema…"),
        *with_alt("t", "tokens", "Tokens", id="talk.tokens", tooltip="The prompt as text, or by tokens with their ids"),
        *with_alt("n", "new", "New", id="talk.new", tooltip="Begins another conversation"),
        *with_alt("c", "copy", "Copy", id="talk.copy", show=False, tooltip="The last answer"),
        *with_alt("x", "export", "Export", id="talk.export", show=False, tooltip="The conversation as Markdown"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._model = ""
        self._messages: list[Message] = []
        self._sampling = Sampling()
        self._opening: tuple[Message, ...] = ()
        self._role: Role = "user"
        self._job: Job | None = None
        self._turn: Turn | None = None
        self._attempts = 0
        self._sent = ""
        self._ids = False
        self._shown: tuple[Token, ...] = ()
        self._prompts = Latest(jobs, self, self._tokens_of, self._show_prompt, self._no_prompt)

    def empty(self) -> str:
        """How to begin."""
        return tr("Load a model with l, then write to it here.")

    def compose(self) -> ComposeResult:
        """Conversation and prompt over the message that is written."""
        with Horizontal(id="talk"):
            with Vertical(id="said", classes="pane"):
                yield Static("", id="lint")
                yield Transcript(id="transcript")
            with VerticalScroll(id="prompt", classes="pane"):
                yield Static("", id="prompt-text")
        yield Static("", id="state")
        with Horizontal(id="line"):
            yield Static("", id="role")
            yield MessageField(tr("Write to the model · ctrl+j: new line"), id="say")

    def on_mount(self) -> None:
        """The conversation that was left."""
        self.query_one("#said").border_title = content(tr("Conversation"))
        self.query_one("#prompt").border_title = content(tr("Prompt as sent"))
        self._show_role()
        self._rest((self.empty(), Tone.DIM))
        self.jobs.read(self, self.desk.playground.kept, self._show_kept)

    def entered(self) -> None:
        """Writing is what one comes for."""
        self.query_one(MessageField).focus()
        self._preview()

    def status_changed(self, status: DeskStatus) -> None:
        """Another model: its template is looked at before anything is sent."""
        model = status.model.file.path if status.model else ""
        if model != self._model:
            self._model, self._sent = model, ""
            self._show_prompt(Draft(model, ChatRequest(())), ())
            self._preview()
            if model:
                self._rest("")
                self.jobs.read(self, self.desk.playground.lint, self._show_lint, lambda _: None)
            else:
                self._rest((self.empty(), Tone.DIM))

    def take(self, preset: Preset) -> None:
        """Samples as the preset says; a conversation that is begun from now on begins as it says."""
        if preset.generation != GenerationSettings():
            self._sampling = replace(self._sampling, settings=preset.generation)
        self._opening = opening(preset)
        if not self._messages:
            self.action_new()
        elif self._opening:
            self.notify(tr("A new conversation begins as the preset says: alt+n in the playground."), timeout=6)

    # -- what stands there -----------------------------------------------------------------------------------------

    @property
    def transcript(self) -> Transcript:
        """The turns."""
        return self.query_one(Transcript)

    def _show_kept(self, messages: Sequence[Message]) -> None:
        if not self._messages:
            for message in messages:
                self._add(message)
            self._preview()

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self.transcript.add(Turn(message.role, message.content))

    def _show_lint(self, found: Sequence[Lint]) -> None:
        lines: list[Line] = []
        for lint in found:
            remedy = f" → {lint.remedy}" if lint.remedy else ""
            lines += [LINT_MARKS[lint.severity], " ", lint.message, (remedy + "\n", Tone.DIM)]
        self.query_one("#lint", Static).update(content(*lines))
        self.query_one("#lint").display = bool(lines)
        self._rest("" if lines else (("✓ ", Tone.GOOD), (tr("chat template"), Tone.DIM)))

    def _rest(self, line: Line) -> None:
        self.query_one("#state", Static).update(content(line))

    def _show_role(self) -> None:
        self.query_one("#role", Static).update(content((role_name(self._role) + " ▸", Tone.ACCENT)))

    # -- the prompt ------------------------------------------------------------------------------------------------

    @on(MessageField.Changed)
    def _preview(self) -> None:
        """The prompt pane follows what is typed."""
        if self._model and self._job is None and self.is_mounted and self.query_one("#prompt").display:
            self._prompts.submit(Draft(self._model, self._request(self._with_typed())))

    def _with_typed(self) -> list[Message]:
        typed = _sent_as(self.query_one(MessageField).text)
        return [*self._messages, Message(self._role, typed)] if typed else self._messages

    def _request(self, messages: Sequence[Message]) -> ChatRequest:
        return ChatRequest(tuple(messages), self._sampling.settings, self._sampling.schema)

    def _tokens_of(self, draft: Draft) -> tuple[Token, ...]:
        playground, running = self.desk.playground, self.desk.library.generator
        if not draft.request.messages or (running and running.death):  # the dialog tells of a death
            return ()
        return playground.tokens(playground.prompt(draft.request))

    def _show_prompt(self, _: Draft, tokens: tuple[Token, ...]) -> None:
        self._shown = tokens
        pane = self.query_one("#prompt", VerticalScroll)
        pane.border_subtitle = content(tr("{count} tokens", count=count(len(tokens))))
        self.query_one("#prompt-text", Static).update(prompt_content(tokens, ids=self._ids))
        pane.scroll_end(animate=False)

    def _no_prompt(self, error: WorkbenchError) -> None:
        self.query_one("#prompt-text", Static).update(content(("✗ " + error.message, Tone.BAD)))

    def action_tokens(self) -> None:
        """Text, tokens with ids, and in a narrow window the conversation again."""
        narrow = self.screen.has_class("-narrow")
        if narrow and not self.has_class("-prompt"):
            self.add_class("-prompt")
        elif narrow and self._ids:
            self.remove_class("-prompt")
            self._ids = False
            self.transcript.scroll_end(animate=False)  # what came meanwhile came out of sight
        else:
            self._ids = not self._ids
        self.call_after_refresh(self._focus_shown)
        self._show_prompt_again()

    def _focus_shown(self) -> None:
        """The pane that took another's place takes its focus, which ends its zoom too."""
        if self.is_attached and self.screen.focused is None:
            self.query_one("#prompt" if self.has_class("-prompt") else "#transcript").focus()

    def _show_prompt_again(self) -> None:
        self.query_one("#prompt-text", Static).update(prompt_content(self._shown, ids=self._ids))
        if self._job or not self.query_one(MessageField).text:
            self._show_sent()
        else:
            self._preview()

    # -- talking ---------------------------------------------------------------------------------------------------

    @on(MessageField.Sent)
    def send(self, event: MessageField.Sent) -> None:
        """The message goes off with its lines; one of the system or the assistant is only added."""
        text = _sent_as(event.text)
        if not text or self._job:
            return
        if self._role == "user" and not self._model:
            self.notify(self.empty(), severity="warning", timeout=3)
            return
        self.query_one(MessageField).put("")
        message = Message(self._role, text)
        if self._role == "system" and not self._messages:
            self._role = "user"
            self._show_role()
        self._add(message)
        if message.role == "user":
            self._ask()
        else:
            self._keep()
            self._preview()

    def _ask(self) -> None:
        self._turn, self._attempts, self._sent = None, 0, ""
        request = self._request(self._messages)
        self._job = self.jobs.run(
            self,
            tr("answer"),
            lambda cancel: self.desk.playground.chat(request, cancel),
            each=ReplyGrew,
            then=self._ended,
            failed=self._failed,
            describe=_describe,
        )
        self.refresh_bindings()

    @on(ReplyGrew)
    def grew(self, event: ReplyGrew) -> None:
        """Draws the new end of the answer."""
        event.stop()
        if self._job:
            self._draw(event.reply)

    def _draw(self, reply: ChatReply) -> None:
        for number, attempt in enumerate(reply.attempts, 1):
            if number > self._attempts:
                self._turn, self._attempts = self.transcript.add(Turn("assistant")), number
                self._sent = attempt.prompt
                self._show_sent()
            if number >= self._attempts and self._turn:
                generation = attempt.generation
                self._turn.grow(generation.text, growing=generation.state in ("started", "partial"))
                if attempt.faults:
                    self._turn.note(_faults(attempt))
        self._rest(_state(reply))
        self.transcript.follow()

    def _show_sent(self) -> None:
        """The prompt that was really sent; before there is one, what would be."""
        prompt = self._sent
        if not prompt:
            self._preview()
        elif self.query_one("#prompt").display:
            read = lambda: self.desk.playground.tokens(prompt)  # noqa: E731 -- what the worker does, in a line
            draft = Draft(self._model, ChatRequest(()))
            self.jobs.read(self, read, lambda tokens: self._show_prompt(draft, tokens), lambda _: None)

    def _ended(self, reply: ChatReply | None) -> None:
        self._job = None
        if reply:
            self._draw(reply)
            if reply.text:
                self._messages.append(Message("assistant", reply.text))
            if self._turn:
                self._turn.note(_ending(reply))
                self.transcript.follow()
        if not (reply and reply.text):
            self._take_back()
        if reply and reply.silent:
            self._rest(("✗ " + silence_words(), Tone.BAD))
        self._keep()
        self.refresh_bindings()

    def _failed(self, error: WorkbenchError) -> None:
        self._job = None
        said = self._turn.said if self._turn else ""
        if self._turn and said:
            self._turn.grow(said, growing=False)
            self._turn.note((MARKS["error"], f" {error.title}"))
        self._take_back(not said)
        self.refresh_bindings()
        self._rest("")
        cast("ModelsScreen", self.screen).failed_at_work(error)

    def _take_back(self, unsaid: bool = True) -> None:
        """A message that got no answer can be sent again, over what was typed since; ``unsaid``: as if never said."""
        if self._messages and self._messages[-1].role == "user":
            message = self._messages.pop()
            turns = list(self.transcript.query(Turn)) if unsaid else []
            for turn in turns[-1 - self._attempts :]:
                turn.remove()
            field = self.query_one(MessageField)
            field.put("\n".join(filter(None, (message.content, field.text))))

    def _keep(self) -> None:
        messages = tuple(self._messages)
        self.jobs.read(self, lambda: self.desk.playground.keep(messages), lambda _: None)

    # -- keys ------------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape cancels only while there is an answer to cancel."""
        return self._job is not None if action == "cancel" else True

    def action_cancel(self) -> None:
        """Stops the answer."""
        if self._job:
            self._job.stop()

    def action_role(self) -> None:
        """Whose message is written."""
        self._role = ROLES[(ROLES.index(self._role) + 1) % len(ROLES)]
        self._show_role()
        self._preview()

    def action_sampling(self) -> None:
        """Asks how the next answer is made."""
        self.app.push_screen(SamplingDialog(self._sampling), self._sample)

    def _sample(self, sampling: Sampling | None) -> None:
        if sampling:
            self._sampling = sampling
            self._preview()

    def action_new(self) -> None:
        """Forgets the conversation."""
        if self._job is None:
            self._messages.clear()
            self._sent = ""
            self.transcript.remove_children()
            for message in self._opening:
                self._add(message)
            self._keep()
            self._preview()
            self._rest("")

    def action_copy(self) -> None:
        """The last answer."""
        said = next((message.content for message in reversed(self._messages) if message.role == "assistant"), "")
        if said:
            self.app.copy_to_clipboard(said)
            self.notify(tr("Copied."), timeout=2)

    def action_export(self) -> None:
        """Writes the conversation beside where the workbench was started."""
        if not self._messages:
            self.notify(tr("There is no conversation yet."), severity="warning", timeout=3)
            return
        path = Path.cwd() / f"conversation-{time.strftime('%Y%m%d-%H%M%S')}.md"
        words = markdown(self._messages, Path(self._model).name)
        told = tr("Written: {path}", path=str(path))
        self.jobs.read(self, lambda: write_text(path, words), lambda _: self.notify(told, timeout=5, markup=False))


def _sent_as(typed: str) -> str:
    """A message without the empty lines around it; its first line keeps its indent."""
    return typed.strip("\n").rstrip()


def _describe(job: Job, reply: ChatReply) -> None:
    job.detail = progress_words(reply.last.generation)


def _state(reply: ChatReply) -> Line:
    """The state of the answer, and how far it is or what it took."""
    generation = reply.last.generation
    again = tr("attempt {number}: ", number=len(reply.attempts)) if len(reply.attempts) > 1 else ""
    running = generation.state in ("started", "partial")
    more = progress_words(generation) + " · " + tr("esc cancels") if running else figure_words(generation)
    return (MARKS[generation.state], f" {again}{state_words(generation)} ", (f"· {more}", Tone.DIM))


def _faults(attempt: Attempt) -> Line:
    lines: list[Line] = [(f"✗ {fault.path}: {fault.message}\n", Tone.BAD) for fault in attempt.faults]
    return tuple(lines)


def _ending(reply: ChatReply) -> Line:
    """Under the answer: how it ended; with a schema, what is wrong with it, or that it fits."""
    if reply.last.faults:
        return _faults(reply.last)
    generation = reply.last.generation
    if generation.error:
        return ("✗ " + generation.error, Tone.BAD)
    said = tr("fits the schema") if reply.value is not None else state_words(generation)
    rate = f" · {generation.engine.decode_tps:.1f} t/s" if generation.engine and generation.engine.decode_tps else ""
    tokens = tr("{count} tokens", count=count(generation.output_tokens))
    return (MARKS[generation.state], (f" {said} · {tokens}{rate}", Tone.DIM))
