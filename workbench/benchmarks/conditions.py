"""The machine: what it is, and what it was doing while something was measured."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Final

import psutil

from workbench import __version__
from workbench.records.benchmarks import BenchManifest, Conditions, Machine

_LIBRARIES: Final = ("*.so", "*.dylib", "*.dll")


def manifest() -> BenchManifest:
    """What a figure of this machine depends on beside the model and the plan. Reads files, imports no engine."""
    return BenchManifest(_machine(), __version__, _engine())


@cache
def _machine() -> Machine:
    return Machine(
        processor=_processor(),
        cores=psutil.cpu_count(logical=False) or 1,
        logical_cores=psutil.cpu_count() or 1,
        memory=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
    )


def _processor() -> str:
    """Its name: Linux keeps it in a file, elsewhere Python knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


@cache
def _engine() -> str:
    """llama-cpp-python's version and a fingerprint of its libraries: other build flags compute at other speeds."""
    try:
        version = importlib.metadata.version("llama-cpp-python")
    except importlib.metadata.PackageNotFoundError:
        return ""
    found = importlib.util.find_spec("llama_cpp")
    beside = Path(found.origin).parent / "lib" if found and found.origin else Path()
    folder = Path(os.environ.get("LLAMA_CPP_LIB_PATH") or beside)
    digest = sha256()
    for pattern in _LIBRARIES:
        for path in sorted(folder.glob(pattern)):
            digest.update(path.read_bytes())
    return f"llama-cpp-python {version}, build {digest.hexdigest()[:8]}"


class Watch:
    """Watches the machine inside its ``with`` block; ``conditions`` holds what it saw.

    Args:
        pid: the process that is measured; what it and this process compute is not others' work.
    """

    def __init__(self, pid: int) -> None:
        self._own = [psutil.Process(number) for number in (pid, os.getpid())]
        self.conditions = Conditions()

    def __enter__(self) -> Watch:
        self._began, self._busy, self._mine = time.monotonic(), _busy(), self._used()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        passed = time.monotonic() - self._began
        others = (_busy() - self._busy - (self._used() - self._mine)) / passed if passed > 0 else None
        self.conditions = Conditions(
            others=None if others is None else max(0.0, round(others, 3)),
            frequency=_frequency(),
            temperature=_temperature(),
            battery=_battery(),
        )

    def _used(self) -> float:
        used = 0.0
        for process in self._own:
            try:
                times = process.cpu_times()
            except psutil.Error:  # it died: its own error tells
                continue
            used += times.user + times.system
        return used


def _busy() -> float:
    """Seconds of all cores so far that weren't idle; what a hypervisor took for others counts as busy."""
    times = psutil.cpu_times()._asdict()
    return float(sum(times.get(name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal")))


def _frequency() -> float | None:
    ask = getattr(psutil, "cpu_freq", None)
    found = ask() if ask else None
    return round(found.current / found.max, 3) if found and found.max else None


def _temperature() -> float | None:
    ask = getattr(psutil, "sensors_temperatures", None)
    sensors = [sensor for group in (ask() if ask else {}).values() for sensor in group]
    shares = [sensor.current / sensor.high for sensor in sensors if sensor.high and sensor.current > 0]
    return round(max(shares), 3) if shares else None


def _battery() -> bool | None:
    ask = getattr(psutil, "sensors_battery", None)
    found = ask() if ask else None
    return None if found is None or found.power_plugged is None else not found.power_plugged
