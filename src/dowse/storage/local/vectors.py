"""The vectors of a local index: the vector of each symbol, nearest neighbours, clusters.

    vectors/ENCODER/    a matrix (dowse.vectors), named after the encoder that made it
    vectors/ENCODER-approximate/  vectors of symbols that have none yet, removed when all have one
        embedded.json   how many symbols of which generation have a vector: read without loading NumPy
        clusters.npy    the centroids of the clusters of similar symbols

Vectors are keyed by the encoded content and symbols carry that key, so a matrix fits every generation: one
that is half filled, or was filled for another branch, is never wrong.
"""

from __future__ import annotations

import contextlib
import functools
import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.security.safe_files import write_atomically
from dowse.storage.local.layout import VECTORS, remove_vectors
from dowse.vectors.files import STATE, approximation_of, encoder_path, parse_state
from dowse.write_lock import lock_holder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.storage.local.catalog import Catalog
    from dowse.storage.protocol import Floats, VectorRequest
    from dowse.vectors.exact import Neighbours
    from dowse.vectors.ivf import IvfIndex
    from dowse.vectors.keys import Keys
    from dowse.vectors.matrix import Matrix
    from dowse.vectors.writer import MatrixWriter

EMBEDDED = "embedded.json"
CLUSTERS = "clusters.npy"
# Opens the newest generation and its vectors.
Read = Callable[[], AbstractContextManager[tuple[int, "GenerationVectors"]]]
# A cluster has at least this many symbols on average.
_SYMBOLS_A_CLUSTER = 5
# How often embedded symbols are counted: that reads all keys.
_COUNT_SECONDS = 10.0
# Queries that `dowse doctor` runs exactly and approximately.
_HEALTH_QUERIES = 50
# Share of a matrix that may belong to no symbol any more before it is compacted.
_MAX_UNUSED = 0.5


class LocalVectors:
    """All vectors of an index, by encoder; readers of a generation share what is open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / VECTORS
        self._cache: dict[str, tuple[object, GenerationVectors]] = {}

    def folder(self, encoder: str) -> Path:
        """Return the folder of the vectors of an encoder."""
        return encoder_path(self._folder, encoder)

    def folders(self) -> list[Path]:
        """Return the folders of all encoders."""
        return sorted(folder for folder in self._folder.glob("*") if folder.is_dir())

    def problem(self, folder: Path) -> str:
        """Return what is wrong with the vectors of an encoder, "" for nothing; reads all of them."""
        try:
            return _open_matrix(folder).problem()
        except DowseError as error:
            return str(error).partition("; run ")[0]

    def count_embedded(self, encoder: str, generation: int, catalog: Catalog) -> int:
        """Return how many symbols have a vector."""
        folder = self.folder(encoder)
        state, saved = _read_state(folder), _read_counts(folder)
        if not state:
            return 0
        # While a process adds vectors it saves the count from time to time; afterwards it has to be exact.
        if saved.get("generation") == generation and (saved.get("matrix") == state or lock_holder(folder)):
            return int(saved["symbols"])
        vectors = self.load(encoder, generation, catalog)
        _save_counts(generation, vectors)
        return vectors.embedded

    def load(self, encoder: str, generation: int, catalog: Catalog) -> GenerationVectors:
        """Return the vectors of the symbols of a generation, as many as there are now."""
        known = self._cache.get(encoder)
        if known and known[0] == (catalog.identity, generation) and known[1].is_current():
            return known[1]
        symbols, keys = _symbol_keys(catalog)
        vectors = GenerationVectors(_open_matrix(self.folder(encoder)), symbols, keys)
        if vectors.embedded < len(symbols):
            approximate = _open_matrix(self.folder(approximation_of(encoder)))
            vectors.approximate = GenerationVectors(approximate, symbols, keys)
        self._cache[encoder] = ((catalog.identity, generation), vectors)
        return vectors

    def has_approximate(self, encoder: str) -> bool:
        """Whether there are approximate vectors of symbols that have no vector of an encoder yet."""
        return (self.folder(approximation_of(encoder)) / STATE).exists()

    def without_vector(self, encoder: str, symbols: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Return those of some symbols, given as (row, key), that have no vector.

        It finds these keys alone: the keys of all symbols of a large index take long to read.
        """
        from dowse.vectors.keys import as_keys

        matrix_rows = _open_matrix(self.folder(encoder)).find(as_keys(key for _, key in symbols))
        return [symbol for symbol, row in zip(symbols, matrix_rows.tolist(), strict=True) if row < 0]

    def close(self) -> None:
        """Close the matrices."""
        self._cache.clear()


