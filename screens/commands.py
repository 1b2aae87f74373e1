"""The command palette: what can be done anywhere, by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from textual import on
from textual.command import Command, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.fuzzy import Matcher
from textual.widgets import Input

import themes
from workbench.i18n import tr

if TYPE_CHECKING:
    from screens.app import WorkbenchApp

LANGUAGE_NAMES = {"en": "English", "es": "Español"}


def theme_name(name: str) -> str:
    """A theme's name and kind in the interface's language."""
    names = {
        "night": tr("Night (dark)"),
        "ember": tr("Ember (dark)"),
        "paper": tr("Paper (light)"),
        "contrast": tr("Contrast (high)"),
    }
    return names.get(name, name)


class Palette(CommandPalette):
    """Enter after words does what stands first; Textual's own wants a second one."""

    @on(Input.Submitted)
    def first(self, event: Input.Submitted) -> None:
        """Chooses the first command where none is chosen, unless the list is still that of the words before."""
        listed = self.query_one(CommandList)
        if listed.highlighted is None and listed.option_count and self._answers(listed, event.value):
            listed.highlighted = 0

    @staticmethod
    def _answers(listed: CommandList, words: str) -> bool:
        first = listed.get_option_at_index(0)
        text = first.hit.text if isinstance(first, Command) else None
        return bool(words.strip()) and text is not None and Matcher(words).match(text) > 0


_Command: TypeAlias = tuple[str, str, Callable[[], object]]
"""Its name, what it does, and what is called."""


class WorkbenchCommands(Provider):
    """Screens and what they do, ingest, collections, models, theme, language, help, quit."""

    @property
    def _bench(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    def _commands(self) -> list[_Command]:
        app = self._bench
        return [
            (tr("Ingest files…"), tr("Read files or a folder into a collection"), app.action_ingest),
            (tr("Choose a collection…"), tr("Where searches and questions go"), app.action_choose_collection),
            (tr("Delete a collection…"), tr("With all its documents"), app.action_delete_collection),
            (tr("Load a model…"), tr("In a child process, replacing the loaded one"), app.action_load_model),
            *self._acts(),
            *self._places(),
            (tr("Stop the running work"), tr("What was committed stays"), app.action_stop),
            (tr("Keys"), tr("Every key that acts here"), app.action_help),
            (tr("Quit"), tr("Asks only when work is running"), app.action_quit),
            *self._choices(),
        ]

    def _acts(self) -> list[_Command]:
        """Of Ask and Corpus, wherever one is."""
        app = self._bench
        return [
            (tr("Filter"), tr("Only chunks whose metadata matches"), partial(app.act, "ask", "filter")),
            (tr("Lanes"), tr("Both, lexical only, dense only"), partial(app.act, "ask", "lanes")),
            (
                tr("Rerankers"),
                tr("Which there are, what each brings on a dataset; choose one, turn one on"),
                partial(app.act, "ask", "rerankers"),
            ),
            (tr("Trace"), tr("The whole story of the answer as JSON"), partial(app.act, "ask", "trace")),
            (tr("Health"), tr("What is wrong with it, and where its bytes are"), partial(app.act, "corpus", "health")),
            (tr("Edits"), tr("What was changed, to take back"), partial(app.act, "corpus", "edits")),
            (tr("Retire"), tr("Retire the documents, or restore them"), partial(app.act, "corpus", "retire")),
            (tr("Delete"), tr("Delete the documents, and prove it"), partial(app.act, "corpus", "delete")),
            (tr("Export…"), tr("The collection, or what is marked"), partial(app.act, "corpus", "export")),
            (tr("Import a collection…"), tr("The folder that an export made"), partial(app.act, "corpus", "import")),
            (
                tr("Collection to another file…"),
                tr("Copied or moved whole, and read back"),
                partial(app.act, "corpus", "move"),
            ),
            (tr("Snapshots…"), tr("Of the whole file"), partial(app.act, "corpus", "snapshots")),
        ]

    def _places(self) -> list[_Command]:
        app = self._bench
        return [
            (tr("Go to Models"), tr("Files, memory, loading"), partial(app.action_mode, "models")),
            (tr("Go to Corpus"), tr("Documents and chunks"), partial(app.action_mode, "corpus")),
            (tr("Go to Ask"), tr("Search and answers"), partial(app.action_mode, "ask")),
            (tr("Go to Evals"), tr("Datasets and cases"), partial(app.action_mode, "evals")),
            (
                tr("Tools: tokens"),
                tr("Texts cut, windows budgeted, prompts compared"),
                partial(app.action_tools, "tokens"),
            ),
            (tr("Tools: money"), tr("What was used and what it costs"), partial(app.action_tools, "money")),
            (tr("Tools: decide"), tr("Sheets, decisions, what to try first"), partial(app.action_tools, "decide")),
            (tr("Tools: servers"), tr("What answers; use, examine, load it"), partial(app.action_tools, "servers")),
            (tr("Tools: SQL"), tr("Queries of this file, or of another one"), partial(app.action_tools, "sql")),
            (
                tr("Tools: inventory"),
                tr("What models there are, and whether they live"),
                partial(app.action_tools, "inventory"),
            ),
        ]

    def _choices(self) -> list[_Command]:
        """Themes and languages."""
        app = self._bench
        themed = [
            (
                tr("Theme: {name}", name=theme_name(t.name)),
                tr("Remembered in the file"),
                partial(app.choose_theme, t.name),
            )
            for t in themes.THEMES
        ]
        spoken = [
            (tr("Language: {name}", name=name), tr("Redraws everything"), partial(app.choose_language, code))
            for code, name in LANGUAGE_NAMES.items()
        ]
        return [*themed, *spoken]

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for name, help_text, call in self._commands():
            yield DiscoveryHit(name, call, help=help_text)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Those that match."""
        matcher = self.matcher(query)
        for name, help_text, call in self._commands():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), call, help=help_text)
