"""Records of rerankers: what is installed, and the score of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

RerankerKind: TypeAlias = Literal["late", "onnx", "gguf"]

NONE: Final = "none"
"""The rerank mode that leaves the fused order as it is."""
LATE: Final = "late"
"""The rerank mode of late interaction; any other names an installed reranker."""


@dataclass(frozen=True, slots=True)
class RerankerInfo:
    """A reranker that searches can ask for by its name.

    Attributes:
        kind: late: the embedder's own token vectors; onnx: a cross-encoder's folder; gguf: a file for the engine.
        path: the folder or the file, "" for late interaction.
        model_file: of an ONNX folder, relative to it.
        size: bytes of the weights.
        problem: why it can't be used, "" when it can.
    """

    name: str
    kind: RerankerKind
    path: str = ""
    model_file: str = ""
    size: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PairScore:
    """What a reranker says of one question and one passage.

    Attributes:
        score: higher is more relevant; of the model's own scale (most often a logit).
        truncated: the model saw only the beginning of the pair.
    """

    score: float
    truncated: bool
