"""Export: the graph computes what the weights mean, eight bits keep it, and no word is lost."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

pytest.importorskip("onnx")

from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.encoders.byte_pairs import BytePairs
from dowse.encoders.document import Form
from dowse.encoders.onnx_encoder import OnnxEncoder
from dowse.encoders.word_tokenizer import WordTokenizer
from dowse.errors import DowseError
from dowse_training.export import export, find_ranges
from dowse_training.export_graph import HEADS, float_model, int8_model, unpacked_model
from dowse_training.export_quantise import Range, quantise
from dowse_training.export_vocabulary import prune, reachable
from dowse_training.weights import read as read_weights
from encoders.tiny import DOCUMENTS, LAYERS, random_weights, tokenizer_json

TOKENS = 64
FORM = Form(tokens=TOKENS)
WEIGHTS = random_weights()
IDS = np.random.default_rng(1).integers(4, 300, (6, 30))
WHOLE = WordTokenizer(BytePairs(tokenizer_json()))
PRUNED = prune(tokenizer_json())
SMALLER = WordTokenizer(BytePairs(PRUNED.tokenizer))


def test_the_float_graph_is_the_model() -> None:
    assert np.allclose(run(float_model(WEIGHTS, TOKENS), IDS), reference(WEIGHTS, IDS), atol=2e-5)


@pytest.mark.parametrize("make", [int8_model, unpacked_model])
def test_eight_bits_keep_the_vectors(make) -> None:
    ranges = find_ranges(WEIGHTS, FORM, IDS.tolist())
    cosines = (run(make(WEIGHTS, TOKENS, ranges), IDS) * reference(WEIGHTS, IDS)).sum(axis=1)
    assert cosines.min() > 0.99


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    model = int8_model(WEIGHTS, TOKENS, find_ranges(WEIGHTS, FORM, IDS.tolist()))
    together = run(model, IDS)
    assert (
        np.abs(together - np.concatenate([run(model, IDS[i : i + 1]) for i in range(len(IDS))])).max() < 1e-6
    )


def test_a_large_channel_is_multiplied_in_float() -> None:
    random = np.random.default_rng(0)
    rows = random.standard_normal((200, 64)).astype(np.float32)
    rows[:, 7] *= 300
    weights = random.standard_normal((64, 32)).astype(np.float32)
    found = quantise(weights, Range(rows.min(axis=0), rows.max(axis=0)))
    assert found.channels.tolist() == [7]
    whole = np.clip(np.round(rows * found.stretch) + found.zero, 0, 255) - found.zero
    product = whole @ (found.weights * found.scales) + rows[:, [7]] @ weights[[7]]
    exact = rows @ weights
    assert np.linalg.norm(product - exact) < 0.02 * np.linalg.norm(exact - rows[:, [7]] @ weights[[7]])


def test_neighbouring_products_fit_into_sixteen_bits() -> None:
    random = np.random.default_rng(2)
    weights = random.standard_normal((64, 200)).astype(np.float32) ** 3
    pairs = quantise(weights, Range(-np.ones(64), np.ones(64))).weights.astype(int).reshape(32, 2, 200)
    assert np.abs(pairs).max() > 100  # nearly all of the eight bits are used
    assert 255 * pairs.clip(min=0).sum(axis=1).max() < 2**15
    assert 255 * pairs.clip(max=0).sum(axis=1).min() >= -(2**15)


def test_training_can_go_on_from_what_was_exported(tmp_path: Path) -> None:
    export(WEIGHTS, tokenizer_json(), tmp_path / "tiny", name="tiny", calibration=DOCUMENTS, form=FORM)
    found = read_weights([tmp_path], "tiny")
    kept = {**WEIGHTS, "word_emb": WEIGHTS["word_emb"][PRUNED.kept]}
    ids = IDS % len(found["word_emb"])
    cosines = (reference(found, ids) * reference(kept, ids)).sum(axis=1)
    assert found.keys() == kept.keys()
    assert 0.99 < cosines.min() <= cosines.max() < 1.00001


def test_calibration_is_needed() -> None:
    with pytest.raises(DowseError, match="--calibrate"):
        find_ranges(WEIGHTS, FORM, [])


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        export(WEIGHTS, tokenizer_json(), folder, name="tiny", calibration=DOCUMENTS, form=FORM)
    files = {file.name: file.read_bytes() for file in folders[0].iterdir()}
    assert files == {file.name: file.read_bytes() for file in folders[1].iterdir()}
    models = {"model.onnx", "model-gpu.onnx", "weights.bin"}
    assert files.keys() == models | {"encoder.json", "tokenizer.json", "tokenizer.bin"}


@pytest.mark.parametrize("kind", ["int8", "float"])
def test_an_exported_folder_is_an_encoder(tmp_path: Path, kind: str) -> None:
    export(WEIGHTS, tokenizer_json(), tmp_path, name="tiny", calibration=DOCUMENTS, form=FORM, kind=kind)
    encoder = OnnxEncoder(tmp_path, device="cpu")
    assert encoder.id.startswith("tiny-")
    ids = np.array([[0, *WHOLE.encode_text("open the file", 20), 2]])
    (vector,) = encoder.encode_queries(["open the file"])
    # The tokens of the question, and so the vectors, change with the sources that the tokenizer is made from.
    assert vector @ reference(WEIGHTS, ids)[0] > (0.9999 if kind == "float" else 0.9)
    assert np.allclose(np.linalg.norm(encoder.encode_documents(DOCUMENTS), axis=1), 1, atol=1e-5)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="abzABZ019_.éÉßİ\u212a日", max_size=40))
def test_pruning_loses_nothing_that_can_occur(text: str) -> None:
    for read, whole in ((SMALLER.encode_text, WHOLE.encode_text), (SMALLER.encode_code, WHOLE.encode_code)):
        assert [PRUNED.kept[i] for i in read(text, 200)] == whole(text, 200)


def test_pruning_drops_what_cannot_occur() -> None:
    kept = json.loads(PRUNED.tokenizer)["model"]["vocab"]
    assert not any(character.isupper() and character.isascii() for entry in kept for character in entry)
    assert len(kept) == len(PRUNED.kept) < len(WEIGHTS["word_emb"])
    assert [PRUNED.kept[i] for i in range(4)] == [0, 1, 2, 3]


def test_pruning_is_safe_for_every_character() -> None:
    for code in range(0x110000):
        character = chr(code)
        if character.isalnum() and not 0xD800 <= code < 0xE000:
            lower = character.lower()
            assert not any("A" <= c <= "Z" for c in lower)
            if code > 127 and any(c.isascii() for c in lower):
                assert set(filter(str.isascii, lower)) <= {"k", "i"}


def test_reachable() -> None:
    assert all(map(reachable, ["Ġget", "get", "Ġ", "Ġ2024", "é", "Ã©", "ĠÐ"]))
    assert not any(map(reachable, ["Get", "Ġa1", "12345", "(", "Ġ(", "getĠ", "a" * 21, "aÃ"]))


def test_only_tokenizers_of_this_kind_can_be_pruned() -> None:
    other = json.loads(tokenizer_json())
    other["pre_tokenizer"] = None
    with pytest.raises(DowseError, match="byte-level"):
        prune(json.dumps(other))


def run(model, ids: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"ids": ids})[0]


def reference(weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """The model once more, in plain NumPy."""
    rows, length = ids.shape
    size = weights["word_emb"].shape[1]
    x = weights["word_emb"][ids] + weights["pos_emb"][2 : 2 + length] + weights["type_emb"][0]
    x = normalise(x, weights, "emb_ln")
    for layer in range(LAYERS):

        def dense(x: np.ndarray, part: str, layer: int = layer) -> np.ndarray:
            return x @ weights[f"l{layer}.{part}.w"].T + weights[f"l{layer}.{part}.b"]

        heads = dense(x, "qkv").reshape(rows, length, 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
        scores = heads[0] @ heads[1].swapaxes(-1, -2) / math.sqrt(size / HEADS)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        seen = (shares @ heads[2]).transpose(0, 2, 1, 3).reshape(rows, length, size)
        x = normalise(x + dense(seen, "ao"), weights, f"l{layer}.aln")
        wide = dense(x, "f1")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = normalise(x + dense(wide, "f2"), weights, f"l{layer}.fln")
    first = x[:, 0]
    return first / np.linalg.norm(first, axis=1, keepdims=True)


def normalise(x: np.ndarray, weights: dict[str, np.ndarray], name: str) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / centred.std(axis=-1, keepdims=True) * weights[f"{name}.w"] + weights[f"{name}.b"]
