"""The engine's build: what is kept, what is refused, and what a person reads when it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.starter import engine


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _an_engine_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    package = tmp_path / "site" / "llama_cpp"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))


@pytest.mark.model
def test_an_engine_that_loads_is_kept() -> None:
    said: list[str] = []
    version = engine.ensure(said.append)
    assert version.count(".") == 2
    assert len(said) == 1
    assert "kept" in said[0]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise OSError('libcudart.so.12: cannot open shared object file')", "libcudart"),
        ("import os; os._exit(3)", "3"),
        ("import os; os.abort()", "-6"),
    ],
)
def test_an_installed_engine_that_fails_is_reported_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    _an_engine_that_fails(tmp_path, monkeypatch, code)
    with pytest.raises(WorkbenchError, match=reason) as caught:
        engine.ensure(lambda line: None)
    assert "pip uninstall" in caught.value.remedy
    assert not engine.log_path().exists(), "no tool was run"


def test_without_a_compiler_the_error_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "probe", lambda: ("", "ModuleNotFoundError: No module named 'llama_cpp'"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(WorkbenchError, match=r"No C\+\+ compiler") as caught:
        engine.ensure(lambda line: None)
    assert "build-essential" in caught.value.remedy


def test_a_tool_that_fails_shows_its_last_lines_and_names_the_log() -> None:
    code = "import sys; [print('line', n) for n in range(20)]; sys.exit('fatal error: no such header')"
    with pytest.raises(WorkbenchError, match="fatal error: no such header") as caught:
        engine._run([sys.executable, "-c", code])
    assert "line 19" in caught.value.message
    assert "line 2\n" not in caught.value.message
    assert str(engine.log_path()) in caught.value.remedy
    assert "line 0" in engine.log_path().read_text()


def test_the_cache_holds_one_wheel_for_each_platform() -> None:
    assert engine.cached_wheel() is None
    folder = engine._cache()
    folder.mkdir(parents=True)
    (folder / "llama_cpp_python-0.0.1-py3-none-any.whl").touch()
    assert engine.cached_wheel() is None, "another version is another engine"
    wheel = folder / f"llama_cpp_python-{engine.VERSION}-py3-none-linux_x86_64.whl"
    wheel.touch()
    assert engine.cached_wheel() == wheel
