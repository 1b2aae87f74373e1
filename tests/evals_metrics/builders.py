"""Runs, results and cases in a line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from workbench.records.answers import Answer, Manifest, Outcome
from workbench.records.cases import Case
from workbench.records.evals import (
    CaseResult,
    FailureStage,
    Run,
    RunConfig,
)

WHEN = datetime(2026, 5, 25, 12, 0, tzinfo=UTC)
MANIFEST = Manifest(
    workbench="1.0",
    collection="library",
    collection_version=3,
    index_id=1,
    embedder="e5",
    embedder_fingerprint="aa",
    recipe="structure",
    model="",
    model_hash="",
    settings={"ask.evidence": 5},
    versions={"numpy": "2.4"},
)


def run(run_id: int = 1, config: RunConfig | None = None, dataset_hash: str = "d" * 64, **manifest: object) -> Run:
    return Run(
        id=run_id,
        config=config or RunConfig("faq"),
        dataset_hash=dataset_hash,
        manifest=replace(MANIFEST, **manifest),  # type: ignore[arg-type]  # fields by name
        status="complete",
        created=WHEN,
        done=2,
        total=2,
    )


def result(
    case_id: str,
    passed: bool | None = True,
    scores: Mapping[str, float] | None = None,
    *,
    ms: float = 0.0,
    failure: FailureStage = "",
    answer: Answer | None = None,
    output: str = "",
    error: str = "",
) -> CaseResult:
    return CaseResult(
        run_id=1,
        case_id=case_id,
        position=0,
        passed=passed,
        scores=scores or {},
        duration_ms=ms,
        failure=failure,
        answer=answer,
        output=output,
        error=error,
    )


def case(case_id: str, answerable: bool = True, *, tags: tuple[str, ...] = (), **fields: str) -> Case:
    return Case(case_id, "What?", answerable, tags=tags, **fields)  # type: ignore[arg-type]  # text fields by name


def answer(support: float, outcome: Outcome = "answered", threshold: float = 0.0) -> Answer:
    return Answer(outcome, "extractive", "", (), (), support, threshold, "en")
