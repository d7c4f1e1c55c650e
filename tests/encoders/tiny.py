"""A tiny encoder with random weights and a tokenizer trained on the spot: quick, and no file is needed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from dowse.encoders.document import Document

SIZE, WIDE, LAYERS, PLACES = 48, 96, 3, 66

DOCUMENTS = [
    Document(
        "Files",
        "dir_present",
        "Tell whether a folder exists. Links count.",
        "def dir_present(path):\n    return os.path.isdir(path)",
    ),
    Document("", "loads", "", "def loads(text):\n    return JSONDecoder().decode(text)"),
    Document("stats", "average", "Mean of numbers", "def average(xs):\n    return sum(xs) / len(xs)"),
    Document("", "", "", ""),
    Document("Long", "many", "", "def many():\n" + "    step(one, two, three)\n" * 60),
]


@cache
def tokenizer_json() -> str:
    """Return a cased byte-level BPE tokenizer with RoBERTa's special tokens, trained on our source."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    root = Path(__file__).parents[2] / "src" / "dowse"
    texts = [
        (root / name).read_text(encoding="utf-8")
        for name in ("config.py", "symbol_lookup.py", "index/api.py")
    ]
    tokenizer.train_from_iterator([*texts, "Größe größer ÜBER über 2024 2023 1999 " * 20], trainer)
    return tokenizer.to_str()


def vocabulary_size() -> int:
    """Return how many rows the embeddings need."""
    return len(json.loads(tokenizer_json())["model"]["vocab"])


def random_weights(seed: int = 0, size: int = SIZE) -> dict[str, np.ndarray]:
    """Return weights of the right shapes, with one channel much larger than the others, as real ones have."""
    random = np.random.default_rng(seed)

    def draw(*shape: int, scale: float = 0.2) -> np.ndarray:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    weights = {
        "word_emb": draw(vocabulary_size(), size),
        "pos_emb": draw(PLACES, size),
        "type_emb": draw(1, size),
        **_norm("emb_ln", draw, size),
    }
    for number in range(LAYERS):
        shapes = {"qkv": (3 * size, size), "ao": (size, size), "f1": (WIDE, size), "f2": (size, WIDE)}
        for part, shape in shapes.items():
            weights[f"l{number}.{part}.w"] = draw(*shape)
            weights[f"l{number}.{part}.b"] = draw(shape[0], scale=0.1)
        weights |= _norm(f"l{number}.aln", draw, size) | _norm(f"l{number}.fln", draw, size)
    weights["l0.aln.w"][5] = 30
    return weights


def _norm(name: str, draw, size: int) -> dict[str, np.ndarray]:
    return {f"{name}.w": 1 + draw(size), f"{name}.b": draw(size)}
