"""The encoder as an ONNX graph, node by node: ids of equally long sequences in, unit vectors out.

Post-norm RoBERTa: embeddings, then layers of attention and two dense layers, each added to its input and
normalised. Only the first token's row leaves the last layer, so only that row is computed there. Weights with
a "head" are those of a cross-encoder: its product with the unit vector is what comes out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from dowse_training.export_quantise import Quantised, Ranges, quantise, quantise_rows
from dowse_training.weights import layers

Array = NDArray[Any]
Weights = Mapping[str, Array]

HEADS = 12
# onnxruntime's own operators: all of these run on every kind of CPU.
_OWN = "com.microsoft"
_OPSET, _OWN_OPSET, _IR = 20, 1, 10


def float_model(weights: Weights, tokens: int) -> ModelProto:
    """Return the graph in float32."""
    return _Graph(weights, tokens).model()


def int8_model(weights: Weights, tokens: int, ranges: Ranges) -> ModelProto:
    """Return the graph with eight-bit matrices and eight-bit arithmetic, for CPUs."""
    return _ByteGraph(weights, tokens, ranges).model()


def unpacked_model(weights: Weights, tokens: int, ranges: Ranges) -> ModelProto:
    """Return the graph with the same eight-bit matrices and float arithmetic, for GPUs."""
    return _UnpackedGraph(weights, tokens, ranges).model()


def range_model(weights: Weights, tokens: int) -> tuple[ModelProto, list[str]]:
    """Return the float graph with the ranges of the named matrices' inputs as further outputs, two each."""
    graph = _WatchedGraph(weights, tokens)
    return graph.model(), list(graph.inputs)


