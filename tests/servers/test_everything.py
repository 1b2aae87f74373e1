"""What the screens do with the engine, done with a real server in its place."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from storage import open_store
from tests.servers.conftest import LLAMA_SERVER, free_port, serving
from workbench import paths
from workbench.desk import Desk
from workbench.errors import EngineError, ServerError
from workbench.evals.running.sweep import vary
from workbench.records.answers import AskOptions, Message
from workbench.records.benchmarks import BenchPlan
from workbench.records.cases import Case, Expectation
from workbench.records.codec import encode
from workbench.records.corpus import IngestRequest
from workbench.records.evals import RunConfig
from workbench.records.models import GenerationSettings
from workbench.records.playground import ChatRequest
from workbench.records.retrieval import SearchOptions

pytestmark = pytest.mark.model
HELLO = (Message("user", "Name three primary colours."),)
LEXICAL = SearchOptions(lanes=("lexical",))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_store(tmp_path / "w.db"))
    yield desk
    desk.close()


@pytest.fixture
def library(desk: Desk, tmp_path: Path) -> Desk:
    """With one document and a dataset of model tasks and one of questions."""
    (tmp_path / "hours.md").write_text("The library opens at nine on Mondays and closes at six.", "utf-8")
    list(desk.ingest(IngestRequest((str(tmp_path / "hours.md"),), "c")))
    tasks = [Case(f"t{n}", "Say yes.", expectation=Expectation("regex", "(?i)[a-z]")) for n in range(2)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(json.dumps(encode(task)) for task in tasks), "utf-8")
    asked = Case("q1", "When does the library open on Mondays?", answers=("at nine",))
    (tmp_path / "faq.jsonl").write_text(json.dumps(encode(asked)), "utf-8")
    desk.import_dataset(str(tmp_path / "tasks.jsonl"))
    desk.import_dataset(str(tmp_path / "faq.jsonl"), collection="c")
    return desk


def test_a_conversation_with_its_prompt_its_tokens_and_a_schema(desk: Desk, llama_server: str) -> None:
    list(desk.open_model(llama_server))
    assert desk.status().reach == llama_server.removeprefix("http://")
    assert [lint.kind for lint in desk.playground.lint()] == []
    request = ChatRequest(HELLO, GenerationSettings(max_tokens=8))
    prompt = desk.playground.prompt(request)
    tokens = desk.playground.tokens(prompt)
    assert "".join(token.text for token in tokens) == prompt
    assert {token.text for token in tokens if token.special} >= {"<|im_start|>", "<|im_end|>"}
    assert {token.text for token in tokens if token.end} == {"<|im_end|>"}
    *_, reply = desk.playground.chat(request)
    said = reply.last.generation
    assert (said.state, said.prompt_tokens) == ("complete", len(tokens))
    assert said.decode_tps
    assert said.engine
    assert desk.status().pulses[-1].held == said.prompt_tokens + said.output_tokens
    schema = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    *_, reply = desk.playground.chat(replace(request, schema=schema, settings=GenerationSettings(max_tokens=40)))
    assert isinstance(reply.value["n"], int)
    desk.library.unload()
    assert desk.status().reach == "offline"


def test_a_bench_measures_prompts_and_says_why_not_the_rest(desk: Desk, llama_server: str) -> None:
    plan = BenchPlan(prompt=16, generate=4, repetitions=50, cooldown_s=0)
    samples = []
    for progress in desk.benchmarks.run([f"{llama_server}#"], plan):
        if progress.report.bench.done >= 4:  # the load, both of llama-bench's tests, and a prompt
            samples = list(desk._store.benchmarks.samples(progress.report.bench.id))
            break
    load, prefill, decode, asked = samples
    assert "loads when it likes" in load.problem
    assert load.problem == prefill.problem == decode.problem
    assert asked.problem == ""
    assert asked.ttft_ms
    (row,) = desk.benchmarks.report(load.bench_id).rows
    assert row.model.path.startswith(llama_server)
    assert row.rss == 0  # the server's memory isn't ours to tell


def test_evals_run_over_served_models_and_are_judged_and_swept(library: Desk, llama_server: str) -> None:
    model = f"{llama_server}#"
    *_, last = library.evals.run(RunConfig("tasks", layer="model", model=model))
    assert (last.run.done, last.run.passed) == (2, 2)
    ask = AskOptions("generated", max_output=48)
    chain = RunConfig("faq", layer="chain", search=LEXICAL, ask=ask, model=model)
    *_, last = library.evals.run(chain)
    (result,) = library.evals.results(last.run.id)
    assert result.error == ""
    assert result.answer
    *_, judgement = library.evals.judge(last.run.id)
    assert len(judgement.cases) == 1
    configs = vary(RunConfig("tasks", layer="model", limit=1), "model", [model, f"{llama_server}/v1"])
    done = [step for step in library.evals.sweep(configs) if step.finished]
    assert [step.run.status for step in done] == ["complete", "complete"]


def test_questions_about_chunks_are_proposed_by_a_served_model(
    library: Desk, llama_server: str, tmp_path: Path
) -> None:
    text = "A workshop kit is lent for three days and has to come back with its checklist filled in by the borrower. "
    (tmp_path / "kits.md").write_text("# Workshop kits\n\n" + text + "Films and magazines are lent for a week. " * 3)
    list(library.ingest(IngestRequest((str(tmp_path / "kits.md"),), "c")))
    list(library.open_model(llama_server))
    (proposal,) = library.evals.propose("proposed", 1, "c", seed=0)
    assert proposal.case or proposal.dropped  # a small model's question may be refused, with the reason
    calls = [call for call in library.money.ledger.calls() if call.server == llama_server]
    assert calls
    assert all(call.usage.output > 0 for call in calls)


def test_questions_are_reworded_by_a_served_model(library: Desk, llama_server: str) -> None:
    list(library.open_model(llama_server))
    found = library.search("When does the library open?", replace(LEXICAL, transforms=("hyde",)))
    (transformed,) = found.transforms
    assert transformed.skipped == ""
    assert transformed.output_tokens > 0


def test_a_server_that_dies_is_told_ends_the_run_and_is_back_when_it_is_started_again(library: Desk) -> None:
    pytest.importorskip("xllamacpp", reason="needs xllamacpp")
    port, file = free_port(), str(paths.gguf_folder() / paths.STARTER_MODEL)
    command = [sys.executable, "-c", LLAMA_SERVER, file, str(port)]
    with serving(command, port) as url:
        list(library.open_model(url))
        generator = library.library.generator
        assert generator is not None
        generations = generator.generate(generator.render(HELLO), GenerationSettings(max_tokens=500))
        while not next(generations).text:
            pass
        subprocess.run([sys.executable, "-c", KILL, str(port)], check=True)
        with pytest.raises(ServerError):
            list(generations)
    assert generator.death is not None
    assert library.model is None
    assert library.status().ended
    with pytest.raises(EngineError):
        list(library.evals.run(RunConfig("tasks", layer="model", model=url)))
    assert library.evals.runs() == ()
    with serving(command, port):
        generator._looked = 0.0  # a second has passed
        assert library.status().ended == ""
        *_, last = generator.generate(generator.render(HELLO), GenerationSettings(max_tokens=2))
        assert last.state == "complete"


KILL = """
import os, signal, sys, psutil
for connection in psutil.net_connections("tcp"):
    if connection.laddr and connection.laddr.port == int(sys.argv[1]) and connection.status == psutil.CONN_LISTEN:
        os.kill(connection.pid, signal.SIGKILL)
"""
