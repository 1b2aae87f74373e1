"""Gauges say what is in memory, or why they can't."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.engine.gauges import _nvml_problem, measure
from workbench.engine.machine import limited_groups, machine_memory, within

GIB = 1 << 30
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
    assert 0 < used < total == machine_memory()[0]


def test_a_container_s_limit_counts_and_not_the_host_s_memory(tmp_path: Path) -> None:
    outer, inner = tmp_path, tmp_path / "box"
    inner.mkdir()
    for folder, limit, used in ((outer, "max", 9 * GIB), (inner, str(4 * GIB), 3 * GIB)):
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text(f"{used}\n")
        (folder / "memory.stat").write_text(f"anon 1\ninactive_file {GIB}\n")
    groups = list(limited_groups("0::/box\n", tmp_path))
    assert within(16 * GIB, 12 * GIB, groups) == (4 * GIB, 2 * GIB), "cache is given back"
    assert within(16 * GIB, GIB, groups) == (4 * GIB, GIB), "the host may have less"
    assert within(2 * GIB, GIB, groups) == (2 * GIB, GIB), "a limit beyond the machine is none"


def test_older_control_groups_limit_too_and_a_name_of_the_host_leads_nowhere(tmp_path: Path) -> None:
    (folder := tmp_path / "memory").mkdir()
    (folder / "memory.limit_in_bytes").write_text(str(2 * GIB))
    (folder / "memory.usage_in_bytes").write_text(str(GIB))
    groups = list(limited_groups("4:cpu,memory:/docker/f00d\n3:cpuset:/\n", tmp_path))
    assert within(16 * GIB, 12 * GIB, groups) == (2 * GIB, GIB)
    assert within(16 * GIB, 12 * GIB, list(limited_groups("nonsense\n0::/../..\n", tmp_path))) == (16 * GIB, 12 * GIB)


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


MIB = 1 << 20


class RecordedNvml:
    """NVML as three cards answer it: 80 GiB with this process on it, 24 GiB whose driver lists no processes, and one
    that fell off the bus.
    """

    class NVMLError(Exception): ...

    class NVMLError_LibraryNotFound(NVMLError): ...  # noqa: N801, N818 -- pynvml's own name

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def nvmlInit(self) -> None: ...  # noqa: N802 -- pynvml's own name

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802 -- pynvml's own name
        return 3

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802 -- pynvml's own name
        if index == 2:
            raise self.NVMLError("GPU is lost")
        return index

    def nvmlDeviceGetName(self, handle: int) -> str:  # noqa: N802 -- pynvml's own name
        return ("NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 4090")[handle]

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:  # noqa: N802 -- pynvml's own name
        used, total = ((2_418 * MIB, 81_920 * MIB), (642 * MIB, 24_564 * MIB))[handle]
        return SimpleNamespace(used=used, total=total, free=total - used)

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:  # noqa: N802 -- pynvml's own name
        if handle == 1:
            raise self.NVMLError("Not Supported")
        return [
            SimpleNamespace(pid=1, usedGpuMemory=512 * MIB),
            SimpleNamespace(pid=self._pid, usedGpuMemory=1_906 * MIB),
        ]


def test_each_card_tells_its_memory_and_what_the_process_holds_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", RecordedNvml(os.getpid()))
    _nvml_problem.cache_clear()
    try:
        gauges = measure(None)
        other = measure(os.getppid())
    finally:
        _nvml_problem.cache_clear()
    first, second = gauges.devices
    assert (first.name, first.used, first.total, first.process) == (
        "NVIDIA A100-SXM4-80GB",
        2_418 * MIB,
        81_920 * MIB,
        1_906 * MIB,
    )
    assert (second.used, second.process) == (642 * MIB, None)
    assert (gauges.vram_used, gauges.vram_total, gauges.vram_note) == (3_060 * MIB, 106_484 * MIB, "")
    assert [device.process for device in other.devices] == [None, None]
