"""A learned order: gradient-boosted trees over what is known of each candidate, fitted to rank (LambdaMART).

Which function a change concerns follows from its rank, length, name, file and place together, not from a
sum of weights. So the first candidates gain what the trees make of these features. There are two sets of
trees. `changes` leads requests for a change: it was fitted on commit subjects, whose answers are the
functions that the commit changed, and on headings of guides, whose answers are the symbols that the section
names. `questions` was fitted on written questions about concepts, settings and instructions, in the words of
users. The trees are data, made by `python -m dowse_training.learned_ranking`.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.lazy_classes import NamedTuple
from dowse.search.ranking.signals import QueryFeatures, RankedHit, name_terms
from dowse.types import TYPE_KINDS, Contribution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_LEARNED_FROM = {
    "changes": "learned from commits and guides",
    "questions": "learned from questions and their answers",
}
# The candidates that are ordered anew.
DEPTH = 60
# Contributions that are features, as shares of the best score.
_SOURCES = (
    "embedding",
    "keyword",
    "coverage",
    "signal.name",
    "signal.file",
    "signal.path",
    "signal.coherence",
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
    "scope",  # share of the words of the class around
    "path",
    "private",
    "cosine",
    "covered",
    "change",  # the probabilities of each kind of question
    "description",
    "topic",
    "role",
    "share of the file",  # in the squared scores of all candidates
    "first twenty of the file",
    "rank of the file",
    "score of the class around",
    "line",
    "share of the question in the name",
    "words of the name",
    "folders",
    "best cosine",
    "most covered",
    "members",  # that are candidates
    "cosine in deviations",
)
# Roles are numbers: what is asked for less often is larger.
_ROLE_ORDER = ("", "test", "docs", "example", "benchmark", "generated", "vendored")
# Hits that are the first of a question.
_FIRST = 20
_ROLE_NUMBERS = {role: number for number, role in enumerate(_ROLE_ORDER)}


class Trees(NamedTuple):
    """Nodes of all trees; a leaf leads to itself."""

    roots: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: Floats
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: Floats
    depth: int


def add_learned_ranking(
    hits: Sequence[RankedHit], query: QueryFeatures, kinds: Mapping[str, float], model: str, weight: float
) -> list[RankedHit]:
    """Raise the first hits by what the model says of them, and sort.

    Args:
        hits: Best first.
        query: Of the question.
        kinds: The probability of each kind of question.
        model: "changes" or "questions".
        weight: What one unit of the model adds, as a share of the best score.
    """
    first = hits[:DEPTH]
    if not first or first[0].score <= 0:
        return list(hits)
    unit = weight * first[0].score
    values = predict(_trees(model), features(first, query, kinds))
    lowest = min(values)  # what is not among the first stays behind them
    for hit, value in zip(first, values, strict=True):
        added = unit * (value - lowest)
        hit.contributions.append(Contribution("model", added, _LEARNED_FROM[model]))
        hit.score += added
    return [*sorted(first, key=lambda hit: -hit.score), *hits[DEPTH:]]


def features(hits: Sequence[RankedHit], query: QueryFeatures, kinds: Mapping[str, float]) -> Floats:
    """Return a row of features for each hit."""
    import numpy as np

    best = hits[0].score
    parts = [_parts(hit) for hit in hits]
    cosines = [each.get("embedding", 0.0) for each in parts]
    nearest, most = max(cosines), max(each.get("coverage", 0.0) for each in parts)
    mean, deviation = float(np.mean(cosines)), float(np.std(cosines)) + 1e-6
    lower = [hit.score for hit in hits[1:]] + [hits[-1].score]
    files = _files_of(hits)
    scores = {(hit.row.path, hit.row.qualified_name): hit.score for hit in hits}
    members = Counter((hit.row.path, _scope(hit)) for hit in hits)
    of_file: Counter[str] = Counter()
    rows = []
    for rank, (hit, each) in enumerate(zip(hits, parts, strict=True)):
        row, scope = hit.row, _scope(hit)
        name, cosine = name_terms(row.name), cosines[rank]
        shared = len(name & query.terms)
        share, early, place = files[row.path]
        rows.append(
            [
                *(each.get(source, 0.0) / best for source in _SOURCES),
                hit.score / best,
                rank,
                (hit.score - lower[rank]) / best,
                cosine - nearest,
                math.log1p(row.end_line - row.start_line),
                _kind(row.kind),
                of_file[row.path],
                len(query.terms),
                shared / max(1, len(name)),
                _share(name_terms(scope), query),
                _share(name_terms(row.path), query),
                row.name.startswith("_"),
                cosine,
                each.get("coverage", 0.0),
                *(kinds.get(kind, 0.0) for kind in ("change", "description", "topic")),
                _ROLE_NUMBERS.get(row.role, 0),
                share,
                early,
                place,
                scores.get((row.path, scope), 0.0) / best,
                math.log1p(row.start_line),
                shared / max(1, len(query.terms)),
                len(name),
                row.path.count("/"),
                nearest,
                most,
                members[(row.path, row.qualified_name)],
                (cosine - mean) / deviation,
            ]
        )
        of_file[row.path] += 1
    return np.array(rows, np.float32)


def predict(trees: Trees, rows: Floats) -> list[float]:
    """Return the value of each row: only differences within a question mean something."""
    import numpy as np

    nodes = np.repeat(trees.roots[None], len(rows), axis=0)
    for _ in range(trees.depth):
        values = np.take_along_axis(rows, trees.feature[nodes], axis=1)
        nodes = np.where(values <= trees.threshold[nodes], trees.left[nodes], trees.right[nodes])
    return [float(each) for each in trees.value[nodes].sum(axis=1)]


@functools.cache
def _trees(model: str) -> Trees:
    return read_trees(Path(__file__).with_name(f"learned_{model}.json"))


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
        stored["depth"],
    )


def _parts(hit: RankedHit) -> dict[str, float]:
    """Return the sum of the contributions of each source."""
    parts: dict[str, float] = defaultdict(float)
    for each in hit.contributions:
        parts[each.source] += each.value
    return parts


def _files_of(hits: Sequence[RankedHit]) -> dict[str, tuple[float, int, int]]:
    """Return, for each file, its share of the squared scores, its hits among the first, and its rank."""
    squares: dict[str, float] = defaultdict(float)
    early: Counter[str] = Counter()
    for rank, hit in enumerate(hits):
        squares[hit.row.path] += max(0.0, hit.score) ** 2
        early[hit.row.path] += rank < _FIRST
    total = sum(squares.values()) or 1.0
    return {path: (squares[path] / total, early[path], rank) for rank, path in enumerate(squares)}


def _scope(hit: RankedHit) -> str:
    return hit.row.qualified_name.rpartition(".")[0]


def _share(words: frozenset[str], query: QueryFeatures) -> float:
    return len(words & query.terms) / max(1, len(words))


def _kind(kind: str) -> int:
    """Return a number for a kind of symbol: trees ask whether it is below another."""
    return {"function": 0, "method": 1, "module": 3}.get(kind, 2 if kind in TYPE_KINDS else 4)
