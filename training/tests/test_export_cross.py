"""Export of cross-encoders: the graph gives what the head makes of the vector, and the folder can be read."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnxruntime

from dowse.encoders.cross_encoder import DowseCrossEncoder, pair_ids
from dowse.encoders.word_tokenizer import WordTokenizer
from dowse.errors import DowseError
from dowse_training import cli_export
from dowse_training.export_cross import CROSS_FORM, export_cross
from dowse_training.export_graph import float_model
from dowse_training.weights import write_safetensors
from encoders.tiny import DOCUMENTS, SIZE, random_weights, tokenizer_json

TOKENS = 200
RANDOM = np.random.default_rng(3)
WEIGHTS = {**random_weights(), "pos_emb": RANDOM.normal(0, 0.2, (TOKENS + 2, SIZE)).astype(np.float32)}
HEAD = RANDOM.standard_normal(SIZE).astype(np.float32)


def run(weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(float_model(weights, TOKENS).SerializeToString())
    return session.run(None, {"ids": ids})[0]


def test_the_head_makes_a_number_of_the_vector() -> None:
    ids = np.random.default_rng(1).integers(4, 300, (5, 30))
    vectors, scores = run(WEIGHTS, ids), run({**WEIGHTS, "head": HEAD}, ids)
    assert scores.shape == (5, 1)
    assert np.allclose(scores[:, 0], vectors @ HEAD * len(HEAD) ** 0.5, atol=1e-4)


def test_a_folder_scores_as_its_weights_do(tmp_path: Path) -> None:
    weights = {**WEIGHTS, "head": HEAD}
    documents = [document._replace(docs=document.docs or "Says something.") for document in DOCUMENTS]
    for again in (tmp_path / "one", tmp_path / "two"):
        export_cross(weights, tokenizer_json(), again, name="tiny", unit=0.5, calibration=documents)
    files = {file.name: file.read_bytes() for file in (tmp_path / "one").iterdir()}
    assert files == {file.name: file.read_bytes() for file in (tmp_path / "two").iterdir()}
    model = DowseCrossEncoder(tmp_path / "one", device="cpu")
    assert (model.name, model.score_scale) == ("tiny", 0.5)
    words = WordTokenizer.read(tmp_path / "one/tokenizer.json")
    assert len(pair_ids("x " * 500, documents[0], words, CROSS_FORM)) <= TOKENS
    scores = model.score("open a file", documents)
    assert len(scores) == len(documents)
    assert np.isfinite(scores).all()


def test_weights_without_a_head_are_no_cross_encoder(tmp_path: Path) -> None:
    with pytest.raises(DowseError, match="no head"):
        export_cross(WEIGHTS, tokenizer_json(), tmp_path, name="tiny", unit=0.5, calibration=DOCUMENTS)


def test_by_the_command(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "w.safetensors", {**WEIGHTS, "head": HEAD})
    (tmp_path / "tokenizer.json").write_text(tokenizer_json())
    row = {"pkg": "p", "name": "a.b", "doc": "Open a file.", "code": "def b(path):\n    return open(path)"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row) + "\n")
    given = [
        tmp_path / "w.safetensors",
        "--tokenizer",
        tmp_path / "tokenizer.json",
        "--out",
        tmp_path / "out",
    ]
    parser = argparse.ArgumentParser()
    cli_export.add_arguments(parser)
    options = parser.parse_args(
        [*map(str, given), "--calibrate", str(tmp_path / "pairs.jsonl"), "--unit", "2"]
    )
    assert cli_export.run(options) == 0
    assert DowseCrossEncoder(tmp_path / "out", device="cpu").score_scale == 2
