"""How varied the first answers are: α-nDCG over aspects, and how far apart the answers are.

α-nDCG is that of Clarke et al., "Novelty and diversity in information retrieval evaluation" (SIGIR 2008):
what is relevant gains less each time its aspect was answered before. An aspect is a place here, and every
target lies in one: then the greedy ideal of the paper is the best order there is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowse.eval.types import SearchResult
from dowse.research.hyperbolic.chains import file_chain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Where answers are cut: what somebody looks at.
CUT = 10
# How much of its worth an answer loses with each one before it that has the same aspect.
ALPHA = 0.5
ALPHA_NDCG, TREE, MEANING = (f"{name}@{CUT}" for name in ("alpha_ndcg", "tree_distance", "meaning_distance"))
METRICS = (ALPHA_NDCG, TREE, MEANING)


@dataclass(frozen=True, slots=True)
class Diversity:
    """What is known of targets and results beyond their names, and so what of diversity can be measured."""

    aspects: Mapping[str, str]  # of every relevant target; none where nothing is known of where they lie
    level: str = "file"
    counting: str = "distinct"
    # The vectors of results, without those that have none; None where there is no encoder.
    vectors: Callable[[Sequence[SearchResult]], Floats] | None = None

    def __call__(
        self, ranked: Sequence[str], qrels: Mapping[str, float], found: Sequence[SearchResult]
    ) -> dict[str, float]:
        """Return what can be said of one answer.

        Args:
            ranked: The key of each result that counts, best first, as the metrics take them.
            judged: The grade of whatever was judged.
            found: The results themselves.
        """
        values = {}
        if self.aspects:
            wanted = {target: self.aspects[target] for target, grade in qrels.items() if grade > 0}
            values[ALPHA_NDCG] = alpha_ndcg(ranked, wanted, CUT)
        first = distinct_results(found, self.level, self.counting)
        if all(each.path for each, _ in first):
            values[TREE] = tree_distance([chain for _, chain in first])
        if self.vectors:
            values[MEANING] = meaning_distance(self.vectors([each for each, _ in first]))
        return values


def alpha_ndcg(ranked: Sequence[str], aspects: Mapping[str, str], k: int, alpha: float = ALPHA) -> float:
    """Return the discounted gain of the first k over that of the best order there is; 0 if none is relevant.

    A relevant key gains (1 − alpha)^n, where n have its aspect before it, in place i divided by log₂(i + 1).

    Args:
        ranked: Keys, best first, each once.
        aspects: The aspect of every relevant key, found or not.
        k: Where the ranking is cut.
        alpha: From 0, where every answer counts the same, to 1, where the first of an aspect counts alone.
    """
    met = [aspects.get(key) for key in ranked[:k]]
    # Each aspect's answers gain less and less, so the best order is that of the gains.
    ideal = sorted(_gains(aspects.values(), alpha), reverse=True)[:k]
    return _discounted(_gains(met, alpha)) / _discounted(ideal) if ideal else 0.0


def tree_distance(chains: Sequence[Sequence[str]]) -> float:
    """Return the mean distance between places in the tree, in hops; 0 for fewer than two.

    Args:
        chains: The names on the way to each, from the repository down.
    """
    from dowse.research.hyperbolic.hops import hop_matrix

    return _mean_of_pairs(hop_matrix(chains)) if len(chains) > 1 else 0.0


def meaning_distance(vectors: Floats) -> float:
    """Return the mean of 1 − cosine between unit vectors; 0 for fewer than two."""
    # Equal vectors may be further than 1 from 0 by a rounding.
    return max(0.0, _mean_of_pairs(1 - vectors @ vectors.T)) if len(vectors) > 1 else 0.0


def distinct_results(
    found: Iterable[SearchResult], level: str, counting: str = "distinct"
) -> list[tuple[SearchResult, tuple[str, ...]]]:
    """Return the first results that take a place of their own, each with the names on the way to it."""
    chains = [(each, _chain(each, level)) for each in found]
    if counting == "distinct":
        firsts: dict[tuple[str, ...], SearchResult] = {}
        for each, chain in chains:
            firsts.setdefault(chain, each)
        chains = [(each, chain) for chain, each in firsts.items()]
    return chains[:CUT]


def _chain(found: SearchResult, level: str) -> tuple[str, ...]:
    way = file_chain(found.repo, found.path)
    return way if level == "file" else (*way, found.id or f"{found.symbol}:{found.start_line}")


def _gains(aspects: Iterable[str | None], alpha: float) -> Iterator[float]:
    """Give what each place gains; None is not relevant."""
    seen: Counter[str] = Counter()
    for aspect in aspects:
        yield 0.0 if aspect is None else (1 - alpha) ** seen[aspect]
        if aspect is not None:
            seen[aspect] += 1


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def _mean_of_pairs(distances: NDArray[Any]) -> float:
    """Return the mean over all pairs of different things."""
    import numpy as np

    return float(distances[np.triu_indices(len(distances), 1)].mean())
