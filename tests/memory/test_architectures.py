"""Small models of architectures for which there is no small file, written here and loaded by the real engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from workbench.engine.client import load_generator
from workbench.engine.gguf_header import read_header
from workbench.memory.estimate import estimate
from workbench.records.models import LoadSettings

pytestmark = pytest.mark.model

VOCABULARY, EMBEDDING, LAYERS, HEADS = 512, 256, 4, 4
EXPERTS, EXPERT = 8, 128
LOG_STEP = (1 << 20) / 100
"""The engine tells its buffers in hundredths of a MiB."""

Shapes = Mapping[str, tuple[int, ...]]

COMMON = {"block_count": LAYERS, "context_length": 8192, "embedding_length": EMBEDDING, "vocab_size": VOCABULARY}
ATTENTION = {"attention.head_count": HEADS, "feed_forward_length": 512}
MIXTURE = {"expert_count": EXPERTS, "expert_used_count": 2, "expert_feed_forward_length": EXPERT}
EXPERT_SHAPES: Shapes = {
    "ffn_norm.weight": (EMBEDDING,),
    "ffn_gate_inp.weight": (EXPERTS, EMBEDDING),
    "ffn_gate_exps.weight": (EXPERTS, EXPERT, EMBEDDING),
    "ffn_up_exps.weight": (EXPERTS, EXPERT, EMBEDDING),
    "ffn_down_exps.weight": (EXPERTS, EMBEDDING, EXPERT),
}

RECURRENT = {
    "ssm.conv_kernel": 4,
    "ssm.inner_size": 512,
    "ssm.state_size": 16,
    "ssm.time_step_rank": 16,
    "attention.head_count": 0,
    "feed_forward_length": 0,
}
RECURRENT_SHAPES: Shapes = {
    "ssm_in.weight": (1024, EMBEDDING),
    "ssm_conv1d.weight": (512, 4),
    "ssm_conv1d.bias": (512,),
    "ssm_x.weight": (48, 512),
    "ssm_dt.weight": (512, 16),
    "ssm_dt.bias": (512,),
    "ssm_a": (512, 16),
    "ssm_d": (512,),
    "ssm_out.weight": (EMBEDDING, 512),
}
GROUPED = {"attention.head_count_kv": 2, "attention.key_length": 64, "attention.value_length": 64}
GROUPED_SHAPES: Shapes = {
    "attn_q.weight": (256, EMBEDDING),
    "attn_k.weight": (128, EMBEDDING),
    "attn_v.weight": (128, EMBEDDING),
    "attn_output.weight": (EMBEDDING, 256),
    "attn_q_norm.weight": (64,),
    "attn_k_norm.weight": (64,),
}
LATENT = {
    "attention.head_count_kv": 1,
    "attention.q_lora_rank": 48,
    "attention.kv_lora_rank": 96,
    "attention.key_length": 128,
    "attention.value_length": 96,
    "attention.key_length_mla": 64,
    "attention.value_length_mla": 32,
    "rope.dimension_count": 32,
    "expert_shared_count": 1,
}
LATENT_SHAPES: Shapes = {
    "attn_q_a.weight": (48, EMBEDDING),
    "attn_q_a_norm.weight": (48,),
    "attn_q_b.weight": (HEADS * 64, 48),
    "attn_kv_a_norm.weight": (96,),
    "attn_kv_a_mqa.weight": (128, EMBEDDING),
    "attn_k_b.weight": (HEADS, 96, 32),
    "attn_v_b.weight": (HEADS, 32, 96),
    "attn_output.weight": (EMBEDDING, HEADS * 32),
    "ffn_gate_shexp.weight": (EXPERT, EMBEDDING),
    "ffn_up_shexp.weight": (EXPERT, EMBEDDING),
    "ffn_down_shexp.weight": (EMBEDDING, EXPERT),
}


def write(path: Path, architecture: str, numbers: Mapping[str, int], shapes: Shapes) -> Path:
    from gguf import GGUFWriter

    writer = GGUFWriter(path, architecture)
    for key, value in {**COMMON, **numbers}.items():
        writer.add_uint32(f"{architecture}.{key}", value)
    writer.add_float32(f"{architecture}.attention.layer_norm_rms_epsilon", 1e-5)
    writer.add_string("tokenizer.ggml.model", "no_vocab")
    layer = {"attn_norm.weight": (EMBEDDING,), **shapes}
    every = {f"blk.{n}.{name}": shape for n in range(LAYERS) for name, shape in layer.items()}
    outer = {"token_embd.weight": (VOCABULARY, EMBEDDING), "output_norm.weight": (EMBEDDING,)}
    for name, shape in {**outer, **every}.items():
        writer.add_tensor(name, np.full(shape, 0.01, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("architecture", "numbers", "shapes"),
    [
        ("mamba", RECURRENT, RECURRENT_SHAPES),
        ("qwen3moe", ATTENTION | MIXTURE | GROUPED, {**GROUPED_SHAPES, **EXPERT_SHAPES}),
        ("deepseek2", ATTENTION | MIXTURE | LATENT, {**LATENT_SHAPES, **EXPERT_SHAPES}),
    ],
)
@pytest.mark.parametrize("context", [1024, 8192])
def test_each_part_is_what_the_engine_takes(
    tmp_path: Path, architecture: str, numbers: Mapping[str, int], shapes: Shapes, context: int
) -> None:
    file = read_header(write(tmp_path / f"{architecture}-F32.gguf", architecture, numbers, shapes))
    settings = LoadSettings(context=context, batch=64)
    foreseen = estimate(file, settings)
    loaded = load_generator(file, settings)
    taken = loaded.model.memory
    loaded.close()
    assert foreseen
    assert foreseen.weights == pytest.approx(taken.weights, rel=0.01)
    assert foreseen.kv_cache == pytest.approx(taken.kv_cache, rel=0.01, abs=LOG_STEP)
    assert foreseen.compute == pytest.approx(taken.compute, rel=0.15)
    assert foreseen.buffers == pytest.approx(taken.total, rel=0.05)
