"""Weights of a RoBERTa as the transformers library names them, under our names (see `weights`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORDS = "embeddings.word_embeddings.weight"
_EMBEDDINGS = {
    "word_emb": "word_embeddings.weight",
    "pos_emb": "position_embeddings.weight",
    "type_emb": "token_type_embeddings.weight",
    "emb_ln.w": "LayerNorm.weight",
    "emb_ln.b": "LayerNorm.bias",
}
_LAYER = {
    "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "ao": ("attention.output.dense",),
    "aln": ("attention.output.LayerNorm",),
    "f1": ("intermediate.dense",),
    "f2": ("output.dense",),
    "fln": ("output.LayerNorm",),
}


def renamed(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The same weights under our names, without heads and poolers; weights of our own stay as they are."""
    words = next((key for key in arrays if key.endswith(_WORDS)), None)
    if words is None:
        return dict(arrays)
    start = words.removesuffix(_WORDS)
    found = {ours: arrays[f"{start}embeddings.{theirs}"] for ours, theirs in _EMBEDDINGS.items()}
    number = 0
    while f"{start}encoder.layer.{number}.output.dense.weight" in arrays:
        for ours, parts in _LAYER.items():
            for short, kind in (("w", "weight"), ("b", "bias")):
                several = [arrays[f"{start}encoder.layer.{number}.{part}.{kind}"] for part in parts]
                found[f"l{number}.{ours}.{short}"] = np.concatenate(several)
        number += 1
    return found
