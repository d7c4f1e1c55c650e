"""Re-ranking by clusters: both algorithms by hand, and what holds for any scores and labels."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.ranking.diversify import (
    cluster_names,
    diversify_clusters,
    order_by_cluster,
    order_by_share,
    proportional_shares,
)
from dowse.search.ranking.signals import RankedHit
from dowse.types import Contribution, SymbolRow

# Means: cluster 0 .5, cluster 1 .6, cluster 2 .4.
SCORES = [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]
LABELS = [0, 1, 2, 1, 1, 2, 2, 0]

labelled = st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 4)), max_size=30).map(
    lambda pairs: ([score for score, _ in pairs], [label for _, label in pairs])
)
sizes = st.lists(st.integers(0, 40), max_size=12)


def candidates(scores: list[float]) -> list[RankedHit]:
    rows = [
        SymbolRow(n, f"id{n}", "", "f.py", "python", "", "function", "f", "f", n, n, "def f()", 1)
        for n in range(len(scores))
    ]
    return [
        RankedHit(row, score, [Contribution("keyword", score)])
        for row, score in zip(rows, sorted(scores, reverse=True), strict=True)
    ]


def means_fall(scores: list[float], labels: list[int], order: list[int]) -> bool:
    """Whether each of these is of the same cluster as the one before it, or of one with no higher mean."""
    members = {label: [n for n, own in enumerate(labels) if own == label] for label in labels}
    means = {label: sum(scores[n] for n in each) / len(each) for label, each in members.items()}
    return all(means[labels[n]] >= means[labels[m]] - 1e-12 for n, m in pairwise(order))


def test_algorithm_1_by_hand():
    assert order_by_cluster(SCORES, LABELS) == [1, 0, 2, 3, 7, 5, 4, 6]


def test_algorithm_2_by_hand():
    # Of 4 places 8 hits are due a half each: 1.5 of cluster 1, 1 of 0, 1.5 of 2; the half goes to the first.
    assert order_by_share(SCORES, LABELS, 4) == [1, 3, 0, 2, 4, 5, 6, 7]
    assert order_by_share(SCORES, LABELS, 8) == [1, 3, 4, 0, 7, 2, 5, 6]
    assert order_by_share(SCORES, LABELS, 0) == list(range(8))


@given(sizes, st.integers(0, 60))
def test_shares_are_the_largest_remainders(given_sizes: list[int], k: int):
    found, total = proportional_shares(given_sizes, k), sum(given_sizes)
    places = min(k, total)
    assert sum(found) == places
    assert all(0 <= share <= size for share, size in zip(found, given_sizes, strict=True))
    due = [Fraction(size * places, total) if total else Fraction(0) for size in given_sizes]
    more = [n for n, share in enumerate(found) if share == due[n] // 1 + 1]
    rest = [n for n in range(len(found)) if n not in more]
    assert all(found[n] == due[n] // 1 for n in rest)
    # Who got one more has a larger remainder than who did not, or an equal one and stands before.
    assert all((-(due[n] % 1), n) < (-(due[m] % 1), m) for n in more for m in rest)


@given(labelled)
def test_the_best_of_each_cluster_comes_before_any_second(given_labelled: tuple[list[float], list[int]]):
    scores, labels = given_labelled
    order = order_by_cluster(scores, labels)
    assert sorted(order) == list(range(len(scores)))
    taken: dict[int, int] = {}
    rounds = []
    for n in order:
        taken[labels[n]] = taken.get(labels[n], 0) + 1
        rounds.append(taken[labels[n]])
    assert rounds == sorted(rounds)
    assert means_fall(scores, labels, order[: len(taken)])
    for label in taken:
        own = [scores[n] for n in order if labels[n] == label]
        assert own == sorted(own, reverse=True)


@given(labelled, st.integers(0, 40))
def test_a_sample_takes_the_best_of_each_share(given_labelled: tuple[list[float], list[int]], k: int):
    scores, labels = given_labelled
    order = order_by_share(scores, labels, k)
    assert sorted(order) == list(range(len(scores)))
    first, rest = order[: min(k, len(order))], order[min(k, len(order)) :]
    assert [scores[n] for n in rest] == sorted((scores[n] for n in rest), reverse=True)
    assert means_fall(scores, labels, first)
    for label in set(labels):
        taken = [scores[n] for n in first if labels[n] == label]
        left = [scores[n] for n in rest if labels[n] == label]
        size = len(taken) + len(left)
        assert abs(len(taken) - size * len(first) / len(labels)) < 1
        assert not taken or not left or min(taken) >= max(left)


@given(labelled, st.sampled_from(["cluster", "sample"]), st.integers(0, 20), st.integers(0, 5))
def test_scores_still_add_up(given_labelled: tuple[list[float], list[int]], method: str, k: int, behind: int):
    scores, labels = given_labelled
    hits = candidates(scores)
    looked_at = labels[: max(0, len(labels) - behind)]
    found = diversify_clusters(hits, looked_at, list("abcde"), method, k)
    assert [hit.score for hit in found] == [hit.score for hit in hits]
    assert found[len(looked_at) :] == hits[len(looked_at) :]
    assert sorted(hit.row.row for hit in found) == list(range(len(hits)))
    for hit in found:
        assert sum(part.value for part in hit.contributions) == pytest.approx(hit.score)


def test_each_hit_names_its_cluster():
    found = diversify_clusters(candidates(SCORES), LABELS, ["src/json", "src/app.py", ""], "cluster", 10)
    assert [hit.contributions[-1].detail for hit in found[:3]] == [
        "cluster 1 of 3, src/app.py: 3 hits, mean 0.600, was rank 2",
        "cluster 2 of 3, src/json: 2 hits, mean 0.500, was rank 1",
        "cluster 3 of 3: 3 hits, mean 0.400, was rank 3",
    ]
    assert {hit.contributions[-1].source for hit in found} == {"diversity"}
    assert diversify_clusters(candidates([1.0]), [0], ["a"], "sample", 1)[0].contributions[-1].detail == (
        "cluster 1 of 1, a: 1 hit, mean 1.000, was rank 1"
    )


def names(places: list[str], labels: list[int]) -> list[str]:
    """Name clusters of hits, each given as repository:path."""
    halves = [place.split(":") for place in places]
    return cluster_names(
        [(repo, *path.split("/"), f"key{n}") for n, (repo, path) in enumerate(halves)], labels
    )


def test_a_cluster_is_named_after_the_deepest_place_that_holds_it():
    paths = [":src/json/tag.py", ":src/json/provider.py", ":src/app.py", ":src/app.py", ":docs/conf.py"]
    assert names(paths, [0, 0, 1, 1, 2]) == ["src/json", "src/app.py", "docs/conf.py"]


def test_clusters_of_one_place_are_told_apart_by_what_is_common_below():
    paths = [":src/json/a.py", ":src/json/b.py", ":src/x.py", ":src/cli/a.py", ":src/cli/b.py", ":src/y.py"]
    assert names(paths, [0, 0, 0, 1, 1, 1]) == ["src, mostly json", "src, mostly cli"]
    paths = [":src/json/a.py", ":src/json/a.py", ":src/x.py", ":src/json/c.py", ":src/json/c.py", ":src/y.py"]
    assert names(paths, [0, 0, 0, 1, 1, 1]) == ["src, mostly json/a.py", "src, mostly json/c.py"]


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from("abc"), min_size=2, max_size=5), st.integers(0, 5)), min_size=1
    )
)
def test_names_differ_and_hold_what_they_name(drawn: list[tuple[list[str], int]]):
    numbers = {label: n for n, label in enumerate(dict.fromkeys(label for _, label in drawn))}
    chains = [(*chain, f"key{n}") for n, (chain, _) in enumerate(drawn)]
    labels = [numbers[label] for _, label in drawn]
    found = cluster_names(chains, labels)
    assert len(set(found)) == len(found) == len(numbers)
    begin = int(len({chain[0] for chain in chains}) == 1)
    for chain, label in zip(chains, labels, strict=True):
        around = found[label].partition(" (")[0].partition("mostly")[0].removesuffix(", ")
        assert "/".join(chain[begin:-1]).startswith(around)
