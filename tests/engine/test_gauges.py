"""Gauges say what is in memory, or why they can't."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import psutil
import pytest

from workbench.engine.gauges import measure


def test_memory_that_is_taken_shows_and_stays_in_the_peak() -> None:
    before = measure(None)
    held = np.ones(40_000_000, np.uint8)
    during = measure(os.getpid())
    assert during.rss - before.rss > 30_000_000
    del held
    # Linux counts RSS in batches per thread: the peak may miss the last of them.
    assert measure(None).rss_peak >= during.rss - 4_000_000
    assert 0 < during.ram_used < during.ram_total == psutil.virtual_memory().total


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
