"""The shipped encoders: what they promise to all who keep their vectors."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from dowse.encoders.document import Document
from dowse.encoders.onnx_encoder import OnnxEncoder
from dowse.encoders.registry import load_encoder, shipped_folder
from dowse.errors import DowseError

CODES = {
    "dir_present": "def dir_present(path):\n    return os.path.isdir(path)",
    "loads": "def loads(s):\n    return JSONDecoder().decode(s)",
    "average": "def average(xs):\n    return sum(xs) / len(xs)",
    "shuffle": "function shuffle(a) { for (let i = a.length; i; i--) swap(a, i, random(i)); }",
    "Close": "func (c *Conn) Close() error { c.mu.Lock(); defer c.mu.Unlock(); return c.socket.Close() }",
}
DOCUMENTS = [Document("", name, "", code) for name, code in CODES.items()]
DOCUMENTS.append(DOCUMENTS[0]._replace(docs="Tell whether a folder exists.\n\nLinks count."))
DOCUMENTS.append(Document("Long", "body", "", "def body():\n" + "    total += value * weight\n" * 50))


@pytest.fixture(scope="module", params=["base", "small"])
def encoder(request: pytest.FixtureRequest) -> OnnxEncoder:
    return OnnxEncoder(shipped_folder() / request.param, device="cpu")


def test_vectors_are_unit_rows(encoder: OnnxEncoder) -> None:
    for rows, count in (
        (encoder.encode_documents(DOCUMENTS), len(DOCUMENTS)),
        (encoder.encode_queries(["a", "", "b c"]), 3),
    ):
        assert rows.shape == (count, encoder.dimension)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_questions_find_their_answers(encoder: OnnxEncoder) -> None:
    queries = {
        "check if a directory exists": 0,
        "parse json from a string": 1,
        "mean of a list of numbers": 2,
    }
    queries |= {"randomly permute an array": 3, "disconnect the socket safely": 4}
    scores = encoder.encode_queries(list(queries)) @ encoder.encode_documents(DOCUMENTS[:5]).T
    assert scores.argmax(axis=1).tolist() == list(queries.values())


def test_a_vector_does_not_depend_on_its_batch(encoder: OnnxEncoder) -> None:
    together = encoder.encode_documents(DOCUMENTS * 3)
    alone = np.concatenate([encoder.encode_documents([document]) for document in DOCUMENTS])
    assert np.abs(together - np.tile(alone, (3, 1))).max() < 1e-5


def test_documentation_counts(encoder: OnnxEncoder) -> None:
    query = encoder.encode_queries(["tell whether a folder exists"])[0]
    bare, documented = encoder.encode_documents([DOCUMENTS[0], DOCUMENTS[5]]) @ query
    assert documented > bare


def test_the_docs_view_is_another_encoder(encoder: OnnxEncoder) -> None:
    docs = load_encoder(encoder.name, view="docs", device="cpu")
    assert docs.id != encoder.id
    vector = docs.encode_documents([DOCUMENTS[5]])[0]
    assert np.allclose(vector, docs.encode_queries([DOCUMENTS[5].docs])[0], atol=1e-6)


def test_the_description_fits_the_files(encoder: OnnxEncoder) -> None:
    folder = shipped_folder() / encoder.name
    said = json.loads((folder / "encoder.json").read_text())["sha256"]
    assert {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in said} == said
    assert re.fullmatch(r"[a-z0-9.-]+", encoder.id)


def test_the_graph_for_gpus_gives_nearly_the_same(encoder: OnnxEncoder, tmp_path: Path) -> None:
    folder = shutil.copytree(shipped_folder() / encoder.name, tmp_path / "gpu")
    (folder / "model-gpu.onnx").replace(folder / "model.onnx")
    other = OnnxEncoder(folder, device="cpu")
    cosines = (other.encode_documents(DOCUMENTS) * encoder.encode_documents(DOCUMENTS)).sum(axis=1)
    assert cosines.min() > 0.97


def test_a_damaged_description_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "encoder.json").write_text('{"arch": "transformer", "version": 99}')
    with pytest.raises(DowseError, match="dowse train"):
        OnnxEncoder(tmp_path)
