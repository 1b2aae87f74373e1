"""The model tasks that quantizations are compared on: enough of them, in both languages, each can be passed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from bench.quantizations import FIXTURE, TASKS, make_fixture
from storage.fixture import FixtureRunner
from workbench.evals.formats import read_dataset
from workbench.evals.tasks.checks import check, check_expectation
from workbench.records.cases import Case


@pytest.fixture
def tasks(tmp_path: Path) -> tuple[Case, ...]:
    make_fixture(tmp_path / FIXTURE)
    read = read_dataset(Path(shutil.copy(TASKS, tmp_path)))
    assert read.problems == ()
    return read.cases


def test_there_are_enough_in_both_languages_and_of_every_kind(tasks: tuple[Case, ...]) -> None:
    assert len(tasks) >= 60
    assert min(Counter(task.language for task in tasks).values()) >= 30
    kinds = {task.expectation.kind for task in tasks if task.expectation}
    assert kinds == {"numeric", "regex", "json_schema", "exact", "sql"}


def test_every_task_is_well_formed_and_an_empty_output_fails(tasks: tuple[Case, ...]) -> None:
    for task in tasks:
        assert task.expectation
        check_expectation(task.expectation)
        assert not check(task.expectation, "", language=task.language, sql=FixtureRunner()).passed, task.id


@pytest.mark.parametrize("kind", ["numeric", "exact", "sql", "json_schema"])
def test_the_expected_output_passes(tasks: tuple[Case, ...], kind: str) -> None:
    for task in (t for t in tasks if t.expectation and t.expectation.kind == kind):
        assert task.expectation
        said = task.expectation.value
        if kind == "json_schema":
            properties = json.loads(said)["properties"]
            said = json.dumps({name: rule["const"] for name, rule in properties.items()})
        assert check(task.expectation, said, language=task.language, sql=FixtureRunner()).passed, task.id


@pytest.mark.parametrize(
    ("task_id", "right", "wrong"),
    [
        ("yesno-1", "Yes, it is.", "No, it isn't open on Sundays."),
        ("yesno-9", "Sí.", "No"),
        ("find-1", "The lamp was built in 1874.", "It weighs 310 kilograms."),
        ("find-1", "1874", "The lamp was built in 1874 by the Harrow workshop and weighs 310 kilograms."),
        ("form-3", "red, green, blue", "Here are three colours: red, green, blue"),
        ("form-9", "rojo, verde y azul", "rojo"),
        ("form-4", "2026-09-03", "3 September 2026"),
    ],
)
def test_patterns_tell_right_from_wrong(tasks: tuple[Case, ...], task_id: str, right: str, wrong: str) -> None:
    (task,) = (t for t in tasks if t.id == task_id)
    assert task.expectation
    assert check(task.expectation, right).passed
    assert not check(task.expectation, wrong).passed
