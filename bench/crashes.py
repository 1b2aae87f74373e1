"""What a person sees when a model file is damaged, or a load or an answer goes wrong: every kind, really tried.

Each kind is made of MODEL (a copy of it, changed), loaded and asked as the workbench does it. Printed is the table of
docs/engine.md. That this program is still there to print it is the point: what dies is a child process.

Run: python -m bench.crashes MODEL.gguf, and not as root, who may read everything.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import psutil

from workbench.engine.client import ChildGenerator, load_generator
from workbench.engine.gauges import measure
from workbench.engine.gguf_header import read_header
from workbench.engine.safer import safer
from workbench.errors import EngineError, WorkbenchError
from workbench.memory.room import fit, room
from workbench.playground.words import silence_words
from workbench.records.answers import Message
from workbench.records.models import Adapter, GenerationSettings, LoadProgress, LoadSettings, SaferLoad

SMALL: Final = LoadSettings(context=512)
ANSWERS, SILENT, ENDS = "It loads and answers", "It loads and is silent", "The answer ends"
HEADER: Final = 8 << 20
"""Bytes within which every change of a header is made."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is being tried: the changed file, and the process once it runs."""

    model: Path
    path: Path
    pid: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """One thing that goes wrong.

    Attributes:
        damage: changes ``path``, which is a copy of the model when it is called, or returns another path to load.
        starting: is called when the process is there and nothing is loaded yet; ``loaded`` when it stands ready.
    """

    name: str
    damage: Callable[[Trial], object] = lambda _: None
    load: LoadSettings = SMALL
    ask: GenerationSettings = field(default_factory=lambda: GenerationSettings(max_tokens=4))
    starting: Callable[[Trial], object] = lambda _: None
    loaded: Callable[[Trial], object] = lambda _: None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the person is told, and what a retry would change ("" when nothing would help)."""

    kind: str
    title: str
    message: str
    remedy: str = ""
    retry: str = ""
    log: tuple[str, ...] = ()


def try_kind(kind: Kind, model: Path, folder: Path) -> Outcome:
    """Makes it go wrong in ``folder``, and says what the person sees."""
    trial = Trial(model, folder / "model.gguf")
    shutil.copyfile(model, trial.path)
    ADAPTER.parent.mkdir(exist_ok=True)
    made = kind.damage(trial)
    trial = replace(trial, path=made) if isinstance(made, Path) else trial
    generator: ChildGenerator | None = None
    try:
        generator = _load(kind, trial)
        kind.loaded(replace(trial, pid=generator.model.pid))
        return _ask(kind, generator)
    except WorkbenchError as error:
        proposed = _proposed(error, kind, trial) if isinstance(error, EngineError) else None
        log = error.log if isinstance(error, EngineError) else ()
        return Outcome(kind.name, error.title, error.message, error.remedy, proposed.change if proposed else "", log)
    finally:
        if generator:
            generator.close()
        shutil.rmtree(ADAPTER.parent)


def _proposed(error: EngineError, kind: Kind, trial: Trial) -> SaferLoad | None:
    expected = fit(read_header(trial.path), kind.load, room(measure(None), loaded=False))
    return safer(error, kind.load, expected.largest_context)


def _load(kind: Kind, trial: Trial) -> ChildGenerator:
    started: list[int] = []

    def progress(_: LoadProgress) -> None:
        if not started:
            started.append(newest_child())
            kind.starting(replace(trial, pid=started[0]))

    return load_generator(read_header(trial.path), kind.load, progress)


def _ask(kind: Kind, generator: ChildGenerator) -> Outcome:
    prompt = generator.render([Message("user", "What is the capital of France?")])
    *_, last = generator.generate(prompt, kind.ask)
    if last.error:
        return Outcome(kind.name, ENDS, last.error)
    said = last.text.strip().replace("\n", " ")[:60]
    return Outcome(kind.name, ANSWERS, said) if said else Outcome(kind.name, SILENT, silence_words())


def newest_child() -> int:
    """The process that was started last by this one."""
    return int(max(psutil.Process().children(), key=lambda child: child.create_time()).pid)


# -- damages -----------------------------------------------------------------------------------------------------------


def cut(size: int) -> Callable[[Trial], None]:
    """The file ends after ``size`` bytes."""
    return lambda trial: os.truncate(trial.path, size)


def written(data: bytes) -> Callable[[Trial], int]:
    """Other content."""
    return lambda trial: trial.path.write_bytes(data)


def patched(after: str, skip: int, code: str, value: float) -> Callable[[Trial], None]:
    """``value``, packed as ``struct``'s ``code``, in place of what is ``skip`` bytes after the text ``after``."""

    def damage(trial: Trial) -> None:
        with trial.path.open("r+b") as file:
            file.seek(file.read(HEADER).index(after.encode()) + len(after) + skip)
            file.write(struct.pack("<" + code, value))

    return damage


