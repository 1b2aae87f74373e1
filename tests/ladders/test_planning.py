"""Plans and texts that can't be carried out are refused in words before anything is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from storage import open_store
from tests.screens.fake_benchmarks import MANIFEST
from workbench.errors import DocumentError, EngineError, NotFoundError, UsageError
from workbench.ladders.kinds import DEFAULT, KINDS, NEED_IMATRIX, check_kinds
from workbench.ladders.planning import origin_words, rungs_of
from workbench.ladders.texts import CHARACTERS, fitting, passages, text_hash
from workbench.ports import Store
from workbench.records.ladders import LadderPlan, Rung, TextPlan, WindowScores
from workbench.records.models import ModelFile

NO_CORPUS: Any = None
WHOLE = ModelFile("/m/Smol.F16.gguf", "Smol.F16", 1000, quantization="F16")
LOSSY = ModelFile("/m/Smol.Q4_1.gguf", "Smol.Q4_1", 300, quantization="Q4_1")


def nothing(path: str) -> ModelFile:
    return ModelFile(path, "broken", 1, problem="the header is damaged")


def test_kinds_that_need_an_imatrix_are_refused_with_the_reason() -> None:
    check_kinds(DEFAULT)
    assert not NEED_IMATRIX & set(KINDS)
    with pytest.raises(UsageError, match="importance matrix"):
        check_kinds(("Q8_0", "IQ2_XXS"))
    with pytest.raises(UsageError, match="no such quantization"):
        check_kinds(("Q9_9",))
    with pytest.raises(UsageError, match="once"):
        check_kinds(("Q8_0", "Q8_0"))


def test_the_reference_is_made_first_and_what_was_lost_is_said() -> None:
    rungs = rungs_of(LadderPlan(LOSSY.path, ("Q8_0",), "/out", reference="F16"), LOSSY, nothing)
    assert [(r.place, r.kind, r.path) for r in rungs] == [
        (0, "F16", "/out/Smol.F16.gguf"),
        (1, "Q8_0", "/out/Smol.Q8_0.gguf"),
    ]
    assert "requantized from Q4_1" in origin_words(rungs[0])
    assert "requantized from Q4_1" in origin_words(rungs[1])
    reference, made = rungs_of(LadderPlan(WHOLE.path, ("Q4_0",), "/out"), WHOLE, nothing)
    assert not reference.made
    assert not origin_words(made)


def test_from_a_q8_0_of_a_whole_file_is_requantized_too() -> None:
    _, made = rungs_of(LadderPlan(WHOLE.path, ("Q4_0",), "/out", reference="Q8_0"), WHOLE, nothing)
    assert "requantized from Q8_0" in origin_words(made)


def test_ladders_of_nothing_twice_or_damaged_files_are_refused() -> None:
    with pytest.raises(UsageError, match="nothing to hold"):
        rungs_of(LadderPlan(WHOLE.path, (), "/out"), WHOLE, nothing)
    with pytest.raises(EngineError, match="damaged"):
        rungs_of(LadderPlan(WHOLE.path, (), "/out", files=("/m/x.gguf",)), WHOLE, nothing)
    with pytest.raises(UsageError, match="once"):
        rungs_of(LadderPlan(WHOLE.path, (), "/out", files=(WHOLE.path,)), WHOLE, lambda _: WHOLE)


def test_passages_are_spread_and_never_overlap(tmp_path: Path) -> None:
    text = "".join(f"word{n} " for n in range(20_000))
    (tmp_path / "t.txt").write_text(text, "utf-8")
    cut = passages(NO_CORPUS, TextPlan(path=str(tmp_path / "t.txt"), windows=5, tokens=64))
    assert len(cut) == 5
    assert all(len(part) == 65 * CHARACTERS for part in cut)
    places = [text.index(part) for part in cut]
    assert all(b - a > 65 * CHARACTERS for a, b in pairwise(places))
    assert text_hash(cut) != text_hash(cut[:4])


def test_a_short_text_gives_fewer_passages_than_asked_for_and_a_long_one_as_many(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a b c " * 1_000, "utf-8")
    plan = TextPlan(path=str(tmp_path / "t.txt"), windows=8, tokens=256)
    assert fitting(NO_CORPUS, plan).windows == 3
    assert fitting(NO_CORPUS, replace(plan, windows=2)).windows == 2
    assert fitting(NO_CORPUS, replace(plan, tokens=4096)).windows == 1


@pytest.mark.parametrize(
    "plan",
    [
        TextPlan(),
        TextPlan("c", "p"),
        TextPlan(path="p", windows=0),
        TextPlan(path="p", tokens=100),
        TextPlan(path="p", tokens=0),
    ],
)
def test_bad_text_plans_are_refused(plan: TextPlan) -> None:
    with pytest.raises(UsageError):
        passages(NO_CORPUS, plan)


def test_texts_that_are_short_binary_or_gone(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("¿Qué?", "utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00" * 1000)
    with pytest.raises(UsageError, match="8 passages of 512 tokens"):
        passages(NO_CORPUS, TextPlan(path=str(tmp_path / "short")))
    with pytest.raises(DocumentError, match="UTF-8"):
        passages(NO_CORPUS, TextPlan(path=str(tmp_path / "binary")))
    with pytest.raises(DocumentError, match="no such file"):
        passages(NO_CORPUS, TextPlan(path=str(tmp_path / "gone")))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "lab.db")
    yield opened
    opened.close()


def test_a_ladder_is_kept_with_every_position(store: Store) -> None:
    plan = LadderPlan("/m/a.gguf", ("Q8_0",), "/out", text=TextPlan(path="/t"))
    rungs = [Rung(0, "F16", "/m/a.gguf", "a", False), Rung(1, "Q8_0", "/out/a.Q8_0.gguf", "a.Q8_0", True)]
    made = store.ladders.create(plan, MANIFEST, rungs, "abc")
    scores = WindowScores(3, (0.1, 0.2), (1.5, 2.5), (1.4, 2.4), (True, False))
    store.ladders.put_scores(made.id, 1, scores)
    store.ladders.set_bench(made.id, 7)
    assert store.ladders.scores(made.id, 1) == (scores,)
    found = store.ladders.ladder(made.id)
    assert (found.plan, found.rungs, found.bench_id, found.text_hash) == (plan, tuple(rungs), 7, "abc")
    store.ladders.delete(made.id)
    assert store.ladders.ladders() == ()
    assert store.ladders.scores(made.id, 1) == ()
    with pytest.raises(NotFoundError):
        store.ladders.put_scores(made.id, 1, scores)
