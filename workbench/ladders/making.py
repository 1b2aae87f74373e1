"""Makes quantizations in a child process: previews them, writes them beside their name, and renames what is whole."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from workbench.engine import protocol
from workbench.engine.client import engine_available
from workbench.engine.gguf_header import file_hash, read_header
from workbench.engine.process import ChildProcess, ended_by
from workbench.errors import Cancelled, EngineError, FileError, UsageError, reason_of
from workbench.i18n import tr
from workbench.ladders.kinds import imatrix_reason, refused
from workbench.ports import Cancel
from workbench.records.ladders import Preview, Rung

PART: Final = ".part"
"""Ends the name of a file that isn't whole; nothing lists such files as models."""
SPARE: Final = 64 << 20
"""Bytes that a disk keeps free beyond what is written."""


@contextmanager
def ladder_child() -> Iterator[ChildProcess]:
    """A child that quantizes and compares, ended afterwards. Raises EngineError where there is no engine."""
    if reason := engine_available():
        raise EngineError(tr("No engine"), reason, tr("Run `make engine`, or pip install llama-cpp-python==0.3.36."))
    child = ChildProcess("ladder")
    try:
        yield child
    finally:
        child.close()


def preview(source: str, kinds: Sequence[str], cancel: Cancel | None = None) -> tuple[Preview, ...]:
    """What each quantization of ``source`` would be: size, types, fallbacks, or why it can't be made. Writes nothing.

    Raises:
        EngineError: no engine, or its process died.
        Cancelled: ``cancel`` was set.
    """
    found = []
    with ladder_child() as child:
        for kind in kinds:
            if cancel is not None and cancel.is_set():
                raise Cancelled
            found.append(
                Preview(kind, problem=reason) if (reason := refused(kind)) else _previewed(child, source, kind)
            )
    return tuple(found)


def _previewed(child: ChildProcess, source: str, kind: str) -> Preview:
    for event in child.ask(lambda id_: protocol.Quantize(id_, source, "", kind, 1)):
        match event:
            case protocol.Quantized():
                return event.preview
            case protocol.Failed():
                return Preview(kind, problem=_why(event))
    raise AssertionError("a preview ends with one or fails")


def _why(failed: protocol.Failed) -> str:
    return imatrix_reason() if failed.detail == "imatrix" else failed.detail or tr("The engine gave no reason.")


def make(source: str, rung: Rung, threads: int, cancel: Cancel) -> Iterator[float | Rung]:
    """Writes the rung's file. Yields 0–1 on the way, and last the rung with what the file is.

    That last one is yielded when the file is whole and just before it gets its name, so that it can be remembered
    first. Whatever fails, or is stopped, leaves nothing.

    Raises:
        UsageError: something lies at its path already.
        FileError: no folder, no permission, or too little room on its disk.
        EngineError: the engine refuses it, or died.
        Cancelled: ``cancel`` was set; it takes effect at once.
    """
    target = Path(rung.path)
    part = target.with_name(target.name + PART)
    if target.exists():
        raise UsageError(
            tr("There is a file of that name"),
            tr("{path} was there before, and is not replaced.", path=target),
            tr("Choose another folder, or hold that file against the reference as it is."),
        )
    began = time.monotonic()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)  # of a run that was killed
        with ladder_child() as child:
            _check_room(target.parent, _previewed(child, source, rung.kind))
            yield from _write(child, protocol.Quantize(0, source, str(part), rung.kind, threads), cancel)
        yield replace(described(rung, part), seconds=time.monotonic() - began)
        part.rename(target)
    except OSError as error:
        raise FileError(
            tr("{name} can't be written", name=target.name), reason_of(error), tr("Choose another folder.")
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def described(rung: Rung, path: Path) -> Rung:
    """The rung with what the file at ``path`` says of itself; with a ``problem`` where it can't be used."""
    file = read_header(path)
    return replace(
        rung,
        kind=rung.kind if rung.made else file.quantization,
        size=file.size,
        hash="" if file.problem else file_hash(path),
        bits_per_weight=file.bits_per_weight,
        tensor_types=file.tensor_types,
        fallbacks=file.fallbacks,
        problem=file.problem,
    )


def _check_room(folder: Path, wanted: Preview) -> None:
    if wanted.problem:
        raise EngineError(tr("{kind} can't be made", kind=wanted.kind), wanted.problem, tr("Leave it out."))
    free = shutil.disk_usage(folder).free
    if free < wanted.size + SPARE:
        raise FileError(
            tr("No room on the disk"),
            tr(
                "{kind} takes {need} MiB, and {spare} more shall stay free; {folder} has {free} MiB.",
                kind=wanted.kind,
                need=wanted.size >> 20,
                spare=SPARE >> 20,
                folder=folder,
                free=free >> 20,
            ),
            tr("Make room, or choose a folder on another disk."),
        )


def _write(child: ChildProcess, asked: protocol.Quantize, cancel: Cancel) -> Iterator[float]:
    """Quantizing can't be asked to stop: a cancel ends the process."""
    with ended_by(cancel, child.close):
        try:
            yield from _followed(child, asked)
        except EngineError:
            if cancel.is_set():
                raise Cancelled from None
            raise


def _followed(child: ChildProcess, asked: protocol.Quantize) -> Iterator[float]:
    for event in child.ask(lambda id_: replace(asked, id=id_)):
        match event:
            case protocol.LoadFraction():
                yield event.fraction
            case protocol.Failed():
                raise EngineError(
                    tr("{kind} can't be made", kind=asked.kind), _why(event), tr("Leave it out."), log=child.log
                )
