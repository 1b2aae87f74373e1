"""The commands of the tools: the worked numbers as a person meets them, and what they say when something is wrong."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from storage import open_store
from tests.cli.conftest import Cli, cli
from workbench.desk import Desk
from workbench.records.money import Usage
from workbench.records.usage import Call
from workbench.text.counting import tiktoken_encoding

__all__ = ["cli"]

PRICE = ("--input", "2", "--output", "8", "--cache-read", "0.5", "--cache-write", "2.5")


@pytest.fixture
def db(cli: Cli, tmp_path: Path) -> tuple[str, Path]:
    """A file with the source's illustrative prices."""
    chosen = ("--db", tmp_path / "lab.db")
    assert cli(*chosen, "money", "price", "somebody", "some-model", *PRICE, "--checked", "2026-01-01").code == 0
    return chosen


def test_what_a_cache_saves(cli: Cli, db: tuple[str, Path]) -> None:
    said = cli(*db, "money", "cache", "some-model", "--prefix", "12000", "--fresh", "8000", "--output", "700").out
    assert all(number in said for number in ("0.0456", "0.0516", "0.0276", "from 2 calls on"))
    call = cli(*db, "money", "call", "some-model", "--fresh", "8000", "--output", "700", "--cache-write", "12000")
    assert "0.051600 EUR" in call.out
    assert "look it up again" in call.err
    assert "stale" in cli(*db, "money", "prices").out


def test_the_sums_of_months_machines_and_vectors(cli: Cli) -> None:
    even = cli("money", "break-even", "--local", "80", "--per-request", "0.000846").out
    assert "94,563" in even
    parts = cli(
        "money", "break-even", "--hardware", "2400", "--months", "36", "--energy", "13", "--per-request", "0.01"
    )
    assert "79.67 / 0.01 = 7,967" in parts.out
    gpu = cli("money", "gpu", "--hour", "2.5", "--tokens-per-second", "40", "--active", "100", "--idle", "630").out
    assert all(number in gpu for number in ("34.7", "173.6", "1,825.00 in your currency"))
    named = cli("money", "gpu", "--hour", "2.5", "--tokens-per-second", "40", "--currency", "USD").out
    assert "a million tokens, USD" in named
    assert cli("money", "vectors", "0", "768").code == 2
    for endless in ("1e400", "nan"):
        assert cli("money", "month", "--requests", endless, "--per-request", "1").code == 2
    sizes = cli("money", "vectors", "10000000", "768").out
    assert all(number in sizes for number in ("30.720 GB", "7.680 GB", "0.960 GB"))
    at_once = cli("money", "capacity", "--rate", "5", "--seconds", "2", "--success", "0.9").out
    assert "= 10 at once" in at_once
    assert "= 0.999" in at_once
    assert "= 1.02" in cli("money", "month", "--requests", "1200", "--per-request", "0.000846").out


def test_nothing_was_looked_up_in_the_future(cli: Cli, db: tuple[str, Path]) -> None:
    day = ("--checked", "2999-01-01")
    refused = cli(*db, "money", "price", "somebody", "m", "--input", "1", "--output", "1", *day)
    assert "2999-01-01 is yet to come" in refused.err
    assert "2999-01-01 is yet to come" in cli(*db, "inventory", "add", "acme", "m", *day).err


def test_what_nobody_measured_is_asked_for(cli: Cli, db: tuple[str, Path]) -> None:
    assert "Give --fresh" in cli(*db, "money", "call", "some-model").err
    assert "No measured speed" in cli(*db, "money", "gpu", "--hour", "2.5", "--model", "m").err
    assert cli(*db, "money", "capacity", "--rate", "5").code == 2
    assert "No such price" in cli(*db, "money", "call", "other", "--fresh", "1", "--output", "1").err
    assert "No model was called yet" in cli(*db, "usage").out
    assert "no timed call" in cli(*db, "usage", "latency", "m").err


def test_a_budget_that_does_not_fit_exits_with_1(cli: Cli) -> None:
    parts = (
        "--instructions",
        "600",
        "--history",
        "2000",
        "--documents",
        "20000",
        "--tools",
        "1400",
        "--output",
        "1500",
    )
    fits = cli("tokens", "budget", "--window", "128000", *parts)
    assert (fits.code, "25,500 ≤ 128,000" in fits.out) == (0, True)
    over = cli("tokens", "budget", "--window", "25000", *parts)
    assert (over.code, "500 too many" in over.out) == (1, True)


@pytest.mark.skipif(tiktoken_encoding("o200k_base") is None, reason="needs tiktoken's files: workbench starter")
def test_prompts_that_spoil_their_cache_exit_with_1(cli: Cli, tmp_path: Path) -> None:
    for name, minute in (("a", 1), ("b", 2)):
        (tmp_path / name).write_text(f"Now: 2026-11-30 10:0{minute}\nYou are an assistant.\n", "utf-8")
    said = cli("tokens", "prefix", tmp_path / "a", tmp_path / "b", "--tokenizer", "o200k_base")
    assert said.code == 1
    assert "a date or time (2026-11-30 10:02)" in said.out
    assert cli("tokens", "prefix", tmp_path / "a", tmp_path / "a", "--tokenizer", "o200k_base").code == 0
    assert "can't be read" in cli("tokens", "prefix", tmp_path / "a", tmp_path / "none").err
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert cli("tokens", "show", "--file", tmp_path / "bytes").code == 2


