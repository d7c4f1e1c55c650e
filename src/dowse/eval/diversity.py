"""Diversity of the first results: α-nDCG over aspects, and intra-list distance (Ziegler et al. 2005).

α-nDCG is that of Clarke et al., "Novelty and diversity in information retrieval evaluation" (SIGIR 2008): a
relevant result gains less each time its aspect came before. An aspect is a repository or a folder here, and
every target has one: then the greedy ideal of the paper is the best order there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowse.eval.metrics import discounted
from dowse.eval.types import SearchResult
from dowse.research.hyperbolic.chains import file_chain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# The cut-off: as many results as people look at.
CUT = 10
# The share of its gain that a result loses with each one before it that has the same aspect.
ALPHA = 0.5
ALPHA_NDCG, TREE, MEANING = (f"{name}@{CUT}" for name in ("alpha_ndcg", "tree_distance", "meaning_distance"))
METRICS = (ALPHA_NDCG, TREE, MEANING)


@dataclass(frozen=True, slots=True)
class Diversity:
    """Measures the diversity of answers, as far as targets and results are known beyond their names."""

    aspects: Mapping[str, str]  # of every relevant target; {} if none is in the index
    level: str = "file"
    counting: str = "distinct"
    # The vectors of results, without those that have none; None where there is no encoder.
    vectors: Callable[[Sequence[SearchResult]], Floats] | None = None

    def __call__(
        self, ranked: Sequence[str], qrels: Mapping[str, float], results: Sequence[SearchResult]
    ) -> dict[str, float]:
        """Return the metrics of one answer that can be measured."""
        values = {}
        if self.aspects:
            wanted = {target: self.aspects[target] for target, grade in qrels.items() if grade > 0}
            values[ALPHA_NDCG] = alpha_ndcg(ranked, wanted, CUT)
        first = distinct_results(results, self.level, self.counting)
        if all(each.path for each, _ in first):
            values[TREE] = tree_distance([chain for _, chain in first])
        if self.vectors:
            values[MEANING] = meaning_distance(self.vectors([each for each, _ in first]))
        return values


def alpha_ndcg(ranked: Sequence[str], aspects: Mapping[str, str], k: int, alpha: float = ALPHA) -> float:
    """Return α-nDCG@k; 0 if nothing is relevant.

    A relevant key gains (1 − alpha)^n, where n keys before it have its aspect. `aspects` has the aspect of
    every relevant key, retrieved or not.
    """
    # Each aspect's results gain less and less, so the best order is that of the gains.
    ideal = sorted(_gains(aspects.values(), alpha), reverse=True)[:k]
    gains = _gains((aspects.get(key) for key in ranked[:k]), alpha)
    return discounted(gains) / discounted(ideal) if ideal else 0.0


def tree_distance(chains: Sequence[Sequence[str]]) -> float:
    """Return the mean distance between nodes of the file tree, in hops; 0 for fewer than two chains."""
    from dowse.research.hyperbolic.chains import hop_matrix

    return _mean_of_pairs(hop_matrix(chains)) if len(chains) > 1 else 0.0


def meaning_distance(vectors: Floats) -> float:
    """Return the mean of 1 − cosine between unit vectors; 0 for fewer than two."""
    # Between equal vectors the distance may be below 0 by a rounding error.
    return max(0.0, _mean_of_pairs(1 - vectors @ vectors.T)) if len(vectors) > 1 else 0.0


def distinct_results(
    results: Iterable[SearchResult], level: str, counting: str = "distinct"
) -> list[tuple[SearchResult, tuple[str, ...]]]:
    """Return the first results that take a rank of their own, each with its path in the file tree."""
    chains = [(each, _chain(each, level)) for each in results]
    if counting == "distinct":
        firsts: dict[tuple[str, ...], SearchResult] = {}
        for each, chain in chains:
            firsts.setdefault(chain, each)
        chains = [(each, chain) for chain, each in firsts.items()]
    return chains[:CUT]


def _chain(result: SearchResult, level: str) -> tuple[str, ...]:
    chain = file_chain(result.repo, result.path)
    return chain if level == "file" else (*chain, result.id or f"{result.symbol}:{result.start_line}")


def _gains(aspects: Iterable[str | None], alpha: float) -> Iterator[float]:
    """Give the gain at each rank; None is not relevant."""
    seen: Counter[str | None] = Counter()
    for aspect in aspects:
        yield 0.0 if aspect is None else (1 - alpha) ** seen[aspect]
        seen[aspect] += 1


def _mean_of_pairs(distances: NDArray[Any]) -> float:
    """Return the mean over all pairs of different elements."""
    import numpy as np

    return float(distances[np.triu_indices(len(distances), 1)].mean())
