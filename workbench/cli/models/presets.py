"""``workbench models preset`` and ``modelfile``: ways to load and ask a model, exchanged with Ollama."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

import click

from workbench.cli.display import print_json, print_table, say
from workbench.cli.front import FrontEnds
from workbench.cli.models.cards import any_file, known_file
from workbench.cli.models.chat import given, sampling_options
from workbench.cli.models.files import models
from workbench.errors import NotFoundError, UsageError, reason_of
from workbench.i18n import tr
from workbench.records.library import ImportedPreset, Preset
from workbench.records.models import Adapter, GenerationSettings, KvType

KV_TYPES: Final[tuple[KvType, ...]] = get_args(KvType)


@models.group(invoke_without_command=True)
@click.pass_context
def preset(context: click.Context) -> None:
    """Presets of loading and asking; without a command lists them."""
    if context.invoked_subcommand is None:
        with context.obj.desk("create") as desk:
            rows = [(p.name, f"{p.load.context:,}", p.load.kv_type, p.model) for p in desk.library.presets.all()]
        print_table((tr("name"), tr("context"), "KV", tr("model")), rows, right=(1,))


@preset.command("show")
@click.argument("name")
@click.pass_obj
def show_preset(front: FrontEnds, name: str) -> None:
    """Shows a preset as JSON."""
    with front.desk("create") as desk:
        print_json(desk.library.presets.get(name))


@preset.command("save")
@click.argument("name")
@click.option("--model", default="", metavar="MODEL", help="The model it is meant for.")
@click.option("--ctx", "context", type=click.IntRange(1), help="Tokens of context.")
@click.option("--kv", "kv_type", type=click.Choice(KV_TYPES), help="How keys and values are kept.")
@click.option("--batch", type=click.IntRange(1), help="Tokens that are computed at once.")
@click.option("--threads", type=click.IntRange(0), help="0: one fewer than cores.")
@click.option("--gpu-layers", type=click.IntRange(0), help="Layers that a GPU shall take.")
@click.option("--flash/--no-flash", "flash_attention", default=None, help="Flash attention.")
@click.option("--mmap/--no-mmap", default=None, help="Map the file into memory.")
@click.option("--lora", multiple=True, metavar="FILE[:SCALE]", help="A LoRA adapter; may be repeated.")
@click.option("--system", default=None, metavar="TEXT", help="The system message.")
@sampling_options
@click.pass_obj
def save_preset(
    front: FrontEnds, /, name: str, model: str, lora: tuple[str, ...], system: str | None, **options: Any
) -> None:
    """Saves a preset; of one that is there, changes what is given."""
    changes = given(options)
    sampling = {key: changes.pop(key) for key in list(changes) if hasattr(GenerationSettings(), key)}
    with front.desk("create") as desk:
        known = next((p for p in desk.library.presets.all() if p.name == name), Preset(name))
        load = replace(known.load, **changes)
        if lora:
            load = replace(load, adapters=tuple(map(read_adapter, lora)))
        changed = replace(
            known,
            load=load,
            generation=replace(known.generation, **sampling),
            model=any_file(desk, model).path if model else known.model,
            system=known.system if system is None else system,
        )
        desk.library.presets.save(changed)
    say(tr("Saved as {name}.", name=name))


def read_adapter(text: str) -> Adapter:
    """ "style.gguf" or "style.gguf:0.5". Raises UsageError."""
    path, colon, scale = text.rpartition(":")
    if not colon:
        return Adapter(text)
    try:
        return Adapter(path, float(scale))
    except ValueError:
        if Path(text).exists():
            return Adapter(text)
        raise UsageError(
            tr("Bad adapter"), tr("“{text}” is no file and scale.", text=text), tr("Write FILE or FILE:0.5.")
        ) from None


@preset.command("delete")
@click.argument("name")
@click.pass_obj
def delete_preset(front: FrontEnds, name: str) -> None:
    """Deletes a preset."""
    with front.desk("create") as desk:
        desk.library.presets.delete(name)
    say(tr("Deleted {name}.", name=name))


@models.group()
def modelfile() -> None:
    """Ollama Modelfiles in and out."""


@modelfile.command("import")
@click.argument("source", metavar="FILE|MODEL")
@click.argument("name")
@click.pass_obj
def import_modelfile(front: FrontEnds, source: str, name: str) -> None:
    """Saves a Modelfile, or what Ollama keeps of a MODEL, as the preset NAME."""
    with front.desk("create") as desk:
        if Path(source).is_file() and not source.endswith(".gguf"):
            imported = desk.library.presets.import_modelfile(source, name)
        else:
            imported = desk.library.presets.import_ollama(known_file(desk, source), name, source)
    _tell(imported)


def _tell(imported: ImportedPreset) -> None:
    say(tr("Saved as {name}.", name=imported.preset.name))
    if imported.preset.template:
        say(tr("TEMPLATE is kept for exports; the model file's own template renders."), dim=True)
    for line in imported.ignored:
        say(tr("no effect here: {line}", line=line), dim=True)


@modelfile.command("export")
@click.argument("name")
@click.argument("target", type=click.Path(path_type=Path), required=False, metavar="[FILE]")
@click.pass_obj
def export_modelfile(front: FrontEnds, name: str, target: Path | None) -> None:
    """Writes the preset NAME as a Modelfile, to FILE or standard output."""
    with front.desk("create") as desk:
        text = desk.library.presets.export_modelfile(name)
    if target is None:
        say(text.rstrip("\n"))
        return
    try:
        target.write_text(text, "utf-8")
    except OSError as error:
        raise NotFoundError(
            tr("Can't write"), tr("{path}: {reason}", path=target, reason=reason_of(error)), tr("Choose another place.")
        ) from None
    say(tr("Written to {path}.", path=target))


COMMANDS = (models,)