class GenerationVectors:
    """The symbols of one generation and the matrix rows of their vectors."""

    def __init__(self, matrix: Matrix, symbols: NDArray[np.int64], keys: Keys) -> None:
        self.matrix = matrix
        self._symbols, self._keys = symbols, keys  # ascending
        self._matrix_rows = matrix.find(keys)  # of each symbol; -1 for none
        self.approximate: GenerationVectors | None = None  # for symbols that have no vector

    def is_current(self) -> bool:
        """Whether nothing was added since; an empty matrix has no known dimension."""
        if self.approximate and not self.approximate.is_current():
            return False
        if not len(self.matrix):
            return not (self.matrix.folder / STATE).exists()
        return self.matrix.is_current()

    @property
    def embedded(self) -> int:
        """How many symbols have a vector."""
        return int((self._matrix_rows >= 0).sum())

    def missing(self) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector, one for each key."""
        import numpy as np

        row_by_key: dict[bytes, int] = {}
        for index in np.flatnonzero(self._matrix_rows < 0).tolist():
            row_by_key.setdefault(self._keys[index].tobytes(), int(self._symbols[index]))
        return [(row, key) for key, row in row_by_key.items()]

    def rows(self, symbols: Sequence[int]) -> Floats:
        """Return the vectors of symbols, approximate ones or zeros for those that have none."""
        import numpy as np

        rows = self._matrix_rows[np.searchsorted(self._symbols, np.array(symbols, np.int64))]
        if self.approximate and len(self.approximate.matrix):
            vectors = self.approximate.rows(symbols)
        else:
            vectors = np.zeros((len(rows), self.matrix.dimension), np.float32)
        if (rows >= 0).any():
            vectors[rows >= 0] = self.matrix.rows(rows[rows >= 0])
        return vectors

    def used(self) -> NDArray[np.int64]:
        """Return the rows of the matrix that belong to a symbol."""
        import numpy as np

        return np.unique(self._matrix_rows[self._matrix_rows >= 0])

    def nearest(
        self, request: VectorRequest, limit: int, allowed: Sequence[int] | NDArray[np.int64] | None
    ) -> list[tuple[int, float]]:
        """Return (symbol, cosine) of the nearest symbols, among the allowed ones if given."""
        import numpy as np

        if self.approximate and len(self.approximate.matrix):
            others = self._symbols[self._matrix_rows < 0]
            if allowed is not None:
                others = np.intersect1d(others, np.array(allowed, np.int64))
            found = self.approximate.nearest(request, limit, others)
            found += self._nearest_embedded(request, limit, allowed)
            return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]
        return self._nearest_embedded(request, limit, allowed)

    def _nearest_embedded(
        self, request: VectorRequest, limit: int, allowed: Sequence[int] | NDArray[np.int64] | None
    ) -> list[tuple[int, float]]:
        import numpy as np

        owners = self._owners
        if allowed is not None:
            chosen = np.searchsorted(self._symbols, np.sort(np.array(allowed, np.int64)))
            owners = _Owners(self._symbols[chosen], self._matrix_rows[chosen])
        if not len(owners.rows):
            return []
        everything = len(owners.rows) == len(self.matrix)
        rows, scores = self._search(request, limit, None if everything else owners.rows)
        symbols, which = owners.symbols(rows)
        return list(zip(symbols[:limit].tolist(), scores[which[:limit]].tolist(), strict=True))

    @functools.cached_property
    def _owners(self) -> _Owners:
        return _Owners(self._symbols, self._matrix_rows)

    def _search(self, request: VectorRequest, limit: int, allowed: NDArray[np.int64] | None) -> Neighbours:
        from dowse.vectors.exact import exact_search
        from dowse.vectors.ivf import ivf_search

        if request.method != "exact" and self.ivf:
            return ivf_search(self.ivf, self.matrix, request.vector, limit, allowed)
        return exact_search(self.matrix, request.vector, limit, allowed)

    @functools.cached_property
    def ivf(self) -> IvfIndex | None:
        """The IVF index for approximate search; None if there is none."""
        from dowse.vectors.ivf import load

        return load(self.matrix)

    def health(self) -> tuple[bool, str]:
        """Return whether the vectors are intact, and the recall of approximate search."""
        problem = self.matrix.problem()
        if problem:
            return False, f"{problem}; run `dowse index --rebuild`"
        summary = (
            f"{len(self.matrix):,} vectors, {self.embedded:,} of {len(self._symbols):,} symbols have one"
        )
        if not self.ivf:
            return True, f"{summary}, searched exactly"
        import numpy as np

        from dowse.vectors.ivf_build import noisy_rows, recall

        queries = noisy_rows(self.matrix, _HEALTH_QUERIES, np.random.default_rng(1))
        share = recall(self.ivf, self.matrix, queries)
        return True, f"{summary}, searched approximately: recall@100 {share:.3f} of {_HEALTH_QUERIES} queries"

    def centroids(self) -> Floats:
        """Return the centroids of the clusters, none if they were not fitted; damaged ones are removed."""
        import numpy as np

        file = self.matrix.folder / CLUSTERS
        try:
            centroids: Floats = np.load(file, allow_pickle=False)
            if centroids.shape[1:] == (self.matrix.dimension,) and np.isfinite(centroids).all():
                return centroids
        except OSError:
            pass
        except Exception:  # NumPy raises many kinds about a damaged header, TokenError among them
            with contextlib.suppress(OSError):
                file.unlink()
        return np.zeros((0, self.matrix.dimension), np.float32)

    def members(self, cluster: int) -> list[tuple[int, float]]:
        """Return (symbol, cosine) of the symbols of one cluster, nearest to its centroid first."""
        import numpy as np

        from dowse.vectors.kmeans import matrix_labels

        has = np.flatnonzero(self._matrix_rows >= 0)
        labels, closeness = (
            each[self._matrix_rows[has]] for each in matrix_labels(self.matrix, self.centroids())
        )
        mine = np.flatnonzero(labels == cluster)
        order = mine[np.lexsort((self._symbols[has[mine]], -closeness[mine]))]
        return [(int(self._symbols[has[i]]), float(closeness[i])) for i in order]


class _Owners:
    """Which symbols each row of a matrix belongs to: several if their texts are equal."""

    def __init__(self, symbols: NDArray[np.int64], at: NDArray[np.int64]) -> None:
        import numpy as np

        order = np.argsort(at, kind="stable")
        order = order[np.searchsorted(at[order], 0) :]  # without those that have no vector
        self._symbols = symbols[order]
        self.rows, self._starts = np.unique(at[order], return_index=True)

    def symbols(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the symbols of rows, row by row, and for each symbol the position of its row."""
        import numpy as np

        at = np.searchsorted(self.rows, rows)
        starts = self._starts[at]
        counts = np.append(self._starts, len(self._symbols))[at + 1] - starts
        which = np.repeat(np.arange(len(rows)), counts)
        within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._symbols[starts[which] + within], which


