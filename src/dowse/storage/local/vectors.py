"""The vectors in an index's folder: which symbol has which, and which are near.

    vectors/ENCODER/    a matrix (dowse.vectors), named after the encoder that made it
        embedded.json   how many symbols of which generation have a vector: read without loading NumPy
        clusters.npy    the centres of the groups of similar symbols

Vectors are named by what was encoded and symbols carry that name, so a matrix fits every generation:
one that was half filled, or filled for a branch that is not checked out, is never wrong.
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
from dowse.storage.local.layout import VECTORS
from dowse.vectors.files import STATE, encoder_path
from dowse.write_lock import lock_holder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.storage.local.catalog import Catalog
    from dowse.storage.protocol import Floats, VectorRequest
    from dowse.vectors.exact import Neighbours
    from dowse.vectors.ivf import ApproxIndex
    from dowse.vectors.matrix import Matrix
    from dowse.vectors.writer import MatrixWriter

_EMBEDDED = "embedded.json"
_CLUSTERS = "clusters.npy"
# Opens the newest generation and its vectors.
Read = Callable[[], AbstractContextManager[tuple[int, "GenerationVectors"]]]
# More clusters than this many symbols each would say nothing.
_SYMBOLS_A_CLUSTER = 5
# How often it is counted how many symbols have a vector: counting reads all their names.
_NOTE_SECONDS = 10.0
# Queries that `dowse doctor` asks both ways.
_HEALTH_QUERIES = 50
# Share of a matrix that may belong to no symbol any more before it is written anew.
_WASTE = 0.5


class LocalVectors:
    """All vectors of an index, by encoder; what is open is shared by the readers of a generation."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / VECTORS
        self._open: dict[str, tuple[object, GenerationVectors]] = {}

    def folder(self, encoder: str) -> Path:
        """Return where the vectors of an encoder lie."""
        return encoder_path(self._folder, encoder)

    def folders(self) -> list[Path]:
        """Return the folders of all encoders."""
        return sorted(folder for folder in self._folder.glob("*") if folder.is_dir())

    def embedded(self, encoder: str, generation: int, catalog: Catalog) -> int:
        """Return how many symbols have a vector; 0 if vectors can't be read, for searches by words go on."""
        folder = self.folder(encoder)
        state, noted = _read_json(folder / STATE), _read_json(folder / _EMBEDDED)
        if not state:
            return 0
        # Who is adding vectors notes their number every now and then; afterwards it has to be right.
        if noted.get("generation") == generation and (noted.get("matrix") == state or lock_holder(folder)):
            return int(noted["symbols"])
        try:
            vectors = self.of(encoder, generation, catalog)
        except DowseError:
            return 0
        _note(generation, vectors)
        return vectors.embedded

    def of(self, encoder: str, generation: int, catalog: Catalog) -> GenerationVectors:
        """Return the vectors of one generation's symbols, as many as there are now."""
        known = self._open.get(encoder)
        if known and known[0] == (catalog.identity, generation) and known[1].is_current():
            return known[1]
        vectors = GenerationVectors(_open_matrix(self.folder(encoder)), *catalog.vector_keys())
        self._open[encoder] = ((catalog.identity, generation), vectors)
        return vectors

    def close(self) -> None:
        """Let go of what is open."""
        self._open.clear()


