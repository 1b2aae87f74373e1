"""Sheets in a real file, filled from measurements; decisions with what would change them; the table of symptoms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from storage import open_store
from workbench import i18n
from workbench.decisions.decisions import overdue
from workbench.decisions.sheet import judge
from workbench.decisions.symptoms import find_symptoms, symptoms
from workbench.decisions.writing import evidence_of, firmness, value_words
from workbench.desk import Desk
from workbench.errors import NotFoundError, UsageError
from workbench.records.benchmarks import BenchManifest, BenchModel, BenchPlan, Machine, Sample
from workbench.records.decisions import Criterion, Option, Sheet, Value
from workbench.records.evals import DecisionRecord
from workbench.records.money import Price, Usage
from workbench.records.servers import Flight
from workbench.records.usage import Call
from workbench.servers.concurrency import summary


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = Desk(open_store(tmp_path / "lab.db"))
    yield opened
    opened.close()


def sheet(desk: Desk) -> None:
    """The source's figure: B dominates D, and A, B and C are the front."""
    desk.decisions.put(Sheet("model", (), ()))
    desk.decisions.set_criterion("model", Criterion("quality", 1))
    desk.decisions.set_criterion("model", Criterion("price", 1, "less"))
    for name, quality, price in (("A", 0.60, 1.0), ("B", 0.75, 2.0), ("C", 0.90, 6.0), ("D", 0.70, 3.0)):
        desk.decisions.set_values("model", name, {"quality": Value(quality), "price": Value(price)})


def test_a_sheet_is_kept_and_judged_again_as_it_was(desk: Desk, tmp_path: Path) -> None:
    sheet(desk)
    desk.close()
    again = Desk(open_store(tmp_path / "lab.db"))
    verdict = again.decisions.judge("model")
    assert verdict.winner == "B"
    assert [s.option.name for s in verdict.ranking if s.on_front] == ["B", "A", "C"]
    again.close()


def test_the_score_of_the_source_is_a_convex_sum_less_penalties() -> None:
    """S(m) = Σ w·q - Σ λ·p: 0.22 · 0.80 + … with weights that add up to 1, and λ = 1 puts a candidate last."""
    weights = {"quality": 0.22, "latency": 0.16, "control": 0.62}
    criteria = tuple(Criterion(name, w, best=1, worst=0) for name, w in weights.items())
    good = Option("good", {"quality": Value(0.80), "latency": Value(0.70), "control": Value(0.812)})
    barred = replace(good, name="barred", penalty=1.0)
    verdict = judge(Sheet("m", criteria, (barred, good)))
    assert verdict.winner == "good"
    assert verdict.ranking[0].score == pytest.approx(0.22 * 0.80 + 0.16 * 0.70 + 0.62 * 0.812)
    assert round(verdict.ranking[0].score or 0, 2) == 0.79
    assert verdict.ranking[1].score == pytest.approx((verdict.ranking[0].score or 0) - 1.0)


def test_a_sheet_takes_its_values_from_a_bench(desk: Desk) -> None:
    store = desk._store
    manifest = BenchManifest(Machine("cpu", 2, 2, 8 << 30, "os"), "1", "0.3")
    model = BenchModel("/m.gguf", "m", "hash", 1, "Q4")
    bench = store.benchmarks.create(BenchPlan(prompt=0, generate=4, repetitions=3), [model], manifest, 3)
    for n, value in enumerate((39.0, 40.0, 41.0)):
        store.benchmarks.add_sample(Sample(bench.id, 0, "tg4", n, value, datetime.now(UTC)))
    found = desk.decisions.measured(f"bench:{bench.id}:m:tg4")
    assert found.value == pytest.approx(40.0)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 40 < found.high
    speed = desk.money.speed("m")
    assert speed is not None
    assert speed.tokens_per_second == pytest.approx(40.0)
    for n in range(100):
        store.benchmarks.add_sample(Sample(bench.id, 0, "prompt/a", n, 200.0 + n, datetime.now(UTC), ttft_ms=1.0 + n))
    assert desk.decisions.measured(f"bench:{bench.id}:m:ttft").value == 50
    total = desk.decisions.measured(f"bench:{bench.id}:m:total_p95")
    assert total.value == 294
    assert total.low is not None
    assert total.high is not None
    assert total.low < 294 < total.high
    with pytest.raises(NotFoundError, match="names no figure") as refused:
        desk.decisions.measured(f"bench:{bench.id}:m:tg999")
    assert refused.value.remedy == "There are: m:tg4, m:ttft, m:ttft_p95, m:total, m:total_p95"


