"""What of a model takes memory, read from the fields of its header.

Key names: the GGUF specification of ggml. Which layers attend to a window, which are recurrent and what they keep are
llama.cpp's rules, where the header leaves them open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.records.models import LayerCache, MemoryShape

MOST_LAYERS = 4096
WINDOW_PERIOD: Final = {
    "gemma2": 2,
    "gpt-oss": 2,
    "cohere2": 4,
    "cohere2moe": 4,
    "exaone4": 4,
    "exaone-moe": 4,
    "llama4": 4,
    "olmo2": 4,
    "smallthinker": 4,
    "gemma3n": 5,
    "gemma3": 6,
    "plamo3": 8,
}
"""Every n-th layer attends to the whole context, the others to a window. Other architectures: all to the whole one."""
FULL_LAYER_FIRST: Final = {"cohere2moe", "smallthinker"}
RECURRENT: Final = {"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"}
BOTH_IN_EACH_LAYER: Final = {"falcon-h1"}
FULL_ATTENTION_INTERVAL: Final = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4}
STATE_BYTES = 4
"""Recurrent state is kept in F32."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header's fields, asked without the architecture's prefix. A number that makes no sense reads as missing."""

    architecture: str
    fields: Mapping[str, object]

    def number(self, key: str, default: int = 0) -> int:
        """A count; the largest where it is given per layer."""
        value = self.fields.get(f"{self.architecture}.{key}")
        value = max(value, default=0) if isinstance(value, tuple) else value
        return value if isinstance(value, int) and value > 0 else default

    def per_layer(self, key: str, layers: int, default: int = 0) -> Sequence[int]:
        """A count for each layer; the same for all where the header gives one."""
        value = self.fields.get(f"{self.architecture}.{key}")
        if isinstance(value, tuple) and len(value) >= layers:
            return [n if isinstance(n, int) and n > 0 else 0 for n in value[:layers]]
        return [self.number(key, default)] * layers


def read_shape(
    architecture: str, fields: Mapping[str, object], weights: int, layer_weights: int, vocabulary: int
) -> MemoryShape:
    """The shape that the header describes; an empty one where it makes no sense.

    Args:
        weights: bytes of all tensors, of all experts too; ``layer_weights``: of those that belong to a layer.
        vocabulary: rows of the token embedding.
    """
    header = Header(architecture, fields)
    layers = header.number("block_count")
    if not 0 < layers <= MOST_LAYERS:
        return MemoryShape()
    recurrent = _recurrent(header, layers)
    return MemoryShape(
        weights=weights,
        layer_weights=layer_weights,
        vocabulary=vocabulary,
        feed_forward=_widest(header),
        experts=header.number("expert_count"),
        caches=_caches(header, layers, recurrent),
        window=header.number("attention.sliding_window"),
        state=sum(recurrent) * _state_elements(header) * STATE_BYTES,
    )


def _widest(header: Header) -> int:
    """Width of a layer's widest projection for one token: feed-forward, its experts together, or into a state."""
    dense = header.number("feed_forward_length")
    projected = 2 * header.number("ssm.inner_size")
    if not header.number("expert_count"):
        return max(dense, projected)
    acting = header.number("expert_used_count", 1) + header.number("expert_shared_count")
    experts = acting * header.number("expert_feed_forward_length", dense)
    return max(experts, projected, dense if header.number("leading_dense_block_count") else 0)


def _caches(header: Header, layers: int, recurrent: Sequence[bool]) -> tuple[LayerCache, ...]:
    """Layers that keep keys and values, those alike counted together."""
    heads = header.number("attention.head_count")
    kv_heads = header.per_layer("attention.head_count_kv", layers, heads)
    head = header.number("embedding_length") // heads if heads else 0
    latent = bool(header.number("attention.key_length_mla"))  # MLA: values are read out of the cached keys
    lengths = {
        windowed: (header.number(f"attention.key_length{end}"), header.number(f"attention.value_length{end}"))
        for windowed, end in ((False, ""), (True, "_swa"))
    }
    own = layers - min(header.number("attention.shared_kv_layers"), layers)
    kinds: Counter[tuple[int, int, bool]] = Counter()
    for layer, windowed in enumerate(_windowed(header, layers)):
        if layer >= own or (recurrent[layer] and header.architecture not in BOTH_IN_EACH_LAYER):
            continue
        key, value = (
            own_length or other or head for own_length, other in zip(lengths[windowed], lengths[False], strict=True)
        )
        kinds[kv_heads[layer] * key, 0 if latent else kv_heads[layer] * value, windowed] += 1
    return tuple(LayerCache(n, key, value, windowed) for (key, value, windowed), n in kinds.items() if key or value)


def _windowed(header: Header, layers: int) -> Sequence[bool]:
    """Which layers attend to a window."""
    if not header.number("attention.sliding_window"):
        return [False] * layers
    pattern = header.fields.get(f"{header.architecture}.attention.sliding_window_pattern")
    if isinstance(pattern, tuple) and len(pattern) >= layers:
        return [bool(n) for n in pattern[:layers]]
    period = header.number("attention.sliding_window_pattern") or WINDOW_PERIOD.get(header.architecture, 1)
    full = 0 if header.architecture in FULL_LAYER_FIRST else period - 1
    return [layer % period != full for layer in range(layers)]


def _recurrent(header: Header, layers: int) -> Sequence[bool]:
    """Which layers keep a state."""
    if header.architecture in RECURRENT or header.architecture in BOTH_IN_EACH_LAYER:
        return [True] * layers
    listed = header.fields.get(f"{header.architecture}.attention.recurrent_layers")
    if isinstance(listed, tuple) and len(listed) >= layers:
        return [bool(n) for n in listed[:layers]]
    if interval := FULL_ATTENTION_INTERVAL.get(header.architecture):
        interval = header.number("full_attention_interval", interval)
        return [(layer + 1) % interval != 0 for layer in range(layers)]
    attends = header.per_layer("attention.head_count_kv", layers, 1)
    has_ffn = header.per_layer("feed_forward_length", layers)
    plain = header.architecture.startswith("nemotron_h")  # its feed-forward layers stand alone
    return [not n and not (plain and ffn) for n, ffn in zip(attends, has_ffn, strict=True)]


def _state_elements(header: Header) -> int:
    """Elements that one recurrent layer keeps for one sequence: RWKV, short convolution, else Mamba."""
    embedding = header.number("embedding_length")
    if head := header.number("wkv.head_size"):
        return embedding * (head + header.number("token_shift_count", 2))
    if length := header.number("shortconv.l_cache"):
        return embedding * (length - 1)
    inner, state = header.number("ssm.inner_size"), header.number("ssm.state_size")
    convolved = inner + 2 * header.number("ssm.group_count") * state
    return (header.number("ssm.conv_kernel", 1) - 1) * convolved + state * inner
