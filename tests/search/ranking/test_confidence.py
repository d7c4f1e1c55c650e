"""Confidence: bounded, monotone, for the encoders that are shipped, and lower for nonsense."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.encoders.registry import load_encoder, shipped_encoders
from dowse.search.explain import ABSTAIN, CONFIDENCE_WEIGHTS, confidence, is_nothing
from dowse.search.lanes.bm25 import query_terms
from dowse.search.ranking.profile import TREE

ENCODERS = st.sampled_from(sorted(CONFIDENCE_WEIGHTS))
COSINES = st.floats(-1.0, 1.0)
SHARES = st.floats(0.0, 1.0)
TERMS = st.integers(0, 64)
REAL = (
    "try again and wait longer after every failure",
    "read the cookies of a request",
    "shortest way through all stops",
    "add the tax to an invoice",
    "warm up the oven",
)
NONSENSE = (
    "qwxz vvbnk jjplo",
    "asdfgh lkjhg",
    "lorem ipsum dolor sit amet consectetur",
    "velvet giraffe sneezes beneath trumpet",
)


@given(ENCODERS, COSINES, SHARES, TERMS)
def test_it_is_a_probability(encoder: str, cosine: float, covered: float, terms: int) -> None:
    found = confidence(encoder, cosine, covered, terms)
    assert found is not None
    assert 0.0 < found < 1.0
    assert math.isfinite(found)


@given(ENCODERS, COSINES, COSINES, SHARES, TERMS)
def test_nearer_is_never_less_likely(encoder: str, a: float, b: float, covered: float, terms: int) -> None:
    near, far = (confidence(encoder, cosine, covered, terms) for cosine in (max(a, b), min(a, b)))
    assert near is not None
    assert far is not None
    assert near >= far


@given(ENCODERS, COSINES, SHARES, SHARES, TERMS)
def test_more_words_found_is_never_less_likely(
    encoder: str, cosine: float, a: float, b: float, terms: int
) -> None:
    more, fewer = (confidence(encoder, cosine, covered, terms) for covered in (max(a, b), min(a, b)))
    assert more is not None
    assert fewer is not None
    assert more >= fewer


def test_every_shipped_encoder_has_weights() -> None:
    """Weights belong to one model: a new one wants `bench/abstention.py --fit`."""
    approximate = "tiny"
    found = {load_encoder(name).id for name in shipped_encoders() if name != approximate}
    assert found and found <= set(CONFIDENCE_WEIGHTS)


def test_of_other_encoders_nothing_is_known() -> None:
    assert confidence("somebody-elses", 0.9, 1.0, 5) is None


@pytest.mark.parametrize(
    ("confidences", "nothing"),
    [
        ([], False),  # no hits: that is an answer of its own
        ([None, None], False),
        ([ABSTAIN / 2, ABSTAIN / 3], True),
        ([ABSTAIN / 2, None], True),
        ([ABSTAIN / 2, ABSTAIN], False),
    ],
)
def test_nothing_is_relevant_if_no_hit_is(confidences: list[float | None], nothing: bool) -> None:
    assert is_nothing(confidences) is nothing


@pytest.fixture(scope="module")
def meaning(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The sample with the vectors of the small encoder."""
    place = str(tmp_path_factory.mktemp("confidence") / "i")
    with Index.open(sample, index_dir=place, encoder="small", isolation="never") as index:
        index.update()
        yield index


def best(index: Index, text: str) -> float:
    """Return the most that a hit can be trusted, by what its explanation says."""
    encoder = index.encoder
    assert encoder is not None
    terms = len(query_terms(text))
    found = [0.0]
    for hit in index.search(text, mode="hybrid").hits:
        cosine = next((lane.score for lane in hit.lanes if lane.lane == "embedding"), -1.0)
        covered = sum(part.value for part in hit.explanation if part.source == "coverage")
        found.append(confidence(encoder.id, cosine, covered / TREE.blend.coverage, terms) or 0.0)
    return max(found)


def test_nonsense_is_trusted_less_than_any_real_question(meaning: Index) -> None:
    real = [best(meaning, text) for text in REAL]
    nonsense = [best(meaning, text) for text in NONSENSE]
    assert min(real) > max(nonsense)
    assert min(real) >= ABSTAIN > max(nonsense)
