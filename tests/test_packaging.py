"""What a person who installs the wheel gets: every room, the data beside the code, and nothing of the tests."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("workbench", "storage", "screens", "themes")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built through the source distribution, as a release is, by the build backend in this environment."""
    pytest.importorskip("hatchling", reason="needs hatchling (an isolated build is part of .ci/run)")
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(out), "-t"]
    subprocess.run([*build, "sdist"], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(out.glob("*.tar.gz"))) as archive:
        archive.extractall(out, filter="data")
    unpacked = next(path for path in out.iterdir() if path.is_dir())
    subprocess.run([*build, "wheel"], cwd=unpacked, check=True, capture_output=True)
    return zipfile.ZipFile(next(out.glob("*.whl")))


def test_every_file_of_every_room_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    packed = set(wheel.namelist())
    there = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".db", ".pyc"}
    }
    assert there - packed == set()


def test_only_the_four_rooms_are_installed(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {*ROOMS, next(top for top in tops if top.endswith(".dist-info"))}


def test_the_command_and_the_licence_are_there(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    entry = next(name for name in names if name.endswith("entry_points.txt"))
    assert "workbench = workbench.__main__:main" in wheel.read(entry).decode()
    licence = next(name for name in names if name.endswith("licenses/LICENSE"))
    assert "Apache License" in wheel.read(licence).decode()
