"""Rerankers for screens without a file: late interaction, measured and off."""

from __future__ import annotations

from workbench.records.rerankers import LATE, RerankerInfo
from workbench.records.retrieval import RerankGain


class FakeRerankers:
    """Answers like ``workbench.rerankers.rerankers.Rerankers``."""

    def installed(self) -> tuple[RerankerInfo, ...]:
        return (RerankerInfo(LATE, "late"),)

    def gains(self, collection: str = "") -> tuple[RerankGain, ...]:
        return (RerankGain(LATE, collection, "faq", 40, 40, (0.5, 0.55), (0.6, 0.65), 3, 1, 0.62, (-0.05, 0.15)),)

    def gain(self, collection: str = "") -> RerankGain | None:
        return None
