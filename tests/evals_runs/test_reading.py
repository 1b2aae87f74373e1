"""Commands that only read make no file where there is none, and read one that can't be written."""

from __future__ import annotations

import pytest

from tests.evals_runs.conftest import Bench, Cli
from workbench.__main__ import open_desk
from workbench.cli import FrontEnds, run
from workbench.i18n import choose_language, tr


@pytest.mark.parametrize(
    "arguments",
    [
        "eval list", "eval show last", "eval compare 1 2", "eval ladder 1 2", "eval gate last", "eval gates list",
        "eval decisions", "eval threshold last", "eval label 1", "eval review faq", "eval judge 1", "eval report last",
        "datasets", "datasets --versions faq", "trace", "trace last", "models",
    ],
)  # fmt: skip
def test_reading_makes_no_file(bench: Bench, arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_MODELS", str(bench.folder / "models"))
    absent = bench.folder / "absent" / "none.db"
    absent.parent.mkdir()
    code = run(["--db", str(absent), *arguments.split()], FrontEnds(open_desk, lambda _desk: 0))
    assert code == (0 if arguments == "models" else 1)
    assert list(absent.parent.iterdir()) == []


def test_what_names_of_cases_hold_does_not_act_on_the_terminal(cli: Cli) -> None:
    assert cli("run", "faq", "--lane", "lexical", "--title", "\x1b[2Jgone").code == 0
    told = cli("show", "last").out + cli("list").out + cli("compare", "1", "1").out
    assert "gone" in told
    assert "\x1b[2J" not in told


def test_what_was_said_in_english_is_read_in_spanish(cli: Cli) -> None:
    assert cli("run", "faq", "--lane", "lexical").code == 0
    case = ("show", "last", "--case", "pool")
    assert "The case has no gold to retrieve." in cli(*case).out
    choose_language("es")
    try:
        assert tr("The case has no gold to retrieve.", "es") in cli(*case).out
    finally:
        choose_language("en")