def test_usage_costs_what_each_place_asks_however_it_is_added_up(cli: Cli, db: tuple[str, Path]) -> None:
    box = "http://gpu-box:8000"
    cli(*db, "money", "price", box, "m", *PRICE, "--checked", "2026-01-01")
    cli(*db, "money", "price", "local", "m", "--input", "0", "--output", "1", "--checked", str(date.today()))
    desk = Desk(open_store(db[1]))
    for server, model in ((box, "m"), ("", "m"), ("http://other:1", "m")):
        used = Usage(1_000_000, 500_000, estimated=server == "http://other:1")
        desk.money.ledger.record(Call(datetime.now(UTC), server, model, "ask", used, 1000.0))
    desk.close()
    for by in ("model", "purpose", "day"):  # 2 + 4 there, 0.5 here, and nobody knows of the third
        assert "6.50 EUR + ? !" in cli(*db, "usage", "--by", by).out
    by_server = {line.split()[0]: line for line in cli(*db, "usage", "--by", "server").out.splitlines()}
    assert by_server[box].endswith("6.00 EUR !")
    assert by_server["here"].endswith("0.500 EUR")
    assert by_server["http://other:1"].endswith("–")
    assert "≈ 1,000,000" in by_server["http://other:1"]
    assert "≈" not in by_server[box]
    assert "≈ 3,000,000" in by_server["together"]
    assert "≈ 21.00" not in by_server["together"]  # what is priced was counted
    assert "its server counts no tokens" in by_server["≈"]
    assert "≈ 18.00 EUR" in cli(*db, "usage", "--by", "day", "--price", f"{box}#m").out
    newest, *_ = json.loads(cli(*db, "usage", "calls", "--json").out)
    assert newest["usage"]["estimated"] is True
    assert "≈ 500,000" in cli(*db, "usage", "calls").out
    assert "≈ 6.000000 EUR" in cli(*db, "money", "call", f"{box}#m").out  # of the mean call
    assert by_server["?:"] == "?: calls without a known price: 1."
    assert "18.00 EUR !" in cli(*db, "usage", "--by", "day", "--price", f"{box}#m").out


def test_a_sheet_from_nothing_to_a_decision(cli: Cli, db: tuple[str, Path]) -> None:
    def run(*arguments: str) -> str:
        result = cli(*db, "decide", *arguments)
        assert result.code == 0, result.err
        return result.out

    run("new", "model")
    run("criterion", "model", "quality", "--weight", "2", "--least", "0.65")
    run("criterion", "model", "price", "--better", "less")
    for name, quality, price in (("A", "0.60", "1"), ("B", "0.75", "2"), ("C", "0.90", "6")):
        run("option", "model", name, f"quality={quality}", f"price={price}")
    judged = run("judge", "model")
    assert "quality 0.6 is below 0.65" in judged
    assert "Pareto" in judged
    run("record", "Which", "C", "--sheet", "model", "--reason", "best", "--review", "2026-01-01")
    assert "overdue" in run()
    assert json.loads(run("--json"))[0]["choice"] == "C"
    assert "Choice: C" in run("export", "1")
    assert "is below" in cli(*db, "decide", "record", "t", "A", "--sheet", "model", "--reason", "r").err
    assert cli(*db, "decide", "option", "model", "D", "quality=high").code == 2
    assert cli(*db, "decide", "option", "model", "D", "colour=1").code == 1
    assert cli(*db, "decide", "export", "9").code == 1


def test_the_value_of_information_is_the_source_s(cli: Cli) -> None:
    actions = ("say approve:approve=10,deny=-20", "say deny:approve=-20,deny=10", "abstain:approve=2,deny=2")
    asked = [part for action in actions for part in ("--action", action)]
    said = cli("decide", "voi", "--state", "approve=0.6", "--state", "deny=0.4", *asked).out
    assert "VoI = 10 − 2 = 8" in said
    assert all(f"{number}\n" in said for number in ("-2", "-8", "2"))
    assert cli("decide", "voi", "--state", "approve=0.7", "--state", "deny=0.4", *asked).code == 2


def test_the_inventory_is_written_marked_and_probed(cli: Cli, db: tuple[str, Path]) -> None:
    assert cli(*db, "inventory", "add", "somebody", "some-model", "--region", "EU", "--checked", "2026-01-01").code == 0
    assert cli(*db, "inventory", "mark", "some-model", "approved", "no", "--evidence", "run 12").code == 0
    listed = cli(*db, "inventory").out
    assert "···✗" in listed
    assert "2/8 EUR" in listed
    assert "stale" in listed
    probed = cli(*db, "inventory", "probe", "http://127.0.0.1:9#m")
    assert probed.code == 1
    assert "The layer that fails: address." in probed.out


def test_symptoms_are_printed_by_their_words(cli: Cli) -> None:
    assert "prefill" in cli("decide", "symptoms", "first", "token").out
    assert "No row" in cli("decide", "symptoms", "zebra").out
    assert "respaldadas" in cli("--lang", "es", "decide", "symptoms", "fuentes dice").out
