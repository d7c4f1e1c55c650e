"""Related symbols: the nearest neighbours of a symbol by cosine, and the cluster it belongs to."""

from __future__ import annotations

from collections import Counter

from dowse.errors import DowseError
from dowse.lazy_classes import dataclass
from dowse.parsing.tokenizer import split_identifier
from dowse.storage.protocol import Reader, VectorRequest
from dowse.types import Contribution, Hit, SymbolRow

# Words in the label of a cluster.
_LABEL_WORDS = 4
# Members nearest to the centroid that the words are taken from.
_LABEL_NAMES = 60


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of similar symbols."""

    number: int
    size: int
    words: tuple[str, ...]  # that its names share
    members: tuple[Hit, ...]  # nearest to the centroid first


@dataclass(frozen=True, slots=True)
class Related:
    """The symbols that are similar to one."""

    symbol: SymbolRow
    neighbours: tuple[Hit, ...]
    cluster: Cluster | None  # None where none were fitted


def related(reader: Reader, encoder: str, symbol: SymbolRow, k: int, method: str = "auto") -> Related:
    """Return the k nearest neighbours of a symbol, and the k members nearest to its cluster's centroid."""
    if symbol.row < 0:
        text = f"{symbol.qualified_name} is a name ({symbol.kind}), and only symbols have vectors"
        raise DowseError(f"{text}; name the symbol around it, as {symbol.path}:{symbol.start_line}")
    vector = reader.vectors(encoder, [symbol.row])[0]
    if not vector.any():
        raise DowseError(f"{symbol.qualified_name} has no vector yet; `dowse index` finishes embedding")
    nearest = reader.nearest(VectorRequest(encoder, vector, method), k + 1)
    others = [(row, score) for row, score in nearest if row != symbol.row][:k]
    neighbours = _hits(reader, others, "embedding")
    return Related(symbol, neighbours, _cluster(reader, encoder, symbol, k))


def _cluster(reader: Reader, encoder: str, symbol: SymbolRow, k: int) -> Cluster | None:
    import numpy as np

    centroids = reader.cluster_centroids(encoder)
    if not len(centroids):
        return None
    number = int(np.argmax(centroids @ reader.vectors(encoder, [symbol.row])[0]))
    members = reader.cluster_members(encoder, number)
    rows = reader.rows([row for row, _ in members[:_LABEL_NAMES]])
    counts = Counter(word for row in rows for word in set(split_identifier(row.name)) if len(word) > 2)
    common = sorted((-count, word) for word, count in counts.items() if count > 1)
    words = [word for _, word in common[:_LABEL_WORDS]]
    return Cluster(number, len(members), tuple(words), _hits(reader, members[:k], "cluster"))


def _hits(reader: Reader, ranked: list[tuple[int, float]], source: str) -> tuple[Hit, ...]:
    rows = reader.rows([row for row, _ in ranked])
    symbols = reader.symbols(rows)
    return tuple(
        Hit(rank, score, symbol, (Contribution(source, score, "cosine"),))
        for rank, (symbol, (_, score)) in enumerate(zip(symbols, ranked, strict=True), 1)
    )
