"""Records of quantization ladders: one model in several quantizations, what each costs and what it loses."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from workbench.records.benchmarks import BenchManifest, BenchPlan, BenchRow, Rate
from workbench.records.evals import Estimate
from workbench.records.models import LoadSettings

Stage: TypeAlias = Literal["quantize", "bench", "quality", "eval"]
"""What is done to each rung, in this order."""

Criterion: TypeAlias = Literal["size", "kl", "speed"]
"""What the Pareto front is taken over: bytes of the file, mean KL, rank by decode speed."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """``tensors`` of them can't have the type ``wanted``, because their rows don't divide into its blocks."""

    wanted: str
    got: str
    tensors: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a quantization is, or would be.

    Attributes:
        size: bytes of tensor data, as the engine rounds them (0.01 MiB).
        tensor_types: how many tensors have each type, most frequent first.
        problem: why it can't be made, "" when it can.
    """

    kind: str
    size: int = 0
    tensor_types: tuple[tuple[str, int], ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TextPlan:
    """What text the models are held against, and how much of it.

    Attributes:
        collection: documents of this collection; ``path``: or this file. One of them is "".
        windows: passages, spread evenly over the text.
        tokens: of each passage; the second half is scored, with the first half as context. An even number.
    """

    collection: str = ""
    path: str = ""
    windows: int = 8
    tokens: int = 512


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """What a ladder is made of, and what is measured of its rungs.

    Attributes:
        source: the model file that everything is made from.
        kinds: quantizations to make: "Q8_0", "Q4_K_M".
        folder: where they are written.
        reference: a quantization that is made of the source first; all others are made from it and held against it.
            "": the source itself is the reference.
        files: model files there are already, held against the reference too.
        text: None: no perplexity, no KL; ``bench``: None: no speeds.
        dataset: an eval dataset of model tasks, "" for none; ``limit``: its first so many cases, 0 for all; ``output``:
            tokens that an answer may take.
        load: how the models are loaded to be scored.
    """

    source: str
    kinds: tuple[str, ...]
    folder: str
    reference: str = ""
    files: tuple[str, ...] = ()
    text: TextPlan | None = None
    bench: BenchPlan | None = None
    dataset: str = ""
    limit: int = 0
    output: int = 96
    load: LoadSettings = field(default_factory=LoadSettings)


@dataclass(frozen=True, slots=True)
class Rung:
    """A quantization of a ladder; the first one is the reference.

    Attributes:
        hash: SHA-256 of the file, "" while it isn't made yet; ``size``: its bytes.
        made: this ladder makes it; else the file was there.
        fallbacks: tensors that couldn't have their type.
        origin: the quantization that it was made of, where that one had lost something already; else "".
        run_id: the evaluation of this file, 0 for none.
        problem: why it can't be made or used, "" when it can.
    """

    place: int
    kind: str
    path: str
    name: str
    made: bool
    hash: str = ""
    size: int = 0
    bits_per_weight: float = 0.0
    tensor_types: tuple[tuple[str, int], ...] = ()
    fallbacks: int = 0
    origin: str = ""
    seconds: float = 0.0
    run_id: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class WindowScores:
    """What two models made of the same passage, a value per scored position.

    Attributes:
        kl: D(reference ‖ model) of the next token's distribution, in nats.
        surprise: −ln p of the token that came, by the model; ``reference_surprise``: by the reference.
        same_top: both find the same token the likeliest.
    """

    window: int
    kl: tuple[float, ...]
    surprise: tuple[float, ...]
    reference_surprise: tuple[float, ...]
    same_top: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder and how far it is.

    Attributes:
        origin: the quantization of the source, where the reference was made of one that had lost something; else "".
        bench_id: its bench, 0 while there is none.
        text_hash: SHA-256 of the passages, "" without text.
    """

    id: int
    created: datetime
    plan: LadderPlan
    manifest: BenchManifest
    rungs: tuple[Rung, ...]
    bench_id: int = 0
    text_hash: str = ""


@dataclass(frozen=True, slots=True)
class TextScore:
    """A figure over n positions of a text; its 95 % interval is None at both ends where the text gives none.

    Attributes:
        method: how the interval was made, "" without one.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    method: str = ""


@dataclass(frozen=True, slots=True)
class Divergence:
    """How far a model is from the reference over ``windows`` passages; 95 % intervals from a block bootstrap.

    Attributes:
        kl: mean; ``kl_p99``: 99th percentile by nearest rank, both in nats.
        same_top: share of positions where both find the same token the likeliest.
        perplexity: the model's, and ``reference_perplexity`` the reference's, of the scored positions.
        log_ratio: ln(perplexity ÷ reference_perplexity), paired by position: 0 for no change.
    """

    kl: TextScore
    kl_p99: TextScore
    same_top: TextScore
    perplexity: TextScore
    reference_perplexity: TextScore
    log_ratio: TextScore
    windows: int


@dataclass(frozen=True, slots=True)
class LadderRow:
    """All figures of a rung; None where nothing was measured.

    Attributes:
        saving: 1 − bytes of its file ÷ bytes of the reference's.
        loss: Δquality = share of cases that the reference passes less the share that this one passes, paired.
        front: on the Pareto front of the report's criteria.
        gone: its file was there, and isn't any more; the figures are of what it was.
    """

    rung: Rung
    bench: BenchRow | None = None
    perplexity: TextScore | None = None
    divergence: Divergence | None = None
    passed: Rate | None = None
    loss: Estimate | None = None
    saving: float | None = None
    front: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class LadderReport:
    """A ladder with its figures so far; ``criteria``: what the front is taken over, () while nothing can be compared.

    Attributes:
        left: the stages that aren't complete.
    """

    ladder: Ladder
    rows: tuple[LadderRow, ...]
    criteria: tuple[Criterion, ...] = ()
    left: tuple[Stage, ...] = ()

    @property
    def failed(self) -> int:
        """Rungs with a problem; going on tries them again."""
        return sum(bool(row.rung.problem) for row in self.rows)


@dataclass(frozen=True, slots=True)
class LadderProgress:
    """A running ladder: its figures so far, what is done now and how far that is (0–1); ``stage`` None: it is done."""

    report: LadderReport
    stage: Stage | None = None
    now: str = ""
    fraction: float | None = None
