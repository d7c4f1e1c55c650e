"""Confidence: bounded, never higher than that of a hit above, and lower for nonsense."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.encoders.registry import load_encoder, shipped_encoders
from dowse.search.confidence import (
    ABSTAIN,
    CONFIDENCE_WEIGHTS,
    Answerable,
    Evidence,
    best_of,
    is_nothing,
    probability,
)

EVERY = [parts for pair in CONFIDENCE_WEIGHTS.values() for parts in pair]
SHARES = st.floats(0.0, 1.0)
LOGARITHMS = st.floats(0.0, 12.0)
EVIDENCE = st.builds(
    Evidence,
    bias=st.just(1.0),
    cosine=st.floats(-1.0, 1.0),
    covered=SHARES,
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


@given(st.sampled_from(EVERY), EVIDENCE)
def test_they_are_probabilities(weights: tuple[Answerable, Evidence], evidence: Evidence) -> None:
    assert 0.0 < probability(weights[0], best_of([evidence])) < 1.0
    assert 0.0 < probability(weights[1], evidence) < 1.0


@pytest.mark.parametrize(("name", "sign"), [("cosine", 1), ("lead", 1), ("embedding_rank", -1), ("rank", -1)])
@given(st.sampled_from(EVERY), EVIDENCE, SHARES)
def test_what_speaks_for_a_hit_never_lowers_its_confidence(
    name: str, sign: int, weights: tuple[Answerable, Evidence], evidence: Evidence, more: float
) -> None:
    changed = evidence._replace(**{name: getattr(evidence, name) + sign * more})
    assert probability(weights[1], changed) >= probability(weights[1], evidence)


@given(st.sampled_from(EVERY), st.lists(EVIDENCE, min_size=1, max_size=4), EVIDENCE)
def test_a_further_hit_never_makes_an_answer_less_likely(
    weights: tuple[Answerable, Evidence], hits: list[Evidence], further: Evidence
) -> None:
    assert probability(weights[0], best_of([*hits, further])) >= probability(weights[0], best_of(hits))


def test_every_shipped_encoder_has_weights() -> None:
    """Weights belong to one model: a new one wants `bench/confidence.py fit`."""
    approximate = "tiny"
    found = {load_encoder(name).id for name in shipped_encoders() if name != approximate}
    assert found and found == set(CONFIDENCE_WEIGHTS)


def test_nothing_is_said_where_an_answer_is_less_likely_than_none() -> None:
    assert is_nothing(ABSTAIN / 2)
    assert not is_nothing(ABSTAIN)
    assert not is_nothing(None)  # no hits, or an encoder of which nothing is known


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


def test_nonsense_is_trusted_less_than_any_real_question_and_refused(meaning: Index) -> None:
    answers = {text: meaning.search(text) for text in (*REAL, *NONSENSE)}
    real, nonsense = ([answers[text][0].confidence or 0.0 for text in texts] for texts in (REAL, NONSENSE))
    assert min(real) > max(nonsense)
    notes = {text: {note.code for note in answer.notes} for text, answer in answers.items()}
    assert [text for text in notes if "nothing-relevant" in notes[text]] == [*NONSENSE]
