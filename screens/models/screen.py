"""Models: which file is there, what its header says, and what loading it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, get_args

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from screens.base import ModeScreen
from screens.dialogs import PathDialog
from screens.messages import LoadMoved
from screens.models.rooms import Rooms
from screens.style import Line, Tone, bar, content, count, gauge, parameters, size
from screens.widgets.facts import Fact, Facts
from screens.widgets.grid import Column, Grid, ListPane, Row
from screens.widgets.memory import fit_cell, memory_lines
from screens.work import Job, Jobs
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.records.models import KvType, LoadedModel, LoadProgress, LoadSettings, MemoryFit, ModelFile

if TYPE_CHECKING:
    from workbench.desk import Desk, DeskStatus

CONTEXTS = (1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
"""What + and − go through."""
KV_TYPES: Final[tuple[KvType, ...]] = get_args(KvType)

Known: TypeAlias = tuple[tuple[ModelFile, ...], tuple[MemoryFit, ...]]


class ModelsScreen(ModeScreen):
    """The library beside the card of the file under the cursor, gauges below."""

    CSS_PATH = "models.tcss"
    AUTO_FOCUS = "#library-grid"
    mode = "models"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "load", "Load", id="models.load", tooltip="In a child process, replacing the loaded one"),
        Binding("u", "unload", "Unload", id="models.unload", tooltip="Ends the child and tells what came back"),
        Binding("plus", "context(1)", "Context", id="models.more", tooltip="More of it for the next load; - is less"),
        Binding("minus", "context(-1)", "Less context", show=False, id="models.less"),
        Binding("v", "kv_type", "KV type", id="models.kv", tooltip="How keys and values are kept: f16, q8_0, q4_0"),
        Binding(
            "w",
            "window",
            "Window",
            id="models.window",
            tooltip="Layers with a sliding window keep only that, or the whole context",
        ),
        Binding("a", "folder", "Add folder", id="models.folder", tooltip="Look for GGUF files there too"),
        Binding("r", "rescan", "Rescan", id="models.rescan", tooltip="Read the folders anew"),
        Binding("p", "room('playground')", "Playground", id="models.playground", tooltip="Write to the loaded model"),
        Binding("b", "room('bench')", "Bench", id="models.bench", tooltip="Measure the marked models"),
        Binding("L", "room('ladder')", "Ladder", id="models.ladder", tooltip="One model in several quantizations"),
        Binding("escape", "stop", "Back", show=False, id="models.stop", tooltip="Stops loading; shuts the tab below"),
    ]

    def __init__(self, desk: Desk, jobs: Jobs) -> None:
        super().__init__(desk, jobs)
        self._files: dict[str, ModelFile] = {}
        self._fits: dict[str, MemoryFit] = {}
        self._settings = LoadSettings()
        self._under_cursor = ""
        self._loaded = ""
        self._loading: Job | None = None

    def body(self) -> Iterable[Widget]:
        """Library and card, then gauges."""
        with Horizontal(id="models"):
            yield ListPane(_title, _columns(), id="library")
            with VerticalScroll(id="card", classes="pane", can_focus=False):
                yield Facts(id="card-text")
        yield Static("", id="gauges", classes="pane")
        yield Rooms(self.desk, self.jobs)

    def on_mount(self) -> None:
        """Titles in the interface's language."""
        self.query_one("#gauges").border_title = content(tr("Memory"))
        self.query_one("#gauges", Static).update(content((tr("reading…"), Tone.DIM)))

    # -- the list --------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """The files known so far."""
        self._read(rescan=False)

    def _read(self, rescan: bool) -> None:
        settings = self._settings

        def read() -> Known:
            files = self.desk.library.files(rescan=rescan)
            return files, self.desk.library.memory(files, settings)

        self.jobs.read(self, read, lambda known: self._show(known, settings))

    def _show(self, known: Known, settings: LoadSettings) -> None:
        files, fits = known
        if settings != self._settings:  # a later reading is on its way
            return
        self._files = {f.path: f for f in files}
        self._fits = {f.path: fit for f, fit in zip(files, fits, strict=True)}
        self._show_rows()
        if files:
            self._show_card(self._under_cursor)
        else:
            self.query_one(Facts).show([], before=_nothing())

    def _show_rows(self) -> None:
        self.query_one(ListPane).show([_row(f, self._loaded, self._fits.get(f.path)) for f in self._files.values()])

    @on(Grid.Highlighted, "#library-grid")
    def highlighted(self, event: Grid.Highlighted) -> None:
        """The card follows the cursor."""
        self._under_cursor = event.key
        self._show_card(event.key)
        self.query_one(Rooms).file_changed(self._files.get(event.key))
        self.query_one("#card").scroll_home(animate=False)
        self.refresh_bindings()

    def _show_card(self, path: str) -> None:
        file, fit = self._files.get(path), self._fits.get(path)
        self.query_one("#card").border_title = content(file.name if file else "")
        if file:
            memory = memory_lines(file, self._settings, fit) if fit and not file.problem else None
            self.query_one(Facts).show(card(file), before=memory)

    # -- memory ----------------------------------------------------------------------------------------------------

    def action_context(self, step: int) -> None:
        """The next larger or smaller context, for the next load."""
        at = CONTEXTS.index(self._settings.context) + step
        self._set(replace(self._settings, context=CONTEXTS[max(0, min(at, len(CONTEXTS) - 1))]))

    def action_kv_type(self) -> None:
        """The next type of keys and values, for the next load."""
        following = (KV_TYPES.index(self._settings.kv_type) + 1) % len(KV_TYPES)
        self._set(replace(self._settings, kv_type=KV_TYPES[following]))

    def action_window(self) -> None:
        """Whether layers with a window keep the whole context, for the next load."""
        self._set(replace(self._settings, whole_window=not self._settings.whole_window))

    def _set(self, settings: LoadSettings) -> None:
        self._settings = settings
        self._read(rescan=False)

    def status_changed(self, status: DeskStatus) -> None:
        """Gauges, and the mark of the loaded file."""
        if self._loading is None:
            self.query_one("#gauges", Static).update(gauges_text(status))
        loaded = status.model.file.path if status.model else ""
        if loaded != self._loaded:
            self._loaded = loaded
            self._show_rows()
        self.query_one(Rooms).status_changed(status)
        self.refresh_bindings()

    # -- loading ---------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that can't act now is shown dim."""
        if action == "unload" and not self._loaded:
            return None
        if action == "stop":
            return self._loading is not None or bool(self.query_one(Rooms).opened)
        if action == "window":
            file = self._files.get(self._under_cursor)
            return bool(file and file.shape.window)
        return True

    @on(Grid.Opened, "#library-grid")
    def action_load(self) -> None:
        """Loads the file under the cursor."""
        file = self._files.get(self.query_one("#library-grid", Grid).key)
        if file:
            self.load(file)

    def load(self, file: ModelFile) -> None:
        """Loads a file, unless one is being loaded."""
        if self._loading:
            self.notify(tr("Another model is being loaded: esc stops it."), severity="warning", timeout=3)
            return
        settings = self._settings
        self._loading = self.jobs.run(
            self,
            tr("load {name}", name=file.name),
            lambda cancel: self.desk.library.load(file.path, settings, cancel),
            each=LoadMoved,
            then=self._finished,
            failed=self._failed,
            describe=_describe,
        )
        self._progress(LoadProgress(0.0))

    @on(LoadMoved)
    def moved(self, event: LoadMoved) -> None:
        """The bar grows."""
        if self._loading:
            self._progress(event.progress)

    def _progress(self, progress: LoadProgress) -> None:
        share = f"{progress.fraction * 100:3.0f} %"
        line = (
            tr("loading") + " ",
            (bar(progress.fraction, 32), Tone.ACCENT),
            f" {share}  ",
            (progress.message, Tone.DIM),
        )
        self.query_one("#gauges", Static).update(content(line, "\n", (tr("esc stops it"), Tone.DIM)))

    def _finished(self, last: LoadProgress | None) -> None:
        self._loading = None
        self.refresh_bindings()
        self._read(rescan=False)
        if last and last.model:
            self.notify(tr("{name} is ready.", name=last.model.file.name), timeout=3, markup=False)

    def _failed(self, error: WorkbenchError) -> None:
        self._finished(None)
        self.bench.show_error(error)

    def action_stop(self) -> None:
        """Stops loading, else shuts the room that is open."""
        if self._loading:
            self._loading.stop()
        else:
            self.query_one(Rooms).shut()
            self.query_one("#library-grid").focus()
            self.refresh_bindings()

    def action_room(self, name: str) -> None:
        """Opens a room; the key of the open one shuts it."""
        rooms = self.query_one(Rooms)
        if rooms.opened == name:
            self.action_stop()
        else:
            rooms.open(name)
        self.refresh_bindings()

    def action_unload(self) -> None:
        """Ends the child process."""
        self.jobs.read(self, self.desk.library.unload, self._unloaded)

    def _unloaded(self, freed: int) -> None:
        self.notify(tr("Unloaded: {size} came back.", size=size(freed)), timeout=4)
        self._read(rescan=False)

    def action_rescan(self) -> None:
        """Reads the folders anew."""
        self._read(rescan=True)

    def action_folder(self) -> None:
        """Asks for a folder to look in."""
        hint = tr("GGUF files in this folder are listed from now on.")
        self.app.push_screen(PathDialog(tr("Add a folder of models"), hint, folder=True), self._add_folder)

    def _add_folder(self, path: str | None) -> None:
        if path:
            self.jobs.read(self, lambda: self.desk.library.add_folder(path), lambda _: self._read(rescan=True))


