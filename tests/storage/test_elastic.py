"""The backend on a cluster passes the suites of every backend."""

from __future__ import annotations

import pytest

from storage.conformance import Conformance, MakeBackend
from storage.name_conformance import NameConformance
from storage.tfidf_conformance import TfidfConformance, count, fill, text_file
from storage.vector_conformance import VectorConformance


@pytest.fixture(scope="module")
def make_backend(make_emptied: MakeBackend) -> MakeBackend:
    return make_emptied


class TestElastic(Conformance):
    """The suite, as it is."""

    examples = 6


@pytest.mark.large
class TestElasticNames(NameConformance):
    """The suite of names, as it is."""


@pytest.mark.large
class TestElasticTfidf(TfidfConformance):
    """The suite of TF-IDF; counts stay in memory, and each generation is counted anew."""

    examples = 4

    def test_what_is_counted_is_said_and_not_counted_again(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        fill(backend, [text_file(f"{n}.txt", f"cart {n}") for n in range(5)])
        assert count(backend) == 5 and count(backend) == 0


class TestElasticVectors(VectorConformance):
    """The suite of vectors, as it is."""

    examples = 4
