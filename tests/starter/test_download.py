"""Finding a pip, and the command it runs."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from workbench.errors import MissingModelError
from workbench.starter import download


def _without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else real(name))


def test_python_carries_a_pip_that_runs_without_being_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        pytest.skip("this Python carries no pip")
    _without(monkeypatch, "pip")
    command = download._pip()
    assert command[-1].endswith(".whl/pip")
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith("pip ")


def test_uv_is_the_next_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "pip", "ensurepip")
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    assert download._pip() == ["/bin/uv", "tool", "run", "pip"]


def test_without_any_the_error_names_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "pip", "ensurepip")
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(MissingModelError, match="no pip") as caught:
        download._pip()
    assert "--from DIR" in caught.value.remedy


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"678")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert download._size(tmp_path) == 8