class _Graph:
    """Nodes and constants as they are added, in float32."""

    def __init__(self, weights: Weights, tokens: int) -> None:
        self.weights = weights
        self.tokens = tokens
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self.size = int(weights["word_emb"].shape[1])

    def model(self) -> ModelProto:
        """Build everything."""
        rows = self._embed()
        numbers = layers(self.weights)
        for number in numbers:
            rows = self._layer(rows, f"l{number}", last=number == numbers[-1])
        first = self.node("Reshape", [rows, self.constant("row", np.array([0, self.size]))])
        if "head" in self.weights:  # a cross-encoder: one number for a sequence instead of its vector
            unit = self.node("LpNormalization", [first], axis=-1, p=2)
            head = self.weights["head"].astype(np.float32)[:, None] * np.float32(self.size**0.5)
            self.nodes.append(helper.make_node("MatMul", [unit, self.constant("head", head)], ["vectors"]))
        else:
            self.nodes.append(helper.make_node("LpNormalization", [first], ["vectors"], axis=-1, p=2))
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["rows", "length"])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs()],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_OWN, _OWN_OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR, producer_name="dowse")

    def outputs(self) -> list[str]:
        """Return the names of what the graph gives."""
        return ["vectors"]

    def node(self, kind: str, inputs: Sequence[str], domain: str = "", **settings: Any) -> str:  # noqa: ANN401
        """Add a node and return the name of its output."""
        name = f"{kind}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, domain=domain, **settings))
        return name

    def constant(self, name: str, value: Array | np.generic) -> str:
        """Add a constant unless it is there, and return its name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(
                np.ascontiguousarray(value).reshape(value.shape), name
            )
        return name

    def floats(self, name: str) -> str:
        """Add weights as they are."""
        return self.constant(name, self.weights[name].astype(np.float32))

    def words(self) -> str:
        """Look the words' rows up."""
        return self.node("Gather", [self.floats("word_emb"), "ids"])

    def multiply(self, rows: str, name: str, parts: int = 1, *, first_row: bool = False) -> list[str]:
        """Multiply with a matrix and add its bias, in parts of its outputs.

        With `first_row` the first part is computed for the first row of each sequence only.
        """
        weights, bias = self.matrix(name)
        results = []
        for part, at in enumerate(_parts(len(bias), parts)):
            source = self.first_row(rows) if first_row and part == 0 else rows
            label = f"{name}.{part}"
            product = self.node("MatMul", [source, self.constant(f"{label}.w", weights[:, at])])
            results.append(self.node("Add", [product, self.constant(f"{label}.b", bias[at])]))
        return results

    def matrix(self, name: str) -> tuple[Array, Array]:
        """Return a matrix, inputs × outputs, and its bias."""
        return self.weights[f"{name}.w"].T.astype(np.float32), self.weights[f"{name}.b"].astype(np.float32)

    def first_row(self, rows: str) -> str:
        """Take the first row of each sequence."""
        zero, one = self.constant("zero", np.array([0])), self.constant("one", np.array([1]))
        return self.node("Slice", [rows, zero, one, one])

    def _embed(self) -> str:
        """WordTokenizer and positions; the only type of token there is goes with the positions."""
        rows = self.words()
        # RoBERTa's first two positions are never used.
        places = self.weights["pos_emb"][2 : 2 + self.tokens] + self.weights["type_emb"][0]
        length = self.node("Shape", ["ids"], start=1, end=2)
        start = self.constant("zero", np.array([0]))
        here = self.node("Slice", [self.constant("places", places.astype(np.float32)), start, length])
        return self._normalise(self.node("Add", [rows, here]), "emb_ln")

    def _layer(self, rows: str, name: str, *, last: bool) -> str:
        query, key, value = self.multiply(rows, f"{name}.qkv", parts=3, first_row=last)
        seen = self.node("MultiHeadAttention", [query, key, value], _OWN, num_heads=HEADS)
        if last:
            rows = self.first_row(rows)
        (seen,) = self.multiply(seen, f"{name}.ao")
        rows = self._normalise(self.node("Add", [rows, seen]), f"{name}.aln")
        (wide,) = self.multiply(rows, f"{name}.f1")
        (narrow,) = self.multiply(self.node("Gelu", [wide], _OWN), f"{name}.f2")
        return self._normalise(self.node("Add", [rows, narrow]), f"{name}.fln")

    def _normalise(self, rows: str, name: str) -> str:
        """Layer normalisation."""
        scaled = self.node("Mul", [self.standardise(rows), self.floats(f"{name}.w")])
        return self.node("Add", [scaled, self.floats(f"{name}.b")])

    def standardise(self, rows: str) -> str:
        """Bring every row to mean 0 and variance 1, from simple nodes."""
        axis = self.constant("last", np.array([-1]))
        centred = self.node("Sub", [rows, self.node("ReduceMean", [rows, axis])])
        length = self.node("Sqrt", [self.node("ReduceSumSquare", [centred, axis])])
        stretch = self.node("Div", [self.constant("root", np.float32(self.size**0.5)), length])
        return self.node("Mul", [centred, stretch])


class _WatchedGraph(_Graph):
    """The float graph, with the range of what each matrix is multiplied with."""

    def __init__(self, weights: Weights, tokens: int) -> None:
        super().__init__(weights, tokens)
        self.inputs: dict[str, str] = {}

    def multiply(self, rows: str, name: str, parts: int = 1, *, first_row: bool = False) -> list[str]:
        self.inputs[name] = rows
        return super().multiply(rows, name, parts, first_row=first_row)

    def outputs(self) -> list[str]:
        axes = self.constant("all", np.array([0, 1]))
        found = super().outputs()
        for rows in self.inputs.values():
            found += [self.node(f"Reduce{kind}", [rows, axes], keepdims=0) for kind in ("Min", "Max")]
        return found