class GenerationVectors:
    """The symbols of one generation and the rows of a matrix that are theirs."""

    def __init__(self, matrix: Matrix, rows: Sequence[int], keys: Sequence[bytes]) -> None:
        import numpy as np

        from dowse.vectors.keys import as_keys

        self.matrix = matrix
        self._keys = as_keys(keys)
        self._symbols = np.array(rows, np.int64)  # ascending
        self._at = matrix.find(self._keys)  # where each symbol's vector is, -1 for nowhere

    def is_current(self) -> bool:
        """Whether nothing was added since; of what dimension is not known before something is."""
        return len(self.matrix) > 0 and self.matrix.is_current()

    @property
    def embedded(self) -> int:
        """How many symbols have a vector."""
        return int((self._at >= 0).sum())

    def missing(self) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector, one for each key."""
        import numpy as np

        found: dict[bytes, int] = {}
        for index in np.flatnonzero(self._at < 0).tolist():
            found.setdefault(self._keys[index].tobytes(), int(self._symbols[index]))
        return [(row, key) for key, row in found.items()]

    def rows(self, symbols: Sequence[int]) -> Floats:
        """Return the vectors of symbols, zeros for one that has none."""
        import numpy as np

        at = self._at[np.searchsorted(self._symbols, np.array(symbols, np.int64))]
        vectors = np.zeros((len(at), self.matrix.dimension), np.float32)
        vectors[at >= 0] = self.matrix.rows(at[at >= 0])
        return vectors

    def used(self) -> NDArray[np.int64]:
        """Return the rows of the matrix that belong to a symbol."""
        import numpy as np

        return np.unique(self._at[self._at >= 0])

    def nearest(
        self, request: VectorRequest, limit: int, allowed: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        """Return (symbol, cosine) of the nearest symbols, among the allowed ones if those are given."""
        import numpy as np

        owners = self._owners
        if allowed is not None:
            chosen = np.searchsorted(self._symbols, np.sort(np.array(allowed, np.int64)))
            owners = _Owners(self._symbols[chosen], self._at[chosen])
        if not len(owners.rows):
            return []
        everything = len(owners.rows) == len(self.matrix)
        rows, scores = self._search(request, limit, None if everything else owners.rows)
        symbols, which = owners.of(rows)
        return list(zip(symbols[:limit].tolist(), scores[which[:limit]].tolist(), strict=True))

    @functools.cached_property
    def _owners(self) -> _Owners:
        return _Owners(self._symbols, self._at)

    def _search(self, request: VectorRequest, limit: int, allowed: NDArray[np.int64] | None) -> Neighbours:
        from dowse.vectors.exact import exact_top
        from dowse.vectors.ivf import approx_top

        if request.method != "exact" and self.approx:
            return approx_top(self.approx, self.matrix, request.vector, limit, allowed)
        return exact_top(self.matrix, request.vector, limit, allowed)

    @functools.cached_property
    def approx(self) -> ApproxIndex | None:
        """What finds nearly all of the nearest in a fraction of the time; None while there is no need."""
        from dowse.vectors.ivf import load

        return load(self.matrix)

    def health(self) -> tuple[bool, str]:
        """Say whether the numbers are whole, and what an approximate search misses."""
        problem = self.matrix.problem()
        if problem:
            return False, f"{problem}; run `dowse index --rebuild`"
        said = f"{len(self.matrix):,} vectors, {self.embedded:,} of {len(self._symbols):,} symbols have one"
        if not self.approx:
            return True, f"{said}, searched exactly"
        import numpy as np

        from dowse.vectors.ivf_build import noisy_rows, recall

        asked = noisy_rows(self.matrix, _HEALTH_QUERIES, np.random.default_rng(1))
        found = recall(self.approx, self.matrix, asked)
        return True, f"{said}, searched approximately: recall@100 {found:.3f} of {_HEALTH_QUERIES} queries"

    def clusters(self) -> Floats:
        """Return the centres of the groups, none if they were not fitted."""
        import numpy as np

        with contextlib.suppress(OSError, ValueError):
            centres: Floats = np.load(self.matrix.folder / _CLUSTERS, allow_pickle=False)
            if centres.ndim == 2 and centres.shape[1] == self.matrix.dimension:
                return centres
        return np.zeros((0, self.matrix.dimension), np.float32)

    def members(self, cluster: int) -> list[tuple[int, float]]:
        """Return (symbol, cosine) of what is nearer to one centre than to all others, nearest first."""
        import numpy as np

        from dowse.vectors.kmeans import matrix_labels

        has = np.flatnonzero(self._at >= 0)
        labels, closeness = (each[self._at[has]] for each in matrix_labels(self.matrix, self.clusters()))
        mine = np.flatnonzero(labels == cluster)
        order = mine[np.lexsort((self._symbols[has[mine]], -closeness[mine]))]
        return [(int(self._symbols[has[i]]), float(closeness[i])) for i in order]


class _Owners:
    """Which symbols each row of a matrix belongs to: several if they are equal."""

    def __init__(self, symbols: NDArray[np.int64], at: NDArray[np.int64]) -> None:
        import numpy as np

        order = np.argsort(at, kind="stable")
        order = order[np.searchsorted(at[order], 0) :]  # without those that have no vector
        self._symbols = symbols[order]
        self.rows, self._starts = np.unique(at[order], return_index=True)

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the symbols of some rows, row by row and each row's in order, and which row each has."""
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
        self._noted = 0.0

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add vectors; readers see them at once."""
        from dowse.vectors.keys import as_keys

        self._writer.append(as_keys(keys), vectors)
        self._writer.commit()
        if time.monotonic() - self._noted > _NOTE_SECONDS:
            self.note()

    def finish(self, clusters: int, method: str, questions: Callable[[], Floats]) -> None:
        """Forget vectors that no symbol uses, and fit what `related` and a large index need.

        What was done for the same vectors before is not done again.
        """
        from dowse.vectors.ivf_build import APPROX_FROM, refresh

        with self._read() as (_, vectors):
            used = vectors.used()
        if len(used) < len(self._writer) * (1 - _WASTE):
            self._writer.compact(used)
        matrix = self._writer.matrix()
        if _fitted(matrix) != clusters:
            _fit_clusters(matrix, clusters)
        if method == "approx" or (method == "auto" and len(matrix) >= APPROX_FROM):
            refresh(matrix, questions)
        self.note(clusters)

    def note(self, clusters: int | None = None) -> None:
        """Write down how many symbols have a vector, for those who do not want to count."""
        with self._read() as (generation, vectors):
            _note(generation, vectors, clusters)
        self._noted = time.monotonic()


def _note(generation: int, vectors: GenerationVectors, clusters: int | None = None) -> None:
    """Write down what was counted, and what was fitted, for which matrix; it may be lost at any time."""
    noted = {
        "generation": generation,
        "symbols": vectors.embedded,
        "matrix": json.loads(vectors.matrix.state.encode()),
        "clusters": _fitted(vectors.matrix) if clusters is None else clusters,
    }
    if noted == _read_json(vectors.matrix.folder / _EMBEDDED):
        return
    with contextlib.suppress(OSError):  # a folder for reading only, or two who note it at once
        write_atomically(vectors.matrix.folder / _EMBEDDED, json.dumps(noted).encode())


def _fitted(matrix: Matrix) -> int | None:
    """Return how many groups were asked for when they were fitted to this matrix, None if they were not."""
    noted = _read_json(matrix.folder / _EMBEDDED)
    return noted.get("clusters") if noted.get("matrix") == json.loads(matrix.state.encode()) else None


def _fit_clusters(matrix: Matrix, count: int) -> None:
    """Fit the groups of similar symbols."""
    import io

    import numpy as np

    from dowse.vectors.kmeans import matrix_centres

    centres = matrix_centres(matrix, min(count, len(matrix) // _SYMBOLS_A_CLUSTER))
    data = io.BytesIO()
    np.save(data, centres)
    write_atomically(matrix.folder / _CLUSTERS, data.getvalue())


def _open_matrix(folder: Path) -> Matrix:
    """Open the matrix of an encoder, of whatever dimension it is; where there is none, an empty one."""
    from dowse.vectors.matrix import Matrix

    dimension = _read_json(folder / STATE).get("dimension")
    return Matrix.open(folder, dimension if isinstance(dimension, int) else 1)


def _read_json(path: Path) -> dict[str, Any]:
    """Return what a small file says, nothing if there is none or it can't be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