def at(offset: int, code: str, value: int) -> Callable[[Trial], None]:
    """``value`` at ``offset`` of the file."""

    def damage(trial: Trial) -> None:
        with trial.path.open("r+b") as file:
            file.seek(offset)
            file.write(struct.pack("<" + code, value))

    return damage


def reworded(old: str, new: str) -> Callable[[Trial], None]:
    """``new`` in place of the first ``old`` of the header, which is as long."""

    def damage(trial: Trial) -> None:
        with trial.path.open("r+b") as file:
            header = file.read(HEADER)
            file.seek(header.index(old.encode()))
            file.write(new.encode())

    return damage


def noise(trial: Trial) -> None:
    """A tenth of the weights is overwritten."""
    with trial.path.open("r+b") as file:
        file.seek(40 << 20)
        file.write(bytes(range(256)) * (40 << 10))


def folder_instead(trial: Trial) -> None:
    """A folder that is called like a model."""
    trial.path.unlink()
    trial.path.mkdir()


def no_permission(trial: Trial) -> None:
    """Nobody may read it (but for root, who may read everything)."""
    trial.path.chmod(0)


def part_of_a_split(trial: Trial) -> Path:
    """The first of three, which is all there is."""
    return trial.path.rename(trial.path.with_name("model-00001-of-00003.gguf"))


def little_memory(mebibytes: int) -> Callable[[Trial], None]:
    """The process may take so much more address space than it has."""

    def limit(trial: Trial) -> None:
        process = psutil.Process(trial.pid)
        most = process.memory_info().vms + (mebibytes << 20)
        process.rlimit(psutil.RLIMIT_AS, (most, most))

    return limit


ADAPTER: Final = Path(tempfile.gettempdir()) / f"workbench-{os.getpid()}" / "adapter.gguf"
ADAPTED: Final = replace(SMALL, adapters=(Adapter(str(ADAPTER)),))


