"""Re-ranking by clusters: an answer that shows several places of the code, not ten hits of one.

Two ways, both over groups of the first candidates (search/ranking/clustering.py) and their scores alone:

- *cluster* (Algorithm 1): groups by descending mean score; the best hit of each in that order, then, in
  rounds, the second best of each, and so on.
- *sample* (Algorithm 2, importance sampling): groups by descending mean score; from each so many of its best
  as its size is worth of the k places; then all others by score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import fsum
from typing import TypeAlias

from dowse.research.hyperbolic.chains import common_prefix
from dowse.search.ranking.reorder import reorder
from dowse.search.ranking.signals import RankedHit

METHODS = ("cluster", "sample")

# Names of what lies around something, from the outside in.
_Place: TypeAlias = tuple[str, ...]


def clustered(
    ranked: Sequence[RankedHit], labels: Sequence[int], names: Sequence[str], method: str, k: int
) -> list[RankedHit]:
    """Put the first candidates into an order that shows many clusters; each says which one is its own.

    Args:
        ranked: All candidates.
        labels: The cluster of each of the first ones; the rest stay behind them.
        names: What each cluster is called, by label.
        method: "cluster" or "sample".
        k: How many places a sample has to share out.
    """
    if method not in METHODS:
        raise ValueError(f"no way to re-rank by clusters is called {method!r}; use one of {METHODS}")
    scores = [hit.score for hit in ranked[: len(labels)]]
    order = by_cluster(scores, labels) if method == "cluster" else by_share(scores, labels, k)
    return reorder(ranked, order, "diversity", _said(scores, labels, names))


def by_cluster(scores: Sequence[float], labels: Sequence[int]) -> list[int]:
    """Return the order of Algorithm 1: the best of every cluster before the second best of any."""
    rounds = zip_longest(*_clusters(scores, labels))
    return [n for each in rounds for n in each if n is not None]


def by_share(scores: Sequence[float], labels: Sequence[int], k: int) -> list[int]:
    """Return the order of Algorithm 2: cluster by cluster the best of each, then the rest by score."""
    clusters = _clusters(scores, labels)
    taken = shares([len(cluster) for cluster in clusters], k)
    first = [n for cluster, share in zip(clusters, taken, strict=True) for n in cluster[:share]]
    chosen = set(first)
    return [*first, *(n for n in _by_score(scores, range(len(scores))) if n not in chosen)]


def shares(sizes: Sequence[int], k: int) -> list[int]:
    """Share out k places in proportion to sizes, by largest remainder; the earlier one gets it among equals.

    In whole numbers, so that equal remainders are equal. Nothing gets more than its size: only what has a
    remainder gets one more than its due.
    """
    total = sum(sizes)
    places = max(0, min(k, total))
    due = [divmod(size * places, total or 1) for size in sizes]
    left = places - sum(whole for whole, _ in due)
    by_remainder = sorted(range(len(sizes)), key=lambda n: -due[n][1])  # stable
    lucky = set(by_remainder[:left])
    return [whole + (n in lucky) for n, (whole, _) in enumerate(due)]


def cluster_names(chains: Sequence[Sequence[str]], labels: Sequence[int]) -> list[str]:
    """Name each cluster, by label, after the deepest folder or file that holds all its hits.

    Where clusters share one, or only the root holds all, the commonest place below it tells them apart:
    "src/flask, mostly json".

    Args:
        chains: For each hit its repository, the parts of its path, and its own key.
        labels: The cluster of each: 0, 1, 2 …
    """
    members = _members(_places(chains), labels)
    around = [common_prefix(each) for each in members]
    mostly: list[_Place] = [() for _ in members]
    while True:
        names = [_spelled(*each) for each in zip(around, mostly, strict=True)]
        often = Counter(names)
        vague = [n for n, name in enumerate(names) if often[name] > 1 or not (around[n] or mostly[n])]
        deeper = {n: _commonest_below(members[n], (*around[n], *mostly[n])) for n in vague}
        if not any(deeper.values()):
            return _numbered(names)
        for n, part in deeper.items():
            mostly[n] += part


def _clusters(scores: Sequence[float], labels: Sequence[int]) -> list[list[int]]:
    """Return the members of each cluster, the best first; the cluster with the highest mean first."""
    found: dict[int, list[int]] = {}
    for n in _by_score(scores, range(len(labels))):
        found.setdefault(labels[n], []).append(n)
    # Equal means: the cluster with the better hit, which `found` has first.
    return sorted(found.values(), key=lambda members: -_mean(scores, members))


def _by_score(scores: Sequence[float], places: Sequence[int]) -> list[int]:
    """Return places by descending score; equal ones stay as they were."""
    return sorted(places, key=lambda n: -scores[n])


def _mean(scores: Sequence[float], members: Sequence[int]) -> float:
    """Return a mean that does not depend on the order of addition."""
    return fsum(scores[n] for n in members) / len(members)


def _said(scores: Sequence[float], labels: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return for each candidate what is to be known of its cluster."""
    clusters = _clusters(scores, labels)
    said = [""] * len(labels)
    for number, members in enumerate(clusters, start=1):
        name = names[labels[members[0]]]
        hits = f"{len(members)} hits" if len(members) > 1 else "1 hit"
        mean = _mean(scores, members)
        which = f"cluster {number} of {len(clusters)}" + (f", {name}" if name else "")
        for n in members:
            said[n] = f"{which}: {hits}, mean {mean:.3f}"
    return said


def _places(chains: Sequence[Sequence[str]]) -> list[_Place]:
    """Return the file of each hit, and its repository where there are several."""
    begin = 0 if len({chain[0] for chain in chains}) > 1 else 1
    return [tuple(chain[begin:-1]) for chain in chains]


def _members(places: Sequence[_Place], labels: Sequence[int]) -> list[list[_Place]]:
    found: list[list[_Place]] = [[] for _ in range(max(labels, default=-1) + 1)]
    for place, label in zip(places, labels, strict=True):
        found[label].append(place)
    return found


def _commonest_below(places: Sequence[_Place], around: _Place) -> _Place:
    """Return the name below a place that most have, the first among equals; nothing where none has one."""
    depth = len(around)
    below = Counter(each[depth] for each in places if len(each) > depth and each[:depth] == around)
    return (below.most_common(1)[0][0],) if below else ()


def _spelled(around: _Place, mostly: _Place) -> str:
    """Return what a cluster is called; nothing for the root alone."""
    inner = "/".join(filter(None, mostly))
    return ", ".join(filter(None, ("/".join(filter(None, around)), inner and f"mostly {inner}")))


def _numbered(names: Sequence[str]) -> list[str]:
    """Tell apart what has the same name still, such as two clusters of one file."""

    def spell() -> Iterator[str]:
        seen: Counter[str] = Counter()
        for name in names:
            seen[name] += 1
            yield f"{name} ({seen[name]})" if name and seen[name] > 1 else name

    return list(spell())
