"""How good a ranking is, and how fast it came: the formulas, which agree with trec_eval's.

A ranking is a list of keys, best first; ties are the caller's to break, and none may come twice. Judgements
give keys a grade: above 0 is relevant, 0 was judged and is not, what is absent was never judged and counts as
not relevant. Where nothing is relevant, every metric is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

# The first relevant result counts if it is among so many: what lies deeper is as good as not found.
MRR_CUT = 100
# Where a ranking is cut to ask how much of it was judged at all.
JUDGED_CUT = 10


def score(
    ranked: Sequence[str], qrels: Mapping[str, float], ks: Iterable[int], few_judgements: bool = False
) -> dict[str, float]:
    """Return all metrics of one ranking by name.

    Args:
        ranked: What was found, best first, each key once.
        judged: The grade of whatever was judged.
        ks: Where nDCG, recall, hit and precision are cut.
        few_judgements: Whether much of what is found was never judged; adds how much was, and the nDCG of
            the ranking without the rest.
    """
    values = {f"mrr@{MRR_CUT}": reciprocal_rank(ranked, qrels, MRR_CUT)}
    for k in ks:
        values[f"ndcg@{k}"] = ndcg(ranked, qrels, k)
        values[f"recall@{k}"] = recall(ranked, qrels, k)
        values[f"hit@{k}"] = hit(ranked, qrels, k)
        values[f"precision@{k}"] = precision(ranked, qrels, k)
    if few_judgements:
        values[f"judged@{JUDGED_CUT}"] = judged_share(ranked, qrels, JUDGED_CUT)
        values[f"condensed_ndcg@{JUDGED_CUT}"] = ndcg(condensed(ranked, qrels), qrels, JUDGED_CUT)
    return values


def recall(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return which share of all that is relevant stands among the first k."""
    relevant = sum(grade > 0 for grade in qrels.values())
    return _relevant_found(ranked, qrels, k) / relevant if relevant else 0.0


def hit(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return 1 if anything relevant stands among the first k, else 0."""
    return float(_relevant_found(ranked, qrels, k) > 0)


def precision(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return which share of k places holds something relevant; places left empty hold nothing."""
    return _relevant_found(ranked, qrels, k) / k


def reciprocal_rank(ranked: Sequence[str], qrels: Mapping[str, float], cut: int = MRR_CUT) -> float:
    """Return 1 / the rank of the first relevant key; 0 if it is not among the first `cut`."""
    ranks = (rank for rank, key in enumerate(_top(ranked, cut), 1) if qrels.get(key, 0) > 0)
    return 1 / next(ranks, math.inf)


def ndcg(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return the discounted gain of the first k over that of the best order there is.

    A grade gains 2^grade − 1, in place i divided by log₂(i + 1); with grades 0 and 1 this is the binary nDCG.
    """
    best = _discounted(sorted(map(_gain, qrels.values()), reverse=True)[:k])
    found = _discounted(_gain(qrels.get(key, 0)) for key in _top(ranked, k))
    return found / best if best else 0.0


def judged_share(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> float:
    """Return which share of the first k results was judged; of those there are, where they are fewer."""
    top = _top(ranked, k)
    return sum(key in qrels for key in top) / len(top) if top else 0.0


def condensed(ranked: Sequence[str], qrels: Mapping[str, float]) -> list[str]:
    """Return a ranking without what was never judged: it says nothing of the unknown, for or against."""
    return [key for key in ranked if key in qrels]


def latency(seconds: Iterable[float]) -> dict[str, float]:
    """Return the median, the 95th and the 99th percentile of some times, in milliseconds; {} for no times."""
    times = sorted(seconds)
    return {f"p{share}_ms": 1000 * _percentile(times, share) for share in (50, 95, 99)} if times else {}


def _top(ranked: Sequence[str], k: int) -> Sequence[str]:
    """Return the first k keys; a key that comes twice would count twice, so that is refused."""
    if k < 1:
        raise ValueError(f"a ranking can't be cut at {k}; cut it at 1 or deeper")
    top = ranked[:k]
    if len(set(top)) < len(top):
        twice = next(key for at, key in enumerate(top) if key in top[:at])
        raise ValueError(f"{twice!r} stands in the ranking twice; keep the first of each key")
    return top


def _relevant_found(ranked: Sequence[str], qrels: Mapping[str, float], k: int) -> int:
    return sum(qrels.get(key, 0) > 0 for key in _top(ranked, k))


def _gain(grade: float) -> float:
    # Some sets grade spam below 0: that is as irrelevant as 0, not a loss.
    return 2.0**grade - 1 if grade > 0 else 0.0


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def _percentile(ordered: Sequence[float], share: int) -> float:
    """Interpolate between neighbours, as numpy does."""
    whole, rest = divmod((len(ordered) - 1) * share, 100)
    after = ordered[min(whole + 1, len(ordered) - 1)]
    return ordered[whole] + (after - ordered[whole]) * rest / 100
