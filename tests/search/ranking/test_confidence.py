"""Confidence: bounded, never higher than that of a hit above, and lower for nonsense."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.encoders.registry import load_encoder, shipped_encoders
from dowse.search.confidence import ABSTAIN, CONFIDENCE_WEIGHTS, Evidence, confidence, is_nothing

WEIGHTS = st.sampled_from([weights for pair in CONFIDENCE_WEIGHTS.values() for weights in pair])
SHARES = st.floats(0.0, 1.0)
LOGARITHMS = st.floats(0.0, 12.0)
EVIDENCE = st.builds(
    Evidence,
    bias=st.just(1.0),
    cosine=st.floats(-1.0, 1.0),
    covered=SHARES,
    terms=LOGARITHMS,
    embedding_rank=LOGARITHMS,
    lead=SHARES,
    rank=LOGARITHMS,
)
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


@given(WEIGHTS, EVIDENCE)
def test_it_is_a_probability(weights: Evidence, evidence: Evidence) -> None:
    assert 0.0 < confidence(weights, evidence) < 1.0


@pytest.mark.parametrize(
    ("name", "sign"),
    [("cosine", 1), ("covered", 1), ("lead", 1), ("embedding_rank", -1), ("rank", -1)],
)
@given(WEIGHTS, EVIDENCE, SHARES)
def test_what_speaks_for_a_hit_never_lowers_it(
    name: str, sign: int, weights: Evidence, evidence: Evidence, more: float
) -> None:
    changed = evidence._replace(**{name: getattr(evidence, name) + sign * more})
    assert confidence(weights, changed) >= confidence(weights, evidence)


def test_every_shipped_encoder_has_weights() -> None:
    """Weights belong to one model: a new one wants `bench/confidence.py fit`."""
    approximate = "tiny"
    found = {load_encoder(name).id for name in shipped_encoders() if name != approximate}
    assert found and found == set(CONFIDENCE_WEIGHTS)


@pytest.mark.parametrize(
    ("confidences", "nothing"),
    [
        ([], False),  # no hits: that is an answer of its own
        ([None, None], False),
        ([ABSTAIN / 2, ABSTAIN / 3], True),
        ([ABSTAIN / 2, None], True),
        ([ABSTAIN, ABSTAIN / 2], False),
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


@pytest.mark.parametrize("text", [*REAL, *NONSENSE])
def test_no_hit_is_surer_than_one_above_and_fewer_hits_change_nothing(meaning: Index, text: str) -> None:
    found = [hit.confidence for hit in meaning.search(text, k=10)]
    assert None not in found
    assert found == sorted(found, reverse=True)
    assert [hit.confidence for hit in meaning.search(text, k=3)] == found[:3]


def test_nonsense_is_trusted_less_than_any_real_question(meaning: Index) -> None:
    real, nonsense = (
        [meaning.search(text)[0].confidence or 0.0 for text in texts] for texts in (REAL, NONSENSE)
    )
    assert min(real) > max(nonsense)
    assert min(real) > 0.5
    assert sum(each < ABSTAIN for each in nonsense) >= 3
