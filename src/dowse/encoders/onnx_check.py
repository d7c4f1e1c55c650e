"""ONNX models are checked before onnxruntime opens them: their operators, and the files that they name.

Only the structure is read, by the field numbers of onnx.proto; weights are skipped. A model may only use the
tensor operators of an allow list, and its external data must lie in its own folder.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from dowse.encoders.model_files import check_model_file
from dowse.errors import DowseError

# A Protocol Buffers message has at most 2 GB; larger models keep their weights in external data.
_MAX_MODEL_BYTES = (1 << 31) - 1
_MAX_EXTERNAL_BYTES = 1 << 40
# A large encoder in its most verbose form has some 10,000.
MAX_NODES = 50_000
MAX_TENSORS = 200_000
# onnxruntime takes such a file for its own ORT format, whatever its name is.
_ORT_FORMAT = b"ORTM"
# The metadata key under which a model sets session options.
_ORT_CONFIG = "ort_config"
# No path traversal: neither absolute nor `..`. And no `*`: onnxruntime reads a name with one as a memory
# address.
_LOCATION = re.compile(r"[\w+=@~, -][\w.+=@~, -]*(?:/[\w+=@~, -][\w.+=@~, -]*)*", re.ASCII)

# The operators that text encoders are made of: pure functions of tensors. Left out on purpose: control flow
# and subgraphs (Loop, If, Scan, SequenceMap), sequences and optionals, texts and images, random numbers,
# `EPContext` (a compiled binary for a device) and all operators of other domains, which need a library of
# code.
_STANDARD = """
    Abs Add And ArgMax ArgMin Attention BatchNormalization BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
    Cast CastLike Ceil Celu Clip Concat Constant ConstantOfShape Conv Cos CumSum DequantizeLinear Div Dropout
    DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand Flatten Floor Gather GatherElements GatherND Gelu
    Gemm Greater GreaterOrEqual HardSigmoid HardSwish Identity InstanceNormalization IsInf IsNaN
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization MatMul MatMulInteger Max Mean
    MeanVarianceNormalization Min Mish Mod Mul Neg NonZero Not OneHot Or Pad Pow QLinearMatMul QuantizeLinear
    RMSNormalization Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
    ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape RotaryEmbedding Round ScatterElements
    ScatterND Selu Shape Sigmoid Sign SimplifiedLayerNormalization Sin Size Slice Softmax Softplus Softsign
    Split Sqrt Squeeze Sub Sum SwiGLU Swish Tan Tanh Tile TopK Transpose Trilu Unsqueeze Where Xor
"""
_MICROSOFT = """
    Attention BiasAdd BiasGelu BiasSoftmax BiasSplitGelu DequantizeLinear DynamicQuantizeMatMul
    EmbedLayerNormalization FastGelu FusedGemm FusedMatMul GatedRelativePositionBias GatherBlockQuantized Gelu
    GroupQueryAttention Inverse LongformerAttention MatMulFpQ4 MatMulIntegerToFloat MatMulNBits
    MultiHeadAttention NGramRepeatBlock PackedAttention PackedMultiHeadAttention QAttention
    QEmbedLayerNormalization QGemm QLinearAdd QLinearConcat QLinearLeakyRelu QLinearMul QLinearReduceMean
    QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeLinear QuickGelu RelativePositionBias RemovePadding
    RestorePadding RotaryEmbedding SkipLayerNormalization SkipSimplifiedLayerNormalization
