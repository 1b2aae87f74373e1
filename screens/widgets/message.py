"""A field for a message of several lines: enter sends it, pasted lines stay lines."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea


class MessageField(TextArea):
    """As high as what is written in it, up to what its style allows; then it scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", show=False, id="message.send", tooltip="The message goes off"),
        Binding(
            "ctrl+j,shift+enter",
            "new_line",
            "New line",
            show=False,
            id="message.line",
            tooltip="Another line of the message",
        ),
    ]
    DEFAULT_CSS = """
    MessageField {
        height: auto;
        min-height: 1;
        max-height: 6;
        border: none;
        padding: 0;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
    }
    """

    class Sent(Message):
        """Enter was pressed; carries what was written."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, placeholder: str, *, id: str) -> None:
        super().__init__(id=id, placeholder=placeholder, highlight_cursor_line=False)

    def action_send(self) -> None:
        """Tells who listens; the text stays until it is taken."""
        self.post_message(self.Sent(self.text))

    def action_new_line(self) -> None:
        """Breaks the line at the cursor."""
        self.replace("\n", *self.selection)

    def put(self, text: str) -> None:
        """Writes ``text`` in place of what stands there, the cursor after it."""
        self.text = text
        self.move_cursor(self.document.end)
