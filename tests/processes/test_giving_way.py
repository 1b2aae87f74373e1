"""Work that nobody waits for leaves the cores to what somebody waits for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.processes.child import GIVEN_WAY


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has classes of priority, and no niceness")
def test_giving_way_raises_the_niceness() -> None:
    told = (
        "import os\nfrom workbench.processes.child import give_way\n"
        "was = os.nice(0)\ngive_way()\nprint(os.nice(0) - was)"
    )
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert int(ran.stdout) == GIVEN_WAY
