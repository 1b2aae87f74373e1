"""A run is under way only while a living process of this machine holds it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from storage import open_store
from storage.holders import is_alive, this_process
from tests.evals_runs.conftest import Bench, Cli
from tests.evals_runs.records import CONFIG, MANIFEST, result
from workbench.errors import UsageError

BEGUN = """
import sys
from pathlib import Path
from storage import open_store
from tests.evals_runs.records import CONFIG, MANIFEST

print(open_store(Path(sys.argv[1])).runs.create(CONFIG, "a" * 64, MANIFEST, 3).id, flush=True)
sys.stdin.read()
"""


def test_a_run_is_running_while_its_process_lives_and_interrupted_once_it_was_killed(tmp_path: Path) -> None:
    store = open_store(tmp_path / "lab.db")
    with subprocess.Popen(
        [sys.executable, "-c", BEGUN, str(tmp_path / "lab.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        run_id = int(child.stdout.readline())
        assert store.runs.run(run_id).status == "running"
        child.kill()
        child.wait()
    assert [run.status for run in store.runs.runs()] == ["interrupted"]
    assert store.runs.put_result(result(run_id, "a")).status == "interrupted"
    assert store.runs.set_status(run_id, "running").status == "running"  # whoever resumes it holds it
    assert store.runs.set_status(run_id, "complete").status == "complete"
    store.close()


def test_a_holder_is_this_process_of_this_machine_and_nothing_else() -> None:
    node, pid, began = this_process().rsplit(" ", 2)
    assert is_alive(this_process())
    assert not is_alive(f"{node} {pid} {float(began) - 60}")  # the id was another program's before
    assert not is_alive(f"elsewhere {pid} {began}")
    for unreadable in ("", "x", f"{node} {pid}", f"{node} -1 {began}", f"{node} {10**30} {began}", f"{node} x y"):
        assert not is_alive(unreadable)


def test_a_run_that_a_living_process_holds_cannot_be_resumed(bench: Bench) -> None:
    run = bench.store.runs.create(CONFIG, "a" * 64, MANIFEST, 3)
    with pytest.raises(UsageError) as caught:
        list(bench.lab.resume(run.id))
    assert str(run.id) in caught.value.message


def test_the_list_says_interrupted(cli: Cli, bench: Bench) -> None:
    cli("run", "faq", "--lane", "lexical")
    subprocess.run([sys.executable, "-c", BEGUN, str(bench.store.path)], input="", check=True, text=True)
    assert [run["status"] for run in json.loads(cli("list", "--json").out)] == ["interrupted", "complete"]
    assert "interrupted" in cli("list").out.splitlines()[1]
