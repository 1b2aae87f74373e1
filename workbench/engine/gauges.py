"""What is in memory now: a process, the machine, and its NVIDIA devices."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from pathlib import Path

import psutil

from workbench.engine.machine import machine_memory
from workbench.i18n import tr
from workbench.records.models import DeviceMemory, Gauges


def measure(pid: int | None) -> Gauges:
    """Gauges of process ``pid`` (this one when None; all 0 when it is gone) and of the machine.

    ``cpu_percent`` is over the time since the last call for that process, 100 per core.
    """
    rss, peak, cpu = _process_gauges(pid or os.getpid())
    total, free = machine_memory()
    devices, note = _devices(pid or os.getpid())
    return Gauges(
        rss=rss,
        rss_peak=peak,
        cpu_percent=cpu,
        ram_used=total - free,
        ram_total=total,
        vram_used=sum(device.used for device in devices) if devices else None,
        vram_total=sum(device.total for device in devices) if devices else None,
        vram_note=note,
        devices=devices,
    )


def _process_gauges(pid: int) -> tuple[int, int, float]:
    """Resident bytes, their peak, and CPU per cent."""
    try:
        process = _process(pid)
        if not process.is_running():  # the number may be another process's by now
            _process.cache_clear()
            return 0, 0, 0.0
        rss = process.memory_info().rss
        return rss, max(rss, _peak(pid)), process.cpu_percent()
    except psutil.Error:
        return 0, 0, 0.0


@lru_cache(maxsize=16)
def _process(pid: int) -> psutil.Process:
    """Kept between calls, because CPU per cent is a difference of two of them."""
    return psutil.Process(pid)


def _peak(pid: int) -> int:
    """Highest resident bytes so far where the system keeps them (Linux), else 0."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def _devices(pid: int) -> tuple[tuple[DeviceMemory, ...], str]:
    """The memory of all NVIDIA devices and what ``pid`` holds of it, or why there are none."""
    if note := _nvml_problem():
        return (), note
    import pynvml

    devices, note = list[DeviceMemory](), tr("no NVIDIA device")
    try:
        indices = range(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError as error:
        return (), str(error)
    for index in indices:
        try:
            devices.append(_device(index, pid))
        except pynvml.NVMLError as error:  # of this card alone: it fell off the bus, or shares the machine's memory
            note = str(error)
    return tuple(devices), "" if devices else note


def _device(index: int, pid: int) -> DeviceMemory:
    import pynvml

    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    name = pynvml.nvmlDeviceGetName(handle)
    try:
        # A driver may list a process without its bytes (WDDM), or by a number of another namespace (containers).
        held = [p.usedGpuMemory for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle) if p.pid == pid]
    except pynvml.NVMLError:
        held = []
    return DeviceMemory(index, name, memory.used, memory.total, held[0] if held else None)


@cache
def _nvml_problem() -> str:
    """Starts NVML once; "" when it runs, else why it doesn't."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_LibraryNotFound:
        return tr("no NVIDIA driver")
    except pynvml.NVMLError as error:
        return str(error)
    return ""
