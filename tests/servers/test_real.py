"""Two real servers with a real model: they are recognised, held to their word, and answer in the engine's place."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import open_store
from workbench.desk import Desk
from workbench.errors import BudgetError, NotFoundError, ServerError
from workbench.ports import Cancel
from workbench.records.answers import Message
from workbench.records.corpus import IngestRequest
from workbench.records.models import GenerationSettings
from workbench.records.servers import Flight
from workbench.servers.concurrency import summary
from workbench.servers.contract import markdown

pytestmark = pytest.mark.model
COLOURS = [Message("user", "Name three primary colours.")]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(open_store(tmp_path / "w.db"))
    yield desk
    desk.close()


def test_llama_server_tells_its_model_and_prompts_are_exact(desk: Desk, llama_server: str) -> None:
    server = desk.servers.add(llama_server)
    assert (server.kind, server.reach, server.exposed) == ("llama-server", "machine", False)
    (model,) = server.models
    assert (model.context, model.quantization, model.loaded) == (1024, "Q4_1", True)  # 2048 for two slots
    state = desk.servers.state(server)
    assert state
    assert (state.ready, state.slots, state.busy, state.waiting) == (True, 2, 0, 0)
    generator = desk.servers.use(llama_server)
    assert desk.model is not None
    assert desk.model.server == llama_server
    prompt = generator.render(COLOURS)
    assert prompt.endswith("<|im_start|>assistant\n")
    assert "Name three primary colours." in prompt
    *_, last = generator.generate(prompt, GenerationSettings(max_tokens=12))
    assert last.state == "complete"
    assert last.prompt_tokens == generator.count_tokens(prompt)
    assert 0 < last.output_tokens <= 12
    assert last.engine is not None
    assert last.engine.decode_tps
    assert desk.servers.endpoints()[-1].url == llama_server


def test_a_grammar_and_a_schema_hold_the_model(desk: Desk, llama_server: str) -> None:
    generator = desk.servers.use(llama_server)
    assert generator.grammars
    settings = GenerationSettings(max_tokens=8, grammar='root ::= "blue" | "red"')
    *_, last = generator.generate(generator.render(COLOURS), settings)
    assert last.text in ("blue", "red")
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    settings = GenerationSettings(max_tokens=40, json_schema=json.dumps(schema))
    *_, last = generator.generate(generator.render(COLOURS), settings)
    assert isinstance(json.loads(last.text)["n"], int)


def test_a_prompt_that_does_not_fit_is_said_before_it_is_sent(desk: Desk, llama_server: str) -> None:
    generator = desk.servers.use(llama_server)
    with pytest.raises(BudgetError, match="1024"):
        generator.generate("word " * 1100, GenerationSettings(max_tokens=8))


def test_a_stop_ends_the_answer_and_frees_the_server(desk: Desk, llama_server: str) -> None:
    generator = desk.servers.use(llama_server)
    stop, states = Cancel(), []
    for generation in generator.generate(generator.render(COLOURS), GenerationSettings(max_tokens=500), stop):
        states.append(generation.state)
        if generation.text:
            stop.set()
    assert states[0] == "started"
    assert states[-1] == "cancelled"
    *_, last = generator.generate(generator.render(COLOURS), GenerationSettings(max_tokens=2))
    assert last.state == "complete"


@pytest.mark.parametrize("name", ["llama_server", "python_server"])
def test_a_contract_report_says_where_compatible_is_not(desk: Desk, name: str, request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue(name)
    *_, report = desk.servers.examine(url)
    found = {check.key: check.outcome for check in report.checks}
    assert {found[key] for key in ("stream", "reason", "max_tokens", "stop")} == {"kept"}
    # What a busy machine may change: arithmetic in batches of another size, and how soon the next call is answered.
    assert {found[key] for key in ("repeat", "cancel")} <= {"kept", "differs"}
    assert found["unknown_model"] == "differs"
    if name == "llama_server":
        assert {found[key] for key in ("usage", "schema", "grammar", "overflow", "two_at_once")} == {"kept"}
        assert found["embeddings"] == "refused"
    else:
        (told,) = (check.detail for check in report.checks if check.key == "overflow")
        assert told == "the stream ends without a word; asked without one: 400, and it says why"
        assert "grammar" not in found  # it promises none
        assert found["usage"] == "differs"
        assert found["two_at_once"] in ("differs", "broken")  # a second request interrupts the first
        assert found["schema"] == "differs"  # it only takes the older form
        assert found["embeddings"] == "broken"
    table = markdown(report)
    assert table.count("\n| ") == len(report.checks) + 1


def test_a_question_is_answered_through_a_server_with_citations(desk: Desk, llama_server: str, tmp_path: Path) -> None:
    (tmp_path / "hours.md").write_text("The library opens at nine on Mondays and closes at six.", "utf-8")
    list(desk.ingest(IngestRequest((str(tmp_path / "hours.md"),), "c")))
    *_, progress = desk.open_model(f"{llama_server}#")
    assert progress.model is not None
    *_, trace = desk.ask("When does the library open on Mondays?")
    assert trace.answer is not None
    assert trace.answer.mode == "generated"
    assert trace.answer.claims
    assert all(citation.label == "F1" for claim in trace.answer.claims for citation in claim.citations)
    assert trace.manifest.model
    assert trace.manifest.settings["model.server"] == llama_server


def test_a_server_that_goes_away_is_an_engine_that_failed(desk: Desk) -> None:
    with pytest.raises(ServerError):
        desk.servers.add("http://127.0.0.1:1")
    assert desk.model is None


def test_an_unknown_model_is_named_with_those_there_are(desk: Desk, llama_server: str) -> None:
    with pytest.raises(NotFoundError, match="SmolLM2"):
        desk.servers.use(llama_server, "no-such")


def test_requests_at_a_steady_rate_obey_littles_law(desk: Desk, llama_server: str) -> None:
    start = time.perf_counter()
    *early, found = desk.servers.load_test(llama_server, "", rate=4, requests=8)
    assert [test.sent for test in early] == sorted(test.sent for test in early)
    assert early[0].asked == 8
    assert found.failed == 0
    assert len(found.flights) == 8
    assert found.in_system == pytest.approx(found.little, rel=1e-6)
    assert found.tokens_per_second > 0
    assert time.perf_counter() - start >= 7 / 4
    (kept,) = desk.servers.loads.all(llama_server)
    assert (kept.flights, kept.sent, kept.asked, kept.kind) == ((), 8, 8, "llama-server")
    assert desk.servers.loads.whole(kept) == found


def test_five_a_second_of_two_seconds_each_are_ten_at_once() -> None:
    flights = [Flight(n / 5, 0.5, n / 5 + 2.0, 16) for n in range(5_000)]
    found = summary("", "", 5, flights)
    assert found.little == pytest.approx(10, rel=0.01)
    assert found.in_system == pytest.approx(found.little)
