"""Ranking metrics, which agree with trec_eval's, and percentiles of latency.

A ranking is a list of keys, best first; ties are the caller's to break, and no key may come twice. Qrels give
keys a grade: above 0 is relevant, 0 was judged and is not, what is absent was never judged and counts as not
relevant. If nothing is relevant, every metric is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

# The depth of MRR: a first relevant result that lies deeper counts as not found.
MRR_CUT = 100
# The depth at which the share of judged results is measured.
JUDGED_CUT = 10


def score(
    ranked: Sequence[str], qrels: Mapping[str, float], ks: Iterable[int], few_judgements: bool = False
) -> dict[str, float]:
    """Return all metrics of one ranking by name; those with a cut-off have one for each of `ks`.

    Where many results were never judged, `few_judgements` adds the judged share, and the condensed nDCG
    (Sakai 2007), which leaves unjudged results out.
    """
    values = {f"mrr@{MRR_CUT}": reciprocal_rank(ranked, qrels, MRR_CUT)}
    for k in ks:
        values[f"ndcg@{k}"] = ndcg(ranked, qrels, k)
        values[f"recall@{k}"] = recall(ranked, qrels, k)
        values[f"hit@{k}"] = hit(ranked, qrels, k)
        values[f"precision@{k}"] = precision(ranked, qrels, k)
    if few_judgements:
        condensed = [key for key in ranked if key in qrels]
        values[f"judged@{JUDGED_CUT}"] = judged_share(ranked, qrels, JUDGED_CUT)
        values[f"condensed_ndcg@{JUDGED_CUT}"] = ndcg(condensed, qrels, JUDGED_CUT)
    return values


def recall(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return recall@k: the share of all relevant keys that is among the first k."""
    relevant = sum(grade > 0 for grade in qrels.values())
    return _relevant_in_top(ranked, qrels, k) / relevant if relevant else 0.0


def hit(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return the hit rate at k (success@k) of one query: 1 if any of the first k is relevant, else 0."""
    return float(_relevant_in_top(ranked, qrels, k) > 0)


def precision(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return precision@k; ranks that are left empty count as not relevant."""
    return _relevant_in_top(ranked, qrels, k) / k


def reciprocal_rank(ranked: Sequence[str], qrels: Mapping[str, float], cut: int = MRR_CUT) -> float:
    """Return 1 / the rank of the first relevant key; 0 if it is not among the first `cut`."""
    ranks = (rank for rank, key in enumerate(_top(ranked, cut), 1) if qrels.get(key, 0) > 0)
    return 1 / next(ranks, math.inf)


def ndcg(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return nDCG@k (Järvelin & Kekäläinen 2002) with the gain 2^grade − 1 (Burges et al. 2005)."""
    gain = discounted(_gain(qrels.get(key, 0)) for key in _top(ranked, k))
    ideal = discounted(sorted(map(_gain, qrels.values()), reverse=True)[:k])
    return gain / ideal if ideal else 0.0


def discounted(gains: Iterable[float]) -> float:
    """Return the discounted cumulative gain (DCG): the gain at rank i is divided by log₂(i + 1)."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def judged_share(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return the share of the first k results that was judged; of those there are, if they are fewer."""
    top = _top(ranked, k)
    return sum(key in qrels for key in top) / len(top) if top else 0.0


def latency(seconds: Iterable[float]) -> dict[str, float]:
    """Return the 50th, 95th and 99th percentile of some times, in milliseconds; {} for no times."""
    import numpy as np

    times, shares = list(seconds), (50, 95, 99)
    if not times:
        return {}
    return {f"p{share}_ms": 1000 * float(np.percentile(times, share)) for share in shares}


def _top(ranked: Sequence[str], k: int) -> Sequence[str]:
    """Return the first k keys; a key that comes twice would count twice, so that is refused."""
    if k < 1:
        raise ValueError(f"a ranking can't be cut at {k}; cut it at 1 or deeper")
    top = ranked[:k]
    if len(set(top)) < len(top):
        twice = next(key for rank, key in enumerate(top) if key in top[:rank])
        raise ValueError(f"{twice!r} stands in the ranking twice; keep the first of each key")
    return top


def _relevant_in_top(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> int:
    return sum(qrels.get(key, 0) > 0 for key in _top(ranked, k))


def _gain(grade: float) -> float:
    # Some sets grade spam below 0: that is as irrelevant as 0, not a loss.
    return 2.0**grade - 1 if grade > 0 else 0.0
