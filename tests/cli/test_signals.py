"""A closed terminal or a SIGTERM leaves one file, as a quit does."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

HOLD = """
import sys, time
from contextlib import closing
from pathlib import Path
from workbench.__main__ import open_desk
from workbench.cli.front import ending_by_signal

with closing(open_desk(Path(sys.argv[1]))) as desk, ending_by_signal():
    desk.remember("a", "note")
    print("open", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_the_file_is_closed(number: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "lab.db"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(file)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        process.send_signal(number)
        assert process.wait(timeout=30) == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["lab.db"]


def screens_on(slave: int, file: Path) -> subprocess.Popen[bytes]:
    """The screens on a terminal that nobody tells of its end: it isn't theirs to be hung up by."""
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "workbench", "--db", str(file)]
    return subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)


def read_until(master: int, words: bytes) -> None:
    seen = b""
    while words not in seen:
        seen += os.read(master, 4096)


def test_a_terminal_that_is_gone_ends_the_screens(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with screens_on(slave, tmp_path / "lab.db") as process:
        os.close(slave)
        read_until(master, b"WORKBENCH")
        os.close(master)
        assert process.wait(timeout=60) == 129
    assert [path.name for path in tmp_path.iterdir()] == ["lab.db"]


def test_sigterm_ends_screens_whose_terminal_nobody_reads(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with screens_on(slave, tmp_path / "lab.db") as process:
        os.close(slave)
        read_until(master, b"1049h")  # from here on the paint fills the terminal and then the queue before it
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    os.close(master)
    assert [path.name for path in tmp_path.iterdir()] == ["lab.db"]
