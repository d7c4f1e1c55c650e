"""The local backend passes the suites of every backend."""

from __future__ import annotations

import pytest

from dowse.storage.local.backend import LocalBackend
from storage.conformance import Conformance, MakeBackend, ScoreConformance
from storage.name_conformance import NameConformance
from storage.tfidf_conformance import TfidfConformance
from storage.vector_conformance import VectorConformance


@pytest.fixture(scope="module")
def make_backend(tmp_path_factory: pytest.TempPathFactory) -> MakeBackend:
    return lambda: LocalBackend(tmp_path_factory.mktemp("backend") / "index")


class TestLocal(Conformance):
    """The suite, as it is."""


class TestLocalScores(ScoreConformance):
    """The suite of scores, as it is."""


class TestLocalNames(NameConformance):
    """The suite of names, as it is."""


class TestLocalTfidf(TfidfConformance):
    """The suite of TF-IDF, as it is."""


class TestLocalVectors(VectorConformance):
    """The suite of vectors, as it is."""
