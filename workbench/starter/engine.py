"""Building the engine: llama-cpp-python with only the library it needs, for any CPU of this platform.

``python -m workbench.starter.engine`` makes the engine importable in this Python and says what it does. An engine that
can be imported is kept, whoever built it. What is built is one wheel with the library inside, kept in the cache folder:
another environment of this machine installs it in seconds, and it can be carried to a machine without a network.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from workbench import paths
from workbench.errors import WorkbenchError
from workbench.i18n import tr
from workbench.starter.packages import sha256

VERSION: Final = "0.3.36"
_REQUIREMENT: Final = f"llama-cpp-python=={VERSION}"
_SDIST_SHA256: Final = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
# -march=native dies with SIGILL on some CPUs it is built for, and can't be moved: GGML_NATIVE=OFF. One name per
# library and no symlinks, which a wheel can't hold: NO_VERSIONED_SONAME.
_CMAKE_OPTIONS: Final = (
    *("-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=OFF", "-DBUILD_SHARED_LIBS=ON"),
    *("-DLLAMA_BUILD_COMMON=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_TOOLS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF"),
    *("-DLLAMA_BUILD_SERVER=OFF", "-DLLAMA_BUILD_APP=OFF", "-DLLAMA_CURL=OFF"),
    *("-DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"),
    "-DCMAKE_INSTALL_RPATH=" + ("@loader_path" if sys.platform == "darwin" else "$ORIGIN"),
)
_LIBRARIES: Final = ("*.so", "*.dylib", "*.dll")
_COMPILED: Final = re.compile(r"^\[(\d+)/(\d+)\]")
_PROBE: Final = "import llama_cpp; llama_cpp.llama_backend_init(); print(llama_cpp.__version__)"

Say = Callable[[str], None]


def ensure(say: Say = print) -> str:
    """Makes the engine importable; returns its version.

    Raises:
        WorkbenchError: a tool is missing, there is no network, or the build failed; the log's last lines are in it.
    """
    version, reason = probe()
    if version:
        say(tr("engine: llama-cpp-python {version} is there and is kept", version=version))
        return version
    if "No module named 'llama_cpp'" not in reason:
        raise WorkbenchError(
            tr("The engine can't be loaded"),
            tr("llama-cpp-python is installed, but importing it fails: {reason}", reason=reason),
            tr("Repair it, or remove it with “pip uninstall llama-cpp-python” and run this again."),
        )
    wheel = cached_wheel()
    if wheel is None:
        wheel = _build(say)
    say(tr("engine: installing {wheel} (seconds)", wheel=wheel))
    _run([sys.executable, "-m", "pip", "install", "--quiet", str(wheel)])
    version, reason = probe()
    if not version:
        wheel.unlink(missing_ok=True)
        raise WorkbenchError(
            tr("The engine can't be loaded"), reason, tr("The log is in {path}. Run this again.", path=log_path())
        )
    say(tr("engine: llama-cpp-python {version} works", version=version))
    return version


def probe() -> tuple[str, str]:
    """The version of the engine this Python can load and "", or "" and why not. Asked in a child: it is native code."""
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip().splitlines()[-1], ""
    said = done.stderr.strip().splitlines()
    return "", said[-1] if said else tr("it ended with code {code}", code=done.returncode)


def cached_wheel() -> Path | None:
    """The wheel that was built on this machine before, None when there is none."""
    return next(iter(sorted(_cache().glob(f"llama_cpp_python-{VERSION}-*.whl"))), None)


def log_path() -> Path:
    """Where everything goes that the build's tools print."""
    return paths.logs_folder() / "engine-build.log"


def _cache() -> Path:
    """One folder per platform, because a home folder may be shared by several."""
    libc = "-".join(part for part in platform.libc_ver() if part) or "libc"
    return paths.cache_folder() / "engine" / f"{platform.system()}-{platform.machine()}-{libc}".lower()


