"""Every way to a generation, with the real model: each is counted, under its purpose, and once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storage import open_store
from tests.answers.fake_generator import FakeGenerator
from tests.evals_runs.conftest import FEE
from tests.library import NAME, open_library
from workbench import paths
from workbench.desk import Desk
from workbench.records.answers import AskOptions, Message
from workbench.records.benchmarks import BenchPlan
from workbench.records.codec import encode
from workbench.records.evals import RunConfig
from workbench.records.models import GenerationSettings, LoadSettings
from workbench.records.playground import ChatRequest
from workbench.records.retrieval import SearchOptions

LEXICAL = SearchOptions(lanes=("lexical",), collection=NAME)
MODEL = str(paths.gguf_folder() / paths.STARTER_MODEL)


@pytest.mark.model
def test_chats_questions_evaluations_and_judges_are_each_counted_once(tmp_path: Path) -> None:
    desk = Desk(open_library(tmp_path))
    try:
        for _ in desk.open_model(MODEL, LoadSettings(context=2048)):
            pass
        said = ChatRequest((Message("user", "Say hello."),), GenerationSettings(max_tokens=4))
        *_, reply = desk.playground.chat(said)
        *_, trace = desk.ask("How much is the enrolment fee?", AskOptions(mode="generated", max_output=16), LEXICAL)
        (tmp_path / "faq.jsonl").write_text(json.dumps(encode(FEE)), "utf-8")
        desk.evals.import_file(str(tmp_path / "faq.jsonl"), "faq", NAME)
        asked = AskOptions(mode="generated", max_output=16)
        config = RunConfig("faq", "chain", search=LEXICAL, ask=asked, model=MODEL, load=LoadSettings(context=2048))
        *_, progress = desk.evals.run(config)
        *_, _ = desk.evals.judge(progress.run.id)
        by_purpose = {s.purpose: s for s in desk.money.ledger.sums(["purpose"])}
        assert {purpose: s.calls for purpose, s in by_purpose.items()} == {"chat": 1, "ask": 1, "eval": 1, "judge": 1}
        assert by_purpose["chat"].usage.output == reply.last.generation.output_tokens
        assert trace.span("generation") is not None
        newest = {call.purpose: call for call in desk.money.ledger.calls()}
        assert newest["ask"].prefill_ms is not None
    finally:
        desk.close()


class Measurable(FakeGenerator):
    """As the engine's own, as far as a bench asks it."""

    def measure(self, *_: int) -> float:
        return 0.01


@pytest.mark.model
def test_a_bench_counts_the_prompts_that_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.benchmarks.visits.load_generator", lambda *_, **__: Measurable("a b c"))
    desk = Desk(open_store(tmp_path / "lab.db"))
    plan = BenchPlan(prompt=0, generate=0, repetitions=1, cooldown_s=0)
    *_, progress = desk.benchmarks.run([MODEL], plan)
    asked = [s for s in desk.money.ledger.calls() if s.purpose == "bench"]
    assert len(asked) == progress.report.bench.total - 1 > 0  # all samples but the load
    desk.close()
