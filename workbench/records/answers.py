"""Records of answers: evidence, context, prompt, generation, claims, citations and the trace that holds them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from workbench.records.queries import EvidenceCheck, FollowUp
from workbench.records.retrieval import Analysis, FilterResult, FusionResult, LaneResult, RerankResult, Transformed

Outcome: TypeAlias = Literal[
    "answered",
    "unsupported",
    "no_result",
    "filtered_out",
    "low_support",
    "does_not_fit",
    "engine_gone",
    "cancelled",
    "empty_corpus",
]
AnswerMode: TypeAlias = Literal["extractive", "generated"]
DropReason: TypeAlias = Literal["duplicate", "budget", "limit"]
GenerationState: TypeAlias = Literal["started", "partial", "complete", "cancelled", "error"]
EvidenceOrder: TypeAlias = Literal["best_first", "best_last", "edges"]
SupportLevel: TypeAlias = Literal["supported", "weak", "unsupported", "uncited"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A chunk as the model sees it.

    Attributes:
        label: "F1", "F2", … ; citations name it.
        text: what is delivered (the parent span when the recipe has one), header included.
        start, end: the delivered span in the source text.
        header: repeated text that ``text`` begins with (a table's header row); the rest is the span itself.
        tokens: by the tokenizer that the budget is counted in.
        language: of the chunk, "" when unknown.
    """

    label: str
    chunk_id: str
    document_id: str
    source_id: str
    title: str
    heading: tuple[str, ...]
    page: int | None
    page_label: str
    start: int
    end: int
    text: str
    tokens: int
    header: str = ""
    language: str = ""

    @property
    def body(self) -> str:
        """The delivered span itself: exactly ``source_text[start:end]``."""
        return self.text[len(self.text) - (self.end - self.start) :]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A chunk that was found and not put in the context, and why (``of``: the label it duplicates)."""

    chunk_id: str
    source_id: str
    reason: DropReason
    of: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where the context window goes, in the model's own tokens: all parts together ≤ ``window``.

    Attributes:
        estimated: its server doesn't count tokens: those of the parts are estimates.
        assumed: its server doesn't tell its context: ``window`` is an assumption.
    """

    instructions: int
    evidence: int
    question: int
    reserve: int
    window: int
    tokenizer: str
    estimated: bool = False
    assumed: bool = False

    @property
    def total(self) -> int:
        """Tokens used, the reserved output included."""
        return self.instructions + self.evidence + self.question + self.reserve


@dataclass(frozen=True, slots=True)
class Context:
    """What was kept for the model, what was dropped and why."""

    evidence: tuple[Evidence, ...]
    dropped: tuple[Dropped, ...]
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The exact prompt: the messages, and ``rendered`` through the model's chat template ("" with no model)."""

    messages: tuple[Message, ...]
    rendered: str

    @property
    def words(self) -> str:
        """As sent; what it would be made of where no model's template was at hand."""
        return self.rendered or "\n\n".join(f"{m.role}:\n{m.content}" for m in self.messages)


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """What the engine's own clocks say of one generation (``llama_perf_context``): evaluation alone, no sampling.

    ``queue_ms``: waiting and loading before it, where a server tells.
    """

    prompt_tokens: int = 0
    prompt_ms: float = 0.0
    decode_tokens: int = 0
    decode_ms: float = 0.0
    queue_ms: float = 0.0

    @property
    def prefill_tps(self) -> float | None:
        """Prompt tokens per second, None before any."""
        return 1e3 * self.prompt_tokens / self.prompt_ms if self.prompt_ms else None

    @property
    def decode_tps(self) -> float | None:
        """Generated tokens per second, None before any."""
        return 1e3 * self.decode_tokens / self.decode_ms if self.decode_ms else None


