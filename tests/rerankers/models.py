"""Tiny real rerankers, made on the spot: a cross-encoder of lexical overlap in ONNX, and a GGUF with a ranking head."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WORDS = (
    "a reader may borrow six books for thirty days loans are renewed twice unless another has asked the book enrolment "
    "office opens on september at nine in morning students change courses until october fee is euros it not refunded "
    "after first week of classes la abre de ocho veinte horas el menú del día cuesta nueve y no incluye bebida when "
    "does how much cost many can i"
).split()
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
VOCABULARY = tuple(dict.fromkeys((*SPECIAL, *WORDS)))
LONGEST = 64


def overlap_encoder(folder: Path, *, classes: int = 1) -> Path:
    """A folder with ``model.onnx`` and a tokenizer; returns it. A pair's score: words of the question in the passage.

    Its graph compares the ids of the first text with those of the second, special tokens and [UNK] aside. ``classes``
    above 1 gives as many equal columns, as a classifier does that is no reranker.
    """
    import onnx
    from onnx import TensorProto, helper

    folder.mkdir(parents=True)
    pair = ["batch", "length"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, pair) for name in ("input_ids", "token_type_ids")]
    constants = [
        helper.make_tensor("last_special", TensorProto.INT64, [1], [len(SPECIAL) - 1]),
        helper.make_tensor("one", TensorProto.INT64, [1], [1]),
        helper.make_tensor("last_axis", TensorProto.INT64, [1], [2]),
        helper.make_tensor("middle_axis", TensorProto.INT64, [1], [1]),
        helper.make_tensor("columns", TensorProto.INT64, [2], [1, classes]),
    ]
    nodes = [
        helper.make_node("Greater", ["input_ids", "last_special"], ["word"]),
        helper.make_node("Equal", ["token_type_ids", "one"], ["second"]),
        helper.make_node("Not", ["second"], ["first"]),
        helper.make_node("And", ["word", "first"], ["asked"]),
        helper.make_node("And", ["word", "second"], ["told"]),
        helper.make_node("Unsqueeze", ["input_ids", "last_axis"], ["rows"]),
        helper.make_node("Unsqueeze", ["input_ids", "middle_axis"], ["columns_of"]),
        helper.make_node("Equal", ["rows", "columns_of"], ["same"]),
        helper.make_node("Unsqueeze", ["told", "middle_axis"], ["told_columns"]),
        helper.make_node("And", ["same", "told_columns"], ["met"]),
        helper.make_node("Cast", ["met"], ["met_numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["met_numbers"], ["occurs"], axes=[2], keepdims=0),
        helper.make_node("Cast", ["asked"], ["asked_numbers"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["occurs", "asked_numbers"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "one"], ["total"], keepdims=1),
        helper.make_node("Tile", ["total", "columns"], ["logits"]),
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])
    graph = helper.make_graph(nodes, "overlap", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, folder / "model.onnx")
    _write_tokenizer(folder)
    return folder


def _write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, VOCABULARY.index(name)) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": LONGEST, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")


def ranking_gguf(path: Path, favourite: str = "books", *, classes: int = 1) -> Path:
    """A BERT of one layer with a ranking head; returns ``path``. ``favourite`` in a pair raises its score.

    Attention is even over all tokens (queries and keys are 0), its values keep the one dimension that only the
    embedding of ``favourite`` has, and the head reads it.
    """
    return _bert(path, "RANK", favourite, classes)


def embedding_gguf(path: Path, pooling: str = "MEAN") -> Path:
    """The same BERT without a head, as one that is made for embedding; texts with "books" lie together."""
    return _bert(path, pooling, "books", 0)


def _bert(path: Path, pooling: str, favourite: str, classes: int) -> Path:
    import gguf

    path.parent.mkdir(parents=True, exist_ok=True)
    width, size = 32, len(VOCABULARY)
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(path.stem)
    writer.add_context_length(LONGEST)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(width)
    writer.add_head_count(1)
    writer.add_layer_norm_eps(1e-6)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType[pooling])
    if classes > 1:
        writer.add_classifier_output_labels([str(n) for n in range(classes)])
    _add_vocabulary(writer)
    for name, values in _tensors(width, size, VOCABULARY.index(favourite), classes).items():
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: object) -> None:
    import gguf

    assert isinstance(writer, gguf.GGUFWriter)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_tokenizer_model("bert")
    # A word's first piece is marked, as llama.cpp wants it of word pieces.
    writer.add_token_list([word if word in SPECIAL else "\u2581" + word for word in VOCABULARY])
    writer.add_token_types([control if word in SPECIAL else normal for word in VOCABULARY])
    writer.add_token_type_count(2)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_sep_token_id(3)
    writer.add_eos_token_id(3)


def _tensors(width: int, size: int, favourite: int, classes: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(7)
    tokens = chance.normal(0, 0.1, (size, width))
    tokens[:, 0] = 0.0
    tokens[favourite, 0] = 3.0
    square, zero, one = np.zeros((width, width)), np.zeros(width), np.ones(width)
    value = square.copy()
    value[0, 0] = 1.0
    head = np.zeros((classes, width))
    head[:, 0] = 1.0
    layer = {
        "attn_q": square, "attn_k": square, "attn_v": value, "attn_output": np.eye(width),
        "ffn_up": square, "ffn_down": square,
    }  # fmt: skip
    tensors = {
        "token_embd.weight": tokens,
        "token_types.weight": np.zeros((2, width)),
        "position_embd.weight": np.zeros((LONGEST, width)),
        "token_embd_norm.weight": one,
        "token_embd_norm.bias": zero,
    }
    if classes:
        tensors |= {"cls.weight": np.eye(width), "cls.bias": zero}
        tensors |= {"cls.output.weight": head, "cls.output.bias": np.zeros(classes)}
    for name, weight in layer.items():
        tensors |= {f"blk.0.{name}.weight": weight, f"blk.0.{name}.bias": zero}
    for name in ("attn_output_norm", "layer_output_norm"):
        tensors |= {f"blk.0.{name}.weight": one, f"blk.0.{name}.bias": zero}
    return tensors
