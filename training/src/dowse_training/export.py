"""From trained weights to a model folder: ONNX in eight bits or float, a smaller tokenizer, a description.

The same weights, tokenizer and calibration texts give the same bytes, on one kind of processor.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, external_data_helper

from dowse.encoders.bpe_table import MAGIC, MAX_ID, NO_ID, SYMBOLS, TABLE_FILE
from dowse.encoders.document import Document, Form, query_view, views
from dowse.encoders.onnx_encoder import (
    ARCHITECTURE,
    CONFIG_FILE,
    FORMAT_VERSION,
    GPU_MODEL_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
)
from dowse.encoders.word_tokenizer import WordTokenizer
from dowse.errors import DowseError
from dowse_training.export_graph import Weights, float_model, int8_model, range_model, unpacked_model
from dowse_training.export_quantise import Range, Ranges
from dowse_training.export_vocabulary import prune
from dowse_training.pairs.files import read_rows, split_name

if TYPE_CHECKING:
    from onnx import ModelProto

# Documents of each file that the ranges are taken from.
CALIBRATION_DOCUMENTS = 40

# Smaller constants stay in the graph, where onnxruntime may look at them when it opens it.
_LEAST_SHARED_BYTES = 1024
# What the widest vector instructions like to load from.
_ALIGNMENT = 64


def export(
    weights: Weights,
    tokenizer: str,
    folder: Path,
    *,
    name: str,
    calibration: Sequence[Document] = (),
    form: Form | None = None,
    kind: str = "int8",
) -> None:
    """Write a model folder.

    Args:
        weights: By the names of `dowse_training.weights`.
        tokenizer: The tokenizer.json that the weights were trained with.
        folder: Where to write; files of an earlier export are replaced.
        name: What users call the encoder.
        calibration: Documents to find ranges of activations with; "float" needs none.
        form: What the encoder reads of a document.
        kind: "int8" or "float".
    """
    form = form or Form()
    smaller = begin(weights, tokenizer, folder)
    if kind == "float":
        models = {MODEL_FILE: float_model(smaller, form.tokens)}
    else:
        words = WordTokenizer.read(folder / TOKENIZER_FILE)
        models = eight_bits(smaller, form, sequences(calibration, words, form))
    description = {
        "arch": ARCHITECTURE,
        "version": FORMAT_VERSION,
        "name": name,
        "dimension": int(weights["word_emb"].shape[1]),
        "kind": kind,
        "pooling": "first token",
        "form": asdict(form),
    }
    finish(folder, models, CONFIG_FILE, description)


def begin(weights: Weights, tokenizer: str, folder: Path) -> Weights:
    """Write the tokenizer without what nobody needs; return the weights that are left."""
    pruned = prune(tokenizer)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOKENIZER_FILE).write_text(pruned.tokenizer, encoding="utf-8")
    (folder / TABLE_FILE).write_bytes(make_table(json.loads(pruned.tokenizer)))
    return {**weights, "word_emb": weights["word_emb"][pruned.kept]}


def make_table(tokenizer: Mapping[str, Any]) -> bytes:
    """Return the contents of a table for the JSON of a tokenizer; raises ValueError if it is another kind."""
    model, before = tokenizer["model"], tokenizer["pre_tokenizer"]
    if model["type"] != "BPE" or before["type"] != "ByteLevel" or tokenizer["normalizer"] is not None:
        raise ValueError("it is no byte-level BPE")
    vocabulary = model["vocab"]
    if len(vocabulary) >= MAX_ID or len(model["merges"]) > MAX_ID:
        raise ValueError("its vocabulary is too large")
    entries = []
    for rank, merge in enumerate(model["merges"]):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        entries.append((vocabulary[left] << 16 | vocabulary[right], rank, vocabulary[left + right]))
    entries.sort()
    first = [vocabulary.get(each, NO_ID) for each in SYMBOLS]
    pairs = b"".join(pair.to_bytes(4, "little") for pair, _, _ in entries)
    numbers = [*(rank for _, rank, _ in entries), *(merged for _, _, merged in entries), *first]
    words = b"".join(number.to_bytes(2, "little") for number in numbers)
    return MAGIC + len(entries).to_bytes(4, "little") + pairs + words


def eight_bits(weights: Weights, form: Form, read: Iterable[Sequence[int]]) -> dict[str, ModelProto]:
    """Return the graphs in eight bits, with ranges taken from what is read in use."""
    ranges = find_ranges(weights, form, read)
    return {
        MODEL_FILE: int8_model(weights, form.tokens, ranges),
        GPU_MODEL_FILE: unpacked_model(weights, form.tokens, ranges),
    }


def finish(
    folder: Path, models: Mapping[str, ModelProto], file: str, description: Mapping[str, object]
) -> None:
    """Write the graphs, and what describes them: with the hashes of all files beside it."""
    write_models(folder, models)
    files = (*models, WEIGHTS_FILE, TOKENIZER_FILE)
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    told = json.dumps({**description, "sha256": hashes}, indent=2)
    (folder / file).write_text(told + "\n", encoding="utf-8")


def write_models(folder: Path, models: Mapping[str, ModelProto]) -> None:
    """Write graphs whose large constants lie in one file: those of the same name are shared."""
    places: dict[str, tuple[int, int]] = {}
    with (folder / WEIGHTS_FILE).open("wb") as stream:
        for file, model in models.items():
            for constant in model.graph.initializer:
                if len(constant.raw_data) < _LEAST_SHARED_BYTES:
                    continue
                if constant.name not in places:
                    stream.write(bytes(-stream.tell() % _ALIGNMENT))
                    places[constant.name] = stream.tell(), len(constant.raw_data)
                    stream.write(constant.raw_data)
                _point_to(constant, *places[constant.name])
            (folder / file).write_bytes(model.SerializeToString(deterministic=True))


def find_ranges(weights: Weights, form: Form, texts: Iterable[Sequence[int]]) -> Ranges:
    """Run texts through the float model and return the range of every channel that a matrix reads."""
    model, names = range_model(weights, form.tokens)
    session = _session(model)
    ranges: dict[str, Range] = {}
    for ids in texts:
        _, *found = session.run(None, {"ids": np.array([ids], np.int64)})
        for name, low, high in zip(names, found[::2], found[1::2], strict=True):
            ranges[name] = ranges.get(name, Range(low, high)).including(Range(low, high))
    if not ranges:
        raise DowseError("int8 needs texts to find its scales with; name files of pairs with --calibrate")
    return ranges


def sequences(documents: Iterable[Document], words: WordTokenizer, form: Form) -> Iterator[list[int]]:
    """Give the ids of all that is read in use: code, documentation, and documentation as a query."""
    for document in documents:
        yield from (view.ids for view in views(document, words, form))
        if document.docs:
            yield query_view(document.docs, words, form).ids


def read_documents(files: Iterable[Path], count: int = CALIBRATION_DOCUMENTS) -> list[Document]:
    """Read the first documents of each file of pairs."""
    rows = (row for file in files for row in itertools.islice(read_rows(file), count))
    return [Document(*split_name(row["name"]), row["doc"], row["code"]) for row in rows]


def _point_to(constant: TensorProto, offset: int, length: int) -> None:
    external_data_helper.set_external_data(constant, WEIGHTS_FILE, offset, length)
    constant.ClearField("raw_data")


def _session(model: ModelProto) -> Any:  # noqa: ANN401 - onnxruntime has no types
    from dowse.encoders.session import LOG_SEVERITY, import_onnxruntime

    onnxruntime = import_onnxruntime()

    options = onnxruntime.SessionOptions()
    options.log_severity_level = LOG_SEVERITY
    options.intra_op_num_threads = 1  # sums in one order: the same bytes on any number of cores
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
