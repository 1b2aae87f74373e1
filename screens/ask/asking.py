"""Asking's two choices: whether the question goes on from the one before, and who answers it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Final, Literal

from textual.binding import BindingType
from textual.widgets import Input

from screens.base import ModeScreen
from screens.style import content, shorten
from screens.widgets.keys import with_alt
from screens.work import Jobs
from workbench.desk import Desk
from workbench.i18n import tr
from workbench.records.answers import AskOptions, Trace

MODES: Final[tuple[tuple[str, Literal["auto", "extractive", "generated"], bool | None], ...]] = (
    ("", "auto", None),
    ("grammar", "generated", True),
    ("free", "generated", False),
    ("extractive", "extractive", None),
)
"""Who answers, in the order of the key: its name ("" as always), ``AskOptions.mode`` and ``constrained``."""


class AskingScreen(ModeScreen):
    """The question's title tells both choices while they differ from the usual."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *with_alt(
            "y", "follow", "Follow up", id="ask.follow", tooltip="Reads the question after the one just answered"
        ),
        *with_alt(
            "k",
            "who_answers",
            "Who answers",
            id="ask.mode",
            show=False,
            tooltip="A model held by a grammar, a free model, the sources alone",
        ),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._follows = False
        self._mode = 0

    @abstractmethod
    def answered_trace(self) -> Trace | None:
        """What a follow-up goes on from."""

    def asked_so(self, options: AskOptions) -> AskOptions:
        """``options`` with both choices."""
        _, mode, constrained = MODES[self._mode]
        earlier = self.answered_trace() if self._follows else None
        follows = earlier.id if earlier and earlier.complete else ""
        if not self._mode:
            return replace(options, follows=follows)
        return replace(options, follows=follows, mode=mode, constrained=constrained)

    def action_follow(self) -> None:
        """Whether questions go on from the one before, from now on; makes room for the next one."""
        if not self._follows and self.answered_trace() is None:
            self.notify(tr("Nothing was asked yet."), timeout=3)
            return
        self._follows = not self._follows
        if self._follows:  # another question is to come
            question = self.query_one("#query", Input)
            question.value = ""
            question.focus()
        self.title_question()

    def action_who_answers(self) -> None:
        """The next of the ways to answer."""
        self._mode = (self._mode + 1) % len(MODES)
        self.title_question()

    def title_question(self) -> None:
        """Tells both choices over the question."""
        names = {
            "grammar": tr("a model held by a grammar answers"),
            "free": tr("a free model answers"),
            "extractive": tr("the sources alone answer"),
        }
        earlier = self.answered_trace() if self._follows else None
        told = [
            tr("Ask"),
            tr("follows “{question}”", question=shorten(earlier.query, 40)) if earlier else "",
            names.get(MODES[self._mode][0], ""),
        ]
        self.query_one("#query", Input).border_title = content(" ── ".join(filter(None, told)))
