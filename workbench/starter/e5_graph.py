"""A BERT encoder written as an ONNX graph (opset 17, and Gelu from onnxruntime's own operators).

Inputs ``input_ids``, ``attention_mask``, ``token_type_ids``: int64 (batch, sequence). Output ``last_hidden_state``:
float32 (batch, sequence, hidden). The architecture is that of Devlin et al. 2019, post-layer-norm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx

from workbench.starter.e5_file import E5File

_OPSET: Final = 17
_IR: Final = 9
_MICROSOFT: Final = "com.microsoft"
_MASKED: Final = -1e9


class _Graph:
    """Nodes and constants, in the order they are made."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: npt.ArrayLike, dtype: str) -> str:
        array = np.ascontiguousarray(np.asarray(value, dtype))
        self.constants[name] = onnx.numpy_helper.from_array(array.reshape(np.shape(value)), name)
        return name

    def op(self, kind: str, inputs: Sequence[str], *, domain: str = "", **attributes: Any) -> str:
        output = f"{kind}_{len(self.nodes)}"
        node = onnx.helper.make_node(kind, list(inputs), [output], name=output, domain=domain, **attributes)
        self.nodes.append(node)
        return output


class Encoder:
    """Builds the graph from the weights of ``file``."""

    def __init__(self, file: E5File) -> None:
        self._file = file
        self._shape = file.shape
        self._graph = _Graph()

    def model(self) -> onnx.ModelProto:
        """The whole encoder, dense layers in float32, the token embedding at 8 bits with its scales."""
        state = self._embeddings()
        mask = self._mask()
        for layer in range(self._shape.layers):
            state = self._layer(state, mask, f"l{layer}")
        return self._finish(state)

    def _embeddings(self) -> str:
        graph, file, shape = self._graph, self._file, self._shape
        length = graph.op("Shape", ["input_ids"], start=1, end=2)
        zero = graph.constant("zero", [0], "i8")
        table = graph.constant("emb.pos", file.floats("emb.pos", shape.positions), "f4")
        position = graph.op("Slice", [table, zero, length, zero])
        types = file.floats("emb.type").reshape(-1, shape.hidden)
        if len(types) == 1:  # XLM-R has one type, but tokenizers may still send a 1
            types = np.repeat(types, 2, axis=0)
        kind = graph.op("Gather", [graph.constant("emb.type", types, "f4"), "token_type_ids"], axis=0)
        summed = graph.op("Add", [graph.op("Add", [self._tokens(), position]), kind])
        return self._norm(summed, "emb.ln")

    def _tokens(self) -> str:
        """Token vectors, looked up at 8 bits and scaled block by block: a quarter of the table's float32 size."""
        graph, shape = self._graph, self._shape
        table = self._file.quantized("emb.word", shape.vocabulary, shape.hidden)
        blocks = table.scales.shape[1]
        steps = graph.op("Gather", [graph.constant("emb.word", table.steps, "i1"), "input_ids"], axis=0)
        steps = graph.op("Cast", [steps], to=onnx.TensorProto.FLOAT)
        by_block = graph.constant("by_block", [0, 0, blocks, shape.hidden // blocks], "i8")
        steps = graph.op("Reshape", [steps, by_block])
        scales = graph.op("Gather", [graph.constant("emb.scale", table.scales, "f2"), "input_ids"], axis=0)
        scales = graph.op("Cast", [scales], to=onnx.TensorProto.FLOAT)
        scales = graph.op("Unsqueeze", [scales, graph.constant("last_axis", [-1], "i8")])
        return graph.op("Reshape", [graph.op("Mul", [steps, scales]), self._joined()])

    def _mask(self) -> str:
        """(batch, 1, 1, sequence): 0 where attended, very negative where padded."""
        graph = self._graph
        mask = graph.op("Cast", ["attention_mask"], to=onnx.TensorProto.FLOAT)
        mask = graph.op("Unsqueeze", [mask, graph.constant("head_and_query", [1, 2], "i8")])
        padded = graph.op("Sub", [graph.constant("one", 1, "f4"), mask])
        return graph.op("Mul", [padded, graph.constant("masked", _MASKED, "f4")])

    def _layer(self, state: str, mask: str, name: str) -> str:
        graph, shape = self._graph, self._shape
        attended = self._dense(self._attention(state, mask, name), f"{name}.ao", shape.hidden, shape.hidden)
        state = self._norm(graph.op("Add", [state, attended]), f"{name}.aln")
        inner = self._dense(state, f"{name}.fi", shape.feed_forward, shape.hidden)
        inner = graph.op("Gelu", [inner], domain=_MICROSOFT)
        outer = self._dense(inner, f"{name}.fo", shape.hidden, shape.feed_forward)
        return self._norm(graph.op("Add", [state, outer]), f"{name}.oln")

    def _attention(self, state: str, mask: str, name: str) -> str:
        """softmax(q k / sqrt(head size) + mask) v, heads joined again."""
        graph, shape = self._graph, self._shape
        head = shape.hidden // shape.heads
        query = self._heads(state, f"{name}.q", [0, 2, 1, 3])
        key = self._heads(state, f"{name}.k", [0, 2, 3, 1])
        value = self._heads(state, f"{name}.v", [0, 2, 1, 3])
        scale = graph.constant("scale", 1 / math.sqrt(head), "f4")
        scores = graph.op("Mul", [graph.op("MatMul", [query, key]), scale])
        weights = graph.op("Softmax", [graph.op("Add", [scores, mask])], axis=-1)
        mixed = graph.op("Transpose", [graph.op("MatMul", [weights, value])], perm=[0, 2, 1, 3])
        return graph.op("Reshape", [mixed, self._joined()])

    def _heads(self, state: str, name: str, order: list[int]) -> str:
        graph, shape = self._graph, self._shape
        split = graph.constant("split", [0, 0, shape.heads, shape.hidden // shape.heads], "i8")
        projected = self._dense(state, name, shape.hidden, shape.hidden)
        return graph.op("Transpose", [graph.op("Reshape", [projected, split])], perm=order)

    def _joined(self) -> str:
        return self._graph.constant("joined", [0, 0, self._shape.hidden], "i8")

    def _dense(self, state: str, name: str, rows: int, columns: int) -> str:
        matrix = self._file.quantized(f"{name}.w", rows, columns).dequantized().T
        product = self._graph.op("MatMul", [state, self._graph.constant(f"{name}.w", matrix, "f4")])
        return self._graph.op("Add", [product, self._graph.constant(f"{name}.b", self._file.floats(f"{name}.b"), "f4")])

    def _norm(self, state: str, name: str) -> str:
        weights = [self._graph.constant(f"{name}.{part}", self._file.floats(f"{name}.{part}"), "f4") for part in "wb"]
        return self._graph.op("LayerNormalization", [state, *weights], axis=-1, epsilon=self._shape.epsilon)

    def _finish(self, state: str) -> onnx.ModelProto:
        helper, graph = onnx.helper, self._graph
        graph.nodes.append(helper.make_node("Identity", [state], ["last_hidden_state"], name="last_hidden_state"))
        axes = ["batch", "sequence"]
        inputs = [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, axes)
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        output = helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, [*axes, self._shape.hidden])
        built = helper.make_graph(graph.nodes, "encoder", inputs, [output], list(graph.constants.values()))
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        return helper.make_model(built, opset_imports=opsets, producer_name="rag-workbench", ir_version=_IR)
