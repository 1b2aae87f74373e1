"""The whole spine with no network at all: a namespace that has none, not only a polite setting."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench import demo

pytestmark = pytest.mark.model


def _without_network() -> list[str]:
    """A command prefix that runs what follows in an empty network namespace; skips where that isn't allowed."""
    unshare = shutil.which("unshare")
    for options in ("-rn", "-n"):
        if unshare and subprocess.run([unshare, options, "true"], capture_output=True, check=False).returncode == 0:
            return [unshare, options]
    pytest.skip("this system allows no network namespace (unshare -rn)")


def _workbench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*_without_network(), sys.executable, "-m", "workbench", "--db", "faro.db", *arguments]
    # The working tree is on the path by the installation, the settings of the person are not wanted.
    environment = {**os.environ, "WORKBENCH_LANG": "en", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_namespace_has_no_network() -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
    done = subprocess.run(
        [*_without_network(), sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "unreachable" in done.stderr


def test_ingest_ask_and_leave_without_a_network(tmp_path: Path) -> None:
    ingested = _workbench(tmp_path, "ingest", str(demo.demo_folder()), "--collection", "demo")
    assert ingested.returncode == 0, ingested.stderr
    asked = _workbench(tmp_path, "ask", demo.DEMO_QUESTION, "--json")
    assert asked.returncode == 0, asked.stderr
    trace = json.loads(asked.stdout)
    answer = trace["answer"]
    assert answer["outcome"] == "answered"
    cited = {citation["source_id"] for claim in answer["claims"] for citation in claim["citations"]}
    assert "en/loan-policy-2026.md" in cited
    assert "21 days" in answer["text"]
    assert [path.name for path in tmp_path.iterdir()] == ["faro.db"], "a clean exit leaves one file"


def test_the_demo_runs_headless_without_a_network(tmp_path: Path) -> None:
    done = _workbench(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert "[F1]" in done.stdout
    assert "21 days" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["faro.db"]
