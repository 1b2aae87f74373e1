"""Records of benchmarks: what is measured, on which machine, each repetition, and the figures made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from workbench.records.models import LoadSettings, MemorySplit

Flag: TypeAlias = Literal["drift", "throttled", "hot", "battery", "busy"]
"""Why a figure may not be the model's own: a trend over the repetitions, a slowed or hot processor, no mains, others at
work."""


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What is measured of each model.

    Attributes:
        prompt: tokens evaluated at once (llama-bench's pp), 0 for none.
        generate: tokens evaluated one by one (llama-bench's tg), 0 for none.
        depths: tokens in the cache before either.
        repetitions: of each; every one in a fresh process, after a warm-up.
        felt: also ask realistic prompts, and for JSON with and without a grammar.
        cooldown_s: pause between two processes.
        load: how each model is loaded; its context grows to what the tests need.
    """

    prompt: int = 512
    generate: int = 128
    depths: tuple[int, ...] = (0,)
    repetitions: int = 5
    felt: bool = True
    cooldown_s: float = 2.0
    load: LoadSettings = field(default_factory=LoadSettings)


@dataclass(frozen=True, slots=True)
class BenchModel:
    """A model under test; ``hash`` is the SHA-256 of its file, bytes in ``size``."""

    path: str
    name: str
    hash: str
    size: int
    quantization: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it is measured: processor, cores, memory in bytes, operating system."""

    processor: str
    cores: int
    logical_cores: int
    memory: int
    system: str


@dataclass(frozen=True, slots=True)
class BenchManifest:
    """What a figure depends on beside the model and the plan.

    Attributes:
        engine: version of llama-cpp-python, and of the llama.cpp in it with its features ("AVX2 = 1").
    """

    machine: Machine
    workbench: str
    engine: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """The machine while a repetition ran; None where the system doesn't tell.

    Attributes:
        others: processor time that other processes took, in cores.
        frequency: of the processor as a share of its highest.
        temperature: of the hottest sensor as a share of what that one calls high.
    """

    others: float | None = None
    frequency: float | None = None
    temperature: float | None = None
    battery: bool | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One repetition of one test of one model, stored as it ends.

    Attributes:
        model: its place in ``Bench.models``.
        test: "pp512", "tg128@d1024", "load", "prompt/es-short", "json/invoice", "free/invoice".
        value: tokens/s of pp and tg; ms of load; ms to the last token of a prompt; 1 or 0 for valid JSON or not.
        ttft_ms: of a prompt.
        rss: highest resident bytes of the child so far; ``memory``: the engine's buffers.
        problem: why there is no value, "" when there is one.
    """

    bench_id: int
    model: int
    test: str
    repetition: int
    value: float
    ended: datetime
    conditions: Conditions = Conditions()
    ttft_ms: float | None = None
    rss: int = 0
    memory: MemorySplit = field(default_factory=MemorySplit)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark of one or more models.

    Attributes:
        done: samples that are stored, of ``total``; ``failed``: those of them that have no value.
    """

    id: int
    created: datetime
    plan: BenchPlan
    models: tuple[BenchModel, ...]
    manifest: BenchManifest
    total: int
    done: int = 0
    failed: int = 0

    @property
    def complete(self) -> bool:
        """Nothing is left to measure."""
        return self.done >= self.total

    @property
    def measured(self) -> int:
        """Samples that have a value."""
        return self.done - self.failed


@dataclass(frozen=True, slots=True)
class Figure:
    """Repetitions of one test of one model.

    Attributes:
        sd: sample standard deviation, Σ(x − mean)² over n − 1; None for a single repetition.
        low, high: 95 % interval of the mean (Student's t); None for a single repetition.
        rank: 1 for the fastest of the bench; models whose intervals overlap the best of them share it; 0 for no rank.
    """

    mean: float
    sd: float | None
    n: int
    low: float | None = None
    high: float | None = None
    values: tuple[float, ...] = ()
    flags: tuple[Flag, ...] = ()
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Milliseconds of n prompts, by nearest rank; ``values`` of them all, from the least."""

    p50: float
    p95: float
    n: int
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of n answers with its Wilson interval at 95 %."""

    share: float
    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BenchRow:
    """All figures of one model; None where nothing was measured yet.

    Attributes:
        speeds: tokens/s by test ("pp512", "tg128@d1024"), in the plan's order.
        json: share of valid JSON with a grammar; ``free``: without one.
        local_score: 10·∛(prompt tokens/s · generated tokens/s · 1000/TTFT ms), as LocalScore defines it.
        quality: share of cases passed in the report's evaluation, None where this file has none there.
        problem: the first reason why something has no value, "" when all have.
    """

    model: BenchModel
    speeds: tuple[tuple[str, Figure], ...] = ()
    load_ms: Figure | None = None
    ttft_ms: Percentiles | None = None
    total_ms: Percentiles | None = None
    rss: int = 0
    memory: MemorySplit = field(default_factory=MemorySplit)
    json: Rate | None = None
    free: Rate | None = None
    local_score: float | None = None
    quality: Rate | None = None
    flags: tuple[Flag, ...] = ()
    problem: str = ""

    def speed(self, test: str) -> Figure | None:
        """Of one test."""
        return dict(self.speeds).get(test)


@dataclass(frozen=True, slots=True)
class BenchReport:
    """A bench with the figures that its samples give so far.

    Attributes:
        dataset: of the evaluation that the rows' quality is of, "" for none; the same cases for all rows.
        failed: models with a problem; going on tries again what has no value. A server's can't have all.
    """

    bench: Bench
    rows: tuple[BenchRow, ...]
    dataset: str = ""
    failed: int = 0


@dataclass(frozen=True, slots=True)
class BenchProgress:
    """A running bench: its figures so far, and what is measured now; the last one has ``now`` "".

    Attributes:
        left_s: estimate of what is still to run, None while there is nothing to reckon it from.
    """

    report: BenchReport
    now: str = ""
    left_s: float | None = None


@dataclass(frozen=True, slots=True)
class BenchComparison:
    """Rows side by side, of one bench or of several.

    Attributes:
        titles: of each row, its bench's number and date in it.
        caveats: what else differs between them (machine, settings, versions), in sentences.
    """

    titles: tuple[str, ...]
    rows: tuple[BenchRow, ...]
    caveats: tuple[str, ...]
