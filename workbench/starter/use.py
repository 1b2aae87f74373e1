"""USE multilingual from its package's files: the tokenizer in the form that ``tokenizers`` loads, and the descriptor.

Runs as a child process, ``python -m workbench.starter.use SENTENCEPIECE WEIGHTS FOLDER``, because tokenizers is native.
The SentencePiece file is a protocol buffer: field 1 holds the pieces (text 1, score 2), field 3 the normaliser (its
compiled map 2), as the old layout of the model's own time has it.
"""

from __future__ import annotations

import json
import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from workbench import paths
from workbench.starter.packages import USE, sha256

DIMENSION: Final = 512
MAX_TOKENS: Final = 8192
"""The network has no limit of its own; this one bounds the memory of one text (some 100 MB)."""
_SPACE: Final = "▁"
_UNKNOWN: Final = 0


def convert(sentencepiece: Path, weights: Path, folder: Path) -> None:
    """Writes the embedder's folder; the descriptor comes last and holds the other files' SHA-256.

    Raises:
        ValueError: ``sentencepiece`` isn't the package's file.
        OSError: the folder can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    print("writing the tokenizer", flush=True)
    _write_tokenizer(sentencepiece.read_bytes(), folder / "tokenizer.json")
    shutil.copyfile(weights, folder / "weights.npz")
    descriptor = {
        "name": paths.USE_EMBEDDER,
        "runtime": "use",
        "dimension": DIMENSION,
        "max_tokens": MAX_TOKENS,
        "query_prefix": "",
        "passage_prefix": "",
        "pooling": "sum",
        "normalised": True,
        "model_file": "weights.npz",
        "licence": "Apache-2.0",
        "origin": USE.requirement,
        "files": {name: sha256(folder / name) for name in ("tokenizer.json", "weights.npz")},
    }
    (folder / "embedder.json").write_text(json.dumps(descriptor, indent=1) + "\n", "utf-8")


def _write_tokenizer(model: bytes, path: Path) -> None:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    pieces: list[tuple[str, float]] = []
    charsmap = b""
    for field, value in _fields(model):
        if field == 1:
            inner = dict(_fields(value))
            pieces.append((inner[1].decode(), struct.unpack("<f", inner.get(2, bytes(4)))[0]))
        elif field == 3:
            charsmap = dict(_fields(value)).get(2, b"")
    if not pieces or not charsmap:
        raise ValueError("no SentencePiece model with pieces and a normaliser")
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=_UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(charsmap), normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always", split=False)
    tokenizer.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always")
    tokenizer.save(str(path))


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, content) of the length-delimited and 32-bit fields of a protocol buffer message, others passed over."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        match tag & 7:
            case 0:
                _, place = _varint(data, place)
                continue
            case 1:
                place += 8
                continue
            case 2:
                length, place = _varint(data, place)
            case 5:
                length = 4
            case _:
                raise ValueError(f"no protocol buffer: wire type {tag & 7} at {place}")
        yield tag >> 3, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


if __name__ == "__main__":
    convert(*map(Path, sys.argv[1:]))
