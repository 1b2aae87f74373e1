"""Offers with the day they were true, and a probe that names the layer that fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from storage import open_store
from tests.answers.fake_generator import FakeGenerator
from tests.cli.conftest import Cli, cli
from tests.servers.conftest import playing
from tests.servers.test_recorded import OLLAMA
from workbench import paths
from workbench.desk import Desk
from workbench.errors import EngineError, NotFoundError, ServerError, UsageError
from workbench.inventory.probe import probe
from workbench.inventory.words import marks, sign
from workbench.ports import Generator
from workbench.records.answers import Generation
from workbench.records.inventory import Offer, Passed, ProbeReport
from workbench.records.models import GenerationSettings
from workbench.records.money import Price
from workbench.records.servers import UNTOLD_TEMPLATE, ContractCheck, ContractReport

__all__ = ["cli"]
TODAY = date.today()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


@pytest.fixture
def desk(file: Path) -> Iterator[Desk]:
    opened = Desk(open_store(file))
    yield opened
    opened.close()


def probed(generator: object, **more: Any) -> ProbeReport:
    *_, last = probe("m", lambda: cast(Generator, generator), **more)
    return last


def failing(error: Exception) -> ProbeReport:
    def opened() -> Generator:
        raise error

    *_, last = probe("m", opened)
    return last


def test_facts_get_stale_and_filters_stay_when_facts_change(desk: Desk) -> None:
    old = Offer("acme", "m", context=128_000, checked=TODAY - timedelta(days=91))
    desk.inventory.put(old)
    assert desk.inventory.stale(desk.inventory.offer("m"))
    desk.inventory.mark("acme#m", "approved", True, "run 12")
    desk.inventory.put(Offer("acme", "m", context=64_000, checked=TODAY))
    found = desk.inventory.offer("acme#m")
    assert (found.context, found.filters) == (64_000, {"approved": Passed(True, "run 12", TODAY)})
    assert not desk.inventory.stale(found)


def test_a_filter_needs_evidence_and_a_name_must_be_clear(desk: Desk) -> None:
    desk.inventory.put(Offer("a", "m"))
    desk.inventory.put(Offer("b", "m"))
    with pytest.raises(UsageError, match="evidence"):
        desk.inventory.mark("a#m", "exists", True, " ")
    with pytest.raises(NotFoundError, match="2 models"):
        desk.inventory.offer("m")
    with pytest.raises(UsageError):
        desk.inventory.put(Offer("", "m"))


def test_a_model_that_is_a_path_goes_by_its_files_name(desk: Desk) -> None:
    offer = desk.inventory.put(Offer("http://127.0.0.1:9", "/models/m.gguf", "http://127.0.0.1:9"))
    assert desk.inventory.offer("http://127.0.0.1:9#m.gguf") == desk.inventory.offer("m.gguf") == offer
    list(desk.inventory.probe("http://127.0.0.1:9#m.gguf"))
    assert desk.inventory.offer("m.gguf").filters["usable"].passed is False


def test_a_scan_keeps_what_no_server_tells_and_knows_what_a_contract_found(desk: Desk, cli: Cli, file: Path) -> None:
    with playing(OLLAMA) as server:
        desk.servers.add(server.url)
        name = f"{server.url}#smollm2:135m"
        desk.inventory.put(Offer(server.url, "smollm2:135m", retention="none", version="pinned"))
        held = ContractCheck("schema", "a JSON schema holds", "kept", "{}", 1.0)
        desk.servers.reports.keep(ContractReport(server.url, "ollama", "1", "smollm2:135m", (held,), datetime.now(UTC)))
        desk.inventory.scan()
        found = desk.inventory.offer(name)
        assert (found.context, found.tools, found.json) == (4096, True, True)
        assert (found.retention, found.version) == ("none", "pinned")
        desk.money.put_price(Price(server.url, "smollm2:135m", "EUR", 2.0, 8.0, TODAY))
        desk.close()
    added = cli("--db", file, "inventory", "add", server.url, "smollm2:135m", "--region", "here", "--tools", "no")
    assert added.code == 0
    row = next(line for line in cli("--db", file, "inventory").out.splitlines() if "smollm2:135m" in line)
    for told in ("4,096", "2/8 EUR", "text, JSON", "here · none · pinned"):
        assert told in row


def test_a_healthy_model_passes_every_layer() -> None:
    report = probed(FakeGenerator('{"ok": true}'))
    assert report.failed is None
    assert [step.layer for step in report.steps] == ["model", "template", "server", "context", "json"]


@pytest.mark.parametrize(
    ("error", "layer"),
    [
        (ServerError("Nobody answers", "x", layer="endpoint"), "endpoint"),
        (ServerError("No key", "x", layer="key"), "key"),
        (ServerError("The server has no memory for it", "x", layer="memory"), "memory"),
        (ServerError("odd", "x", layer="something new"), "server"),
        (EngineError("Not enough memory", "x", cause="memory"), "memory"),
        (EngineError("No room for this context", "x", cause="context"), "context"),
        (NotFoundError("No model is loaded", "x"), "model"),
    ],
)
def test_what_keeps_a_model_from_coming_up_names_its_layer(error: Exception, layer: str) -> None:
    report = failing(error)
    assert report.failed is not None
    assert report.failed.layer == layer
    assert len(report.steps) == 1


def test_no_template_no_json_and_no_answer_in_time_are_told_apart() -> None:
    bare, chatty = probed(FakeGenerator("x", template="")), probed(FakeGenerator("yes of course"))
    assert bare.failed is not None
    assert bare.failed.layer == "template"
    assert chatty.failed is not None
    assert chatty.failed.layer == "json"
    waits = threading.Event()
    slow = probed(FakeGenerator("yes", on_piece=lambda: waits.wait(0.05) and None), seconds=0.01)
    assert slow.failed is not None
    assert slow.failed.layer == "timeout"


def test_a_server_that_takes_no_schema_fails_at_the_json() -> None:
    class NoSchema(FakeGenerator):
        def generate(self, prompt: str, settings: GenerationSettings, cancel: Any = None) -> Iterator[Generation]:
            if settings.json_schema:
                raise ServerError("The server failed", "Input should be 'text'", layer="server", status=500)
            yield from super().generate(prompt, settings, cancel)

    report = probed(NoSchema("yes"))
    assert report.failed is not None
    assert (report.failed.layer, [step.passed for step in report.steps]) == ("json", [True] * 3 + [None, False])


def test_a_context_that_nobody_tells_is_neither_passed_nor_failed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Untold(FakeGenerator):
        def generate(self, prompt: str, settings: GenerationSettings, cancel: Any = None) -> Iterator[Generation]:
            asked = replace(settings, max_tokens=min(settings.max_tokens, 32))
            return super().generate(prompt, asked, cancel)

    report = probed(Untold('{"ok": true}'))
    assert report.failed is None
    assert [sign(step.passed) for step in report.steps] == ["✓", "✓", "✓", "·", "✓"]
    desk.inventory.put(Offer("acme", "m"))
    monkeypatch.setattr("workbench.inventory.inventory.probe", lambda *_: iter([report]))
    list(desk.inventory.probe("m"))
    assert marks(desk.inventory.offer("m")) == "✓✓··"


def test_a_server_s_first_model_is_written_down_and_its_template_isnt_ticked_unseen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = FakeGenerator('{"ok": true}', template=UNTOLD_TEMPLATE)
    served.model = replace(served.model, file=replace(served.model.file, path="http://a:1#/models/m"))
    monkeypatch.setattr(type(desk.inventory), "_opened", lambda *_: served)
    *_, unlisted = desk.inventory.probe("http://a:1#")
    assert unlisted.offer == ""
    desk.inventory.put(Offer("http://a:1", "/models/m", "http://a:1"))
    *_, report = desk.inventory.probe("http://a:1#")
    assert [sign(step.passed) for step in report.steps] == ["✓", "·", "✓", "✓", "✓"]
    assert report.offer == "http://a:1#/models/m"
    assert marks(desk.inventory.offer(report.offer)) == "✓✓✓·"
    assert "untold: template" in desk.inventory.offer(report.offer).filters["usable"].evidence


def test_a_model_that_dies_while_it_answers_fails_there() -> None:
    report = probed(FakeGenerator("x y z", dies=True))
    assert report.failed is not None
    assert report.failed.layer == "server"


def test_an_address_where_nobody_listens_is_the_endpoint(desk: Desk) -> None:
    desk.inventory.put(Offer("http://127.0.0.1:9", "m", "http://127.0.0.1:9"))
    *_, report = desk.inventory.probe("m")
    assert report.failed is not None
    assert report.failed.layer == "endpoint"
    assert desk.inventory.offer("m").filters["usable"].passed is False


@pytest.mark.model
def test_the_real_model_is_alive_and_the_inventory_knows(desk: Desk) -> None:
    desk.inventory.scan()
    name = f"local#{Path(paths.STARTER_MODEL).stem}"
    *_, report = desk.inventory.probe(name)
    assert report.failed is None
    assert desk.model is None  # a probe changes nothing of what is in use
    offer = desk.inventory.offer(name)
    assert {key for key, seen in offer.filters.items() if seen.passed} == {"exists", "usable", "accepts"}
    assert {call.purpose for call in desk.money.ledger.calls()} == {"probe"}
