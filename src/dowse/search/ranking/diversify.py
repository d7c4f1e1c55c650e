"""Diversification: an answer that shows several parts of the code, not ten hits of one.

Three methods, all over the first candidates and their scores:

- *mmr*: maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), by the similarity of vectors.
- *cluster* (Algorithm 1): clusters (clustering.py) by descending mean score; the best hit of each in that
  order, then, in rounds, the second best of each, and so on.
- *sample* (Algorithm 2, importance sampling): clusters by descending mean score; from each so many of its
  best hits as its size is worth of the k ranks; then all others by score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from math import fsum
from typing import TYPE_CHECKING, TypeAlias

from dowse.research.hyperbolic.chains import common_prefix
from dowse.search.ranking.rerank import reorder
from dowse.search.ranking.signals import RankedHit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Lambda of MMR: the weight of relevance against similarity to the hits above.
MMR_WEIGHT = 0.7

# The folders above a file and its name, from the outside in.
_Path: TypeAlias = tuple[str, ...]


def diversify_mmr(ranked: Sequence[RankedHit], vectors: NDArray[np.float32]) -> list[RankedHit]:
    """Reorder the first candidates by MMR; `vectors` are their unit vectors, zeros where one has none."""
    order, similarities = mmr([hit.score for hit in ranked[: len(vectors)]], vectors, MMR_WEIGHT)
    return reorder(ranked, order, "diversity", [f"similarity {value:.2f}" for value in similarities])


def mmr(
    scores: Sequence[float], vectors: NDArray[np.float32], weight: float
) -> tuple[list[int], list[float]]:
    """Return an order, and the similarity of each to the nearest of those before it.

    Scores are normalised from 0 to 1 first, so that a weight means the same for any fusion: 0 is
    dissimilarity alone, 1 the order as it was.
    """
    import numpy as np

    low, high = min(scores, default=0.0), max(scores, default=0.0)
    relevance = np.array([(score - low) / (high - low or 1.0) for score in scores])
    nearest, left = np.zeros(len(relevance)), np.ones(len(relevance), bool)
    order: list[int] = []
    while left.any():
        value = weight * relevance - (1 - weight) * nearest
        chosen = int(np.argmax(np.where(left, value, -np.inf)))
        order.append(chosen)
        left[chosen] = False
        nearest[left] = np.maximum(nearest[left], (vectors @ vectors[chosen])[left])
    return order, [float(value) for value in nearest]


def diversify_clusters(
    ranked: Sequence[RankedHit], labels: Sequence[int], names: Sequence[str], method: str, k: int
) -> list[RankedHit]:
    """Reorder the first candidates so that many clusters are shown; a contribution names the cluster.

    Args:
        ranked: All candidates.
        labels: The cluster of each of the first ones; all others stay behind them.
        names: The name of each cluster, by label.
        method: "cluster" or "sample".
        k: How many ranks a sample shares out.
    """
    scores = [hit.score for hit in ranked[: len(labels)]]
    order = order_by_cluster(scores, labels) if method == "cluster" else order_by_share(scores, labels, k)
    return reorder(ranked, order, "diversity", _cluster_details(scores, labels, names))


def order_by_cluster(scores: Sequence[float], labels: Sequence[int]) -> list[int]:
    """Return the order of Algorithm 1: the best of every cluster before the second best of any."""
    rounds = zip_longest(*_clusters(scores, labels))
    return [n for each in rounds for n in each if n is not None]


def order_by_share(scores: Sequence[float], labels: Sequence[int], k: int) -> list[int]:
    """Return the order of Algorithm 2: cluster by cluster the best of each, then all others by score."""
    clusters = _clusters(scores, labels)
    counts = proportional_shares([len(cluster) for cluster in clusters], k)
    first = [n for cluster, count in zip(clusters, counts, strict=True) for n in cluster[:count]]
    chosen = set(first)
    return [*first, *(n for n in _by_score(scores) if n not in chosen)]


def proportional_shares(sizes: Sequence[int], k: int) -> list[int]:
    """Divide k in proportion to sizes by largest remainder; among equal remainders the earlier one gets it.

    In whole numbers, so that equal remainders are equal. No share exceeds its size: only what has a
    remainder gets one more.
    """
    total = sum(sizes)
    count = max(0, min(k, total))
    quotas = [divmod(size * count, total or 1) for size in sizes]
    left = count - sum(whole for whole, _ in quotas)
    by_remainder = sorted(range(len(sizes)), key=lambda n: -quotas[n][1])  # stable
    rounded_up = set(by_remainder[:left])
    return [whole + (n in rounded_up) for n, (whole, _) in enumerate(quotas)]


def cluster_names(chains: Sequence[Sequence[str]], labels: Sequence[int]) -> list[str]:
    """Name each cluster, by label, after the deepest folder or file that holds all its hits.

    Where clusters share one, or only the root holds all, the most common name below it distinguishes them:
    "src/flask, mostly json".

    Args:
        chains: For each hit its repository, the parts of its path, and its own key.
        labels: The cluster of each: 0, 1, 2 …
    """
    first = 0 if len({chain[0] for chain in chains}) > 1 else 1  # the repository, where there are several
    members: list[list[_Path]] = [[] for _ in range(max(labels, default=-1) + 1)]
    for chain, label in zip(chains, labels, strict=True):
        members[label].append(tuple(chain[first:-1]))
    common = [common_prefix(paths) for paths in members]
    mostly: list[_Path] = [() for _ in members]
    while True:
        names = [_format_name(*each) for each in zip(common, mostly, strict=True)]
        counts = Counter(names)
        vague = [n for n, name in enumerate(names) if counts[name] > 1 or not (common[n] or mostly[n])]
        deeper = {n: _most_common_below(members[n], (*common[n], *mostly[n])) for n in vague}
        if not any(deeper.values()):
            return _number_duplicates(names)
        for n, part in deeper.items():
            mostly[n] += part


def _clusters(scores: Sequence[float], labels: Sequence[int]) -> list[list[int]]:
    """Return the members of each cluster, the best first; the cluster with the highest mean first."""
    clusters: dict[int, list[int]] = {}
    for n in _by_score(scores):
        clusters.setdefault(labels[n], []).append(n)
    # Equal means: the cluster with the better hit, which comes first already.
    return sorted(clusters.values(), key=lambda members: -_mean(scores, members))


def _by_score(scores: Sequence[float]) -> list[int]:
    """Return indexes by descending score; equal ones stay as they were."""
    return sorted(range(len(scores)), key=lambda n: -scores[n])


def _mean(scores: Sequence[float], members: Sequence[int]) -> float:
    """Return a mean that does not depend on the order of addition."""
    return fsum(scores[n] for n in members) / len(members)


def _cluster_details(scores: Sequence[float], labels: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return for each candidate a description of its cluster."""
    clusters = _clusters(scores, labels)
    details = [""] * len(labels)
    for number, members in enumerate(clusters, start=1):
        name = names[labels[members[0]]]
        hits = f"{len(members)} hits" if len(members) > 1 else "1 hit"
        cluster = f"cluster {number} of {len(clusters)}" + (f", {name}" if name else "")
        for n in members:
            details[n] = f"{cluster}: {hits}, mean {_mean(scores, members):.3f}"
    return details


def _most_common_below(paths: Sequence[_Path], prefix: _Path) -> _Path:
    """Return the most common name below a prefix, the first among equals; nothing where there is none."""
    depth = len(prefix)
    below = Counter(path[depth] for path in paths if len(path) > depth and path[:depth] == prefix)
    return (below.most_common(1)[0][0],) if below else ()


def _format_name(common: _Path, mostly: _Path) -> str:
    """Return the name of a cluster; "" for the root alone."""
    inner = "/".join(filter(None, mostly))
    return ", ".join(filter(None, ("/".join(filter(None, common)), inner and f"mostly {inner}")))


def _number_duplicates(names: Sequence[str]) -> list[str]:
    """Number names that are equal still, such as those of two clusters of one file."""
    counts: Counter[str] = Counter()
    numbered = []
    for name in names:
        counts[name] += 1
        numbered.append(f"{name} ({counts[name]})" if name and counts[name] > 1 else name)
    return numbered
