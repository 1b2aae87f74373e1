"""Dialogs: an error, a question, a choice, a path, a long text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Final

from rich.text import Text, TextType
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, DirectoryTree, Input, Static

from screens.style import Tone, content, text
from screens.widgets.grid import Column, Grid, Row
from screens.widgets.keys import EDGE_GROUP, with_alt
from screens.widgets.passage import Passage
from workbench.errors import EngineError, WorkbenchError
from workbench.i18n import tr

CLOSE = Binding("escape", "dismiss", "Close", id="dialog.close")
HELP: Final = with_alt("question_mark", "app.help", "Help", id="dialog.help", typing="alt+h", group=EDGE_GROUP)
"""The help in a dialog: the app's own keys don't act there."""


class ErrorDialog(ModalScreen[bool]):
    """Title, message, remedy, and for an engine what its log says of the cause.

    Args:
        retry: what would be other if it were tried again, "" when there is no such offer; dismisses with True when the
            person takes it.
    """

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE,
        Binding("enter", "dismiss", "Close", id="error.close"),
        Binding("r", "retry", "Try again", id="error.retry", tooltip="With the settings that the dialog names"),
        *HELP,
    ]

    def __init__(self, error: WorkbenchError, retry: str = "") -> None:
        super().__init__()
        self.error, self._retry = error, retry

    def compose(self) -> ComposeResult:
        """The error's own words."""
        error = self.error
        with VerticalScroll(classes="dialog error", can_focus=True) as box:
            box.border_title = content("✗ ", error.title)
            box.border_subtitle = tr("esc closes")
            yield Static(content(error.message))
            if error.remedy:
                yield Static(content(("→ ", Tone.ACCENT), error.remedy), classes="remedy")
            if self._retry:
                again = tr("tries again {change}", change=self._retry)
                yield Static(content(("r ", Tone.ACCENT), (again, Tone.STRONG)), classes="remedy", id="retry")
            if isinstance(error, EngineError) and error.last_words:
                yield Static(content((tr("The engine's last words:"), Tone.DIM)), classes="remedy")
                yield Static(content(("\n".join(error.last_words), Tone.DIM)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Trying again is offered where something is proposed."""
        return action != "retry" or bool(self._retry)

    def action_retry(self) -> None:
        """Takes the offer."""
        self.dismiss(True)


class NoteDialog(ModalScreen[None]):
    """A title and some lines to read; ``wide`` where their tables need the room of the screen."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [CLOSE, Binding("enter", "dismiss", "Close", id="note.close"), *HELP]

    def __init__(self, title: str, words: Content, *, wide: bool = False) -> None:
        super().__init__()
        self._heading, self._words, self._wide = title, words, wide

    def compose(self) -> ComposeResult:
        """The lines."""
        with VerticalScroll(classes="dialog wide" if self._wide else "dialog small", can_focus=True) as box:
            box.border_title = content(self._heading)
            box.border_subtitle = tr("esc closes")
            yield Static(self._words)


class ConfirmDialog(ModalScreen[bool]):
    """A question with two answers; the harmless one has the focus."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "No", id="confirm.no"),
        Binding("y,s", "answer(True)", "Yes", id="confirm.yes"),
        Binding("left,right", "app.focus_next", "Other answer", show=False, id="confirm.other"),
        *HELP,
    ]

    def __init__(self, title: str, question: str, yes: str, no: str) -> None:
        super().__init__()
        self._heading, self._question, self._yes, self._no = title, question, yes, no

    def compose(self) -> ComposeResult:
        """The question over its answers."""
        with Vertical(classes="dialog small") as box:
            box.border_title = content(self._heading)
            box.border_subtitle = content(tr("y yes · n no · enter takes the lit answer"))
            yield Static(content(self._question))
            with Horizontal(classes="buttons"):
                yield Button(content(self._no), id="no")
                yield Button(content(self._yes), id="yes")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """The answer."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """The answer by key."""
        self.dismiss(yes)


class ChoiceDialog(ModalScreen[str]):
    """One of several; dismisses with its key, "" when left."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", id="choice.close"), *HELP]

    def __init__(self, title: str, choices: Sequence[Row], chosen: str = "") -> None:
        super().__init__()
        self._heading, self._choices, self._chosen = title, choices, chosen

    def compose(self) -> ComposeResult:
        """A table of name and description."""
        with Vertical(classes="dialog choice") as box:
            box.border_title = content(self._heading)
            box.border_subtitle = tr("enter chooses · esc closes")
            yield Grid([Column("", fit=True), Column("")])

    def on_mount(self) -> None:
        """Fills the table."""
        grid = self.query_one(Grid)
        grid.show(self._choices)
        grid.go_to(self._chosen)

    def on_grid_opened(self, event: Grid.Opened) -> None:
        """The choice."""
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """No choice."""
        self.dismiss("")


