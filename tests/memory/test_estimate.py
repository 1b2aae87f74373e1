"""Worked numbers, architectures, and what must hold for every model and setting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.builders import model
from workbench.memory.estimate import estimate, rounded_context, weight_bytes
from workbench.memory.grid import quantized_bytes
from workbench.memory.room import Room, verdict
from workbench.memory.shape import read_shape
from workbench.records.models import KvType, LoadSettings, MemoryEstimate, MemoryShape, ModelFile

GB = 10**9
KV: tuple[KvType, ...] = ("f16", "q8_0", "q4_0")


def expected(file: ModelFile, settings: LoadSettings | None = None) -> MemoryEstimate:
    found = estimate(file, settings or LoadSettings())
    assert found
    return found


@pytest.mark.parametrize(
    ("parameters", "bits", "gigabytes"),
    [
        *((1e9, 32, 4), (1e9, 16, 2), (1e9, 8, 1), (1e9, 4, 0.5), (1.6e12, 16, 3200)),
        *((7e9, 32, 28), (7e9, 16, 14), (7e9, 8, 7), (7e9, 4, 3.5), (8e9, 4, 4)),
        *((70e9, 32, 280), (70e9, 16, 140), (70e9, 8, 70), (70e9, 4, 35)),
    ],
)
def test_weights_of_the_worked_examples(parameters: float, bits: float, gigabytes: float) -> None:
    assert weight_bytes(parameters, bits) == gigabytes * GB


def test_an_8b_at_4_bits_with_8192_tokens_takes_11_gb_and_fits_16_while_8_bits_are_tight() -> None:
    four = MemoryEstimate(8192, int(weight_bytes(8e9, 4)), 3 * GB, 2 * GB, 0, margin=2 * GB)
    assert four.total == 11 * GB
    assert verdict(four, Room(16 * GB)) == "fits"
    assert verdict(replace(four, weights=int(weight_bytes(8e9, 8))), Room(16 * GB)) == "tight"
    assert verdict(four, Room(10 * GB)) == "no"


@pytest.mark.parametrize(
    ("shape", "parameters", "embedding", "sizes"),
    [
        # Bytes of files that the ladder made; a header takes 2–6 MB of each.
        (
            MemoryShape(output=28_311_552, narrow=79_626_240),  # SmolLM2: rows of 576
            134_515_008,
            576,
            {"F16": 271e6, "Q8_0": 145e6, "Q6_K": 138e6, "Q5_K_M": 112e6, "Q4_0": 92e6, "Q3_K_M": 94e6, "Q2_K": 88e6},
        ),
        (
            MemoryShape(output=136_134_656, narrow=389_365_760),  # Coder-0.5B: rows of 896
            630_167_424,
            896,
            {"Q8_0": 675e6, "Q4_K_M": 492e6, "Q4_0": 429e6, "Q3_K_M": 432e6, "Q2_K": 415e6},
        ),
        (MemoryShape(output=233_373_696), 1_777_088_000, 1536, {"Q4_K_M": 1_117e6}),  # Coder-1.5B
    ],
)
def test_other_quantizations_are_reckoned_with_what_falls_back(
    shape: MemoryShape, parameters: int, embedding: int, sizes: dict[str, float]
) -> None:
    file = ModelFile("m.gguf", "m", 0, parameters=parameters, embedding=embedding, shape=shape)
    for quantization, size in sizes.items():
        assert 0.955 * size <= quantized_bytes(file, quantization) <= 1.005 * size, quantization


def test_keys_and_values_follow_the_formula() -> None:
    file = model()
    by_hand = 2 * 32 * 1 * 8192 * 8 * 128 * 2
    assert expected(file, LoadSettings(context=8192)).kv_cache == by_hand
    assert expected(file, LoadSettings(context=8192, kv_type="q8_0")).kv_cache == by_hand * 34 // 64
    assert expected(file, LoadSettings(context=8192, kv_type="q4_0")).kv_cache == by_hand * 18 // 64


def test_grouped_heads_take_a_quarter_of_as_many_heads_as_queries() -> None:
    assert expected(model(attention__head_count_kv=32)).kv_cache == 4 * expected(model()).kv_cache


def test_five_of_six_gemma_layers_keep_a_window_only_when_asked_to() -> None:
    file = model("gemma3", layers=18, attention__sliding_window=512)
    whole = expected(file, LoadSettings(context=32768))
    trimmed = expected(file, LoadSettings(context=32768, whole_window=False))
    assert whole.kv_cache == 18 * 32768 * 2048 * 2
    assert trimmed.kv_cache == (3 * 32768 + 15 * (512 + 512)) * 2048 * 2


def test_latent_attention_keeps_one_compressed_key_and_no_values() -> None:
    fields = {"attention.head_count_kv": 1, "attention.key_length": 576, "attention.value_length": 512}
    latent = model("deepseek2", layers=27, **fields, **{"attention.key_length_mla": 192})
    assert expected(latent).kv_cache == 27 * 4096 * 576 * 2


def test_all_experts_count_though_few_act() -> None:
    moe = model("qwen3moe", weights=18 * GB, expert_count=128, expert_used_count=8, expert_feed_forward_length=768)
    assert expected(moe).weights == 18 * GB
    assert moe.shape.experts == 128
    assert moe.shape.feed_forward == 8 * 768


def test_recurrent_layers_take_the_same_at_every_context() -> None:
    fields = {"ssm.conv_kernel": 4, "ssm.inner_size": 5120, "ssm.state_size": 16}
    mamba = model("mamba", layers=64, **fields)
    small, large = (expected(mamba, LoadSettings(context=n)) for n in (512, 65536))
    assert small.kv_cache == 64 * (3 * 5120 + 16 * 5120) * 4
    assert small.total == large.total


def test_a_hybrid_keeps_keys_in_its_attention_layers_and_state_in_the_others() -> None:
    heads = (0, 0, 0, 8) * 8
    file = model("jamba", attention__head_count_kv=heads, **{"ssm.inner_size": 8192, "ssm.state_size": 16})
    parts = [term.bytes for term in expected(file).terms if term.part == "kv_cache"]
    assert parts == [8 * 4096 * 2048 * 2, 24 * 16 * 8192 * 4]


def test_layers_that_share_keys_keep_none() -> None:
    assert expected(model("gemma4", attention__shared_kv_layers=12)).kv_cache * 32 == expected(model()).kv_cache * 20


def test_without_flash_attention_the_scores_of_a_micro_batch_are_laid_out() -> None:
    plain = expected(model(), LoadSettings(context=32768, flash_attention=False))
    assert plain.compute > 32 * 512 * 32768 * 4
    assert expected(model(), LoadSettings(context=32768)).compute < plain.compute / 4


def test_a_gpu_takes_its_share_of_the_layers() -> None:
    file = model()
    half, all_layers = (expected(file, LoadSettings(gpu_layers=n)) for n in (16, 99))
    assert 0 < half.device < all_layers.device <= all_layers.total
    assert expected(file).device == 0
    assert verdict(all_layers, Room(ram=1 * GB, vram=8 * GB)) == "fits"
    assert verdict(all_layers, Room(ram=64 * GB, vram=4 * GB)) == "no"
    assert verdict(all_layers, Room(ram=64 * GB)) == "fits", "without a GPU it goes into the RAM"


def test_the_context_is_rounded_as_the_engine_rounds_it() -> None:
    assert [rounded_context(n) for n in (0, 1, 256, 257, 4096)] == [256, 256, 256, 512, 4096]
    assert expected(model(), LoadSettings(context=1000)).context == 1024


@given(
    st.integers(1, 200_000),
    st.integers(1, 200_000),
    st.sampled_from(KV),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["llama", "gemma3", "mamba", "qwen3next"]),
)
def test_more_context_never_takes_less(
    one: int, other: int, kv: KvType, flash: bool, whole: bool, architecture: str
) -> None:
    file = model(architecture, attention__sliding_window=1024, **{"ssm.inner_size": 4096, "ssm.state_size": 16})
    settings = LoadSettings(kv_type=kv, flash_attention=flash, whole_window=whole)
    less, more = sorted((one, other))
    small, large = (expected(file, replace(settings, context=n)) for n in (less, more))
    assert small.total <= large.total
    for found in (small, large):
        assert found.buffers == sum(term.bytes for term in found.terms)


@given(st.integers(1, 10_000), st.sampled_from(KV))
def test_a_smaller_type_takes_less(context: int, kv: KvType) -> None:
    found = [expected(model(), LoadSettings(context=context, kv_type=kind)).kv_cache for kind in KV]
    assert found == sorted(found, reverse=True)


VALUES = st.one_of(
    st.integers(-(2**63), 2**64), st.floats(), st.text(max_size=3), st.booleans(), st.none(),
    st.lists(st.integers(-5, 2**64), max_size=40).map(tuple),
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "block_count",
        "embedding_length",
        "attention.head_count",
        "attention.head_count_kv",
        "attention.key_length",
        "attention.sliding_window",
        "attention.sliding_window_pattern",
        "attention.shared_kv_layers",
        "attention.recurrent_layers",
        "full_attention_interval",
        "feed_forward_length",
        "ssm.inner_size",
        "ssm.state_size",
        "expert_used_count",
    ]
)


@given(st.sampled_from(["llama", "gemma3", "qwen3next", "nemotron_h", ""]), st.dictionaries(KEYS, VALUES))
def test_no_header_however_wrong_breaks_the_arithmetic(architecture: str, fields: dict[str, object]) -> None:
    header = {f"{architecture}.{key}": value for key, value in fields.items()}
    shape = read_shape(architecture, header, 10**9, 0, 32_000)
    found = estimate(ModelFile("x", "x", 0, shape=shape), LoadSettings())
    assert found is None or found.total >= 10**9


def test_what_a_header_does_not_tell_is_not_made_up() -> None:
    assert read_shape("llama", {"llama.block_count": 2**40}, 1, 1, 1) == MemoryShape()
    assert estimate(model(layers=0), LoadSettings()) is None
    assert estimate(replace(model(), problem="cut short"), LoadSettings()) is None
    assert estimate(model(attention__head_count=0, attention__head_count_kv=0), LoadSettings()) is None