class _ByteGraph(_Graph):
    """Eight-bit matrices, and inputs brought to eight bits by fixed scales."""

    def __init__(self, weights: Weights, tokens: int, ranges: Ranges) -> None:
        super().__init__(weights, tokens)
        self.ranges = ranges

    def words(self) -> str:
        rows, scales = quantise_rows(self.weights["word_emb"])
        whole = self.node("Gather", [self.constant("word_emb", rows), "ids"])
        scale = self.node("Gather", [self.constant("word_emb.scales", scales), "ids"])
        return self.node("Mul", [self.node("Cast", [whole], to=TensorProto.FLOAT), scale])

    def multiply(self, rows: str, name: str, parts: int = 1, *, first_row: bool = False) -> list[str]:
        weights, bias = self.matrix(name)
        quantised = quantise(weights, self.ranges[name])
        stretched = self.node("Mul", [rows, self.constant(f"{name}.stretch", quantised.stretch)])
        prepared = self.prepare(stretched, quantised)
        results = []
        for part, at in enumerate(_parts(len(bias), parts)):
            cut = first_row and part == 0
            label = f"{name}.{part}"
            self.constant(f"{label}.w", quantised.weights[:, at])
            self.constant(f"{label}.scales", quantised.scales[at])
            self.constant(f"{label}.b", bias[at])
            product = self.product(self.first_row(prepared) if cut else prepared, label, quantised)
            if len(quantised.channels):
                large = self.first_row(rows) if cut else rows
                exact = self.constant(f"{label}.exact", weights[quantised.channels, at])
                chosen = self.constant(f"{name}.channels", quantised.channels)
                product = self.add_exact(product, self.node("Gather", [large, chosen], axis=-1), exact)
            results.append(product)
        return results

    def prepare(self, stretched: str, quantised: Quantised) -> str:
        """Round an input to bytes, once for all parts of its matrix."""
        return self.node("QuantizeLinear", [stretched, self._unit(), self._zero(quantised)])

    def product(self, prepared: str, label: str, quantised: Quantised) -> str:
        """Multiply and add the bias."""
        scales = self._unit(), f"{label}.scales", self._zero(quantised), ""
        return self.node("MatMulIntegerToFloat", [prepared, f"{label}.w", *scales, f"{label}.b"], _OWN)

    def standardise(self, rows: str) -> str:
        """One node that reads a row while it is in the cache: a third of the time of the simple nodes.

        It takes a row for a channel of an image. LayerNormalization is as fast in onnxruntime 1.31, but took
        2.5 times as long as the simple nodes in earlier versions.
        """
        length = self.node("Shape", [rows], start=1, end=2)
        ones = self.node("ConstantOfShape", [length], value=numpy_helper.from_array(np.ones(1, np.float32)))
        zeros = self.node("ConstantOfShape", [length])
        return self.node("InstanceNormalization", [rows, ones, zeros], epsilon=0.0)

    def add_exact(self, product: str, large: str, exact: str) -> str:
        """Add the product of the channels that are multiplied in float: Gemm needs no tensor for it."""
        channels, columns = self.constants[exact].dims
        flat = [
            self.node("Reshape", [rows, self.constant(f"flat.{width}", np.array([-1, width]))])
            for rows, width in ((large, channels), (product, columns))
        ]
        total = self.node("Gemm", [flat[0], exact, flat[1]])
        return self.node("Reshape", [total, self.node("Shape", [product])])

    def _unit(self) -> str:
        return self.constant("unit", np.float32(1))

    def _zero(self, quantised: Quantised) -> str:
        return self.constant(f"zero.{quantised.zero}", np.uint8(quantised.zero))


class _UnpackedGraph(_ByteGraph):
    """The same constants, unpacked to floats where they are used."""

    # GPUs have no use for what spares a CPU's caches.
    standardise = _Graph.standardise

    def add_exact(self, product: str, large: str, exact: str) -> str:
        return self.node("Add", [product, self.node("MatMul", [large, exact])])

    def prepare(self, stretched: str, quantised: Quantised) -> str:
        return stretched

    def product(self, prepared: str, label: str, quantised: Quantised) -> str:
        floats = self.node("DequantizeLinear", [f"{label}.w", f"{label}.scales"], axis=1)
        return self.node("Add", [self.node("MatMul", [prepared, floats]), f"{label}.b"])


def _parts(columns: int, parts: int) -> list[slice]:
    width = columns // parts
    return [slice(part * width, (part + 1) * width) for part in range(parts)]
