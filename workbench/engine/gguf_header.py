"""Reads what a GGUF file says of itself, without its weights and without mapping it into memory.

The ``gguf`` package's reader builds an array view per vocabulary entry (1.8 s for 49,152 tokens, measured); this one
steps over them (some 30 ms). Its tables of tensor types and file types are used. Format: the GGUF specification of
ggml, versions 2 and 3.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from workbench.errors import reason_of
from workbench.i18n import tr
from workbench.memory.shape import read_shape
from workbench.records.models import ModelFile

Number: TypeAlias = int | float | bool
Value: TypeAlias = Number | str | tuple[Number, ...] | None

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)
SCALARS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
READ_AHEAD = 1 << 20
KEPT_ARRAY = 4096
"""Longer arrays (vocabularies, scores) are stepped over."""
LONGEST_STRING = 1 << 24
LARGEST_HEADER, MOST_FIELDS, MOST_TENSORS, MOST_STRINGS = 1 << 28, 1 << 14, 1 << 17, 1 << 21
"""Far beyond what models have: a header that asks for more would be read for minutes."""
SPLIT_NAME: Final = re.compile(r"-(\d{5})-of-(\d{5})$")
QUANTIZATION_NAME: Final = re.compile(r"(?i)(?<![a-z0-9])(i?q\d(?:_\w+)?|bf16|f16|f32|fp16|mxfp4)(?![a-z0-9])")
RANK_POOLING: Final = 4  # llama_pooling_type
LARGE_BLOCKS: Final = re.compile(r"Q\d_K|IQ[1-3]|IQ4_XS|TQ")
"""Quantizations whose types have blocks of 256 elements."""


READER: Final = 2
"""Goes up when the same file is described otherwise than before: what is remembered of files is then read anew."""


class HeaderError(Exception):
    """The header can't be read; the message is for people."""


def read_header(path: Path) -> ModelFile:
    """The model file at ``path``; of a split one its first part, counted with all the others.

    Never raises: what is wrong with the file stands in ``problem``.
    """
    name = SPLIT_NAME.sub("", path.name.removesuffix(".gguf"))
    try:
        parts = [_read_part(part) for part in all_parts(path)]
        size, modified = file_stamp(path)
    except (HeaderError, OSError) as error:
        return ModelFile(path=str(path), name=name, size=_size(path), problem=reason_of(error))
    return _describe(ModelFile(path=str(parts[0].path), name=name, size=size, modified=modified), parts)


def file_stamp(path: Path) -> tuple[int, float]:
    """Bytes, and the last change in Unix seconds; of a split file of all its parts. Raises HeaderError, OSError."""
    status = [part.stat() for part in all_parts(path)]
    return sum(each.st_size for each in status), max(each.st_mtime for each in status)


def read_pooling(path: Path) -> str:
    """How the model pools its tokens' vectors, as its header says: "mean", "cls", "last", "rank"; "" when it doesn't.

    Raises HeaderError, OSError.
    """
    fields = _read_part(path).fields
    kind = fields.get(f"{_text(fields, 'general.architecture')}.pooling_type")
    return {1: "mean", 2: "cls", 3: "last", RANK_POOLING: "rank"}.get(kind, "") if isinstance(kind, int) else ""


def file_hash(path: Path) -> str:
    """SHA-256 of the model file, in hexadecimal; of a split one over all its parts in order. Raises OSError."""
    digest = hashlib.sha256()
    for part in all_parts(path):
        with part.open("rb") as file:
            while piece := file.read(READ_AHEAD):
                digest.update(piece)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor's place in the file; ``type`` is ggml's number, ``width`` the elements of a row (0 when it has one)."""

    name: str
    width: int
    elements: int
    type: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Part:
    """One file's header. ``data`` is where its tensor data begins."""

    path: Path
    size: int
    fields: Mapping[str, Value]
    tensors: tuple[_Tensor, ...]
    data: int


