"""A closed terminal or a SIGTERM leaves one file, as a quit does."""

from __future__ import annotations

import signal
import subprocess
import sys
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
