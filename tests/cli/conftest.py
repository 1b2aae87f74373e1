"""A workbench file with three documents, ingested through the command line."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.embedders import one_embedding_process
from workbench.__main__ import open_desk
from workbench.cli import FrontEnds, run

RULES = """---
title: Enrolment rules
version: "3"
year: 2026
roles: [student, staff]
---
# Extension

Students with overdue payments may not extend their enrolment until the debt is settled.

# Calendar

Extensions open on 1 September and close on 15 September.
"""
OLD_RULES = """---
title: Enrolment rules of 2019
year: 2019
status: retired
---
Extensions opened on 1 October in 2019, also with overdue payments.
"""
SPANISH = "El carné de la biblioteca cuesta 12 euros al año. El préstamo dura 21 días."


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in this process."""

    def call(*arguments: str | Path) -> Result:
        code = run([str(a) for a in arguments], FrontEnds(open_desk, lambda _desk: 0))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    folder.joinpath("rules.md").write_text(RULES, "utf-8")
    folder.joinpath("old.md").write_text(OLD_RULES, "utf-8")
    folder.joinpath("carné.txt").write_text(SPANISH, "utf-8")
    return folder


@pytest.fixture(scope="package", autouse=True)
def one_process() -> Iterator[None]:
    """All commands in this process ask the same embedder."""
    with one_embedding_process():
        yield


@pytest.fixture(scope="package")
def made(tmp_path_factory: pytest.TempPathFactory, sources: Path, one_process: None) -> Path:
    """A file with the three documents in the collection ``rules``; no test changes it."""
    db = tmp_path_factory.mktemp("made") / "lab.db"
    code = run(["--db", str(db), "ingest", str(sources), "-c", "rules"], FrontEnds(open_desk, lambda _desk: 0))
    assert code == 0
    return db


@pytest.fixture
def filled(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test's own copy of that file, alone in its folder; questions leave their traces in it."""
    return Path(shutil.copy(made, tmp_path_factory.mktemp("file") / "lab.db"))
