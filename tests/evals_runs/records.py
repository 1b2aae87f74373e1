"""Runs and results for tests of what stores them."""

from __future__ import annotations

from workbench.records.answers import Manifest
from workbench.records.evals import CaseResult, Ranked, RunConfig

MANIFEST = Manifest("1.0", "library", 3, 1, "hash", "hash-1", "structure", "", "", {"search.k": 10}, {"python": "3.11"})
CONFIG = RunConfig("faq", title="first")


def result(run_id: int, case_id: str, position: int = 0, *, passed: bool | None = True) -> CaseResult:
    ranked = (Ranked("c1", "faq.md", 0, 40, 1, lexical_rank=1, dense_rank=2, grade=3, evidence="F1"),)
    return CaseResult(run_id, case_id, position, passed, {"hit@5": 1.0}, ranked, duration_ms=2.5)