def _build(say: Say) -> Path:
    """Sources, library, wheel; returns the wheel in the cache."""
    _check_compiler()
    log_path().unlink(missing_ok=True)
    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".build-") as name:
        work = Path(name)
        say(tr("engine: fetching the sources of {requirement} (77 MB)", requirement=_REQUIREMENT))
        source = fetch_sources(work)
        say(tr("engine: building the library (2–5 minutes; log in {path})", path=log_path()))
        library = compile_target(source, work, say)
        target = source / "llama_cpp" / "lib"
        target.mkdir(exist_ok=True)
        for pattern in _LIBRARIES:
            for path in library.glob(pattern):
                shutil.copy2(path, target)
        say(tr("engine: packing it"))
        return _pack(source, work, cache)


def fetch_sources(work: Path) -> Path:
    """Downloads, proves and unpacks the sources into ``work``; returns their folder. Raises WorkbenchError."""
    _run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=llama-cpp-python"),
            *("--dest", str(work), _REQUIREMENT),
        ]
    )
    archive = next(work.glob("llama_cpp_python-*.tar.gz"))
    if sha256(archive) != _SDIST_SHA256:
        raise WorkbenchError(
            tr("Not the expected file"),
            tr("{path} is damaged or isn't the package it is named after: its SHA-256 differs.", path=archive.name),
            tr("Check the package index pip uses."),
        )
    with tarfile.open(archive) as tar:
        tar.extractall(work, filter="data")
    return work / archive.name.removesuffix(".tar.gz")


def compile_target(source: Path, work: Path, say: Say, target: str = "llama", options: Sequence[str] = ()) -> Path:
    """Builds the library, or another of llama.cpp's targets, by cmake and ninja, which pip brings.

    Args:
        source: the folder that ``fetch_sources`` returned.
        options: for cmake, after the library's own, which they override.

    Returns:
        The folder that the binaries lie in.

    Raises:
        WorkbenchError: the build failed.
    """
    tools, build = work / "tools", work / "build"
    _run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools), "cmake", "ninja"])
    environment = {"PATH": f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(tools)}
    cmake = str(tools / "bin" / "cmake")
    sources = str(source / "vendor" / "llama.cpp")
    _run([cmake, "-G", "Ninja", "-S", sources, "-B", str(build), *_CMAKE_OPTIONS, *options], environment)
    shown = 0

    def show(line: str) -> None:
        nonlocal shown
        if (match := _COMPILED.match(line)) and (percent := 100 * int(match[1]) // int(match[2])) >= shown + 10:
            shown = percent
            say(tr("engine: {percent} %", percent=percent))

    _run([cmake, "--build", str(build), "--target", target], environment, show)
    return build / "bin"


def _pack(source: Path, work: Path, cache: Path) -> Path:
    """The Python part and the library in one wheel, renamed into the cache when it is whole."""
    command = [
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(work)),
        *("--config-settings=sdist.include=llama_cpp/lib/**", str(source)),  # its .gitignore leaves lib/ out
    ]
    _run(command, {"CMAKE_ARGS": "-DLLAMA_BUILD=OFF"})
    wheel = next(work.glob("llama_cpp_python-*.whl"))
    return wheel.replace(cache / wheel.name)


def _check_compiler() -> None:
    if not any(shutil.which(name) for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++") if name):
        raise WorkbenchError(
            tr("No C++ compiler"),
            tr("The engine is built from source, and neither c++, g++ nor clang++ is on the PATH."),
            tr("Install one (Debian and Ubuntu: apt install build-essential; macOS: xcode-select --install)."),
        )


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None, each: Say | None = None) -> None:
    """Runs a tool with its output in the log; ``each`` sees every line."""
    with log_path().open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command)}\n")
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | (environment or {}),
        ) as process:
            lines: list[str] = []
            for line in process.stdout or ():
                log.write(line)
                lines.append(line.rstrip())
                if each:
                    each(line)
    if process.returncode:
        raise WorkbenchError(
            tr("The engine can't be built"),
            tr("{tool} ended with code {code}:", tool=Path(command[0]).name, code=process.returncode)
            + "\n"
            + "\n".join(lines[-8:]),
            tr("The log is in {path}. Run this again.", path=log_path()),
        )


def main() -> int:
    """The command; returns its exit status."""
    try:
        ensure(lambda line: print(line, flush=True))
    except WorkbenchError as error:
        print(f"{error.title}: {error.message}\n{error.remedy}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