def test_a_sheet_takes_its_values_from_the_ledger_and_from_prices(desk: Desk) -> None:
    for n in range(1, 21):
        used = Usage(1_000, 11)
        desk.money.ledger.record(Call(datetime.now(UTC), "", "m", "ask", used, 100.0 * n, ttft_ms=50.0 * n))
    desk.money.put_price(Price("local", "m", "EUR", 2, 8, date(2026, 1, 1)))
    p95 = desk.decisions.measured("calls:m:p95")
    assert (p95.value, p95.evidence) == (1_900, "calls:m:p95")
    assert p95.low is not None
    assert p95.low < 1_900
    assert p95.high is None  # twenty calls don't bound it
    desk.decisions.write("wait", "wait 1 less\nhere: wait=calls:m:p95\nthere: wait=1901")
    assert "calls:m:p95" in desk.decisions.sheet("wait").options[0].values["wait"].evidence
    told = " ".join(firmness(desk.decisions.judge("wait")))
    assert "alone can change the first place" in told
    assert "upper bound: here · wait" in told
    assert evidence_of(desk.decisions.sheet("wait"))[0].endswith(", ∞) (calls:m:p95)")
    assert desk.decisions.measured("calls:m:ttft").value == 500
    assert desk.decisions.measured("cost:local#m:call").value == pytest.approx((1_000 * 2 + 11 * 8) / 1e6)
    assert desk.decisions.measured("cost:m:output").value == 8
    desk.money.put_price(Price("somebody", "cloud", "USD", 4, 16, date(2026, 1, 1)))  # never called from here
    cloud = desk.decisions.measured("cost:somebody#cloud:call")
    assert (cloud.value, cloud.unit) == (pytest.approx((1_000 * 4 + 11 * 16) / 1e6), "USD")
    desk.decisions.write("cost", "price 1 less\nhere: price=cost:local#m:call\nthere: price=cost:somebody#cloud:call")
    with pytest.raises(UsageError, match=r"several currencies \(here: EUR, there: USD\)"):
        desk.decisions.judge("cost")
    desk.decisions.write("cost", "price 1 less\nhere: price=cost:local#m:call\nthere: price=0.1")
    judged = desk.decisions.judge("cost")
    assert judged.winner == "here"
    assert "price: typed values are taken as EUR." in firmness(judged)
    with pytest.raises(NotFoundError) as refused:
        desk.decisions.measured("calls:m:colour")
    assert refused.value.remedy == "There are: ttft, tpot, p95"
    for nothing in ("calls:nobody:p95", "calls:m:colour", "cost:m:colour", "load:m:p95"):
        with pytest.raises(NotFoundError, match="names no figure"):
            desk.decisions.measured(nothing)
    desk.money.ledger.record(Call(datetime.now(UTC), "http://b:1", "m", "ask", Usage(1, 11), 9_000.0, ttft_ms=1_000.0))
    assert desk.decisions.measured("calls:http://b:1#m:p95").value == 9_000
    assert desk.decisions.measured("calls:local#m:p95").value == 1_900
    with pytest.raises(UsageError, match="went to http://b:1, local"):
        desk.decisions.measured("calls:m:p95")
    assert desk.decisions.measured("cost:local#m:call").estimated is False
    untold = Usage(1, 11, estimated=True)
    desk.money.ledger.record(Call(datetime.now(UTC), "http://c:1", "n", "ask", untold, 9.0, ttft_ms=1.0))
    assert value_words(desk.decisions.measured("cost:local#m:call")).startswith("≈ ")
    assert value_words(desk.decisions.measured("calls:n:tpot")).startswith("≈ ")
    assert not desk.decisions.measured("calls:n:ttft").estimated
    guessed = desk.money.speed("n")
    assert guessed is not None
    assert "estimated" in guessed.evidence
    with pytest.raises(UsageError, match="went to http://b:1, local") as several:
        desk.money.speed("m")
    assert several.value.remedy == "Name it: http://b:1#m"
    speed = desk.money.speed("http://b:1#m")
    assert speed is not None
    assert (speed.tokens_per_second, speed.evidence) == (1.25, "ledger, calls: 1, http://b:1")
    here = desk.money.speed("local#m")
    assert here is not None
    assert here.evidence == "ledger, calls: 20"
    flights = [Flight(n / 10, 0.1, n / 10 + 1.0, 32) for n in range(20)]  # 640 tokens in 2.9 s, ten at once
    desk.servers.loads.keep(replace(summary("http://b:1", "/models/m", 10, flights), created=datetime.now(UTC)))
    assert desk.money.speed("http://b:1#m") == speed  # another file's
    desk.servers.loads.keep(replace(summary("http://b:1", "m", 10, flights), created=datetime.now(UTC)))
    batched = desk.money.speed("http://b:1#m")
    assert batched is not None
    assert batched.tokens_per_second == pytest.approx(640 / 2.9)
    assert batched.evidence.startswith("load test of ")
    assert desk.money.speed("local#m") == here
    assert desk.decisions.measured("load:m:tokens").value == pytest.approx(640 / 2.9)
    assert value_words(desk.decisions.measured("load:m:tokens")).startswith("≈? ")
    p95 = desk.decisions.measured("load:http://b:1#m:p95")
    assert (p95.value, p95.low, p95.high) == (pytest.approx(1_000), pytest.approx(1_000), None)
    assert desk.decisions.measured("load:m:ttft").value == pytest.approx(100)
    p95 = desk.decisions.measured("calls:local#m:p95")
    desk.decisions.write("by measure", "speed 1 less\nm: speed=calls:local#m:p95")
    assert desk.decisions.sheet("by measure").options[0].values["speed"] == p95


