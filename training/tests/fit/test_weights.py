"""Weights go to disk in two formats and come back."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from dowse.errors import ConfigError
from dowse_training import weights

from .conftest import make_weights


def same(ours, theirs):
    assert list(ours) == list(theirs)
    for key, value in ours.items():
        np.testing.assert_array_equal(value.astype(np.float16), theirs[key].astype(np.float16))


def test_parts_come_back_joined_and_are_small(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "PART_BYTES", 10_000)
    made = make_weights()
    weights.write_parts(tmp_path, "model", made)
    parts = list(tmp_path.glob("model.part*"))
    assert len(parts) > 10  # so that their order by number matters
    assert max(part.stat().st_size for part in parts) <= 10_000
    same(made, weights.read([tmp_path], "model"))


def test_a_smaller_model_leaves_no_parts_of_the_one_before(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "PART_BYTES", 10_000)
    weights.write_parts(tmp_path, "model", make_weights())
    small = make_weights(layers=1)
    weights.write_parts(tmp_path, "model", small)
    same(small, weights.read([tmp_path], "model"))


def test_a_missing_part_is_told(tmp_path):
    weights.write_parts(tmp_path, "model", make_weights())
    (tmp_path / "model.part0").unlink()
    with pytest.raises(ConfigError, match="not complete"):
        weights.read([tmp_path], "model")


def test_safetensors_come_back_and_are_laid_out_as_the_format_says(tmp_path):
    made = make_weights()
    path = tmp_path / "model.safetensors"
    weights.write_safetensors(path, made, {"pooling": "first"})
    same(made, weights.read([tmp_path], "model"))
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    head = json.loads(raw[8 : 8 + length])
    assert length % 8 == 0
    assert head.pop("__metadata__") == {"pooling": "first"}
    ends = [entry["data_offsets"] for entry in head.values()]
    assert [start for start, _ in ends[1:]] == [end for _, end in ends[:-1]]
    assert ends[-1][1] == len(raw) - 8 - length


def test_unknown_weights_name_the_option(tmp_path):
    with pytest.raises(ConfigError, match="--weights"):
        weights.read([tmp_path], "nothing")


def test_the_mean_lies_between():
    low, high = make_weights(seed=1), make_weights(seed=2)
    middle = weights.mean([low, high])
    np.testing.assert_allclose(middle["word_emb"], (low["word_emb"] + high["word_emb"]) / 2, atol=1e-6)
    with pytest.raises(ConfigError, match="one size"):
        weights.mean([low, make_weights(layers=1)])


def test_layers_are_selected_and_numbered_anew():
    made = make_weights(layers=3)
    chosen = weights.select_layers(made, [0, 2])
    assert weights.layers(chosen) == [0, 1]
    np.testing.assert_array_equal(chosen["l1.qkv.w"], made["l2.qkv.w"])
    np.testing.assert_array_equal(chosen["word_emb"], made["word_emb"])
    with pytest.raises(ConfigError, match="layers"):
        weights.select_layers(made, [7])


def test_weights_of_a_roberta_are_read_under_our_names(tmp_path):
    made = make_weights()
    kinds = {"word_emb": "word", "pos_emb": "position", "type_emb": "token_type"}
    theirs = {f"roberta.embeddings.{kind}_embeddings.weight": made[key] for key, kind in kinds.items()}
    theirs["roberta.pooler.dense.weight"] = made["type_emb"]
    places = {
        "emb_ln": "embeddings.LayerNorm",
        "ao": "attention.output.dense",
        "aln": "attention.output.LayerNorm",
        "f1": "intermediate.dense",
        "f2": "output.dense",
        "fln": "output.LayerNorm",
    }
    for key in made.keys() - kinds.keys():
        value = made[key]
        *layer, name, kind = key.split(".")
        end = {"w": "weight", "b": "bias"}[kind]
        where = "roberta." + (f"encoder.layer.{layer[0][1:]}." if layer else "")
        if name == "qkv":
            for part, third in zip(("query", "key", "value"), np.split(value, 3), strict=True):
                theirs[f"{where}attention.self.{part}.{end}"] = third
        else:
            theirs[f"{where}{places[name]}.{end}"] = value
    weights.write_safetensors(tmp_path / "model.safetensors", theirs)
    found = weights.read([tmp_path], "model")
    same(made, {key: found.pop(key) for key in made})
    assert not found


def test_bfloat16_is_read_and_whole_numbers_are_not(tmp_path):
    values = np.array([1.5, -2.0, 0.15625], np.float32)
    raw = (values.view(np.uint32) >> 16).astype("<u2").tobytes() + bytes(8)
    head = {
        "x": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]},
        "places": {"dtype": "I64", "shape": [1], "data_offsets": [6, 14]},
    }
    encoded = json.dumps(head).encode()
    (tmp_path / "m.safetensors").write_bytes(struct.pack("<Q", len(encoded)) + encoded + raw)
    found = weights.read_safetensors(tmp_path / "m.safetensors")
    assert found.keys() == {"x"}
    assert found["x"].tolist() == values.tolist()