def _describe(job: Job, progress: LoadProgress) -> None:
    job.fraction = progress.fraction
    job.detail = f"{progress.fraction * 100:.0f} %"


def _title(shown: int, there: int) -> str:
    return f"{tr('Library')} ── {there if shown == there else f'{shown}/{there}'}"


def _columns() -> list[Column]:
    return [
        Column("", 1),
        Column(tr("name"), 0),
        Column(tr("quant"), 7),
        Column(tr("size"), 8, "right", keep=48),
        Column(tr("params"), 8, "right", keep=80),
        Column(tr("ctx"), 7, "right", keep=80),
        Column(tr("fits"), 10, keep=40),
    ]


def _row(file: ModelFile, loaded: str, fit: MemoryFit | None) -> Row:
    mark: Line = ("●", Tone.GOOD) if file.path == loaded else ("✗", Tone.BAD) if file.problem else ("◦", Tone.DIM)
    context = count(file.context) if file.context else "–"
    name = file.name.removesuffix(".gguf")
    cells: tuple[Line, ...] = (
        mark,
        name,
        file.quantization or "–",
        size(file.size),
        parameters(file.parameters),
        context,
    )
    return Row(file.path, (*cells, ("!", Tone.BAD) if file.problem else fit_cell(fit)))


def card(file: ModelFile) -> list[Fact]:
    """What the header says."""
    if file.problem:
        return [("✗", (file.problem, Tone.BAD)), (tr("file"), file.path)]
    template: Line = (
        ("✓ " + tr("chat template"), Tone.GOOD) if file.chat_template else ("~ " + tr("no template"), Tone.WARN)
    )
    heads = tr("{heads} heads, {kv} for keys and values", heads=file.heads, kv=file.kv_heads)
    return [
        (tr("architecture"), f"{file.architecture} · {parameters(file.parameters)}"),
        (tr("prompts"), template),
        (tr("context"), tr("{count} tokens", count=count(file.context))),
        (tr("quantization"), f"{file.quantization} · {file.bits_per_weight:.2f} {tr('bits per weight')}"),
        (tr("tensors"), ", ".join(f"{n} {kind}" for kind, n in file.tensor_types)),
        (tr("layers"), f"{file.layers} × {file.embedding}"),
        (tr("attention"), f"{heads} × {file.head_dimension}"),
        (tr("tokenizer"), file.tokenizer),
        (tr("licence"), file.licence),
        (tr("origin"), file.origin),
        (tr("file"), f"{size(file.size)} · {Path(file.path).parent}"),
    ]


