"""The form of load settings, with the verdict on the memory they take while one types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, cast, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Select, Static

from screens.ask.words import write_text
from screens.dialogs import HELP, PathDialog
from screens.fields import chosen, field, pick, tell_problem, whole, written
from screens.style import Line, Tone, content, size
from screens.widgets.memory import SIGNS
from screens.work import Jobs, Latest
from workbench.i18n import tr
from workbench.memory.words import largest_words
from workbench.records.library import ImportedPreset, Preset
from workbench.records.models import Adapter, KvType, LoadSettings, MemoryFit, ModelFile

if TYPE_CHECKING:
    from workbench.library.presets import Presets

KV_TYPES: Final[tuple[KvType, ...]] = get_args(KvType)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the form asks for.

    Attributes:
        idle: minutes without work after which the model goes, 0: never.
        preset: the name to keep the settings under, "" for none.
        load: load at once.
    """

    settings: LoadSettings
    idle: float
    preset: str
    load: bool


class SettingsDialog(ModalScreen[Chosen]):
    """Asks how a model is loaded; dismisses with None when left.

    Args:
        file: the model.
        kept: where presets are brought in from Modelfiles, and out.
        fit: what a load with some settings takes; called in a thread.
    """

    CSS_PATH = "../evals/evals.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="settings.close"),
        Binding("ctrl+s", "keep(False)", "Keep", id="settings.keep", tooltip="For the next load"),
        Binding("ctrl+l", "keep(True)", "Load", id="settings.load", tooltip="Keeps them and loads the model"),
        Binding("ctrl+o", "bring", "Import", id="settings.import", priority=True, tooltip="A preset of a Modelfile"),
        Binding("ctrl+e", "hand_out", "Export", id="settings.export", priority=True, tooltip="The preset as Modelfile"),
        *HELP,
    ]

    def __init__(
        self,
        file: ModelFile,
        settings: LoadSettings,
        idle: float,
        presets: Sequence[Preset],
        kept: Presets,
        jobs: Jobs,
        fit: Callable[[LoadSettings], MemoryFit],
    ) -> None:
        super().__init__()
        self._kept, self._jobs = kept, jobs
        self._file, self._settings, self._idle = file, settings, idle
        self._presets = {preset.name: preset for preset in presets}
        self._latest: Latest[LoadSettings, MemoryFit] = Latest(jobs, self, fit, self._tell, lambda _: None)

    def compose(self) -> ComposeResult:
        """A form in columns over the verdict."""
        with Vertical(classes="dialog") as box:
            box.border_title = content(tr("Load {name}", name=self._file.name))
            box.border_subtitle = content(tr("ctrl+s keeps · ctrl+l loads · ctrl+o/e Modelfile · esc closes"))
            with Container(classes="form"):
                yield pick("preset", tr("Preset"), self._choices(), "")
                yield field("context", tr("Context"), placeholder=tr("tokens"))
                yield pick("kv", tr("KV type"), [(kind, kind) for kind in KV_TYPES], self._settings.kv_type)
                yield field("batch", tr("Batch"))
                yield field("threads", tr("Threads"), placeholder=tr("cores − 1"))
                yield field("layers", tr("GPU layers"))
                yield pick("flash", tr("Flash attention"), _switch(), "")
                yield pick("mmap", tr("Memory mapping"), _switch(), "")
                yield field("idle", tr("Idle minutes"), f"{self._idle:g}" if self._idle else "", tr("then unloaded"))
                yield field("lora", tr("LoRA adapter"), placeholder=tr("path of a GGUF file"))
                yield field("scale", tr("Its scale"))
                yield field("name", tr("Keep as preset"), placeholder=tr("a name, or nothing"))
            yield Static("", id="verdict")
            yield Static("", classes="problem")

    def on_mount(self) -> None:
        """Begins with the settings there are."""
        self._fill(self._settings)
        self.query_one("#context", Input).focus()

    def _fill(self, settings: LoadSettings) -> None:
        adapter = settings.adapters[0] if settings.adapters else Adapter("")
        for name, value in (
            ("context", settings.context),
            ("batch", settings.batch),
            ("threads", settings.threads or ""),
            ("layers", settings.gpu_layers),
            ("lora", adapter.path),
            ("scale", f"{adapter.scale:g}"),
        ):
            self.query_one(f"#{name}", Input).value = str(value)
        self.query_one("#kv", Select).value = settings.kv_type
        self.query_one("#flash", Select).value = "1" if settings.flash_attention else ""
        self.query_one("#mmap", Select).value = "1" if settings.mmap else ""

    @on(Select.Changed, "#preset")
    def take_preset(self, event: Select.Changed) -> None:
        """Its settings fill the form."""
        if preset := self._presets.get(str(event.value)):
            self._settings = preset.load
            self._fill(preset.load)
            self.query_one("#name", Input).value = preset.name

    def _choices(self) -> list[tuple[str, str]]:
        return [("", "–"), *((name, name) for name in self._presets)]

    def action_bring(self) -> None:
        """Asks for a Modelfile."""
        hint = tr("It becomes a preset, and its settings fill the form.")
        self.app.push_screen(PathDialog(tr("Import a Modelfile"), hint), self._bring)

    def _bring(self, path: str | None) -> None:
        if path:
            file = Path(path)
            name = written(self, "name") or (file.parent if file.name.casefold() == "modelfile" else file).stem
            self._jobs.read(self, lambda: self._kept.import_modelfile(path, name), self._brought)

    def _brought(self, imported: ImportedPreset) -> None:
        preset = imported.preset
        self._presets[preset.name] = preset
        select = self.query_one("#preset", Select)
        select.set_options([(content(words), name) for name, words in self._choices()])
        select.value = preset.name
        ignored = "".join("\n" + tr("no effect here: {line}", line=line) for line in imported.ignored)
        self.notify(tr("Saved as {name}.", name=preset.name) + ignored, timeout=6, markup=False)

    def action_hand_out(self) -> None:
        """Writes the preset that is chosen beside where the workbench was started."""
        name = chosen(self, "preset")
        if not name:
            tell_problem(self, ValueError(tr("Choose a preset: it is what is exported.")))
            return
        path = Path.cwd() / f"{name.replace('/', '-')}.Modelfile"
        told = tr("Written: {path}", path=str(path))
        self._jobs.read(
            self,
            lambda: write_text(path, self._kept.export_modelfile(name)),
            lambda _: self.notify(told, timeout=5, markup=False),
        )

    @on(Input.Changed)
    @on(Select.Changed)
    def reckon(self) -> None:
        """The verdict follows what is typed."""
        problem = self.query_one(".problem", Static)
        try:
            settings = self._read()
        except ValueError as error:
            tell_problem(self, error)
            return
        problem.remove_class("-open")
        self._latest.submit(settings)

    def _tell(self, _: LoadSettings, fit: MemoryFit) -> None:
        self.query_one("#verdict", Static).update(content(*_verdict(self._file, fit)))

    def _read(self) -> LoadSettings:
        path = written(self, "lora")
        adapters = (Adapter(path, _number(self, "scale", tr("Its scale"))),) if path else ()
        return replace(
            self._settings,
            context=whole(self, "context", tr("Context"), 1),
            kv_type=cast(KvType, chosen(self, "kv")),
            batch=whole(self, "batch", tr("Batch"), 1),
            threads=whole(self, "threads", tr("Threads"), 0) if written(self, "threads") else 0,
            gpu_layers=whole(self, "layers", tr("GPU layers"), 0),
            flash_attention=bool(chosen(self, "flash")),
            mmap=bool(chosen(self, "mmap")),
            adapters=adapters + self._settings.adapters[1:] if adapters else (),
        )

    def on_input_submitted(self) -> None:
        """Enter goes on; from the last field it keeps."""
        if self.focused is self.query_one("#name"):
            self.action_keep(load=False)
        else:
            self.focus_next()

    def action_keep(self, load: bool) -> None:
        """Dismisses with the settings, or says what is wrong with them."""
        try:
            idle = max(0.0, _number(self, "idle", tr("Idle minutes"))) if written(self, "idle") else 0.0
            self.dismiss(Chosen(self._read(), idle, written(self, "name"), load))
        except ValueError as error:
            tell_problem(self, error)

    def action_leave(self) -> None:
        """Nothing changes."""
        self.dismiss(None)


def _switch() -> list[tuple[str, str]]:
    return [("1", tr("on")), ("", tr("off"))]


def _number(dialog: SettingsDialog, name: str, label: str) -> float:
    """Raises ValueError with a sentence."""
    try:
        return float(written(dialog, name).replace(",", "."))
    except ValueError:
        raise ValueError(tr("{field}: give a number.", field=label)) from None


def _verdict(file: ModelFile, fit: MemoryFit) -> list[Line]:
    """ "= 361 MiB ✓ fits · largest ctx that fits 8,192"."""
    if fit.estimate is None:
        return [(tr("Memory: the header doesn't tell."), Tone.DIM)]
    words = {"fits": tr("fits"), "tight": tr("tight"), "no": tr("does not fit")}
    sign, tone = SIGNS[fit.verdict]
    return [
        f"= {size(fit.estimate.total)} ",
        (f"{sign} {words[fit.verdict]}", tone),
        (f"   {tr('weights')} ", Tone.DIM),
        size(fit.estimate.weights),
        ("   KV ", Tone.DIM),
        size(fit.estimate.kv_cache),
        (f"   {tr('largest ctx that fits')} ", Tone.DIM),
        largest_words(file, fit),
    ]
