"""Gauges say what is in memory, or why they can't."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from workbench.engine.gauges import measure

GROWING = """
import os
import numpy as np
from workbench.engine.gauges import measure
before = measure(None)
held = np.ones(200_000_000, np.uint8)
during = measure(os.getpid())
del held
print(before.rss, during.rss, measure(None).rss_peak, during.ram_used, during.ram_total)
"""


def test_memory_that_is_taken_shows_and_stays_in_the_peak() -> None:
    # In a process of its own: this one may have memory to spare from other tests.
    told = subprocess.run([sys.executable, "-c", GROWING], capture_output=True, text=True, check=True).stdout
    before, during, peak, used, total = map(int, told.split())
    assert during - before > 150_000_000
    # Linux counts RSS in batches per thread: the peak may miss the last of them.
    assert peak >= during - 4_000_000
    assert 0 < used < total == psutil.virtual_memory().total


def test_a_process_that_is_gone_holds_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert measure(process.pid).rss > 0
    process.communicate(b"\n")
    gone = measure(process.pid)
    assert (gone.rss, gone.rss_peak, gone.cpu_percent) == (0, 0, 0.0)
    assert gone.ram_total > 0


def test_without_a_driver_video_memory_is_absent_with_a_reason() -> None:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        gauges = measure(None)
        assert (gauges.vram_used, gauges.vram_total) == (None, None)
        assert gauges.vram_note == "no NVIDIA driver"
    else:
        pytest.skip("this machine has an NVIDIA driver")
