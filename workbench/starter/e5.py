"""The starter embedder from its package's weights: ONNX at 8 bits, tokenizer, and the descriptor of the folder.

Runs as a child process, ``python -m workbench.starter.e5 WEIGHTS FOLDER``, because onnx and onnxruntime are native. It
prints one of ``installation.CONVERSION_STEPS`` as each begins. Against the package's own engine the vectors agree to a
cosine of 0.997.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any, Final

from workbench import paths
from workbench.starter.e5_file import E5File, Shape, Vocabulary
from workbench.starter.installation import CONVERSION_STEPS
from workbench.starter.packages import EMBEDDER, sha256

_SPECIAL: Final = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "cls_token": "<s>",
    "sep_token": "</s>",
}
_MODEL_FILE: Final = "model_int8.onnx"
_SPACE: Final = "▁"


def convert(weights: Path, folder: Path) -> None:
    """Writes the embedder's folder; the descriptor comes last and holds the other files' SHA-256.

    Raises:
        ValueError: ``weights`` isn't the package's file.
        OSError: the folder can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _say(0)
    file = E5File(weights)
    _say(1)
    _write_model(file, folder)
    _say(3)
    _write_tokenizer(file.vocabulary, folder / "tokenizer.json")
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(file.shape))
    _write_json(folder / "special_tokens_map.json", _SPECIAL)
    _write_json(folder / "config.json", _config(file))
    _write_json(folder / "embedder.json", _descriptor(file.shape, folder))


def _say(step: int) -> None:
    print(CONVERSION_STEPS[step], flush=True)


def _write_model(file: E5File, folder: Path) -> None:
    import onnx  # native and slow to import, as is the next
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from workbench.starter.e5_graph import Encoder

    full = folder / "model.onnx"
    onnx.save(Encoder(file).model(), str(full))
    _say(2)
    logging.disable(logging.WARNING)  # it advises a preparation that does nothing for this graph
    quantize_dynamic(
        full,
        folder / _MODEL_FILE,
        weight_type=QuantType.QInt8,
        per_channel=True,  # a scale for each column: on XQuAD this ranks as float does, one scale loses 1.5 % of R@1
        op_types_to_quantize=["MatMul"],  # else it also takes the embedding's Gather, which is at 8 bits already
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},  # types behind Gelu can't be inferred
    )
    full.unlink()


def _write_tokenizer(vocabulary: Vocabulary, path: Path) -> None:
    """XLM-R's SentencePiece unigram tokenizer."""
    from tokenizers import (
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )

    pieces = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement=_SPACE, prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always")
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", vocabulary.begin), ("</s>", vocabulary.end)],
    )
    tokenizer.save(str(path))


def _tokenizer_config(shape: Shape) -> dict[str, Any]:
    return {"model_max_length": shape.positions, **_SPECIAL, "tokenizer_class": "XLMRobertaTokenizer"}


def _config(file: E5File) -> dict[str, Any]:
    shape = file.shape
    return {
        "model_type": "bert",
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.feed_forward,
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": shape.positions,
        "pad_token_id": file.vocabulary.pad,
    }


def _descriptor(shape: Shape, folder: Path) -> dict[str, Any]:
    """What the workbench must know to use the folder, and what proves it whole."""
    return {
        "name": paths.STARTER_EMBEDDER,
        "dimension": shape.hidden,
        "max_tokens": shape.positions,
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "pooling": "mean",
        "normalised": True,
        "model_file": _MODEL_FILE,
        "licence": "MIT",
        "origin": EMBEDDER.requirement,
        "files": {path.name: sha256(path) for path in sorted(folder.iterdir()) if path.name != "embedder.json"},
    }


def _write_json(path: Path, body: dict[str, Any]) -> None:
    path.write_text(json.dumps(body, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