def adapter(architecture: str, width: int) -> Callable[[Trial], None]:
    """A LoRA of rank 2 for the query of the first layer of a model so wide."""

    def write(_: Trial) -> None:
        from gguf import GGUFWriter

        writer = GGUFWriter(ADAPTER, architecture)
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", 2.0)
        writer.add_tensor(f"{TENSOR}.lora_a", np.zeros((2, width), np.float32))
        writer.add_tensor(f"{TENSOR}.lora_b", np.zeros((width, 2), np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    return write


TENSOR: Final = "blk.0.attn_q.weight"
"""After its name in the header: u32 dimensions, u64 for each of the two, u32 type, u64 offset."""
EPSILON: Final = "llama.attention.layer_norm_rms_epsilon"

KINDS: Final = (
    Kind("a file of 0 bytes", written(b"")),
    Kind("a folder called like a model", folder_instead),
    Kind("no permission to read", no_permission),
    Kind("another kind of file", written(b"Caminante, no hay camino")),
    Kind("an unknown version of GGUF", at(4, "I", 99)),
    Kind("cut off in the header", cut(1_000)),
    Kind("cut off in the weights", cut(90_000_000)),
    Kind("a part of a split file is missing", part_of_a_split),
    Kind("a wrong count of tensors", at(8, "Q", 1 << 40)),
    Kind("a wrong count of fields", at(16, "Q", 1 << 40)),
    Kind("a tensor of 100 dimensions", patched(TENSOR, 0, "I", 100)),
    Kind("a dimension of a tensor is wrong", patched(TENSOR, 4, "Q", 577)),
    Kind("a tensor of an unknown type", patched(TENSOR, 20, "I", 250)),
    Kind("a tensor beyond the end", patched(TENSOR, 24, "Q", 1 << 50)),
    Kind("no layers", patched("llama.block_count", 4, "I", 0)),
    Kind("four thousand million layers", patched("llama.block_count", 4, "I", 4_000_000_000)),
    Kind("epsilon is not a number", patched(EPSILON, 4, "f", float("nan"))),
    Kind("epsilon is negative", patched(EPSILON, 4, "f", -1.0)),
    Kind("an unknown architecture", patched("general.architecture", 12, "B", ord("L"))),
    Kind("damaged weights", noise),
    Kind("a broken chat template", reworded("{% for message in", "{% fxr message in")),
    Kind("no chat template", reworded("tokenizer.chat_template", "tokenizer.chat_templatX")),
    Kind("the file vanishes before it is loaded", starting=lambda trial: trial.path.unlink()),
    Kind("the file vanishes while loaded", loaded=lambda trial: trial.path.unlink()),
    Kind("the file is cut off while loaded", loaded=cut(3_000_000)),
    Kind("the same while mapped into memory", load=replace(SMALL, mmap=True), loaded=cut(3_000_000)),
    Kind("no memory for the weights", starting=little_memory(400)),
    Kind("no memory for the context", load=LoadSettings(context=65_536), starting=little_memory(1_200)),
    Kind("a context larger than the machine", load=LoadSettings(context=1 << 30)),
    Kind("KV in q4_0 without flash attention", load=replace(SMALL, kv_type="q4_0", flash_attention=False)),
    Kind("the adapter isn't there", lambda _: ADAPTER.unlink(missing_ok=True), ADAPTED),
    Kind("the adapter is none", lambda _: ADAPTER.write_text("not a LoRA"), ADAPTED),
    Kind("the adapter is a model", lambda trial: ADAPTER.write_bytes(trial.model.read_bytes()), ADAPTED),
    Kind("the adapter is for another architecture", adapter("qwen2", 896), ADAPTED),
    Kind("the adapter is for a wider model", adapter("llama", 2048), ADAPTED),
    Kind("a broken grammar", ask=GenerationSettings(max_tokens=4, grammar='root ::= "yes')),
    Kind("a grammar without a root", ask=GenerationSettings(max_tokens=4, grammar='answer ::= "yes"')),
    Kind("a broken schema", ask=GenerationSettings(max_tokens=4, json_schema='{"type": "nothing"}')),
    Kind("the process is killed", loaded=lambda trial: psutil.Process(trial.pid).kill()),
)


def table(outcomes: list[Outcome]) -> str:
    """The outcomes as a Markdown table."""
    rows = (
        f"| {o.kind} | {o.title}: {_short(o.message)} | {o.remedy or '–'} | {o.retry or '–'} |".replace("\n", " ")
        for o in outcomes
    )
    return "\n".join(("| what is wrong | what it says | what to do | `r` tries again |", "|---|---|---|---|", *rows))


def _short(message: str) -> str:
    message = re.sub(r"/\S*/", "…/", message.replace("|", "\\|"))
    return message if len(message) <= 160 else message[:159] + "…"


def main(model: Path) -> None:
    """Tries every kind."""
    outcomes = []
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            outcomes.append(try_kind(kind, model, Path(folder)))
        print(kind.name, file=sys.stderr)
    print(table(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