@pytest.mark.parametrize("link", ["", "run", "run:x:recall", "bench:1", "ftp:1:x", "run:1:"])
def test_what_is_no_link_is_refused(desk: Desk, link: str) -> None:
    with pytest.raises(UsageError, match="link"):
        desk.decisions.measured(link)


def test_a_decision_writes_down_options_and_evidence_and_is_exported(desk: Desk) -> None:
    sheet(desk)
    desk.decisions.set_values("model", "B", {"quality": Value(0.75, 0.7, 0.8, "run:3:recall@5")})
    with pytest.raises(NotFoundError):  # there is no run 3 in this file
        desk.decisions.decide("Which model", "B", sheet="model", reasons=["best"])
    desk.decisions.set_values("model", "B", {"quality": Value(0.75, 0.6, 0.8, "bench:3:m:tg4")})
    made = desk.decisions.decide(
        "Which model", "B", sheet="model", reasons=["best"], context="c", conditions="below 0.7", review="2026-01-01"
    )
    text = desk.decisions.export(made.id).replace("\\", "")
    assert "# Which model" in text
    assert "Choice: B" in text
    assert "below 0.7" in text
    assert "B · quality 0.75 [0.6, 0.8] (bench:3:m:tg4)" in text
    assert "price: weight 0.50 · less is better" in text
    assert "A: 0.500 · Pareto · quality 0.6, price 1" in text  # typed by hand: it would be lost
    assert "weight of price 0.50" in text
    assert "The measured intervals alone can change the first place" in text
    assert overdue(made)
    assert [d.choice for d in desk.decisions.records()] == ["B"]


def test_only_an_option_that_is_left_can_be_chosen(desk: Desk) -> None:
    sheet(desk)
    desk.decisions.set_criterion("model", Criterion("quality", 1, least=0.7))
    with pytest.raises(UsageError, match="below"):
        desk.decisions.decide("t", "A", sheet="model", reasons=["cheap"])
    with pytest.raises(UsageError, match="not among"):
        desk.decisions.decide("t", "Z", sheet="model", reasons=["cheap"])
    with pytest.raises(UsageError):
        desk.decisions.decide("t", "B", reasons=[])


@pytest.mark.parametrize(
    ("review", "late"), [("2026-03-01", True), ("2026-03-02", False), ("next spring", False), ("", False)]
)
def test_a_review_is_overdue_from_the_day_after(review: str, late: bool) -> None:
    record = DecisionRecord(1, "t", "change", "", (), (), (), (), "", review, datetime.now(UTC))
    assert overdue(record, date(2026, 3, 2)) is late


def test_symptoms_are_found_by_words_in_either_language() -> None:
    assert any("JSON" in row.move for row in find_symptoms("breaks program"))
    assert find_symptoms("quantum entanglement") == ()
    assert len(find_symptoms()) == len(symptoms()) > 20
    for word in ("hallucination", "invent", "latency", "memory", "expensive"):
        assert find_symptoms(word)
    i18n.choose_language("es")
    for word in ("alucina", "inventa", "latencia", "memoria", "caro"):
        assert find_symptoms(word)
    found = find_symptoms("CODIGOS")
    assert len(found) == 1
    assert "léxic" in found[0].move
