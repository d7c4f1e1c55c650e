"""ONNX models are checked before onnxruntime opens them: their operators, and the files that they name.

Only the structure is read, by the field numbers of onnx.proto; weights are passed over. A model may compute
with tensors and nothing else, and its external data lie in its own folder.
"""

from __future__ import annotations

import mmap
import re
from pathlib import Path

from dowse.encoders.model_files import check_model_file
from dowse.encoders.onnx_operators import ALLOWED
from dowse.encoders.protobuf import BrokenMessage, fields, message_of, text_of
from dowse.errors import DowseError

# A message of Protocol Buffers has at most 2 GB; larger models keep their weights apart.
_MODEL_BYTES = (1 << 31) - 1
_EXTERNAL_BYTES = 1 << 40
# A large encoder in its most verbose form has some 10,000.
_NODES = 50_000
_TENSORS = 200_000
# onnxruntime takes such a file for its own format, whatever it is called.
_ORT_FORMAT = b"ORTM"
# Settings of the session that the model brings along.
_ORT_CONFIG = "ort_config"
# Neither absolute nor `..`, and no `*`: onnxruntime has a name with one that means an address in memory.
_LOCATION = re.compile(r"[\w+=@~, -][\w.+=@~, -]*(?:/[\w+=@~, -][\w.+=@~, -]*)*", re.ASCII)

# Numbers of fields in onnx.proto.
_MODEL_GRAPH, _MODEL_METADATA, _MODEL_TRAINING, _MODEL_FUNCTIONS = 7, 14, 20, 25
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_SPARSE = 1, 5, 15
_NODE_OPERATOR, _NODE_ATTRIBUTE, _NODE_DOMAIN = 4, 5, 7
_ATTRIBUTE_TENSOR, _ATTRIBUTE_GRAPH, _ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPHS = 5, 6, 10, 11
_ATTRIBUTE_SPARSE, _ATTRIBUTE_SPARSES = 22, 23
_SPARSE_VALUES, _SPARSE_INDICES = 1, 2
_TENSOR_EXTERNAL = 13
_ENTRY_KEY, _ENTRY_VALUE = 1, 2


class RefusedModel(DowseError):
    """A model that does what a text encoder has no need to do."""


