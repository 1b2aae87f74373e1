"""Keys act one after another: each when what the one before it did is done.

Textual hands a key to the widget in focus and goes on to the next key at once; a key that the widget doesn't use comes
back to the app only later. In a burst (a paste, a macro, a slow line) letters so overtake backspace, arrows and tab,
and text lands in the wrong field. Here a key that the widget in focus doesn't use acts at once, and the next waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.widgets import Input

from screens.widgets.message import MessageField

PATIENCE_S: Final = 0.5
"""How long a key waits for what went before it; a widget that takes longer gets its keys as Textual gives them."""


PUT_OFF: Final = 4
"""How often a key lets the app's other messages go first: they may never end, and a key must act."""
LINE_FEED: Final = "ctrl+j"
"""How a terminal writes enter until the app has set it up."""


class OrderedKeysApp(App[int]):
    """An app whose keys and pastes keep the order in which they were made; pasted lines become one in a text field."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self._waiting: deque[events.Key | events.Paste] = deque()

    async def on_event(self, event: events.Event) -> None:
        """Keys and pastes wait for their turn; all else is Textual's."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._waiting.append(event)
            if len(self._waiting) == 1:
                await self._turn()
        else:
            await super().on_event(event)

    async def _turn(self, put_off: int = 0) -> None:
        """The key that waits first acts, unless what went before it has left the app something to do (a focus)."""
        await self._settled()
        if self.message_queue_size and put_off < PUT_OFF:
            self.call_later(self._turn, put_off + 1)
            return
        try:
            await self._act(self._waiting[0])
        finally:
            self._waiting.popleft()
            if self._waiting:
                self.call_later(self._turn)

    async def _act(self, event: events.Key | events.Paste) -> None:
        if not isinstance(self.focused, MessageField):  # there it begins a line
            event = as_enter(event)
        if isinstance(event, events.Key) and await self._acted(event):
            return
        if isinstance(event, events.Paste) and isinstance(self.focused, Input):
            event = events.Paste(one_line(event.text))
        await super().on_event(event)

    async def _acted(self, event: events.Key) -> bool:
        if self.screen.maximized is not None and event.key == "escape":
            return False  # Textual shows the whole screen again
        if await self._check_bindings(event.key, priority=True):
            return True
        target: DOMNode = self.focused or self.screen
        if event.key.startswith("alt+") and isinstance(self.focused, Input | MessageField):
            await self._check_bindings(event.key)
            return True  # alt with a key that does nothing here is no text
        if target.check_consume_key(event.key, event.character):
            return False
        return await self._check_bindings(event.key)

    async def _settled(self) -> None:
        """Returns when the widget in focus and all that hold it have handled what they were sent."""
        for node in (self.focused or self.screen).ancestors_with_self:
            if node is self:
                return
            await _drained(node)


def as_enter(event: events.Key | events.Paste) -> events.Key | events.Paste:
    """Enter for the line feed that it is when it was typed ahead, in a slow start."""
    if isinstance(event, events.Key) and event.key == LINE_FEED:
        return events.Key("enter", "\r")
    return event


def one_line(pasted: str) -> str:
    """Every line of ``pasted``, in one: a field of one line would keep the first only."""
    return " ".join(part for line in pasted.splitlines() if (part := line.replace("\t", " ").strip()))


async def _drained(node: MessagePump) -> None:
    done = asyncio.Event()
    if node.is_running and node.call_later(done.set):
        try:
            await asyncio.wait_for(done.wait(), PATIENCE_S)
        except TimeoutError:
            return
