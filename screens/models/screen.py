"""Models: which file is there, what its header says, and what loading it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, ClassVar, Final, get_args

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from screens.dialogs import NoteDialog, PathDialog
from screens.messages import HashMoved, ServerSeen
from screens.models.bench import Bench
from screens.models.card import Shelf, card, columns, legend, nothing, row, title
from screens.models.gauges import GaugesStrip
from screens.models.loading import LoadingScreen
from screens.models.note import ModelNoteDialog
from screens.models.playground import Playground
from screens.models.rooms import Rooms
from screens.models.served import served_by, served_card, served_row
from screens.models.settings import Chosen, SettingsDialog
from screens.style import Tone, content, size
from screens.widgets.facts import Fact, Facts
from screens.widgets.grid import Grid, ListPane
from screens.widgets.keys import with_alt
from screens.widgets.memory import grid_lines, memory_lines
from screens.work import Job, Jobs
from workbench.i18n import tr
from workbench.library.notes import card_markdown
from workbench.records.library import HashProgress, ModelNote, Preset
from workbench.records.models import KvType, LoadSettings, MemoryFit, MemoryGrid, ModelFile
from workbench.records.servers import Server

if TYPE_CHECKING:
    from workbench.desk import Desk, DeskStatus

CONTEXTS = (1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
"""What + and − go through."""
KV_TYPES: Final[tuple[KvType, ...]] = get_args(KvType)
OF_THE_LIBRARY: Final = frozenset(
    {"load", "unload", "context", "settings", "note", "export", "kv_type", "window", "grid", "folder", "rescan"}
)
"""Actions on the file under the library's cursor, and on the list."""


