"""Commands about models: the GGUF files there are, and the memory they would take."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final, get_args

import click

from workbench.cli.display import print_json, print_table, say, size
from workbench.cli.front import FrontEnds
from workbench.desk import Desk
from workbench.engine.gguf_header import read_header
from workbench.errors import EngineError, NotFoundError
from workbench.i18n import tr
from workbench.memory.words import largest_words, part_words, trained_words
from workbench.records.models import (
    KvType,
    LoadSettings,
    MemoryFit,
    MemoryGrid,
    ModelFile,
    Verdict,
    parameter_count,
)

KV_TYPES: Final[tuple[KvType, ...]] = get_args(KvType)
MARKS: Final[dict[Verdict, str]] = {"fits": "✓", "tight": "~", "no": "✗", "unknown": "?"}


class _ListsByDefault(click.Group):
    """Lists, unless its first argument names another command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "-h", "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_ListsByDefault)
def models() -> None:
    """The GGUF files on this machine: what they are, what fits, your notes and presets.

    Without a command it lists them.
    """


@models.command("list")
@click.option("--add", "folder", default="", metavar="FOLDER", help="Look for GGUF files in this folder too.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.argument("model", default="", metavar="[MODEL]")
@click.option("--memory", "show_memory", is_flag=True, help="Tell what loading takes; of one MODEL, a grid too.")
@click.option("--ctx", "context", type=click.IntRange(1), default=LoadSettings().context, help="Tokens of context.")
@click.option("--kv", "kv_type", type=click.Choice(KV_TYPES), default=KV_TYPES[0], help="How keys and values are kept.")
@click.pass_obj
def list_models(
    front: FrontEnds, folder: str, as_json: bool, model: str, show_memory: bool, context: int, kv_type: KvType
) -> None:
    """Lists the GGUF files, as their headers describe them, and whether they fit into the memory that is free."""
    settings = LoadSettings(context=context, kv_type=kv_type)
    with front.desk("create") if folder else front.glance() as desk:
        if folder:
            desk.library.add_folder(folder)
        found = desk.library.files(rescan=True)
        if model:
            file = header_of(model_path(desk, model))
            fit, grid = desk.library.memory([file], settings)[0], desk.library.memory_grid(file, settings)
            _show_one(file, settings, fit, grid, as_json)
            return
        fits = desk.library.memory(found, settings)
    if as_json:
        print_json(fits if show_memory else found)
    elif not found:
        say(tr("No GGUF files yet: --add FOLDER looks in one, workbench starter fetches a small one."))
    elif show_memory:
        _show_memory(found, settings, fits)
    else:
        _show_list(found, fits)


def header_of(path: str) -> ModelFile:
    """What the file's header says, in a folder that is listed or not. Raises EngineError for what can't be used."""
    file = read_header(Path(path).expanduser().absolute())
    if file.problem:
        raise EngineError(
            tr("{name} can't be used", name=file.name), file.problem, tr("workbench models lists the files there are.")
        )
    return file


def _show_list(files: Sequence[ModelFile], fits: Sequence[MemoryFit]) -> None:
    rows = [
        (
            f.name,
            f.quantization,
            size(f.size),
            parameter_count(f.parameters),
            f"{f.context:,}",
            _verdict(memory) if f.kind == "model" else f.kind,
            f.problem or f.path,
        )
        for f, memory in zip(files, fits, strict=True)
    ]
    head = (tr("name"), tr("quantization"), tr("size"), tr("parameters"), tr("context"), tr("fits"), tr("file"))
    print_table(head, rows, right=(2, 3, 4))


def _show_memory(files: Sequence[ModelFile], settings: LoadSettings, fits: Sequence[MemoryFit]) -> None:
    rows = []
    for file, memory in zip(files, fits, strict=True):
        e = memory.estimate
        parts = (e.weights, e.kv_cache, e.compute, e.output, e.margin) if e else ()
        sizes = [size(octets) for octets in parts] or ["–"] * 5
        loads = str(e.loads) if e else "–"
        rows.append((file.name, *sizes, _verdict(memory), f"{memory.largest_context:,}", loads))
    head = (
        tr("name"),
        tr("weights"),
        "KV",
        tr("compute"),
        tr("output"),
        tr("process"),
        tr("fits"),
        tr("largest context"),
        tr("loads measured"),
    )
    print_table(head, rows, right=(1, 2, 3, 4, 5, 7, 8))
    for file in files:
        if told := trained_words(file, settings):
            say(f"~ {file.name}: {told}")


def _show_one(file: ModelFile, settings: LoadSettings, memory: MemoryFit, grid: MemoryGrid, as_json: bool) -> None:
    """One model: its parts with what they are products of, and the grid."""
    if as_json:
        print_json({"memory": memory, "grid": grid})
        return
    _show_memory([file], settings, [memory])
    if memory.estimate is None:
        say(tr("The header doesn't tell what loading takes."))
        return
    for term in memory.estimate.terms:
        click.echo(f"  {size(term.bytes):>10}  {part_words(term.part)}: {term.what}")
    if not memory.estimate.device:
        say(tr("process while it answers") + f" {size(memory.estimate.resident)}")
    say(f"{tr('largest ctx that fits')} {largest_words(file, memory)}")
    if memory.measured:
        taken = size(memory.measured.measured.total)
        say(tr("measured at the last such load: {size} ({error})", size=taken, error=memory.measured.told))
    click.echo()
    rows = [("▸" if r.is_file else "", r.quantization, *map(_verdict, r.fits)) for r in grid.rows]
    print_table(("", tr("quantization"), *(f"{n:,}" for n in grid.contexts)), rows)


def _verdict(memory: MemoryFit) -> str:
    """ "✓ 0.35 GiB": the verdict's sign and what has to be free."""
    return f"{MARKS[memory.verdict]} {size(memory.estimate.total)}" if memory.estimate else MARKS[memory.verdict]


def model_path(desk: Desk, model: str) -> str:
    """The path of a model that a person names by its path, its file's name, or as ``workbench models`` shows it.

    The beginning of a name does where only one file has it; what isn't like any name is taken for a path.

    Raises:
        NotFoundError: no name, but near to some.
    """
    by_name = {place.name: f.path for f in desk.library.files() for place in f.places if place.keeper == "ollama"}
    by_name |= {name: f.path for f in desk.library.files() for name in (f.name, f.path.rsplit("/", 1)[-1])}
    if model in by_name or not model or "/" in model or Path(model).exists():
        return by_name.get(model, model)
    begun = {name: path for name, path in by_name.items() if name.casefold().startswith(model.casefold())}
    whole = {path for name, path in begun.items() if name.casefold() == f"{model}.gguf".casefold()}
    if len(found := whole or set(begun.values())) == 1:
        return found.pop()
    if near := sorted(begun) or get_close_matches(model, by_name, n=3, cutoff=0.5):
        raise NotFoundError(
            tr("No such model"),
            tr("There is no model “{name}”.", name=model),
            tr("Did you mean one of these? {names}", names=", ".join(near[:5])),
        )
    return model


COMMANDS = (models,)
