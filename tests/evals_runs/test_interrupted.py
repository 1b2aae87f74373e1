"""A run is under way only while a living process of this machine holds it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from storage import open_store
from storage.holders import is_alive, this_process
from tests.evals_runs.conftest import Bench, Cli
from tests.evals_runs.records import CONFIG, MANIFEST, result
from workbench.errors import UsageError
from workbench.evals.running.runner import EvalRunner, Plan

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


CLAIMING = """
import sys
from pathlib import Path
from storage import open_store

store = open_store(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print("mine" if store.runs.claim(int(sys.argv[2])) else "refused", flush=True)
sys.stdin.read()
"""


def test_of_processes_that_claim_a_run_at_once_one_gets_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "lab.db")
    run = store.runs.create(CONFIG, "a" * 64, MANIFEST, 3)
    assert store.runs.claim(run.id) is None  # this process is at work on it
    store.runs.set_status(run.id, "stopped")
    command = [sys.executable, "-c", CLAIMING, str(store.path), str(run.id)]
    children = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = []
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        said = [child.stdout.readline().strip() for child in children if child.stdout]
    finally:
        for child in children:
            child.communicate()
        store.close()
    assert sorted(said) == ["mine", "refused", "refused"]


def test_a_run_that_another_took_meanwhile_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run = bench.run()[-1].run
    bench.store.runs.set_status(run.id, "stopped")
    plan = EvalRunner.plan

    def taken(*arguments: Any) -> Plan:
        bench.store.runs.claim(run.id)
        return plan(*arguments)

    monkeypatch.setattr(EvalRunner, "plan", taken)
    with pytest.raises(UsageError, match="at work on run"):
        list(bench.lab.resume(run.id))


def test_the_list_says_interrupted(cli: Cli, bench: Bench) -> None:
    cli("run", "faq", "--lane", "lexical")
    subprocess.run([sys.executable, "-c", BEGUN, str(bench.store.path)], input="", check=True, text=True)
    assert [run["status"] for run in json.loads(cli("list", "--json").out)] == ["interrupted", "complete"]
    assert "interrupted" in cli("list").out.splitlines()[1]
