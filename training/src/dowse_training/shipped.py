"""Weights of a model folder that `export` wrote, as floats: training can go on from what is shipped.

The matrices come back as they are used, rounded to eight bits; tokens without their type, whose vector was
added to the positions'.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from dowse.encoders.onnx_encoder import GPU_MODEL_FILE

Arrays = dict[str, NDArray[Any]]

_MATRICES = {"qkv": 3, "ao": 1, "f1": 1, "f2": 1}  # and in how many parts the graph has them


def read_shipped(folder: Path) -> Arrays:
    """Read an encoder or a cross-encoder in eight bits."""
    model = onnx.load(str(folder / GPU_MODEL_FILE))
    found = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    places = found["places"]
    unused = np.zeros((2, places.shape[1]), np.float32)  # RoBERTa's first two positions
    weights = {
        "word_emb": found["word_emb"].astype(np.float32) * found["word_emb.scales"],
        "pos_emb": np.concatenate([unused, places]),
        "type_emb": np.zeros((1, places.shape[1]), np.float32),
    }
    weights |= {name: value for name, value in found.items() if name.endswith(("ln.w", "ln.b"))}
    number = 0
    while f"l{number}.qkv.stretch" in found:
        for matrix, parts in _MATRICES.items():
            name = f"l{number}.{matrix}"
            weights[f"{name}.w"] = np.concatenate([_part(found, name, part) for part in range(parts)])
            weights[f"{name}.b"] = np.concatenate([found[f"{name}.{part}.b"] for part in range(parts)])
        number += 1
    if "head" in found:
        weights["head"] = found["head"][:, 0] / np.float32(places.shape[1] ** 0.5)
    return weights


def _part(found: Arrays, name: str, part: int) -> NDArray[Any]:
    """One part of a matrix, outputs × inputs."""
    label = f"{name}.{part}"
    matrix = (
        found[f"{label}.w"].astype(np.float32) * found[f"{label}.scales"] * found[f"{name}.stretch"][:, None]
    )
    if f"{name}.channels" in found:  # these were kept in float
        matrix[found[f"{name}.channels"]] = found[f"{label}.exact"]
    return matrix.T