def _nothing() -> Content:
    return content(
        (tr("No GGUF files yet."), Tone.STRONG),
        "\n\n",
        ("a", Tone.ACCENT),
        " " + tr("adds a folder that holds some; or, in a shell, workbench starter fetches a small one."),
        "\n\n",
        (tr("Answers work without a model: they quote the best sentences."), Tone.DIM),
    )


def gauges_text(status: DeskStatus) -> Content:
    """One or two lines: the loaded model's memory and the machine's."""
    g = status.gauges
    ram = g.ram_used / g.ram_total if g.ram_total else 0.0
    vram: Line = (
        ("VRAM ", Tone.DIM),
        f"{size(g.vram_used)} / {size(g.vram_total or 0)}" if g.vram_used is not None else "–",
    )
    machine: list[Line] = [
        (
            ("RAM ", Tone.DIM),
            (gauge(ram), Tone.ACCENT),
            f" {size(g.ram_used)} / {size(g.ram_total)}   ",
        ),
        vram,
    ]
    if g.vram_used is None and g.vram_note:
        machine.append((f" ({g.vram_note})", Tone.DIM))
    engine: list[Line] = [("\n✗ " + status.engine, Tone.BAD)] if status.engine else []
    if status.ended:
        return content(("✗ " + status.ended, Tone.BAD))
    if status.model is None:
        return content(*machine, *(engine or [("\n◦ " + tr("no model loaded: enter loads one"), Tone.DIM)]))
    rss = (("RSS ", Tone.DIM), size(g.rss), f" ↑{size(g.rss_peak)}   ", ("CPU ", Tone.DIM), f"{g.cpu_percent:.0f} %   ")
    return content(*machine, "\n", ("● ", Tone.GOOD), *rss, *_split(status.model))


def _split(model: LoadedModel) -> list[Line]:
    m = model.memory
    used = [(tr("weights"), m.weights), ("KV", m.kv_cache), (tr("compute"), m.compute)]
    parts: list[Line] = []
    for name, octets in used:
        parts.append(((name + " ", Tone.DIM), f"{size(octets)}   "))
    return [
        *parts,
        (tr("ctx") + " ", Tone.DIM),
        count(model.context),
        (f"   {tr('loaded in')} ", Tone.DIM),
        f"{model.load_ms:.0f} ms",
    ]
