"""The starter embedder in its child: the right vectors, in order, and a query never waits for an ingest."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.conftest import embedder_folder
from workbench.engine.embedding import ChildEmbedder, list_embedders, open_embedder
from workbench.engine.tokenizing import LoadedTokenizer
from workbench.errors import Cancelled, EngineError, MissingModelError
from workbench.retrieval.late import pack_signs, similarities
from workbench.retrieval.rerank import token_texts

pytestmark = pytest.mark.model

LONG = "La biblioteca abre a las nueve y cierra a las ocho de la tarde. " * 20
TEXTS = ["El horario de la biblioteca", "Opening hours of the library", LONG, "¿Qué? 🦙", " ", "a\x00b"]

IN_PROCESS = """
import json, sys
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
folder, texts = json.load(sys.stdin)
TextEmbedding.add_custom_model(
    model="m", pooling=PoolingType.MEAN, normalization=True, sources=ModelSource(url="file:"), dim=384,
    model_file="model_int8.onnx",
)
model = TextEmbedding("m", specific_model_path=folder, threads=1)
print(json.dumps([vector.tolist() for vector in model.embed(texts, batch_size=1)]))
"""


def test_vectors_are_those_of_fastembed_with_the_prefix_added(embedder: ChildEmbedder) -> None:
    asked = json.dumps([str(embedder_folder()), ["passage: " + text for text in TEXTS]])
    done = subprocess.run([sys.executable, "-c", IN_PROCESS], input=asked, capture_output=True, text=True, check=True)
    vectors = list(embedder.embed_passages(TEXTS))
    assert np.array_equal(np.array(vectors), np.array(json.loads(done.stdout), np.float32))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_token_vectors_come_with_the_same_vector_and_without_prefix_and_special_tokens(embedder: ChildEmbedder) -> None:
    whole = list(embedder.embed_passage_tokens(TEXTS))
    assert np.array_equal([e.vector for e in whole], list(embedder.embed_passages(TEXTS)))
    assert [len(e.tokens) for e in whole] == [embedder.tokenizer.count(text) for text in TEXTS]
    lengths = np.concatenate([np.linalg.norm(e.tokens.astype(np.float32), axis=1) for e in whole])
    assert np.allclose(lengths, 1, atol=1e-2)


def test_what_the_network_cuts_off_has_no_token_vectors(embedder: ChildEmbedder) -> None:
    (long,) = embedder.embed_passage_tokens([LONG * 4])
    prefix = embedder.tokenizer.count("passage: ")
    assert embedder.tokenizer.count(LONG * 4) > 512
    assert len(long.tokens) in (510 - prefix, 511 - prefix)  # a prefix's last space may be a token of its own


def test_a_word_is_nearest_to_itself_in_a_passage(embedder: ChildEmbedder) -> None:
    (passage,) = embedder.embed_passage_tokens(["La matrícula se paga en septiembre."])
    query = embedder.embed_query_tokens("septiembre")
    words = token_texts(embedder.tokenizer, "passage: ", "La matrícula se paga en septiembre.")
    mean = embedder.token_mean()
    best = similarities(query.tokens, pack_signs(passage.tokens, mean), mean)[0].argmax()
    assert words[best] == "septiembre"
    assert np.array_equal(query.vector, embedder.embed_query("septiembre"))


def test_a_question_is_nearest_to_its_answer_across_languages(embedder: ChildEmbedder) -> None:
    passages = np.array(list(embedder.embed_passages(["La biblioteca abre a las nueve.", "The dog ate my homework."])))
    assert np.argmax(passages @ embedder.embed_query("When does the library open?")) == 0


def test_a_query_overtakes_the_passages_of_an_ingest(embedder: ChildEmbedder) -> None:
    done = 0
    finished = threading.Event()

    def ingest() -> None:
        nonlocal done
        for _ in embedder.embed_passages([LONG] * 12):
            done += 1
        finished.set()

    thread = threading.Thread(target=ingest)
    thread.start()
    for _ in range(3):
        assert embedder.embed_query("horario").shape == (384,)
    assert not finished.is_set()
    thread.join()
    assert done == 12


def test_cancelled_passages_stop_and_leave_the_child_working(embedder: ChildEmbedder) -> None:
    cancel = threading.Event()
    reading = embedder.embed_passages([LONG] * 100, cancel)
    next(reading)
    cancel.set()
    with pytest.raises(Cancelled):
        list(reading)
    assert embedder.embed_query("horario").any()


def test_no_texts_need_no_child() -> None:
    opened = open_embedder(embedder_folder())
    assert list(opened.embed_passages([])) == []
    assert opened.pid is None


def test_a_killed_child_is_an_error_once_and_then_starts_again() -> None:
    opened = open_embedder(embedder_folder())
    reading = opened.embed_passages([LONG] * 50)
    next(reading)
    pid = opened.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(EngineError, match="SIGKILL"):
        list(reading)
    assert opened.embed_query("horario").shape == (384,)
    again = opened.pid
    assert again not in (None, pid)
    opened.close()
    assert not psutil.pid_exists(again or 0)
    assert opened.pid is None
    opened.close()


def test_the_fingerprint_follows_the_weights_and_the_prefixes(tmp_path: Path, embedder: ChildEmbedder) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(embedder_folder(), copy)
    assert open_embedder(copy).info == embedder.info
    card = json.loads((copy / "embedder.json").read_text())
    (copy / "embedder.json").write_text(json.dumps(card | {"query_prefix": "q: "}))
    prefixed = open_embedder(copy).info.fingerprint
    with (copy / "model_int8.onnx").open("ab") as file:
        file.write(b"\0")
    assert len({embedder.info.fingerprint, prefixed, open_embedder(copy).info.fingerprint}) == 3


@pytest.mark.parametrize("name", ["embedder.json", "model_int8.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_missing_file_is_named_with_the_command_that_brings_it(tmp_path: Path, name: str) -> None:
    for file in embedder_folder().iterdir():
        if file.name != name:
            (tmp_path / file.name).symlink_to(file)
    with pytest.raises(MissingModelError, match=name) as missing:
        open_embedder(tmp_path)
    assert "workbench starter" in missing.value.remedy


@pytest.mark.parametrize("card", ["", "{}", "[1]", "null", '{"name": "x"}'])
def test_a_card_that_cannot_be_understood_is_an_error_in_words(tmp_path: Path, card: str) -> None:
    (tmp_path / "embedder.json").write_text(card)
    with pytest.raises(EngineError, match=r"embedder\.json can't be understood"):
        open_embedder(tmp_path)


def variant(folder: Path, onnx: bytes | None = None, **changes: object) -> ChildEmbedder:
    """The starter embedder with other weights or another card."""
    for file in embedder_folder().iterdir():
        if file.name not in ("embedder.json", "model_int8.onnx" if onnx is not None else ""):
            (folder / file.name).symlink_to(file)
    card = json.loads((embedder_folder() / "embedder.json").read_text())
    (folder / "embedder.json").write_text(json.dumps(card | changes))
    if onnx is not None:
        (folder / "model_int8.onnx").write_bytes(onnx)
    return open_embedder(folder)


def test_damaged_weights_are_an_error_in_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    opened = variant(tmp_path, onnx=b"not a network")
    with pytest.raises(EngineError, match="multilingual-e5-small can't embed"):
        opened.embed_query("x")
    opened.close()
    assert capfd.readouterr() == ("", "")


def test_vectors_of_another_dimension_than_the_card_says_are_refused(tmp_path: Path) -> None:
    opened = variant(tmp_path, dimension=300)
    with pytest.raises(EngineError, match="384 dimensions, its card says 300"):
        list(opened.embed_passages(["x"]))
    opened.close()


def constant_network(value: float) -> bytes:
    """Gives every token the vector (value, value, value, value)."""
    from onnx import TensorProto, helper

    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "s"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["b", "s"])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["b", "s", 4])
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["f", "axis"], ["u"]),
        helper.make_node("Mul", ["u", "zeros"], ["z"]),
        helper.make_node("Add", ["z", "value"], ["out"]),
    ]
    constants = [
        helper.make_tensor("axis", TensorProto.INT64, [1], [2]),
        helper.make_tensor("zeros", TensorProto.FLOAT, [1, 1, 4], [0.0] * 4),
        helper.make_tensor("value", TensorProto.FLOAT, [1], [value]),
    ]
    graph = helper.make_graph(nodes, "constant", [ids, mask], [out], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


@pytest.mark.parametrize(("value", "what"), [(0.0, "zero"), (float("nan"), "not finite")])
def test_vectors_that_break_every_distance_are_refused(tmp_path: Path, value: float, what: str) -> None:
    opened = variant(tmp_path, onnx=constant_network(value), dimension=4)
    with pytest.raises(EngineError, match=what):
        list(opened.embed_passages(["x", "y"]))
    with pytest.raises(EngineError, match=what):
        opened.embed_query("x")
    opened.close()


def test_installed_embedders_are_listed(tmp_path: Path) -> None:
    assert list_embedders(embedder_folder().parent) == ("multilingual-e5-small",)
    assert list_embedders(tmp_path / "nowhere") == ()


class TestTokenizer:
    """The embedder's own tokenizer, loaded in this process, and asked of the child."""

    tokenizer = LoadedTokenizer("e5", embedder_folder() / "tokenizer.json")

    def test_counts_without_special_tokens_and_without_truncation(self) -> None:
        assert self.tokenizer.count("") == 0
        assert self.tokenizer.count("biblioteca") == 1
        assert self.tokenizer.count("biblioteca " * 3000) == 3000

    @settings(max_examples=60)
    @given(st.text(max_size=60))
    def test_offsets_are_character_spans_in_order(self, text: str) -> None:
        offsets = self.tokenizer.offsets(text)
        assert len(offsets) == self.tokenizer.count(text)
        assert all(0 <= start <= end <= len(text) for start, end in offsets)
        assert [start for start, _ in offsets] == sorted(start for start, _ in offsets)

    def test_offsets_cover_every_word(self) -> None:
        text = "¿Cuándo abre la biblioteca? 🦙 日本語"
        covered = {i for start, end in self.tokenizer.offsets(text) for i in range(start, end)}
        assert all(i in covered for i, c in enumerate(text) if not c.isspace())

    def test_threads_share_it(self) -> None:
        counts: list[int] = []
        fresh = LoadedTokenizer("e5", embedder_folder() / "tokenizer.json")
        threads = [threading.Thread(target=lambda: counts.append(fresh.count(LONG))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(counts) == 4
        assert len(set(counts)) == 1

    @pytest.mark.parametrize("text", [*TEXTS, "", "biblioteca " * 3000, "日本語  \n ﬁ e\u0301"])
    def test_the_child_finds_the_same_tokens(self, embedder: ChildEmbedder, text: str) -> None:
        assert embedder.tokenizer.offsets(text) == self.tokenizer.offsets(text)
        assert embedder.tokenizer.count(text) == self.tokenizer.count(text)

    def test_a_text_that_no_tokenizer_takes_is_an_error_and_the_child_goes_on(self, embedder: ChildEmbedder) -> None:
        pid = embedder.pid
        with pytest.raises(EngineError, match="can't count"):
            embedder.tokenizer.count("half a pair: \ud800")
        assert embedder.tokenizer.count("biblioteca") == 1
        assert embedder.pid == pid

    def test_another_process_gets_one_that_loads_itself(self, embedder: ChildEmbedder) -> None:
        copy = pickle.loads(pickle.dumps(embedder.tokenizer))
        assert isinstance(copy, LoadedTokenizer)
        assert copy.name == embedder.tokenizer.name
