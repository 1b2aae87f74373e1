"""Loads that fail, in words: what can be told before a process is started, and what the engine says of itself."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from workbench.engine.gguf_header import SPLIT_NAME, read_header
from workbench.engine.machine import machine_memory
from workbench.engine.protocol import Failed
from workbench.errors import EngineError, UsageError
from workbench.i18n import tr
from workbench.memory.estimate import estimate
from workbench.paths import is_gone
from workbench.records.models import LoadSettings, ModelFile

GIB: Final = 1 << 30
NO_MEMORY: Final = re.compile(r"(?i)failed to allocate|unable to allocate|bad_alloc|out of memory|cudaMalloc")
NO_CACHE: Final = re.compile(r"(?i)V cache|flash_attn|cache type|block size \d+ does not divide")
NO_ARCHITECTURE: Final = re.compile(r"unknown model architecture: '(.*)'")


def check_load(file: ModelFile, settings: LoadSettings) -> None:
    """Refuses what can't work before a process is started for it. Raises UsageError, EngineError."""
    if file.problem:
        raise EngineError(
            tr("{name} can't be used", name=file.name),
            file.problem,
            _remedy(Path(file.path)),
            cause="file",
        )
    if file.kind != "model":
        raise EngineError(
            tr("{name} is no model", name=file.name),
            tr("Its header says that it is of the kind “{kind}”.", kind=file.kind),
            tr("Load a model; an adapter is added to one in its load settings."),
            cause="file",
        )
    if settings.context < 1 or settings.batch < 1 or settings.threads < 0:
        raise UsageError(
            tr("Bad load settings"), tr("Context and batch start at 1, threads at 0."), tr("Correct the setting.")
        )
    for adapter in settings.adapters:
        _check_adapter(Path(adapter.path), file)
    expected, machine = estimate(file, settings), machine_memory()[0]
    if expected and expected.kv_cache > machine:
        raise EngineError(
            tr("No room for this context"),
            tr(
                "{context} tokens of context need about {need} GiB; this machine has {total} GiB.",
                context=settings.context,
                need=round(expected.kv_cache / GIB),
                total=round(machine / GIB),
            ),
            tr("Choose a smaller context."),
            cause="context",
        )


def _check_adapter(path: Path, model: ModelFile) -> None:
    """What its header tells of it is told before gigabytes of weights are read. Raises EngineError."""
    if not os.path.isfile(path):  # noqa: PTH113 -- Path.is_file raises where one may not look
        raise EngineError(
            tr("No such adapter"),
            tr("There is no file {path}.", path=path),
            tr("Correct the path, or load the model without the adapter."),
            cause="adapter",
        )
    adapter = read_header(path)
    why = adapter.problem
    if not why and adapter.kind != "adapter":
        why = tr("Its header says that it is of the kind “{kind}”.", kind=adapter.kind)
    if not why and adapter.architecture != model.architecture:
        why = tr(
            "It was made for the architecture “{made}”, and the model's is “{model}”.",
            made=adapter.architecture,
            model=model.architecture,
        )
    if why:
        raise _adapter_error(model, f"{adapter.name}: {why}")


def _adapter_error(model: ModelFile, why: str, log: tuple[str, ...] = ()) -> EngineError:
    return EngineError(
        tr("The adapter doesn't fit {name}", name=model.name),
        why,
        tr("Use an adapter that was made for this model, or load it without."),
        log=log,
        cause="adapter",
    )


def _remedy(path: Path) -> str:
    """What to do about a file that can't be read, or whose header can't."""
    if is_gone(path):
        return tr("Read the folders anew, and choose a file that is there.")
    readable = os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids)
    if readable and not path.is_file():
        return tr("Choose a file.")
    if not readable:
        return tr("Give yourself permission to read it, or choose another one.")
    if SPLIT_NAME.search(path.name.removesuffix(".gguf")):
        return tr("Put all parts of the file beside one another, under the names they were published with.")
    return tr("Download the file again, or choose another one.")


def load_error(failed: Failed, file: ModelFile, settings: LoadSettings, log: tuple[str, ...]) -> EngineError:
    """A load that the engine refused and that its process outlived."""
    told = failed.detail
    if failed.kind == "adapter":
        return _adapter_error(file, told or tr("The engine gave no reason."), log)
    if NO_MEMORY.search(told) or any(NO_MEMORY.search(line) for line in log):
        return EngineError(
            tr("Not enough memory for {name}", name=file.name),
            told or tr("The engine could get no more memory."),
            tr("Choose a smaller context or a smaller quantization, or end other programs."),
            log=log,
            cause="memory",
        )
    if failed.kind == "context":
        return _context_error(told, settings, log)
    if unknown := NO_ARCHITECTURE.search(told):
        return EngineError(
            tr("{name} can't be loaded", name=file.name),
            tr("This engine doesn't know the architecture “{name}”.", name=unknown[1]),
            tr("Choose another model, or install a newer engine that knows it."),
            log=log,
            cause="file",
        )
    if not os.path.isfile(file.path):  # noqa: PTH113 -- as above
        return EngineError(
            tr("{name} can't be loaded", name=file.name),
            tr("The file is gone: {path}", path=file.path),
            tr("Read the folders anew, and choose a file that is there."),
            log=log,
        )
    return EngineError(
        tr("{name} can't be loaded", name=file.name),
        told or tr("The engine gave no reason."),
        tr("Compare the file's SHA-256 with its source and download it again, or choose another file."),
        log=log,
        cause="file",
    )


def _context_error(told: str, settings: LoadSettings, log: tuple[str, ...]) -> EngineError:
    """The weights are read, but no context can be made of these settings."""
    if settings.kv_type != "f16" and NO_CACHE.search(told):
        return EngineError(
            tr("The KV type {kind} can't be used", kind=settings.kv_type),
            told,
            tr("Turn flash attention on, or choose the KV type f16."),
            log=log,
            cause="cache",
        )
    return EngineError(
        tr("No room for this context"),
        told or tr("The engine couldn't make the context."),
        tr("Choose a smaller context, or the KV type f16."),
        log=log,
        cause="context",
    )
