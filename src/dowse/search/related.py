"""Related symbols: the nearest neighbours of a symbol by cosine."""

from __future__ import annotations

from dataclasses import dataclass

from dowse.errors import DowseError
from dowse.storage.protocol import Reader, VectorRequest
from dowse.types import Contribution, Hit, SymbolRow


@dataclass(frozen=True, slots=True)
class Related:
    """The symbols that are similar to one."""

    symbol: SymbolRow
    neighbours: tuple[Hit, ...]


def related(reader: Reader, encoder: str, symbol: SymbolRow, k: int, method: str = "auto") -> Related:
    """Return the k nearest neighbours of a symbol."""
    vector = reader.vectors(encoder, [symbol.row])[0]
    if not vector.any():
        raise DowseError(f"{symbol.qualified_name} has no vector yet; `dowse index` finishes embedding")
    nearest = reader.nearest(VectorRequest(encoder, vector, method), k + 1)
    others = [(row, score) for row, score in nearest if row != symbol.row][:k]
    rows = reader.rows([row for row, _ in others])
    neighbours = tuple(
        Hit(rank, score, other, (Contribution("embedding", score, "cosine"),))
        for rank, (other, (_, score)) in enumerate(zip(reader.symbols(rows), others, strict=True), 1)
    )
    return Related(symbol, neighbours)
