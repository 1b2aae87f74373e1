"""The rerank child on real files: scores, cut pairs, refusals, and a death that is survived."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.rerankers.models import LONGEST, ranking_gguf
from workbench.engine.reranking import ChildReranker
from workbench.errors import Cancelled, EngineError
from workbench.records.rerankers import RerankerInfo

QUESTION = "how many books may a reader borrow"
PASSAGES = ["The enrolment fee is not refunded", "A reader may borrow six books", "books for a week"]


@pytest.fixture(scope="module")
def overlap(models: Path) -> Iterator[ChildReranker]:
    reranker = ChildReranker(RerankerInfo("overlap", "onnx", str(models / "rerankers" / "overlap"), "model.onnx"))
    yield reranker
    reranker.close()


@pytest.fixture(scope="module")
def bookish(models: Path) -> Iterator[ChildReranker]:
    reranker = ChildReranker(RerankerInfo("bookish", "gguf", str(models / "gguf" / "bookish.gguf")))
    yield reranker
    reranker.close()


def test_a_cross_encoder_scores_what_its_network_computes(overlap: ChildReranker) -> None:
    assert [pair.score for pair in overlap.score(QUESTION, PASSAGES)] == [0, 5, 2]
    assert [pair.score for pair in overlap.score("", ["", "a"])] == [0, 0]
    assert list(overlap.score(QUESTION, [])) == []


def test_a_pair_that_was_cut_says_so(overlap: ChildReranker, bookish: ChildReranker) -> None:
    long = "loans " * LONGEST + "books"
    for reranker in (overlap, bookish):
        pairs = list(reranker.score(QUESTION, ["books", long]))
        assert [pair.truncated for pair in pairs] == [False, True]
        assert pairs[1].score < pairs[0].score or reranker is overlap  # the word it looks for was cut off
    assert next(overlap.score(QUESTION, [long])).score == 0
    assert next(bookish.score(long, ["books"])).truncated


def test_a_gguf_reranker_ranks_by_its_head(bookish: ChildReranker) -> None:
    scores = [pair.score for pair in bookish.score("how many", [*PASSAGES, "books books"])]
    assert scores[3] > scores[2] > scores[1] > scores[0]
    assert [pair.score for pair in bookish.score("how many", PASSAGES)] == scores[:3]  # no memory of pairs before


@pytest.mark.parametrize("text", ["[SEP] [CLS] books", "\x00", "🦙 ¿?", " "])
def test_any_text_can_be_scored_and_special_tokens_are_only_text(bookish: ChildReranker, text: str) -> None:
    [pair] = bookish.score(text, [text])
    assert not pair.truncated


@pytest.mark.parametrize(
    ("folder", "told"), [("classifier", "one number for each pair"), ("broken", "Protobuf"), ("gone", "model.onnx")]
)
def test_a_folder_that_is_no_reranker_says_why(models: Path, folder: str, told: str) -> None:
    reranker = ChildReranker(RerankerInfo(folder, "onnx", str(models / "rerankers" / folder), "model.onnx"))
    with pytest.raises(EngineError, match=told):
        next(reranker.score("a", ["b"]))
    reranker.close()


def test_a_gguf_file_that_is_no_reranker_says_why(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + b"\xff" * 64)
    classes = ranking_gguf(tmp_path / "classes.gguf", classes=3)
    for path, told in ((damaged, "The reranker says"), (classes, "3 classes")):
        reranker = ChildReranker(RerankerInfo(path.stem, "gguf", str(path)))
        with pytest.raises(EngineError, match=told):
            reranker.start()
        reranker.close()


def test_it_can_be_stopped_between_two_pairs(overlap: ChildReranker) -> None:
    stop = threading.Event()
    pairs = overlap.score(QUESTION, PASSAGES * 2000, stop)
    next(pairs)
    stop.set()
    with pytest.raises(Cancelled):
        list(pairs)
    assert [pair.score for pair in overlap.score(QUESTION, PASSAGES)] == [0, 5, 2]


def test_a_death_is_told_and_the_next_search_starts_it_anew(overlap: ChildReranker) -> None:
    copy = ChildReranker(replace(overlap.info))
    copy.start()
    assert copy.pid is not None
    os.kill(copy.pid, signal.SIGKILL)
    with pytest.raises(EngineError, match="reranker's process ended"):
        list(copy.score(QUESTION, PASSAGES * 2000))
    assert [pair.score for pair in copy.score(QUESTION, PASSAGES)] == [0, 5, 2]
    copy.close()