class LocalVectorWriter:
    """Adds vectors of one encoder to an index."""

    def __init__(self, writer: MatrixWriter, read: Read) -> None:
        self._writer, self._read = writer, read
        self._counted_at = 0.0

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add vectors; readers see them at once."""
        from dowse.vectors.keys import as_keys

        self._writer.append(as_keys(keys), vectors)
        self._writer.commit()
        if time.monotonic() - self._counted_at > _COUNT_SECONDS:
            self.save_counts()

    def finish(self, clusters: int, method: str, sample_queries: Callable[[], Floats]) -> None:
        """Remove vectors that no symbol uses, fit the clusters, and build the IVF index of a large matrix.

        What was fitted to the same vectors before is kept.
        """
        from dowse.vectors.ivf_build import IVF_FROM, refresh

        with self._read() as (_, vectors):
            used = vectors.used()
        if len(used) < len(self._writer) * (1 - _MAX_UNUSED):
            self._writer.compact(used)
        matrix = self._writer.matrix()
        if fitted_clusters(matrix) != clusters:
            _fit_clusters(matrix, clusters)
        if method == "approx" or (method == "auto" and len(matrix) >= IVF_FROM):
            refresh(matrix, sample_queries)
        self.save_counts(clusters)
        # Every symbol has a vector now.
        remove_vectors(Path(approximation_of(str(matrix.folder))))

    def save_counts(self, clusters: int | None = None) -> None:
        """Save how many symbols have a vector, so that readers need not count."""
        with self._read() as (generation, vectors):
            _save_counts(generation, vectors, clusters)
        self._counted_at = time.monotonic()


def _save_counts(generation: int, vectors: GenerationVectors, clusters: int | None = None) -> None:
    """Save the number of embedded symbols and of fitted clusters, with the matrix they are of."""
    counts = {
        "generation": generation,
        "symbols": vectors.embedded,
        "matrix": vectors.matrix.state.as_dict(),
        "clusters": fitted_clusters(vectors.matrix) if clusters is None else clusters,
    }
    if counts == _read_counts(vectors.matrix.folder):
        return
    with contextlib.suppress(OSError):  # a read-only folder, or two processes at once
        write_atomically(vectors.matrix.folder / EMBEDDED, json.dumps(counts).encode())


def fitted_clusters(matrix: Matrix) -> int | None:
    """Return the number of clusters that were fitted to this matrix, None if none were."""
    saved = _read_counts(matrix.folder)
    is_current = saved.get("matrix") == matrix.state.as_dict() and (matrix.folder / CLUSTERS).exists()
    return saved.get("clusters") if is_current else None


def _fit_clusters(matrix: Matrix, count: int) -> None:
    """Fit the clusters of similar symbols (spherical k-means)."""
    import io

    import numpy as np

    from dowse.vectors.kmeans import matrix_centroids

    centroids = matrix_centroids(matrix, min(count, len(matrix) // _SYMBOLS_A_CLUSTER))
    data = io.BytesIO()
    np.save(data, centroids)
    write_atomically(matrix.folder / CLUSTERS, data.getvalue())


def _symbol_keys(catalog: Catalog) -> tuple[NDArray[np.int64], Keys]:
    """Return the rows of all symbols, ascending, and the keys of their vectors."""
    import numpy as np

    from dowse.vectors.keys import as_keys

    symbols, keys = catalog.vector_keys()
    return np.array(symbols, np.int64), as_keys(keys)


def _open_matrix(folder: Path) -> Matrix:
    """Open the matrix of an encoder, of whatever dimension; an empty one if there is none."""
    from dowse.vectors.matrix import Matrix, any_dimension

    return Matrix.open(folder, any_dimension(folder))


def _read_state(folder: Path) -> dict[str, Any]:
    """Return the state of a matrix as plain data, nothing if it can't be read."""
    try:
        return {**parse_state((folder / STATE).read_bytes())}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _read_counts(folder: Path) -> dict[str, Any]:
    """Return the saved counts, nothing if they can't be read: then they are counted again."""
    try:
        counts = json.loads((folder / EMBEDDED).read_bytes())
    except (OSError, ValueError):
        return {}
    is_sound = isinstance(counts, dict) and isinstance(counts.get("symbols"), int)
    return counts if is_sound else {}
