"""The token table: close to the encoder that it approximates, and read from the package alone."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from dowse.encoders.document import Document
from dowse.encoders.model_files import shipped_folder
from dowse.encoders.registry import load_approximation, load_encoder
from dowse.errors import DowseError

DOCUMENTS = [
    Document("Queue", "retry", "Try a failed job again.", "def retry(self, job):\n    self.push(job)\n"),
    Document("", "parseHeaders", "", "function parseHeaders(text) { return text.split('\\n') }"),
    Document("http.client", "Client", "", "class Client:\n    def send(self, request): ..."),
    Document("", "x", "", ""),
]


def test_document_vectors_are_close_to_those_of_the_encoder():
    table, base = load_encoder("tiny"), load_encoder("base")
    vectors = table.encode_documents(DOCUMENTS)
    assert vectors.shape == (len(DOCUMENTS), base.dimension) == (len(DOCUMENTS), table.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    cosines = vectors @ base.encode_documents(DOCUMENTS).T
    assert cosines.argmax(1).tolist() == [0, 1, 2, 3]
    assert cosines.diagonal().mean() > 0.75


def test_a_vector_does_not_depend_on_the_other_documents():
    table = load_encoder("tiny")
    together = table.encode_documents(DOCUMENTS)
    apart = np.concatenate([table.encode_documents([document]) for document in DOCUMENTS])
    assert together == pytest.approx(apart, abs=1e-6)


def test_queries_are_encoded_by_the_encoder_itself():
    queries = ["retry a failed job"]
    assert (
        load_encoder("tiny").encode_queries(queries) == load_encoder("base").encode_queries(queries)
    ).all()


def test_only_the_encoder_that_it_was_trained_for_is_approximated():
    assert load_approximation(load_encoder("small")) is None
    assert load_approximation(load_encoder("base")) is not None
    assert load_approximation(load_encoder("base", view="docs")) is None
    assert load_approximation(load_encoder("base", view="docs"), "docs") is not None
    ids = {load_encoder(name).id for name in ("tiny", "base", "small")}
    assert len(ids) == 3


def test_a_table_from_elsewhere_is_refused(tmp_path):
    shutil.copytree(shipped_folder() / "tiny", tmp_path / "mine")
    with pytest.raises(DowseError, match="--encoder tiny"):
        load_encoder(str(tmp_path / "mine"))
