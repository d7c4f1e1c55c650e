"""Metrics against trec_eval itself, against formulas written another way, and at their edges."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval.metrics import (
    hit,
    judged_share,
    latency,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    score,
)

KS = (1, 3, 5, 10, 20, 100)
NAMES = [f"d{number}" for number in range(12)]
rankings = st.lists(st.sampled_from(NAMES), unique=True)
integer_grades = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 4))
any_grades = st.dictionaries(st.sampled_from(NAMES), st.floats(0, 4))
cuts = st.sampled_from(KS)


@pytest.fixture(scope="module")
def trec() -> ModuleType:
    """Give trec_eval, which has wheels for most platforms."""
    if os.environ.get("DOWSE_REQUIRE_TOOLS") == "1":
        import pytrec_eval

        return pytrec_eval
    return pytest.importorskip("pytrec_eval")


def trec_scores(
    trec: ModuleType, runs: Mapping[str, Sequence[str]], judged: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """Score rankings with trec_eval.

    It takes scores, so places become descending ones; its gains are the grades themselves, so grades become
    2^grade − 1; and its reciprocal rank has no cut, so it gets no more than 100 results.
    """
    qrels = {query: {key: 2**grade - 1 for key, grade in grades.items()} for query, grades in judged.items()}
    run = {query: {key: float(-at) for at, key in enumerate(keys[:100])} for query, keys in runs.items()}
    at = ",".join(map(str, KS))
    measures = {"recip_rank", *(f"{name}.{at}" for name in ("recall", "P", "success", "ndcg_cut"))}
    theirs = {"ndcg": "ndcg_cut", "recall": "recall", "hit": "success", "precision": "P"}
    found = trec.RelevanceEvaluator(qrels, measures).evaluate(run)
    return {
        query: {"mrr@100": values["recip_rank"]}
        | {f"{ours}@{k}": values[f"{name}_{k}"] for k in KS for ours, name in theirs.items()}
        for query, values in found.items()
    }


def check_parity(
    trec: ModuleType, runs: Mapping[str, Sequence[str]], judged: Mapping[str, Mapping[str, int]]
) -> int:
    """Compare every metric of every ranking; return how many values were compared."""
    theirs = trec_scores(trec, runs, judged)
    assert theirs.keys() == runs.keys()
    for query, expected in theirs.items():
        ours = score(runs[query], judged[query], KS)
        assert ours.keys() == expected.keys()
        assert ours == pytest.approx(expected, rel=0, abs=1e-9), query
    return sum(map(len, theirs.values()))


@given(rankings.filter(bool), integer_grades.filter(bool))
def test_equals_trec_eval_on_any_small_ranking(
    trec: ModuleType, ranked: list[str], judged: dict[str, int]
) -> None:
    check_parity(trec, {"q": ranked}, {"q": judged})


@given(rankings, any_grades, cuts)
def test_ndcg_of_fractional_grades_is_gain_over_the_best_possible(
    ranked: list[str], judged: dict[str, float], k: int
) -> None:
    gains = np.array([np.exp2(judged.get(key, 0.0)) - 1 for key in ranked[:k]])
    best = np.sort(np.exp2(np.array(list(judged.values()))) - 1)[::-1][:k]
    places = np.log(2) / np.log(np.arange(2, 2 + max(len(gains), len(best))))
    ideal = float(best @ places[: len(best)])
    expected = float(gains @ places[: len(gains)]) / ideal if ideal else 0.0
    assert ndcg(ranked, judged, k) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(rankings, any_grades, cuts)
def test_condensed_ndcg_ignores_what_was_never_judged(
    ranked: list[str], judged: dict[str, float], k: int
) -> None:
    unknown = [f"new{at}" for at in range(len(ranked))]
    padded = [key for pair in zip(unknown, ranked, strict=True) for key in pair]
    with_unknown = score(padded, judged, [k], few_judgements=True)["condensed_ndcg@10"]
    assert with_unknown == ndcg([key for key in ranked if key in judged], judged, 10)


def test_condensed_ndcg_keeps_what_was_judged_irrelevant() -> None:
    judged = {"right": 1.0, "wrong": 0.0}
    found = score(["unknown", "wrong", "right"], judged, [10], few_judgements=True)
    assert found["ndcg@10"] == pytest.approx(1 / math.log2(4))
    assert found["condensed_ndcg@10"] == pytest.approx(1 / math.log2(3))
    assert found["judged@10"] == pytest.approx(2 / 3)


def test_the_share_of_judged_results_counts_those_there_are() -> None:
    judged = {"a": 0.0, "b": 2.0}
    assert judged_share(["a", "x", "b", "y"], judged, 2) == 0.5
    assert judged_share(["a", "b"], judged, 10) == 1
    assert judged_share([], judged, 10) == 0


def test_names_come_in_order_and_say_their_cut() -> None:
    names = ["ndcg@{}", "recall@{}", "hit@{}", "precision@{}"]
    expected = ["mrr@100", *(name.format(k) for k in (1, 5) for name in names)]
    assert list(score(["a"], {"a": 1}, [1, 5])) == expected
    more = score(["a"], {"a": 1}, [1, 5], few_judgements=True)
    assert list(more) == [*expected, "judged@10", "condensed_ndcg@10"]


def test_the_reciprocal_rank_ends_at_100() -> None:
    others = [f"x{at}" for at in range(100)]
    assert reciprocal_rank([*others[:99], "a"], {"a": 1}) == 1 / 100
    assert reciprocal_rank([*others, "a"], {"a": 1}) == 0
    assert reciprocal_rank([*others[:3], "a"], {"a": 1}, cut=3) == 0


@pytest.mark.parametrize("judged", [{}, {"a": 0.0}, {"a": -2.0}])
@pytest.mark.parametrize("ranked", [[], ["a", "b"]])
def test_where_nothing_is_relevant_everything_is_0(ranked: list[str], judged: dict[str, float]) -> None:
    assert set(score(ranked, judged, KS).values()) == {0.0}


METRICS = [recall, hit, precision, reciprocal_rank, ndcg, judged_share]


@pytest.mark.parametrize("metric", METRICS)
def test_a_key_that_comes_twice_is_refused_where_it_would_count(metric: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="'a' stands in the ranking twice"):
        metric(["a", "b", "a"], {"a": 1.0, "z": 1.0}, 3)
    assert metric(["a", "b", "a"], {"a": 1.0, "z": 1.0}, 2) > 0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [0, -1])
def test_a_cut_below_1_is_refused(metric: Callable[..., float], k: int) -> None:
    with pytest.raises(ValueError, match="can't be cut at"):
        metric(["a"], {"a": 1.0}, k)


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=300))
def test_percentiles_of_latency_equal_numpys(seconds: list[float]) -> None:
    expected = {f"p{share}_ms": 1000 * float(np.percentile(seconds, share)) for share in (50, 95, 99)}
    assert latency(iter(seconds)) == pytest.approx(expected, rel=1e-9, abs=1e-9)
