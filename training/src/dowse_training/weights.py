"""Weights of an encoder on disk: safetensors, flat half-precision parts, or a model folder that was exported.

Names: word_emb, pos_emb (row = position + 2), type_emb, emb_ln.{w,b}, and for each layer n
ln.{qkv,ao,aln,f1,f2,fln}.{w,b} (attention in, attention out, its norm, the two dense layers, their norm).
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.encoders.onnx_encoder import GPU_MODEL_FILE
from dowse.errors import ConfigError
from dowse_training import roberta, shipped

Array = NDArray[Any]
Arrays = dict[str, Array]

PART_BYTES = 15 * 2**20
_TYPES = {"F16": "<f2", "F32": "<f4", "BF16": "<u2"}


def read(folders: Sequence[Path], name: str) -> Arrays:
    """Read weights `name` as float32 from the first of the folders that holds them, in any format."""
    for folder in folders:
        if (folder / name / GPU_MODEL_FILE).exists():
            return shipped.read_shipped(folder / name)
        if (folder / f"{name}.head.json").exists():
            return read_parts(folder, name)
        for path in (folder / f"{name}.safetensors", folder / name):
            if path.suffix == ".safetensors" and path.exists():
                return read_safetensors(path)
    places = ", ".join(str(folder) for folder in folders) or "no folder at all"
    raise ConfigError(
        f"no weights named {name!r} in {places}; name the folder they lie in (of `fit`: --weights)"
    )


def mean(several: Sequence[Mapping[str, Array]]) -> Arrays:
    """The mean of weights of one shape (a "soup": often better than each of them)."""
    first = several[0]
    if any(other.keys() != first.keys() for other in several):
        raise ConfigError("weights of different layers can't be averaged; name models of one size")
    count = np.float32(len(several))
    return {key: np.sum([one[key] for one in several], axis=0) / count for key in first}


def layers(weights: Mapping[str, object]) -> list[int]:
    """The numbers of the layers, in order."""
    return sorted({int(key[1 : key.index(".")]) for key in weights if _of_a_layer(key)})


def select_layers(weights: Mapping[str, Array], keep: Sequence[int]) -> Arrays:
    """A shallower model: the embeddings and some of the layers, numbered anew."""
    if missing := set(keep) - set(layers(weights)):
        raise ConfigError(f"the model has layers {layers(weights)}, not {sorted(missing)}")
    chosen = {key: value for key, value in weights.items() if not _of_a_layer(key)}
    for number, old in enumerate(keep):
        start = f"l{old}."
        chosen |= {f"l{number}.{k[len(start) :]}": v for k, v in weights.items() if k.startswith(start)}
    return chosen


def _of_a_layer(key: str) -> bool:
    return key[0] == "l" and key[1].isdigit()


def write_parts(folder: Path, name: str, weights: Mapping[str, Array]) -> None:
    """Write float16 in parts of at most 15 MiB, with a table of names and shapes."""
    folder.mkdir(parents=True, exist_ok=True)
    flat = b"".join(np.ascontiguousarray(value, "<f2").tobytes() for value in weights.values())
    for stale in folder.glob(f"{name}.part*"):
        stale.unlink()
    for number, start in enumerate(range(0, len(flat), PART_BYTES)):
        (folder / f"{name}.part{number}").write_bytes(flat[start : start + PART_BYTES])
    shapes = {key: list(value.shape) for key, value in weights.items()}
    (folder / f"{name}.head.json").write_text(json.dumps(shapes))


def read_parts(folder: Path, name: str) -> Arrays:
    """Join what `write_parts` wrote."""
    shapes: dict[str, list[int]] = json.loads((folder / f"{name}.head.json").read_text())
    parts = sorted(folder.glob(f"{name}.part*"), key=lambda path: int(path.name.rpartition(".part")[2]))
    flat = np.frombuffer(b"".join(path.read_bytes() for path in parts), "<f2").astype(np.float32)
    if flat.size != sum(math.prod(shape) for shape in shapes.values()):
        raise ConfigError(f"{name} in {folder} is not complete; copy all {name}.part* files again")
    out, position = {}, 0
    for key, shape in shapes.items():
        size = math.prod(shape)
        out[key] = flat[position : position + size].reshape(shape)
        position += size
    return out


def write_safetensors(
    path: Path, weights: Mapping[str, Array], metadata: Mapping[str, str] | None = None
) -> None:
    """Write one float16 safetensors file: length of the head, head as JSON, raw values."""
    values = {key: np.ascontiguousarray(value, "<f2") for key, value in weights.items()}
    head: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for key, value in values.items():
        offsets = [position, position + value.nbytes]
        head[key] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": offsets}
        position += value.nbytes
    encoded = json.dumps(head).encode()
    encoded += b" " * (-len(encoded) % 8)  # values are aligned, as the format asks
    body = b"".join(value.tobytes() for value in values.values())
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + body)


def read_safetensors(path: Path) -> Arrays:
    """Read a safetensors file, ours or of a RoBERTa, as float32; tables of whole numbers are left out."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8 : 8 + length])
    head.pop("__metadata__", None)
    out = {}
    for key, entry in head.items():
        if entry["dtype"] in _TYPES:
            start, stop = (8 + length + offset for offset in entry["data_offsets"])
            values = np.frombuffer(raw[start:stop], _TYPES[entry["dtype"]])
            if entry["dtype"] == "BF16":  # the upper half of a float32
                values = (values.astype(np.uint32) << 16).view(np.float32)
            out[key] = values.astype(np.float32).reshape(entry["shape"])
    return roberta.renamed(out)