@dataclass(frozen=True, slots=True)
class Generation:
    """What the model did. Times are stamped in the child process.

    Attributes:
        stop_reason: "eos", "length", "stop", "repetition", "cancelled", "error".
        ttft_ms: request received to first token; None before it.
        reused_tokens: prompt tokens that were still in the cache.
        prefill_tps: of the tokens that were not, so far.
        prefilled_tokens: prompt tokens in the cache so far; while a batch is computed, an estimate.
        estimated: its server counted no tokens: those of the prompt are an estimate, and a piece of the output that
            came is taken for a token.
    """

    state: GenerationState
    text: str
    prompt_tokens: int = 0
    output_tokens: int = 0
    reused_tokens: int = 0
    ttft_ms: float | None = None
    prefill_tps: float | None = None
    decode_tps: float | None = None
    duration_ms: float = 0.0
    stop_reason: str = ""
    error: str = ""
    prefilled_tokens: int = 0
    engine: EngineTimes | None = None
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """A pointer from a claim to the span that supports it; built from retrieved ids only.

    Attributes:
        start, end: the supporting span in the source text; ``quote`` is exactly that text.
        support, level: how far its source says the words that it is cited for (0–1); a quoted unit says itself.
        likeness: of those words' meaning to the span's (0–1), None where it wasn't compared.
    """

    label: str
    chunk_id: str
    document_id: str
    source_id: str
    title: str
    heading: tuple[str, ...]
    page: int | None
    page_label: str
    start: int
    end: int
    quote: str
    support: float = 1.0
    level: SupportLevel = "supported"
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """What a model says of a claim: whether its sources say it. Stands beside the model-free support, never instead.

    Attributes:
        verdict: "" when it couldn't be read: unscored.
        reason: the judge's, or why there is no verdict.
    """

    verdict: Literal["yes", "partly", "no", ""]
    reason: str
    judge: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the answer with its citations; supported (0–1) as far as the weakest of them supports it.

    Attributes:
        judged: by a model too, where that was asked for.
        relevance: how far it concerns the question, around 0 when it doesn't and 1 when it clearly does; None where no
            embedder could tell.
        off_topic: that is too little: it may stand in its source, and doesn't answer.
    """

    text: str
    citations: tuple[Citation, ...]
    support: float
    level: SupportLevel
    judged: ClaimVerdict | None = None
    relevance: float | None = None
    off_topic: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources of one subject that give different numbers; ``text`` says so, with their versions and dates.

    Attributes:
        newer, older: by the documents' dates and versions, where these tell.
    """

    text: str
    newer: Citation
    older: Citation


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer as a person sees it.

    Attributes:
        text: with ``[F1]`` marks; in the question's language.
        removed: citation marks the model wrote that name no evidence.
        unsaid: marks it wrote of evidence that doesn't say it, beside one that does; taken out as well.
        support: s in 0–1, compared with ``threshold`` τ.
        missing: what the sources would have to say, when the answer abstains.
        conflicts: sources that contradict what is cited; their sentences end ``text`` too.
    """

    outcome: Outcome
    mode: AnswerMode
    text: str
    claims: tuple[Claim, ...]
    removed: tuple[str, ...]
    support: float
    threshold: float
    language: str
    missing: str = ""
    remedy: str = ""
    unsaid: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def spoken(self) -> bool:
        """It says something of the question: "answered", or "unsupported" when no source backs any of its claims."""
        return self.outcome in ("answered", "unsupported")

    @property
    def weighed(self) -> bool:
        """There was evidence, so that ``support`` was measured; else it ended before."""
        return self.outcome in ("answered", "unsupported", "low_support", "engine_gone")

    @property
    def uncited(self) -> bool:
        """It has claims, and none of them cites anything."""
        return bool(self.claims) and all(claim.level == "uncited" for claim in self.claims)

    @property
    def off_topic(self) -> bool:
        """It has claims that sources back, and none of them concerns the question."""
        return self.outcome != "unsupported" and bool(self.claims) and all(claim.off_topic for claim in self.claims)

    @property
    def level(self) -> SupportLevel:
        """ "supported" when all claims are, "unsupported" when none is, "weak" between."""
        good = sum(claim.level == "supported" for claim in self.claims)
        return "supported" if good == len(self.claims) else "weak" if good else "unsupported"


@dataclass(frozen=True, slots=True)
class Decision:
    """Answer or abstain: s ≥ τ, with the parts s was made of."""

    outcome: Outcome
    support: float
    threshold: float
    parts: tuple[tuple[str, float], ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A model's verdicts on an answer's claims, in their order, and what they cost."""

    judge: str
    verdicts: tuple[ClaimVerdict, ...]
    prompt_tokens: int = 0
    output_tokens: int = 0


