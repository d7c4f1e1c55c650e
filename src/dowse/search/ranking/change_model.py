"""A learned order for requests for a change: gradient-boosted trees over what is known of each candidate.

Which function a change concerns follows from its rank, length, name and place together, not from a sum of
weights. So the first candidates gain what the trees make of these features: the probability that a commit
with this subject changed the function. The trees are data: change_model.json, made by
`python -m dowse_training.change_model` from mined commits.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.search.ranking.signals import QueryFeatures, RankedHit, name_terms
from dowse.types import TYPE_KINDS, Contribution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# The candidates that are ordered anew.
DEPTH = 60
# What a probability of 1 adds, as a share of the best score.
WEIGHT = 1.0
# Contributions that are features, as shares of the best score.
_SOURCES = (
    "embedding",
    "keyword",
    "coverage",
    "graph",
    "signal.name",
    "signal.file",
    "signal.folder",
    "signal.header",
    "signal.coherence",
    "signal.head",
    "signal.saturation",
)
FEATURES = (
    *_SOURCES,
    "score",
    "rank",
    "lead",  # over the next candidate
    "embedding below the best",
    "lines",
    "kind",
    "candidates of the file above",
    "terms of the question",
    "name",  # share of its words in the question
    "words of the name",  # that are in the question
    "scope",  # share of the words of the class around
    "path",
    "private",
)


class Trees(NamedTuple):
    """Nodes of all trees; a leaf leads to itself."""

    roots: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: Floats
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: Floats
    bias: float
    depth: int


def add_change_model(hits: Sequence[RankedHit], query: QueryFeatures, probability: float) -> list[RankedHit]:
    """Raise the first hits by what the model says of them, and sort.

    Args:
        hits: Best first.
        query: Of the question.
        probability: That the question is a request for a change.
    """
    first = hits[:DEPTH]
    if not first or first[0].score <= 0:
        return list(hits)
    unit = WEIGHT * probability * first[0].score
    for hit, share in zip(first, predict(_trees(), features(first, query)), strict=True):
        hit.contributions.append(Contribution("model", unit * share, f"changed by such commits: {share:.0%}"))
        hit.score += unit * share
    return [*sorted(first, key=lambda hit: -hit.score), *hits[DEPTH:]]


def features(hits: Sequence[RankedHit], query: QueryFeatures) -> Floats:
    """Return a row of features for each hit."""
    import numpy as np

    best = hits[0].score
    parts = [_parts(hit) for hit in hits]
    nearest = max(each.get("embedding", 0.0) for each in parts)
    lower = [hit.score for hit in hits[1:]] + [hits[-1].score]
    of_file: Counter[str] = Counter()
    rows = []
    for rank, (hit, each) in enumerate(zip(hits, parts, strict=True)):
        row, scope = hit.row, hit.row.qualified_name.rpartition(".")[0]
        name = name_terms(row.name)
        rows.append(
            [
                *(each.get(source, 0.0) / best for source in _SOURCES),
                hit.score / best,
                rank,
                (hit.score - lower[rank]) / best,
                each.get("embedding", 0.0) - nearest,
                math.log1p(row.end_line - row.start_line),
                _kind(row.kind),
                of_file[row.path],
                len(query.terms),
                len(name & query.terms) / max(1, len(name)),
                len(name & query.terms),
                _share(name_terms(scope), query),
                _share(name_terms(row.path), query),
                row.name.startswith("_"),
            ]
        )
        of_file[row.path] += 1
    return np.array(rows, np.float32)


def predict(trees: Trees, rows: Floats) -> list[float]:
    """Return the probability of each row."""
    import numpy as np

    nodes = np.repeat(trees.roots[None], len(rows), axis=0)
    for _ in range(trees.depth):
        values = np.take_along_axis(rows, trees.feature[nodes], axis=1)
        nodes = np.where(values <= trees.threshold[nodes], trees.left[nodes], trees.right[nodes])
    margins = trees.value[nodes].sum(axis=1) + trees.bias
    return [float(each) for each in 1 / (1 + np.exp(-margins))]


@functools.cache
def _trees() -> Trees:
    return read_trees(Path(__file__).with_suffix(".json"))


def read_trees(path: Path) -> Trees:
    """Read a model."""
    import numpy as np

    stored = json.loads(path.read_text(encoding="utf-8"))
    roots, nodes = [], list[tuple[float, ...]]()
    for tree in stored["trees"]:
        roots.append(len(nodes))
        for at, node in enumerate(tree, len(nodes)):
            if len(node) == 1:
                nodes.append((0, math.inf, at, at, node[0]))
            else:
                name, threshold, left, right = node
                nodes.append((FEATURES.index(name), threshold, roots[-1] + left, roots[-1] + right, 0.0))
    feature, threshold, left, right, value = (np.array(column) for column in zip(*nodes, strict=True))
    return Trees(
        np.array(roots),
        feature.astype(np.intp),
        threshold.astype(np.float32),
        left.astype(np.intp),
        right.astype(np.intp),
        value.astype(np.float32),
        stored["bias"],
        stored["depth"],
    )


def _parts(hit: RankedHit) -> dict[str, float]:
    """Return the sum of the contributions of each source."""
    parts: dict[str, float] = defaultdict(float)
    for each in hit.contributions:
        parts[each.source] += each.value
    return parts


def _share(words: frozenset[str], query: QueryFeatures) -> float:
    return len(words & query.terms) / max(1, len(words))


def _kind(kind: str) -> int:
    """Return a number for a kind of symbol: trees ask whether it is below another."""
    return {"function": 0, "method": 1, "module": 3}.get(kind, 2 if kind in TYPE_KINDS else 4)