class ModelsScreen(LoadingScreen):
    """The library beside the card of the file under the cursor, gauges below."""

    CSS_PATH = ["models.tcss", "measured.tcss"]  # noqa: RUF012 -- Textual declares it as an instance variable
    AUTO_FOCUS = "#library-grid"
    mode = "models"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "load", "Load", id="models.load", tooltip="In a child process, replacing the loaded one"),
        Binding("u", "unload", "Unload", id="models.unload", tooltip="Ends the child and tells what came back"),
        Binding("plus", "context(1)", "Context", id="models.more", tooltip="More of it for the next load; - is less"),
        Binding("minus", "context(-1)", "Less context", show=False, id="models.less"),
        Binding("s", "settings", "Settings", id="models.settings", tooltip="How the next model is loaded; presets"),
        Binding("e", "note", "Note", id="models.note", tooltip="Chosen for, discarded, limits, next review"),
        Binding("x", "export", "Card", show=False, id="models.export", tooltip="Copies the card as Markdown"),
        Binding("R", "failure", "Failure", id="models.failure", tooltip="Why the model's process ended; try again"),
        Binding("v", "kv_type", "KV type", id="models.kv", tooltip="How keys and values are kept: f16, q8_0, q4_0"),
        Binding(
            "w",
            "window",
            "Window",
            id="models.window",
            tooltip="Layers with a sliding window keep only that, or the whole context",
        ),
        Binding("m", "grid", "Memory", id="models.grid", tooltip="What fits: each quantization at each context"),
        Binding("a", "folder", "Add folder", id="models.folder", tooltip="Look for GGUF files there too"),
        Binding("r", "rescan", "Rescan", id="models.rescan", tooltip="Read the folders anew; ask every server"),
        *with_alt(
            "G",
            "gauges",
            "Gauges",
            id="models.gauges",
            show=False,
            typing="alt+g",
            tooltip="All of them, with curves and peaks; again: the few",
        ),
        # Not in the bar: the line of tabs names these three keys.
        Binding(
            "p", "room('playground')", "Playground", False, id="models.playground", tooltip="Write to the loaded model"
        ),
        Binding("b", "room('bench')", "Bench", False, id="models.bench", tooltip="Measure the marked models"),
        Binding(
            "L", "room('ladder')", "Ladder", False, id="models.ladder", tooltip="One model in several quantizations"
        ),
        Binding("t", "app.tools", "Tools", id="models.tools", tooltip="Tokens, money, decisions, servers"),
        Binding("escape", "stop", "Back", show=False, id="models.stop", tooltip="Stops loading; shuts the tab below"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._shelf = Shelf()
        self._under_cursor = ""
        self._loaded = ""
        self._peak = 0
        self._ended = False
        self._hashing: Job | None = None
        self._looking: Job | None = None
        self._tried_to_hash: set[str] = set()

    def body(self) -> Iterable[Widget]:
        """Library and card, then gauges."""
        with Horizontal(id="models"):
            yield ListPane(lambda shown, there: title(self._shelf, shown, there), columns(), id="library", marks=True)
            with VerticalScroll(id="card", classes="pane", can_focus=False):
                yield Facts(id="card-text")
        yield GaugesStrip()
        yield Rooms(self.desk, self.jobs)

    def on_mount(self) -> None:
        """Titles in the interface's language."""
        self.query_one("#gauges").border_title = content(tr("Gauges"))
        self.query_one("#gauges", Static).update(content((tr("reading…"), Tone.DIM)))
        self.query_one(Facts).show([], before=content((tr("reading the folders…"), Tone.DIM)))

    # -- the list --------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """The files known so far, and what this machine's servers have."""
        self._read(rescan=False)
        self._look(everywhere=False)

    def _read(self, rescan: bool) -> None:
        settings = self._settings

        def read() -> Shelf:
            library = self.desk.library
            files = library.files(rescan=rescan)
            fits = dict(zip((f.path for f in files), library.memory(files, settings), strict=True))
            return Shelf({f.path: f for f in files}, fits, library.notes.for_all(files))

        self.jobs.read(self, read, lambda shelf: self._show(shelf, settings))

    def _show(self, shelf: Shelf, settings: LoadSettings) -> None:
        if settings != self._settings:  # a later reading is on its way
            return
        shelf.hashing, shelf.served = self._shelf.hashing, self._shelf.served
        self._shelf = shelf
        self._show_rows()
        self._hash()
        if shelf.files or shelf.served:
            self._show_card(self._under_cursor)
        else:
            self.query_one(Facts).show([], before=nothing())

    def _show_rows(self) -> None:
        files = [row(f, self._loaded, self._shelf) for f in self._shelf.listed]
        served = [served_row(served, self._loaded) for served in self._shelf.served.values()]
        self.query_one(ListPane).show([*files, *served])

    def _look(self, *, everywhere: bool) -> None:
        """Sees what servers have; of other machines only when the person asks."""
        if not self._looking:
            found = self.desk.servers.discover
            self._looking = self.jobs.run(
                self,
                "servers",
                lambda stop: found(stop, everywhere=everywhere),
                each=ServerSeen,
                then=self._looked,
                failed=lambda _: self._looked(None),
                kind="watch",
            )

    @on(ServerSeen)
    def server_seen(self, event: ServerSeen) -> None:
        """Its models stand below the files."""
        url = event.server.endpoint.url
        others = {key: one for key, one in self._shelf.served.items() if one.server.endpoint.url != url}
        self._shelf.served = others | {served.key: served for served in served_by(event.server)}
        self._show_rows()
        self._show_card(self._under_cursor)

    def _looked(self, _: Server | None) -> None:
        self._looking = None

    def legend(self) -> list[Fact]:
        """The signs of the room that is open, and the marks of the list."""
        return [*self.query_one(Rooms).legend(), *legend()]

    def _hash(self) -> None:
        """Has the files hashed that aren't yet, unless that is under way or was tried."""
        unknown = {f.path for f in self._shelf.listed if not f.hash and not f.problem}
        if self._hashing or unknown <= self._tried_to_hash:
            return
        self._tried_to_hash = unknown
        self._hashing = self.jobs.run(
            self, "hash", self.desk.library.hash_files, each=HashMoved, then=self._hashed, kind="watch"
        )

    @on(HashMoved)
    def hash_moved(self, event: HashMoved) -> None:
        """Progress stands in the list; a hash that is known may make a copy known."""
        self._shelf.hash_moved(event.progress)
        self._show_rows()
        if event.progress.path == self._under_cursor or event.progress.hash:
            self._show_card(self._under_cursor)

    def _hashed(self, _: HashProgress | None) -> None:
        self._shelf.hashing.clear()
        self._hashing = None
        self._show_rows()

    @on(Grid.Highlighted, "#library-grid")
    def highlighted(self, event: Grid.Highlighted) -> None:
        """The card follows the cursor."""
        self._under_cursor = event.key
        self._show_card(event.key)
        self.query_one(Rooms).file_changed(self._shelf.files.get(event.key))
        self.query_one("#card").scroll_home(animate=False)
        self.refresh_bindings()

    def _show_card(self, path: str) -> None:
        if served := self._shelf.served.get(path):
            self.query_one("#card").border_title = content(served.model.name if served.model else tr("server"))
            self.query_one(Facts).show(served_card(served))
            return
        file, fit = self._shelf.files.get(path), self._shelf.fits.get(path)
        self.query_one("#card").border_title = content(file.name if file else "")
        if file:
            memory = memory_lines(file, self._settings, fit, self._peak_of(path)) if fit and not file.problem else None
            self.query_one(Facts).show(card(file, self._shelf), before=memory)
        elif (grid := self.query_one("#library-grid", Grid)).total and not grid.rows:
            words = tr("No row holds what is searched for: esc in the list shows all.")
            self.query_one(Facts).show([], before=content((words, Tone.DIM)))

    def _peak_of(self, path: str) -> int:
        """Of a process that was loaded as the next would be: with other settings it would be held against their sum."""
        model = self.bench.status.model if self.bench.status else None
        return self._peak if model and (model.file.path, model.settings) == (path, self._settings) else 0

    # -- memory ----------------------------------------------------------------------------------------------------

    def action_context(self, step: int) -> None:
        """The next larger or smaller context, for the next load."""
        now = self._settings.context
        others = [c for c in CONTEXTS if c > now] if step > 0 else [c for c in reversed(CONTEXTS) if c < now]
        self.change_settings(replace(self._settings, context=others[0] if others else now))

    def action_kv_type(self) -> None:
        """The next type of keys and values, for the next load."""
        following = (KV_TYPES.index(self._settings.kv_type) + 1) % len(KV_TYPES)
        self.change_settings(replace(self._settings, kv_type=KV_TYPES[following]))

    def action_window(self) -> None:
        """Whether layers with a window keep the whole context, for the next load."""
        self.change_settings(replace(self._settings, whole_window=not self._settings.whole_window))

    def action_grid(self) -> None:
        """What the file would take in other quantizations and at other contexts."""
        if (file := self._file) and not file.problem and file.shape.weights:
            settings, library = self._settings, self.desk.library

            def show(grid: MemoryGrid) -> None:
                self.app.push_screen(NoteDialog(tr("What fits: {name}", name=file.name), grid_lines(grid, settings)))

            self.jobs.open(self, lambda: library.memory_grid(file, settings), show)

    def change_settings(self, settings: LoadSettings) -> None:
        """Of the next load."""
        self._settings = settings
        self._read(rescan=False)

    def loaded_or_not(self) -> None:
        """What fits may be other now."""
        self._read(rescan=False)

    def action_settings(self) -> None:
        """Asks for all the settings of the next load."""
        if file := self._file:
            library = self.desk.library

            def ask(known: tuple[float, tuple[Preset, ...]]) -> None:
                def fit(settings: LoadSettings) -> MemoryFit:
                    return library.memory([file], settings)[0]

                dialog = SettingsDialog(file, self._settings, *known, library.presets, self.jobs, fit)
                self.app.push_screen(dialog, self._chosen)

            self.jobs.open(self, lambda: (library.idle_minutes, library.presets.all()), ask)

    def _chosen(self, chosen: Chosen | None) -> None:
        if chosen is None:
            return

        def keep() -> Preset:
            library = self.desk.library
            library.idle_minutes = chosen.idle
            known = next((p for p in library.presets.all() if p.name == chosen.preset), Preset(chosen.preset))
            if chosen.preset:
                library.presets.save(replace(known, load=chosen.settings))
            return known

        self.jobs.read(self, keep, self.query_one(Playground).take)
        self.change_settings(chosen.settings)
        if chosen.load:
            self.action_load()

    # -- notes -----------------------------------------------------------------------------------------------------

    @property
    def _file(self) -> ModelFile | None:
        """The one under the cursor."""
        return self._shelf.files.get(self._under_cursor)

    def action_note(self) -> None:
        """Asks for a note about the file under the cursor."""
        if file := self._file:
            note = self._shelf.notes.get(file.path, ModelNote())
            self.app.push_screen(ModelNoteDialog(file.name, note), lambda written: self._note(file, written))

    def _note(self, file: ModelFile, note: ModelNote | None) -> None:
        if note is not None:
            self.jobs.read(self, lambda: self.desk.library.notes.save(file, note), lambda _: self._read(rescan=False))

    def action_export(self) -> None:
        """The card with its notes, as Markdown, to the terminal's clipboard."""
        if file := self._file:
            note = self._shelf.notes.get(file.path, ModelNote())
            self.app.copy_to_clipboard(card_markdown(file, note, self._shelf.listed, date.today()))
            self.notify(tr("Copied."), timeout=2)

    def status_changed(self, status: DeskStatus) -> None:
        """Gauges, and the mark of the loaded file."""
        if self._loading is None:
            self.query_one(GaugesStrip).show(status)
        loaded = status.model.file.path if status.model else ""
        self._ended = bool(status.ended)
        if loaded != self._loaded:
            if not loaded and not status.ended:
                self.jobs.read(self, lambda: self.desk.library.released, self._released)
            self._loaded = loaded
            self._show_rows()
        self._follow_peak(status)
        self.query_one(Rooms).status_changed(status)
        self.refresh_bindings()

    def action_gauges(self) -> None:
        """The strip of gauges shows all it has, and back."""
        strip = self.query_one(GaugesStrip)
        strip.toggle_class("-whole")
        if self._loading is None and self.bench.status:
            strip.show(self.bench.status)

    def _follow_peak(self, status: DeskStatus) -> None:
        """What the process took at most stands in the card once it has worked."""
        pulse = status.pulses[-1] if status.model and status.pulses else None
        peak = pulse.gauges.rss_peak if pulse and pulse.generation else 0
        if peak != self._peak:
            self._peak = peak
            self._show_card(self._under_cursor)

    # -- loading ---------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that can't act now is shown dim; in a room the library's are left to it."""
        if action in OF_THE_LIBRARY and self.query_one(Rooms).has_focus_within:
            return False
        if action == "unload" and not self._loaded:
            return None
        if action == "stop":
            return self._loading is not None or bool(self.query_one(Rooms).opened)
        if action == "failure":
            return self._ended
        if action == "window":
            return bool(self._file and self._file.shape.window)
        return True

    @on(Grid.Opened, "#library-grid")
    def action_load(self) -> None:
        """Loads the file under the cursor; a server's model is used from now on."""
        key = self.query_one("#library-grid", Grid).key
        if file := self._shelf.files.get(key):
            self.load(file)
        elif (served := self._shelf.served.get(key)) and served.model:
            if served.model.kind == "embedding":
                told = tr("It embeds. In a shell: workbench servers embed {url}", url=served.server.endpoint.url)
                self.notify(told, timeout=6, markup=False)
            else:
                self.begin(key, served.model.name)

    def action_stop(self) -> None:
        """Stops loading, else shuts the room that is open."""
        if self._loading:
            self._loading.stop()
        else:
            self.query_one(Rooms).shut()
            self.query_one("#library-grid").focus()
            self.refresh_bindings()

    def action_room(self, name: str) -> None:
        """Opens a room; the key of the open one shuts it, where it is seen."""
        rooms = self.query_one(Rooms)
        if rooms.opened == name and (not self.maximized or rooms.has_focus_within):
            self.action_stop()
        else:
            rooms.open(name)
        self.refresh_bindings()

    def show_bench(self, number: int) -> None:
        """A stored bench, in its room."""
        rooms = self.query_one(Rooms)
        rooms.open("bench")
        rooms.query_one(Bench).view(number)
        self.refresh_bindings()

    def action_unload(self) -> None:
        """Ends the child process."""
        self.jobs.read(self, self.desk.library.unload, self._unloaded)

    def _unloaded(self, freed: int) -> None:
        told = tr("Unloaded: {size} came back.", size=size(freed)) if freed else tr("The server is left.")
        self.notify(told, timeout=4)
        self._read(rescan=False)

    def _released(self, freed: int) -> None:
        if freed:
            self.notify(tr("Unloaded for having nothing to do: {size} came back.", size=size(freed)), timeout=8)
            self._read(rescan=False)

    def action_rescan(self) -> None:
        """Reads the folders anew, and asks every server that was added."""
        self._read(rescan=True)
        self._look(everywhere=True)

    def action_folder(self) -> None:
        """Asks for a folder to look in."""
        hint = tr("GGUF files in this folder are listed from now on.")
        self.app.push_screen(PathDialog(tr("Add a folder of models"), hint, folder=True), self._add_folder)

    def _add_folder(self, path: str | None) -> None:
        if path:
            self.jobs.read(self, lambda: self.desk.library.add_folder(path), lambda _: self._read(rescan=True))