Stage: TypeAlias = (
    Analysis
    | FollowUp
    | Transformed
    | EvidenceCheck
    | Judged
    | FilterResult
    | LaneResult
    | FusionResult
    | RerankResult
    | Context
    | Prompt
    | Generation
    | Answer
    | Decision
    | None
)


EMBEDDER_START: Final = "embedder_start_ms"
"""Metadata of the dense span whose question started the embedder's process: how long that took, before the span."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One stage of a trace: name, when it began (ms after the trace), how long it took, what came out.

    ``name`` is one of: follow, analysis, filter, lexical, dense, a ``Transform``, fusion, rerank, context, evidence,
    retry, prompt, generation, judge, citations, decision. After a retry fusion, rerank and context come once more.
    """

    name: str
    start_ms: float
    duration_ms: float
    output: Stage
    input: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What would have to be the same for the same answer: versions, index, model file, settings."""

    workbench: str
    collection: str
    collection_version: int
    index_id: int
    embedder: str
    embedder_fingerprint: str
    recipe: str
    model: str
    model_hash: str
    settings: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trace:
    """One question's whole story; grows stage by stage and is stored when it is complete."""

    id: str
    created: datetime
    query: str
    manifest: Manifest
    spans: tuple[TraceSpan, ...] = ()
    answer: Answer | None = None
    complete: bool = False

    def span(self, name: str) -> TraceSpan | None:
        """The last span with that name, or None when the stage hasn't run."""
        return next((s for s in reversed(self.spans) if s.name == name), None)

    def grow(self, span: TraceSpan) -> Trace:
        """A copy with ``span`` added, replacing a last span of the same name (a stage that streams)."""
        kept = self.spans[:-1] if self.spans and self.spans[-1].name == span.name else self.spans
        return replace(self, spans=(*kept, span))


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How to answer. ``mode`` auto: generated when a model is loaded, else extractive.

    Attributes:
        evidence: chunks put in the context at most.
        max_output: tokens reserved for the answer.
        threshold: τ; None takes the collection's calibrated value or the default.
        constrained: force claims with citations by grammar; None does so for models of under 3 billion parameters.
        mmr: λ of maximal marginal relevance over the hits that may become evidence: 1 is relevance alone, 0 novelty
            alone; None keeps the ranking.
        budget: tokens that all the evidence may take; None: what the model's window leaves.
        order: how the prompt shows the evidence; "edges": the best at both ends. Labels stay by rank.
        follows: id of the trace whose question this one goes on from, "" for none.
        retries: searches more, when the evidence is weak, before abstaining.
        rewrite: who words those anew: rules, or the loaded model.
        judge: ask the loaded model of each claim, too, whether its sources say it.
        duplicates: keep pieces that repeat what is kept already; None leaves them out.
        parents: False delivers the chunks alone, where the recipe has larger spans around them; None the spans.
    """

    mode: Literal["auto", "extractive", "generated"] = "auto"
    evidence: int = 5
    max_output: int = 256
    threshold: float | None = None
    constrained: bool | None = None
    temperature: float = 0.0
    seed: int = 0
    mmr: float | None = None
    budget: int | None = None
    order: EvidenceOrder = "best_first"
    follows: str = ""
    retries: int = 1
    rewrite: Literal["rules", "model"] = "rules"
    judge: bool = False
    duplicates: bool | None = None
    parents: bool | None = None