"""
# By the domain of a node; "ai.onnx" is another name of the standard one. The classical models of "ai.onnx.ml"
# are no text encoders.
_ALLOWED_OPERATORS: dict[str, frozenset[str]] = {
    "": frozenset(_STANDARD.split()),
    "ai.onnx": frozenset(_STANDARD.split()),
    "com.microsoft": frozenset(_MICROSOFT.split()),
}

# Field numbers of onnx.proto.
_MODEL_GRAPH, _MODEL_METADATA, _MODEL_TRAINING, _MODEL_FUNCTIONS = 7, 14, 20, 25
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_SPARSE = 1, 5, 15
_NODE_OPERATOR, _NODE_ATTRIBUTE, _NODE_DOMAIN = 4, 5, 7
_ATTRIBUTE_TENSOR, _ATTRIBUTE_GRAPH, _ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPHS = 5, 6, 10, 11
_ATTRIBUTE_SPARSE, _ATTRIBUTE_SPARSES = 22, 23
_SPARSE_VALUES, _SPARSE_INDICES = 1, 2
_TENSOR_EXTERNAL = 13
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
# Types of fields in the wire format of Protocol Buffers.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BITS = 70  # ten bytes of seven bits


class RefusedModel(DowseError):
    """A model that uses what no text encoder needs."""


def check_onnx_model(model: Path, folder: Path | None = None) -> None:
    """Raise RefusedModel unless a model uses only tensor operators and files of `folder` (default: its)."""
    folder = folder or model.parent
    real = check_model_file(model, folder, _MAX_MODEL_BYTES)
    if not real.stat().st_size:
        raise RefusedModel(f"{model} is empty; fetch the model again")
    with open(real, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        view = memoryview(data)
        try:
            _ModelCheck(model, folder).model(view)
        except RefusedModel as error:
            # The traceback holds views of the mapping, which can't be closed before they are gone.
            reason = str(error)
            error.__traceback__ = None
        except (_BrokenMessage, UnicodeDecodeError) as error:
            reason = f"it is no ONNX model: {error}"
            error.__traceback__ = None
        else:
            reason = ""
        finally:
            view.release()
    if reason:
        raise RefusedModel(f"{model} is refused ({reason}); use an encoder exported by optimum or dowse")


class _ModelCheck:
    """Walks the messages of one model."""

    def __init__(self, model: Path, folder: Path) -> None:
        self._base, self._folder = model.parent, folder
        self._nodes = self._tensors = 0

    def model(self, message: memoryview) -> None:
        """Check a whole file."""
        if message[4:8] == _ORT_FORMAT:
            raise RefusedModel("it is in the format of onnxruntime, not ONNX")
        has_graph = False
        for number, value in _fields(message):
            if number == _MODEL_GRAPH:
                has_graph = True
                self._graph(_as_message(value))
            elif number == _MODEL_METADATA:
                if _ORT_CONFIG in _entry(_as_message(value))[0]:
                    raise RefusedModel("it brings settings of onnxruntime along")
            elif number in (_MODEL_FUNCTIONS, _MODEL_TRAINING):
                raise RefusedModel("it defines functions or training steps")
        if not has_graph:
            raise RefusedModel("it has no graph")

    def _graph(self, message: memoryview) -> None:
        for number, value in _fields(message):
            if number == _GRAPH_NODE:
                self._node(_as_message(value))
            elif number == _GRAPH_INITIALIZER:
                self._tensor(_as_message(value))
            elif number == _GRAPH_SPARSE:
                self._sparse(_as_message(value))

    def _node(self, message: memoryview) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise RefusedModel(f"it has more than {MAX_NODES:,} nodes")
        operators, domains = set[str](), set[str]()
        for number, value in _fields(message):
            if number == _NODE_OPERATOR:
                operators.add(_as_text(value))
            elif number == _NODE_DOMAIN:
                domains.add(_as_text(value))
            elif number == _NODE_ATTRIBUTE:
                self._attribute(_as_message(value))
        for domain in domains or {""}:
            if domain not in _ALLOWED_OPERATORS:
                raise RefusedModel(f"it needs operators of the domain {ascii(domain)[:80]}")
            unknown = sorted(operators - _ALLOWED_OPERATORS[domain])
            if unknown or not operators:
                raise RefusedModel(f"it uses the operator {ascii(unknown[0] if unknown else '')[:80]}")

    def _attribute(self, message: memoryview) -> None:
        for number, value in _fields(message):
            if number in (_ATTRIBUTE_GRAPH, _ATTRIBUTE_GRAPHS):
                raise RefusedModel("it has a graph within a node")
            if number in (_ATTRIBUTE_TENSOR, _ATTRIBUTE_TENSORS):
                self._tensor(_as_message(value))
            elif number in (_ATTRIBUTE_SPARSE, _ATTRIBUTE_SPARSES):
                self._sparse(_as_message(value))

    def _sparse(self, message: memoryview) -> None:
        for number, value in _fields(message):
            if number in (_SPARSE_VALUES, _SPARSE_INDICES):
                self._tensor(_as_message(value))

    def _tensor(self, message: memoryview) -> None:
        self._tensors += 1
        if self._tensors > MAX_TENSORS:
            raise RefusedModel(f"it has more than {MAX_TENSORS:,} tensors")
        entries: dict[str, set[str]] = {}
        for number, value in _fields(message):
            if number == _TENSOR_EXTERNAL:
                keys, values = _entry(_as_message(value))
                for key in keys:
                    entries.setdefault(key, set()).update(values)
        if entries:
            self._external(entries)

    def _external(self, entries: dict[str, set[str]]) -> None:
        """Check the location of a tensor's external data."""
        locations = entries.get("location", set())
        if len(locations) != 1 or not all(map(_LOCATION.fullmatch, locations)):
            raise RefusedModel("it has external data outside its folder")
        file = self._base / locations.pop()
        try:
            size = check_model_file(file, self._folder, _MAX_EXTERNAL_BYTES).stat().st_size
        except DowseError as error:
            raise RefusedModel(f"external data: {error}") from None
        offset, length = (_parse_count(entries.get(name, set())) for name in ("offset", "length"))
        if offset + length > size:
            raise RefusedModel("it has external data beyond the end of their file")


def _entry(message: memoryview) -> tuple[set[str], set[str]]:
    """Return the keys and the values of a key-value entry, which should be one each."""
    keys, values = set[str](), set[str]()
    for number, value in _fields(message):
        if number == _ENTRY_KEY:
            keys.add(_as_text(value))
        elif number == _ENTRY_VALUE:
            values.add(_as_text(value))
    return keys, values


def _parse_count(values: set[str]) -> int:
    """Return the number in an entry, 0 if there is none."""
    for value in values:
        if len(values) > 1 or len(value) > 18 or not value.isascii() or not value.isdigit():
            raise RefusedModel("it has external data at an ambiguous offset")
        return int(value)
    return 0


class _BrokenMessage(ValueError):
    """Bytes that are no valid message."""


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and value of every field, in order; a nested message, a string or bytes is a view.

    A field may occur more than once, and parsers take the last one or merge them: whoever checks a message
    has to check every occurrence.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _BYTES:
            length, at = _varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            length = 4 if kind == _FIXED32 else 8
        else:  # groups are deprecated
            raise _BrokenMessage("a field of an unknown kind")
        if number == 0 or at + length > len(message):
            raise _BrokenMessage("a field without a number, or longer than its message")
        yield number, message[at : at + length]
        at += length


def _as_text(value: int | memoryview) -> str:
    """Return the string value of a field."""
    if isinstance(value, int):
        raise _BrokenMessage("a number where a text was expected")
    return str(value, "utf-8")


def _as_message(value: int | memoryview) -> memoryview:
    """Return the nested message of a field."""
    if isinstance(value, int):
        raise _BrokenMessage("a number where a message was expected")
    return value


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < _VARINT_BITS:
        if at >= len(message):
            raise _BrokenMessage("cut short")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise _BrokenMessage("a number that is too long")