def all_parts(path: Path) -> list[Path]:
    """The file, or all the parts of the split file that it is one of, in order."""
    stem = path.name.removesuffix(".gguf")
    if not (split := SPLIT_NAME.search(stem)):
        return [path]
    total = int(split[2])
    parts = [path.with_name(f"{stem[: split.start()]}-{n:05}-of-{total:05}.gguf") for n in range(1, total + 1)]
    missing = [part.name for part in parts if not part.exists()]
    if missing:
        if len(missing) == 1:
            raise HeaderError(tr("1 of its {total} parts is missing: {first}", total=total, first=missing[0]))
        raise HeaderError(
            tr("{count} of its {total} parts are missing: {first} …", count=len(missing), total=total, first=missing[0])
        )
    return parts


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _read_part(path: Path) -> _Part:
    if path.exists() and not path.is_file():  # opening a pipe would wait for ever
        raise HeaderError(tr("this is no file but a folder or a device"))
    with path.open("rb") as stream:
        size = path.stat().st_size
        if size == 0:
            raise HeaderError(tr("the file is empty"))
        read = _Reader(stream, size)
        if read.take(4) != MAGIC:
            raise HeaderError(tr("this is no GGUF file"))
        version = read.u32()
        if version not in VERSIONS:
            raise HeaderError(tr("GGUF version {version} is not supported", version=version))
        tensor_count, field_count = read.count(MOST_TENSORS, "tensor count"), read.count(MOST_FIELDS, "field count")
        fields = dict(read.field() for _ in range(field_count))
        tensors = tuple(_read_tensor(read) for _ in range(tensor_count))
        alignment = fields.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise HeaderError(tr("the header is damaged: {what}", what="general.alignment"))
        return _Part(path, size, fields, tensors, -(-read.position // alignment) * alignment)


def _read_tensor(read: _Reader) -> _Tensor:
    name = read.text()
    dimensions = read.u32()
    if dimensions > 8:
        raise HeaderError(tr("the header is damaged: {what}", what="n_dimensions"))
    shape = [read.u64() for _ in range(dimensions)]
    return _Tensor(name, shape[0] if dimensions > 1 else 0, math.prod(shape), read.u32(), read.u64())


class _Reader:
    """Reads little-endian values off a file that may lie about its own lengths; holds what it has read so far."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._buffer = bytearray()
        self.position = 0

    def _need(self, count: int) -> int:
        """Moves on by ``count`` bytes that the buffer then holds; returns where they begin."""
        start, end = self.position, self.position + count
        if end > self._size:
            raise HeaderError(tr("the file ends in the middle of its header"))
        if end > LARGEST_HEADER:
            raise HeaderError(tr("the header is damaged: {what}", what="size"))
        if end > len(self._buffer):
            self._buffer += self._stream.read(max(end - len(self._buffer), READ_AHEAD))
            if end > len(self._buffer):
                raise HeaderError(tr("the file ends in the middle of its header"))
        self.position = end
        return start

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        start = self._need(count)
        return bytes(self._buffer[start : self.position])

    def u32(self) -> int:
        """The next unsigned 32-bit number."""
        return int.from_bytes(self.take(4), "little")

    def u64(self) -> int:
        """The next unsigned 64-bit number."""
        return int.from_bytes(self.take(8), "little")

    def count(self, most: int, what: str) -> int:
        """The next unsigned 64-bit number, which counts something."""
        number = self.u64()
        if number > most:
            raise HeaderError(tr("the header is damaged: {what}", what=what))
        return number

    def text(self) -> str:
        """The next length-prefixed string."""
        return self.take(self.count(LONGEST_STRING, "string length")).decode("utf-8", "replace")

    def field(self) -> tuple[str, Value]:
        """The next key and its value."""
        return self.text(), self._value(self.u32())

    def _value(self, kind: int) -> Value:
        if kind in SCALARS:
            return self._numbers(SCALARS[kind], 1)[0]
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            return self._array(self.u32(), self.u64())
        raise HeaderError(tr("the header is damaged: {what}", what="value type"))

    def _array(self, kind: int, count: int) -> Value:
        """Numbers of a short array; None for one that is stepped over."""
        if kind in SCALARS:
            if count <= KEPT_ARRAY:
                return self._numbers(SCALARS[kind], count)
            self._need(count * struct.calcsize("<" + SCALARS[kind]))
            return None
        if kind != STRING or count > MOST_STRINGS:
            raise HeaderError(tr("the header is damaged: {what}", what="array"))
        for _ in range(count):
            self._need(self.u64())
        return None

    def _numbers(self, code: str, count: int) -> tuple[Number, ...]:
        form = f"<{count}{code}"
        return struct.unpack_from(form, self._buffer, self._need(struct.calcsize(form)))


def _describe(file: ModelFile, parts: list[_Part]) -> ModelFile:
    fields, tensors = parts[0].fields, [tensor for part in parts for tensor in part.tensors]
    architecture = _text(fields, "general.architecture")
    parameters = sum(tensor.elements for tensor in tensors)
    known = all(tensor.type in _type_sizes() for tensor in tensors)
    weights = sum(_bytes_of(tensor) for tensor in tensors) if known else 0  # nothing is foreseen of half of them
    layer_weights = sum(_bytes_of(tensor) for tensor in tensors if tensor.name.startswith("blk."))
    embedded = next((tensor.elements for tensor in tensors if tensor.name == "token_embd.weight"), 0)
    embedding = _number(fields, f"{architecture}.embedding_length")
    heads = _number(fields, f"{architecture}.attention.head_count")
    named = {tensor.name: tensor for tensor in tensors}
    output = named.get("output.weight") or named.get("token_embd.weight")
    types = Counter(_type_name(tensor.type) for tensor in tensors)
    quantization = _quantization(file.name, fields)
    return replace(
        file,
        kind=_text(fields, "general.type") or "model",
        family=_family(file.name, fields),
        active_parameters=parameters - _idle_parameters(architecture, fields, tensors),
        fallbacks=_fallbacks(quantization, tensors),
        architecture=architecture,
        parameters=parameters,
        context=_number(fields, f"{architecture}.context_length"),
        layers=_number(fields, f"{architecture}.block_count"),
        embedding=embedding,
        heads=heads,
        kv_heads=_number(fields, f"{architecture}.attention.head_count_kv") or heads,
        head_dimension=_number(fields, f"{architecture}.attention.key_length") or (embedding // heads if heads else 0),
        tokenizer="/".join(filter(None, (_text(fields, f"tokenizer.ggml.{key}") for key in ("model", "pre")))),
        quantization=quantization,
        tensor_types=tuple(types.most_common()),
        bits_per_weight=round(8 * weights / parameters, 3) if parameters else 0.0,
        chat_template=_text(fields, "tokenizer.chat_template"),
        licence=_text(fields, "general.license"),
        origin=_origin(fields),
        problem=_problem(architecture, parts),
        ranks=_number(fields, f"{architecture}.pooling_type") == RANK_POOLING
        or any(tensor.name.startswith("cls.") for tensor in tensors),
        shape=replace(
            read_shape(architecture, fields, weights, layer_weights, embedded // embedding if embedding > 0 else 0),
            output=output.elements if output else 0,
            narrow=sum(t.elements for t in tensors if t is not output and t.width % 256),
        ),
    )


def _problem(architecture: str, parts: list[_Part]) -> str:
    """Why a file with a readable header can't be used, "" when it can."""
    if not architecture:
        return tr("the header names no architecture")
    tensors = sum(len(part.tensors) for part in parts)
    if not tensors:
        return tr("the file holds no tensors")
    layers = f"{architecture}.block_count"
    if layers in parts[0].fields and not 0 < _number(parts[0].fields, layers) <= tensors:
        return tr("the header is damaged: {what}", what=layers)
    if senseless := next((key for key in _positive(architecture) if not _sensible(parts[0].fields.get(key, 1.0))), ""):
        return tr("the header is damaged: {what}", what=senseless)
    torn = next((t for part in parts for t in part.tensors if t.width % _type_sizes().get(t.type, (1, 0))[0]), None)
    if torn:
        return tr("the header is damaged: {what}", what=f"{torn.name}, {torn.width} × {_type_name(torn.type)}")
    for part in parts:
        needed = part.data + max((tensor.offset + _bytes_of(tensor) for tensor in part.tensors), default=0)
        if needed > part.size:
            return tr("the file is cut short: {size} of {needed} bytes", size=part.size, needed=needed)
    return ""


def _positive(architecture: str) -> tuple[str, ...]:
    """Keys of numbers without which nothing can be computed: the engine loads them, then crashes or is mute."""
    names = ("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon", "rope.freq_base")
    return tuple(f"{architecture}.{name}" for name in names)


def _sensible(value: Value) -> bool:
    """Finite and not negative, each of them where there is one per layer."""
    numbers = value if isinstance(value, tuple) else (value,)
    return all(not isinstance(number, float) or 0 <= number < math.inf for number in numbers)


def _text(fields: Mapping[str, Value], key: str) -> str:
    value = fields.get(key, "")
    return value if isinstance(value, str) else ""


def _number(fields: Mapping[str, Value], key: str) -> int:
    """A count; the largest where it is given per layer, 0 where it is missing."""
    value = fields.get(key)
    if isinstance(value, tuple):
        value = max(value, default=0)
    return int(value) if isinstance(value, int) else 0


def _origin(fields: Mapping[str, Value]) -> str:
    keys = (
        "general.source.url",
        "general.repo_url",
        "general.url",
        "general.base_model.0.repo_url",
        "general.organization",
    )
    return next((text for key in keys if (text := _text(fields, key))), "")


def _family(name: str, fields: Mapping[str, Value]) -> str:
    """The header's base name, else the file's name up to its quantization."""
    named = _text(fields, "general.basename")
    return (named or QUANTIZATION_NAME.split(name)[0].rstrip("-._ ")).casefold()


def _idle_parameters(architecture: str, fields: Mapping[str, Value], tensors: list[_Tensor]) -> int:
    """Parameters of the experts that a token doesn't go through. Their tensors are named ``…_exps``."""
    experts = _number(fields, f"{architecture}.expert_count")
    used = _number(fields, f"{architecture}.expert_used_count")
    if not 0 < used < experts:
        return 0
    return sum(t.elements // experts * (experts - used) for t in tensors if "_exps." in t.name)


def _fallbacks(quantization: str, tensors: list[_Tensor]) -> int:
    """Tensors of layers whose rows don't divide into the 256 elements of a K or I quantization's block.

    llama.cpp's quantizer gives those a type with blocks of 32; the embedding and the output have rules of their own.
    """
    if not LARGE_BLOCKS.match(quantization):
        return 0
    return sum(t.width % 256 != 0 for t in tensors if t.name.startswith("blk.") and t.name.endswith(".weight"))


def _quantization(name: str, fields: Mapping[str, Value]) -> str:
    """What the file's name says, else its ``file_type``."""
    if named := QUANTIZATION_NAME.findall(name):
        return str(named[-1]).upper()
    return _file_types().get(_number(fields, "general.file_type"), "") if "general.file_type" in fields else ""


def _bytes_of(tensor: _Tensor) -> int:
    block, size = _type_sizes().get(tensor.type, (1, 0))
    return tensor.elements // block * size


def _type_name(number: int) -> str:
    return _type_names().get(number, str(number))


@cache
def _type_names() -> Mapping[int, str]:
    from gguf.constants import GGMLQuantizationType

    return {kind.value: kind.name for kind in GGMLQuantizationType}


@cache
def _type_sizes() -> Mapping[int, tuple[int, int]]:
    """Per type: elements in a block, and its bytes."""
    from gguf.constants import GGML_QUANT_SIZES

    return {kind.value: sizes for kind, sizes in GGML_QUANT_SIZES.items()}


@cache
def _file_types() -> Mapping[int, str]:
    from gguf.constants import LlamaFileType

    return {kind.value: kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in LlamaFileType}