class PassageDialog(ModalScreen[None]):
    """A long text, a span of it lit; ``c`` copies the span, or all of it when none is lit."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="passage.close"),
        Binding("c", "copy", "Copy", id="passage.copy"),
        *HELP,
    ]

    def __init__(self, title: str, words: str, start: int = 0, end: int = 0, subtitle: str = "") -> None:
        super().__init__()
        self._heading, self._words, self._start, self._end, self._subtitle = title, words, start, end, subtitle

    def compose(self) -> ComposeResult:
        """The text fills the dialog."""
        with Vertical(classes="dialog full") as box:
            box.border_title = content(self._heading)
            hint = tr("c copies · esc closes")
            box.border_subtitle = content(f"{self._subtitle} · {hint}" if self._subtitle else hint)
            yield Passage(self._words, self._start, self._end)

    def action_copy(self) -> None:
        """To the terminal's clipboard."""
        self.app.copy_to_clipboard(self._words[self._start : self._end] or self._words)
        self.notify(tr("Copied."), timeout=2)


class FolderTree(DirectoryTree):
    """Files and folders; names are shown as they are, without icons."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace", "up", "Folder above", show=False, id="tree.up"),
    ]
    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "
    ICON_FILE = "  "

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Hidden files are left out."""
        return [path for path in paths if not path.name.startswith(".")]

    def action_up(self) -> None:
        """The folder above becomes the root."""
        self.path = Path(self.path).resolve().parent

    def process_label(self, label: TextType) -> Text:
        """A file's name is never markup."""
        return text(label, {}) if isinstance(label, str) else label


class PathDialog(ModalScreen[str]):
    """Asks for a path that exists: a file, a folder, or ``either``; dismisses with it, "" when left."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Close", id="path.close"), *HELP]

    def __init__(self, title: str, hint: str, *, folder: bool = False, either: bool = False) -> None:
        super().__init__()
        self._heading, self._hint, self._folder, self._either = title, hint, folder, either

    def compose(self) -> ComposeResult:
        """The tree over the path."""
        with Vertical(classes="dialog path") as box:
            box.border_title = content(self._heading)
            box.border_subtitle = tr("enter takes the path · ⌫ in the tree: folder above · esc closes")
            yield Static(content((self._hint, Tone.DIM)))
            yield FolderTree(Path.cwd())
            yield Input(placeholder=tr("Path"), classes="pane", id="path")
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """Typing or pasting a path is the quick way."""
        self.query_one("#path", Input).focus()

    @on(DirectoryTree.FileSelected)
    @on(DirectoryTree.DirectorySelected)
    def picked(self, event: DirectoryTree.FileSelected | DirectoryTree.DirectorySelected) -> None:
        """What is picked in the tree goes to the path line."""
        self.query_one("#path", Input).value = str(event.path)
        if isinstance(event, DirectoryTree.FileSelected):
            self.query_one("#path", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Takes the path when there is something of the right kind."""
        path = Path(event.value.strip()).expanduser()
        right = path.exists() if self._either else path.is_dir() if self._folder else path.is_file()
        if event.value.strip() and right:
            self.dismiss(str(path))
            return
        problem = self.query_one(".problem", Static)
        problem.update(content(tr("There is no such folder.") if self._folder else tr("There is no such file.")))
        problem.add_class("-open")

    def action_leave(self) -> None:
        """No path."""
        self.dismiss("")
