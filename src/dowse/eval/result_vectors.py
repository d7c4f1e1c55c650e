"""What results mean: their vectors, by the encoder of the index that was searched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dowse.eval.index_rows import iter_symbols
from dowse.eval.types import SearchResult
from dowse.index import Index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class ResultVectors:
    """Looks up vectors of results; the index must have an encoder, and keep still meanwhile."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def __call__(self, found: Sequence[SearchResult]) -> Floats:
        """Return the vectors of results in their order, without those that have none, as whole files."""
        encoder = self._index.encoder
        if encoder is None:
            raise ValueError("there are no vectors without an encoder; leave meaning out")
        rows = [self._rows[each.id] for each in found if each.id in self._rows]
        with self._index.backend.reader() as reader:
            vectors = reader.vectors(encoder.id, rows)
        return vectors[vectors.any(axis=1)]

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The row of every symbol by its id: results name no rows, and the store finds none by ids."""
        return {row.key: row.row for row in iter_symbols(self._index)}
