"""The local backend passes the suites of every backend."""

from __future__ import annotations

import pytest

from backends.conformance import Conformance, MakeBackend, ScoreConformance
from backends.tfidf_conformance import TfidfConformance
from backends.vector_conformance import VectorConformance
from dowse.backends.local import LocalBackend


@pytest.fixture(scope="module")
def make_backend(tmp_path_factory: pytest.TempPathFactory) -> MakeBackend:
    return lambda: LocalBackend(tmp_path_factory.mktemp("backend") / "index")


class TestLocal(Conformance):
    """The suite, as it is."""


class TestLocalScores(ScoreConformance):
    """The suite of scores, as it is."""


class TestLocalTfidf(TfidfConformance):
    """The suite of TF-IDF, as it is."""


class TestLocalVectors(VectorConformance):
    """The suite of vectors, as it is."""
