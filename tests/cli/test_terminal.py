"""The command line as a program among others: pipes, closed streams, hostile names, languages, closed files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench.cli.display import StatusLine, print_table, say
from workbench.errors import Cancelled
from workbench.i18n import choose_language

ESCAPES = "bad\x1b]0;owned\x07\x1b[31mname\u202e.txt"


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "copy.db"))


def shell(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """``line`` by a shell, with ``W`` as the command."""
    environment = os.environ | {"W": f"{sys.executable} -m workbench"} | more
    return subprocess.run(["sh", "-c", line], check=False, capture_output=True, text=True, env=environment, timeout=60)


# -- hostile names -----------------------------------------------------------------------------------------------------


@pytest.mark.model
def test_names_cannot_act_on_the_terminal(cli: Cli, copy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    folder.joinpath(ESCAPES).write_bytes(b"\x00\x01\x02 binary \xff\xfe" * 40)
    folder.joinpath("good" + ESCAPES).write_text("The lighthouse was painted in 1911.", "utf-8")
    told = [
        cli("--db", copy, "ingest", folder, "-c", "rules\x1b[1m"),
        cli("--db", copy, "documents", "-c", "rules\x1b[1m"),
        cli("--db", copy, "delete", "good" + ESCAPES, "-c", "rules\x1b[1m", "--yes"),
        cli("--db", copy, "delete", ESCAPES, "--yes"),
        cli("--db", copy, "nope\x1b[31m"),
    ]
    for result in told:
        assert "\x1b]" not in result.out + result.err
        assert "\x1b[31m" not in result.out + result.err
        assert "\u202e" not in result.out + result.err
    assert "✗ bad␛" in told[0].out
    assert "✓ goodbad␛" in told[2].out


def test_a_line_for_a_person_is_inert(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\x1b[31mb\nc", newlines=False)
    assert capsys.readouterr().out == "a␛[31mb␊c\n"


# -- files that can't be used --------------------------------------------------------------------------------------


def test_only_commands_that_bring_something_make_a_file(cli: Cli, tmp_path: Path) -> None:
    absent = tmp_path / "typo.db"
    for arguments in (["search", "x"], ["ask", "x?"], ["documents"], ["collections"], ["trace"], ["retire", "x"]):
        told = cli("--db", absent, *arguments)
        assert told.code == 1
        assert "ingest" in told.err
    assert not absent.exists()


@pytest.mark.model
def test_a_file_one_may_only_read_is_searched_and_left_alone(
    cli: Cli, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.opening.can_write", lambda _path: False)
    monkeypatch.setattr("storage.can_write", lambda _path: False)
    before = copy.read_bytes()
    assert "rules.md" in cli("--db", copy, "search", "overdue payments").out
    assert "rules.md" in cli("--db", copy, "documents").out
    told = cli("--db", copy, "ask", "When do extensions open?")
    assert told.code == 1
    assert "can't be written" in told.err
    assert [p.name for p in copy.parent.iterdir()] == [copy.name]
    assert copy.read_bytes() == before


@pytest.mark.model
def test_a_file_without_permission_is_that_documents_failure(
    cli: Cli, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, closed = tmp_path / "good.txt", tmp_path / "closed.txt"
    good.write_text("The lighthouse opens at nine.", "utf-8")
    closed.write_text("Nobody reads this.", "utf-8")
    closed.chmod(0)
    monkeypatch.setattr(os, "access", lambda path, mode, **_: Path(path) != closed)
    told = cli("--db", copy, "ingest", good, closed, "-c", "rules")
    assert "Usage" not in told.err
    assert "good.txt" in cli("--db", copy, "documents", "-c", "rules").out


@pytest.mark.model
def test_permissions_of_the_file_are_told_by_the_workbench(
    cli: Cli, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "access", lambda path, mode, **_: Path(path) != copy)
    assert cli("--db", copy, "documents", "-c", "rules").code == 0
    monkeypatch.setattr(Path, "open", refuse)
    told = cli("--db", copy, "documents", "-c", "rules")
    assert told.code == 1
    assert "you have no permission for it" in told.err


@pytest.mark.parametrize("path", ["", " "])
def test_an_empty_path_is_no_folder(cli: Cli, copy: Path, path: str) -> None:
    assert cli("--db", copy, "ingest", path).code == 2


# -- destroying --------------------------------------------------------------------------------------------------


@pytest.mark.model
def test_deleting_a_collection_has_to_be_confirmed(cli: Cli, copy: Path) -> None:
    told = cli("--db", copy, "collections", "--delete", "rules")
    assert told.code == 2
    assert "--yes" in told.err
    assert "rules.md" in cli("--db", copy, "documents", "-c", "rules").out
    assert cli("--db", copy, "collections", "--delete", "rules", "--yes").code == 0
    assert "rules" not in cli("--db", copy, "collections").out


@pytest.mark.model
@pytest.mark.parametrize(("policy", "done"), [("retire", "retired"), ("delete", "deleted")])
def test_documents_whose_source_is_gone_are_named(cli: Cli, copy: Path, tmp_path: Path, policy: str, done: str) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in ("stays.txt", "goes.txt"):
        folder.joinpath(name).write_text(f"The file {name} says something.", "utf-8")
    cli("--db", copy, "ingest", folder, "-c", "rules")
    folder.joinpath("goes.txt").unlink()
    told = cli("--db", copy, "ingest", folder, "-c", "rules", "--on-missing", policy)
    assert f"~ goes.txt: its source is gone, so it was {done}" in told.out


# -- asking ----------------------------------------------------------------------------------------------------------


@pytest.mark.model
def test_generating_without_a_model_is_a_usage_error(cli: Cli, filled: Path) -> None:
    told = cli("--db", filled, "ask", "When do extensions open?", "--mode", "generated")
    assert told.code == 2
    assert "--model" in told.err


@pytest.mark.model
def test_a_stopped_question_is_no_success(cli: Cli, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise Cancelled

    monkeypatch.setattr("workbench.answers.growth.Growth.begin", stop)
    assert cli("--db", copy, "ask", "When do extensions open?").code == 1


@pytest.mark.model
def test_ask_tells_that_a_lane_was_skipped(
    cli: Cli, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_MODELS", str(tmp_path / "none"))
    assert "~ dense: " in cli("--db", copy, "ask", "When do extensions open?").err


# -- streams ------------------------------------------------------------------------------------------------------


@pytest.mark.model
@pytest.mark.parametrize("reader", ["head -0", "head -1"])
def test_a_reader_that_goes_away_is_no_failure(filled: Path, reader: str) -> None:
    told = shell(f"{{ $W --db {filled} documents; echo $? >&2; }} | {reader}")
    assert told.stderr.split() == ["0"]


@pytest.mark.model
def test_a_closed_stdout_is_no_traceback(filled: Path) -> None:
    before = filled.read_bytes()
    assert shell(f"$W --db {filled} documents >&-").stderr == ""
    assert shell(f"$W --db {filled} documents >&- 2>&- <&-").returncode == 0
    assert filled.read_bytes() == before


@pytest.mark.model
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_under_stdout_is_told(filled: Path) -> None:
    told = shell(f"$W --db {filled} documents >/dev/full")
    assert told.returncode == 1
    assert "disk is full" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.model
def test_an_encoding_without_the_marks_shows_the_rest(filled: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "workbench", "--db", str(filled), "documents"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
        check=True,
    )
    assert "rules.md" in told.stdout.decode("latin-1")


def test_ctrl_c_while_it_starts_is_no_traceback() -> None:
    script = (
        "import sys, workbench.__main__ as main\n"
        "class Press:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'workbench.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Press())\n"
        "main.main()\n"
    )
    told = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (130, "")


def test_a_pipe_hears_every_few_seconds_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    line = StatusLine()
    for now in (1.0, 4.0, 5.0, 6.0, 9.0, 10.5):
        line.say(f"at {now}")
    assert capsys.readouterr().err.splitlines() == ["at 5.0", "at 10.5"]
    now = 20.0
    line.say("writing")
    now = 30.0
    line.say("writing")  # the same again is no news
    assert capsys.readouterr().err.splitlines() == ["writing"]


def test_one_long_name_does_not_pad_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("source", "n"), [("x" * 240, "1"), ("short", "2")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines[2]) < 60
    assert "x" * 240 in lines[1]  # a pipe gets all of it


# -- Spanish -------------------------------------------------------------------------------------------------------


def test_what_click_says_is_in_the_interfaces_language(cli: Cli) -> None:
    try:
        told = [cli("--lang", "es", *arguments) for arguments in (["ask"], ["search", "x", "-k", "0"], ["nope"])]
    finally:
        choose_language("en")
    assert [r.code for r in told] == [2, 2, 2]
    assert "Falta el argumento 'QUERY'." in told[0].err
    assert "no está en el intervalo" in told[1].err
    assert "No existe la orden 'nope'." in told[2].err
    assert all("Uso: workbench" in r.err for r in told)
