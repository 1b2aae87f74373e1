"""The bench's pp512 and tg128 against llama-bench's: ``python -m bench.llama_bench [MODEL.gguf] [PAIRS] [THREADS]``.

llama-bench is built once, from the sources and with the options that ``make engine`` builds the library from, into the
cache folder. Then both measure in turns, each repetition in a fresh process after a warm-up, the first place changing,
so that other work on the machine hits both alike. What is told is the median of the paired ratios, and how far the best
of each side are apart: other work only ever slows, so on a busy machine the best are what is nearest to the truth. With
THREADS 0 the processor time of one thread is compared instead, which other work hardly touches.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from workbench import paths
from workbench.engine.client import ChildGenerator, load_generator
from workbench.engine.gguf_header import read_header
from workbench.records.models import LoadSettings
from workbench.starter.engine import VERSION, compile_target, fetch_sources

PAIRS: Final = 15
PROMPT: Final = 512
GENERATE: Final = 128
RESAMPLES: Final = 2000
SETTINGS: Final = ("-b", "512", "-ub", "512", "-fa", "auto", "-lm", "none", "-ngl", "0", "-o", "json")
ENVIRONMENT: Final = {**os.environ, "OMP_WAIT_POLICY": "passive"}
BUILD_OPTIONS: Final = (
    *("-DLLAMA_BUILD_COMMON=ON", "-DLLAMA_BUILD_TOOLS=ON"),
    *("-DLLAMA_USE_PREBUILT_UI=OFF", "-DLLAMA_OPENSSL=OFF"),
)


def llama_bench() -> Path:
    """The tool, built when it isn't in the cache."""
    target = paths.cache_folder() / "llama-bench" / VERSION
    if not (target / "llama-bench").exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as name:
            work = Path(name)
            print("building llama-bench (5–10 minutes, once)", flush=True)
            compile_target(fetch_sources(work), work, print, "llama-bench", BUILD_OPTIONS).rename(target)
    return target / "llama-bench"


def theirs(tool: Path, model: Path, threads: int) -> dict[str, float]:
    """Tokens/s of llama-bench, by test; settings as ours."""
    command = [str(tool), "-m", str(model), "-p", str(PROMPT), "-n", str(GENERATE), "-r", "1", "-t", str(threads)]
    done = subprocess.run([*command, *SETTINGS], capture_output=True, check=True, env=ENVIRONMENT)
    return {"tg" if run["n_gen"] else "pp": run["avg_ts"] for run in json.loads(done.stdout)}


def ours(model: Path, threads: int) -> dict[str, float]:
    """Tokens/s of the bench, by test."""
    generator = load_generator(read_header(model), LoadSettings(context=PROMPT, threads=threads))
    generator.measure(PROMPT, 0)
    generator.measure(0, 1)
    ahead = PROMPT / generator.measure(PROMPT, 0)
    steps = GENERATE / generator.measure(0, GENERATE)
    generator.close()
    return {"pp": ahead, "tg": steps}


def their_seconds(tool: Path, model: Path, tokens: Sequence[str]) -> float:
    """Processor time of one repetition: that of a run with three, less that of a run with one, halved."""

    def used(repetitions: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [str(tool), "-m", str(model), *tokens, "-r", repetitions, "-t", "1", *SETTINGS]
        subprocess.run(command, capture_output=True, check=True, env=ENVIRONMENT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return (used("3") - used("1")) / 2


def our_seconds(generator: ChildGenerator, prompt: int, generate: int) -> float:
    """Processor time of one repetition, of two."""
    process = psutil.Process(generator.model.pid)
    before = process.cpu_times()
    for _ in range(2):
        generator.measure(prompt, generate)
    after = process.cpu_times()
    return float(after.user + after.system - before.user - before.system) / 2


def processor_time(tool: Path, model: Path, pairs: int) -> None:
    """Both sides by the processor time of one thread: what is left to compare where others take most of the time."""
    sides = (("pp", PROMPT, 0, ["-p", str(PROMPT), "-n", "0"]), ("tg", 0, GENERATE, ["-p", "0", "-n", str(GENERATE)]))
    ratios: dict[str, list[float]] = {name: [] for name, *_ in sides}
    for _ in range(pairs):
        generator = load_generator(read_header(model), LoadSettings(context=PROMPT, threads=1))
        generator.measure(PROMPT, 0)
        generator.measure(0, 1)
        for name, prompt, generate, tokens in sides:
            ours, other = our_seconds(generator, prompt, generate), their_seconds(tool, model, tokens)
            ratios[name].append(other / ours)
            print(f"{name}: ours {ours:.2f} s, llama-bench {other:.2f} s of processor", file=sys.stderr, flush=True)
        generator.close()
    for name, found in ratios.items():
        low, high = median_interval(found)
        told = f"{statistics.median(found) - 1:+.1%} (95 %: {low - 1:+.1%} to {high - 1:+.1%})"
        print(f"{name} speed by processor time, paired median of {pairs}: {told}")


def median_interval(ratios: list[float]) -> tuple[float, float]:
    """95 %, percentile bootstrap, seeded."""
    drawn = random.Random(1)
    medians = sorted(statistics.median(drawn.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[round(0.025 * RESAMPLES)], medians[round(0.975 * RESAMPLES) - 1]


def main() -> None:
    """Prints, for each test, both sides and how far apart they are; by processor time where THREADS is 0."""
    given = sys.argv[1:]
    model = Path(given[0]) if given else paths.gguf_folder() / paths.STARTER_MODEL
    pairs = int(given[1]) if len(given) > 1 else PAIRS
    threads = int(given[2]) if len(given) > 2 else 1
    tool = llama_bench()
    if threads == 0:
        processor_time(tool, model, pairs)
        return
    sides: dict[str, list[dict[str, float]]] = {"ours": [], "llama-bench": []}
    for number in range(pairs):
        order = list(sides) if number % 2 else list(sides)[::-1]
        for side in order:
            sides[side].append(ours(model, threads) if side == "ours" else theirs(tool, model, threads))
        print(f"{number + 1}/{pairs}", *(f"{side} {sides[side][-1]}" for side in sides), file=sys.stderr, flush=True)
    print(f"{model.name}, {threads} thread(s), {pairs} pairs; tokens/s, mean ± sample standard deviation")
    for test, name in (("pp", f"pp{PROMPT}"), ("tg", f"tg{GENERATE}")):
        for side, runs in sides.items():
            values = [run[test] for run in runs]
            print(f"{name} {side:>12}: {statistics.fmean(values):7.1f} ± {statistics.stdev(values):.1f}")
        ratios = [a[test] / b[test] for a, b in zip(sides["ours"], sides["llama-bench"], strict=True)]
        low, high = median_interval(ratios)
        best = {side: max(run[test] for run in runs) for side, runs in sides.items()}
        apart = best["ours"] / best["llama-bench"] - 1
        print(f"{name} paired median: {statistics.median(ratios) - 1:+.1%} (95 %: {low - 1:+.1%} to {high - 1:+.1%})")
        print(f"{name} best of each: {best['ours']:.1f} to {best['llama-bench']:.1f}, {apart:+.1%}")


if __name__ == "__main__":
    main()
