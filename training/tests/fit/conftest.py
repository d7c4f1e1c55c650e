"""A world small enough to train in: 200 ids, two languages, pairs about topics, two thin layers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dowse_training import shard_files, weights
from dowse_training.shard_files import Shard

VOCABULARY = 200
WIDTH = 64
# Ids of each part come from a range of their own, so that a test can tell where an id is from.
QUALIFIERS, NAMES, CODES, TEXTS = range(180, 190), range(100, 120), range(120, 180), range(20, 100)
TOPICS = 20


def make_shard(language: str, count: int, seed: int) -> Shard:
    """Pairs of which text and code are about the same topic."""
    random = np.random.default_rng(seed)
    tokens: list[int] = []
    lengths, packages = [], []
    for number in range(count):
        topic = int(random.integers(TOPICS))
        qualifier = random.choice(QUALIFIERS, random.integers(0, 4))
        name = random.choice(NAMES, random.integers(1, 4))
        body = CODES[topic * 3 : topic * 3 + 3]
        before, after = (
            random.choice(body, random.integers(0, 3)),
            random.choice(body, random.integers(4, 150)),
        )
        words = TEXTS[topic * 4 : topic * 4 + 4]
        sentence, more, rest = (random.choice(words, random.integers(low, 9)) for low in (2, 0, 0))
        tokens += [*qualifier, *before, *name, *after, *sentence, *more, *rest]
        code = len(before) + len(name) + len(after)
        text = (len(sentence), len(more), len(rest))
        lengths.append((len(qualifier), code, len(before), len(name), *text))
        packages.append(number // 7)
    ids = np.array(tokens, np.uint16)
    return Shard(language, ids, np.array(lengths, np.uint8), np.array(packages, np.int32))


def make_weights(layers: int = 2, seed: int = 0) -> weights.Arrays:
    """Random weights of a thin model."""
    random = np.random.default_rng(seed)

    def matrix(*shape: int) -> weights.Array:
        return (random.standard_normal(shape) * 0.05).astype(np.float32)

    def norm(name: str) -> weights.Arrays:
        return {f"{name}.w": np.ones(WIDTH, np.float32), f"{name}.b": np.zeros(WIDTH, np.float32)}

    made = {
        "word_emb": matrix(VOCABULARY, WIDTH) * 10,
        "pos_emb": matrix(200, WIDTH),
        "type_emb": matrix(2, WIDTH),
    }
    made |= norm("emb_ln")
    for n in range(layers):
        for name, rows, columns in (("qkv", 3, 1), ("ao", 1, 1), ("f1", 4, 1), ("f2", 1, 4)):
            made[f"l{n}.{name}.w"] = matrix(rows * WIDTH, columns * WIDTH)
            made[f"l{n}.{name}.b"] = matrix(rows * WIDTH)
            made |= norm(f"l{n}.aln") if name == "ao" else {}
        made |= norm(f"l{n}.fln")
    return made


def make_vocabulary() -> dict[str, int]:
    """WordTokenizer for all ids, some of them English; every fifth id goes on with the word before it."""
    named = ["how", "to", "in", "python", "the", "a", "of", "returns", "return", "copies", "copy"]
    pieces = {f"Ġ{word}": number for number, word in enumerate(named, 20)}
    for number in range(20 + len(named), VOCABULARY):
        pieces[f"w{number}" if number % 5 == 0 else f"Ġw{number}"] = number
    return {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3} | pieces


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with shards, weights `start` and `other`, and a tokenizer."""
    for number, (language, count) in enumerate({"python": 90, "ruby": 60}.items()):
        shard_files.write(tmp_path / "shards", make_shard(language, count, number))
        shard_files.write(tmp_path / "shards", make_shard(language, 30, number + 10), valid=True)
    weights.write_parts(tmp_path / "weights", "start", make_weights())
    weights.write_parts(tmp_path / "weights", "other", make_weights(seed=5))
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": make_vocabulary()}}))
    return tmp_path