def check_onnx_model(model: Path, folder: Path | None = None) -> None:
    """Raise RefusedModel unless a model is made of tensor operators and of files of its folder.

    Args:
        model: The ONNX file.
        folder: What its files may not lie outside of; by default the one that the model lies in.
    """
    real = check_model_file(model, folder or model.parent, _MODEL_BYTES)
    if not real.stat().st_size:
        raise RefusedModel(f"{model} is empty; fetch the model again")
    with open(real, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        view = memoryview(data)
        try:
            _Check(model, folder or model.parent).model(view)
        except RefusedModel as error:
            # The traceback holds views of the mapping, which can't be closed before they are gone.
            reason = str(error)
            error.__traceback__ = None
        except (BrokenMessage, UnicodeDecodeError) as error:
            reason = f"it is no ONNX model: {error}"
            error.__traceback__ = None
        else:
            reason = ""
        finally:
            view.release()
    if reason:
        raise RefusedModel(f"{model} is refused ({reason}); use an encoder exported by optimum or dowse")


class _Check:
    """Walks through one model."""

    def __init__(self, model: Path, folder: Path) -> None:
        self._place, self._folder = model.parent, folder
        self._nodes = self._tensors = 0

    def model(self, message: memoryview) -> None:
        """Check a whole file."""
        if message[4:8] == _ORT_FORMAT:
            raise RefusedModel("it is in the format of onnxruntime, not ONNX")
        has_graph = False
        for number, value in fields(message):
            if number == _MODEL_GRAPH:
                has_graph = True
                self._graph(message_of(value))
            elif number == _MODEL_METADATA:
                if _ORT_CONFIG in _entry(message_of(value))[0]:
                    raise RefusedModel("it brings settings of onnxruntime along")
            elif number in (_MODEL_FUNCTIONS, _MODEL_TRAINING):
                raise RefusedModel("it defines functions or training steps")
        if not has_graph:
            raise RefusedModel("it has no graph")

    def _graph(self, message: memoryview) -> None:
        for number, value in fields(message):
            if number == _GRAPH_NODE:
                self._node(message_of(value))
            elif number == _GRAPH_INITIALIZER:
                self._tensor(message_of(value))
            elif number == _GRAPH_SPARSE:
                self._sparse(message_of(value))

    def _node(self, message: memoryview) -> None:
        self._nodes += 1
        if self._nodes > _NODES:
            raise RefusedModel(f"it has more than {_NODES:,} nodes")
        operators, domains = set[str](), set[str]()
        for number, value in fields(message):
            if number == _NODE_OPERATOR:
                operators.add(text_of(value))
            elif number == _NODE_DOMAIN:
                domains.add(text_of(value))
            elif number == _NODE_ATTRIBUTE:
                self._attribute(message_of(value))
        for domain in domains or {""}:
            if domain not in ALLOWED:
                raise RefusedModel(f"it needs operators of the domain {ascii(domain)[:80]}")
            unknown = sorted(operators - ALLOWED[domain])
            if unknown or not operators:
                raise RefusedModel(f"it uses the operator {ascii(unknown[0] if unknown else '')[:80]}")

    def _attribute(self, message: memoryview) -> None:
        for number, value in fields(message):
            if number in (_ATTRIBUTE_GRAPH, _ATTRIBUTE_GRAPHS):
                raise RefusedModel("it has a graph within a node")
            if number in (_ATTRIBUTE_TENSOR, _ATTRIBUTE_TENSORS):
                self._tensor(message_of(value))
            elif number in (_ATTRIBUTE_SPARSE, _ATTRIBUTE_SPARSES):
                self._sparse(message_of(value))

    def _sparse(self, message: memoryview) -> None:
        for number, value in fields(message):
            if number in (_SPARSE_VALUES, _SPARSE_INDICES):
                self._tensor(message_of(value))

    def _tensor(self, message: memoryview) -> None:
        self._tensors += 1
        if self._tensors > _TENSORS:
            raise RefusedModel(f"it has more than {_TENSORS:,} tensors")
        entries: dict[str, set[str]] = {}
        for number, value in fields(message):
            if number == _TENSOR_EXTERNAL:
                keys, values = _entry(message_of(value))
                for key in keys:
                    entries.setdefault(key, set()).update(values)
        if entries:
            self._external(entries)

    def _external(self, entries: dict[str, set[str]]) -> None:
        """Check where a tensor says that its data lie."""
        locations = entries.get("location", set())
        if len(locations) != 1 or not all(map(_LOCATION.fullmatch, locations)):
            raise RefusedModel("it has external data outside its folder")
        file = self._place / locations.pop()
        try:
            size = check_model_file(file, self._folder, _EXTERNAL_BYTES).stat().st_size
        except DowseError as error:
            raise RefusedModel(f"external data: {error}") from None
        offset, length = (_whole(entries.get(name, set())) for name in ("offset", "length"))
        if offset + length > size:
            raise RefusedModel("it has external data beyond the end of their file")


def _entry(message: memoryview) -> tuple[set[str], set[str]]:
    """Return the keys and the values of an entry, which should be one each."""
    keys, values = set[str](), set[str]()
    for number, value in fields(message):
        if number == _ENTRY_KEY:
            keys.add(text_of(value))
        elif number == _ENTRY_VALUE:
            values.add(text_of(value))
    return keys, values


def _whole(values: set[str]) -> int:
    """Return the number that an entry says; none is 0."""
    for value in values:
        if len(values) > 1 or len(value) > 18 or not value.isascii() or not value.isdigit():
            raise RefusedModel("it has external data at no clear place")
        return int(value)
    return 0
