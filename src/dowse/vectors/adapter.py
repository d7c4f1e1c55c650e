"""The query adapter: a linear map, learnt from a repository's history, that moves queries towards its code.

    q' = normalise(q + strength · q Δ)

Δ is a ridge regression (Hoerl and Kennard 1970) of the code that commits changed on their subjects. What is
stored of it is one file of an encoder in the folder of what is derived from an index (`Reader.cache_folder`):

    16 bytes    a hash of all that follows: a damaged file counts as none
    one line    JSON, the fields of `AdapterFacts`
    matrix      Δ as 32-bit floats; empty where the adapter is not used
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.quick_dataclasses import dataclass, fields, replace
from dowse.security.safe_files import make_private_directory, read_regular_file, write_atomically
from dowse.vectors.files import encoder_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Larger matrices would cost more than they gain; encoders of code have 256 to 1,024 dimensions.
MAX_DIMENSION = 1_024
# The weight of the penalty: 3 to 10 were equally good on ten repositories.
_RIDGE = 10.0
_DIGEST_BYTES = 16
_MAX_BYTES = 4 * MAX_DIMENSION**2 + 10_000


@dataclass(frozen=True, slots=True)
class AdapterFacts:
    """What was learnt, from what, and whether it is used."""

    head: str  # the commit that the history was read from
    newest: str = ""  # the newest commit that makes a query
    commits: int = 0  # subjects with changed symbols that still exist
    strength: float = 0.0  # 0: not used
    validated: int = 0  # the newest of them, which cross-validation asked
    before: float = 0.0  # mean reciprocal rank of the embedding lane on them without the adapter,
    after: float = 0.0  # with it,
    shuffled: float = 0.0  # and with one that was fitted to shuffled targets
    reason: str = ""  # why it is not used
    older_than: str = ""  # of an evaluation: one of its commits; newer ones were not learnt

    @property
    def text(self) -> str:
        """The same in words."""
        if not self.validated:
            return f"none: {self.reason}"
        compared = f"MRR {self.before:.3f} → {self.after:.3f} by cross-validation on {self.validated:,}"
        used = f", not used: {self.reason}" if self.reason else ""
        return f"{self.commits:,} commits, {compared}{used}"


class Adapter:
    """An adapter in use."""

    def __init__(self, facts: AdapterFacts, matrix: Floats) -> None:
        self.facts, self._matrix = facts, matrix

    def adapt(self, query: Floats) -> Floats:
        """Return the vector of a query, adapted."""
        return shift(query, self._matrix, self.facts.strength)


def fit(queries: Floats, targets: Floats) -> Floats:
    """Return Δ for pairs of unit vectors, one a row: (QᵀQ + λI) Δ = Qᵀ(D − Q)."""
    import numpy as np

    gram = queries.T @ queries + _RIDGE * np.eye(queries.shape[1], dtype=np.float32)
    return np.linalg.solve(gram, queries.T @ (targets - queries)).astype(np.float32)


def shift(queries: Floats, matrix: Floats, strength: float) -> Floats:
    """Return the adapted vectors of queries, of length 1."""
    import numpy as np

    shifted = queries + strength * (queries @ matrix)
    unit: Floats = shifted / np.maximum(np.linalg.norm(shifted, axis=-1, keepdims=True), 1e-9)
    return unit


def read_facts(derived: Path, encoder: str) -> AdapterFacts | None:
    """Return what is known of the adapter of an encoder; None if none was learnt, or the file is damaged."""
    known = _read(derived, encoder)
    return known[0] if known else None


def write_adapter(derived: Path, encoder: str, facts: AdapterFacts, matrix: Floats | None = None) -> None:
    """Replace the adapter of an encoder atomically."""
    body = json.dumps(_values(facts)).encode() + b"\n"
    if matrix is not None and facts.strength:
        body += matrix.astype("<f4").tobytes()
    make_private_directory(derived)
    write_atomically(_path(derived, encoder), _digest(body) + body)


def move_head(derived: Path, encoder: str, head: str) -> None:
    """Record that a history up to another commit says nothing new."""
    known = _read(derived, encoder)
    if known:
        body = json.dumps(_values(replace(known[0], head=head))).encode() + b"\n" + known[1]
        write_atomically(_path(derived, encoder), _digest(body) + body)


def load_adapter(derived: Path | None, encoder: str, dimension: int, cache: dict[str, Any]) -> Adapter | None:
    """Return the adapter of an encoder if it is used; `cache` keeps it until its file is replaced."""
    if derived is None:
        return None
    path = _path(derived, encoder)
    try:
        status = path.stat()
    except OSError:
        return None
    stamp, name = (status.st_ino, status.st_size, status.st_mtime_ns), path.name
    if name not in cache or cache[name][0] != stamp:
        cache[name] = (stamp, _load(derived, encoder, dimension))
    adapter: Adapter | None = cache[name][1]
    return adapter


def _load(derived: Path, encoder: str, dimension: int) -> Adapter | None:
    known = _read(derived, encoder)
    if known is None or len(known[1]) != 4 * dimension**2:
        return None
    import numpy as np

    facts, data = known
    matrix = np.frombuffer(data, "<f4").reshape(dimension, dimension)
    # An index may come from anybody: the hash proves nothing.
    is_sound = 0 < facts.strength <= 1 and bool(np.isfinite(matrix).all()) and bool(abs(matrix).max() < 1e3)
    return Adapter(facts, matrix) if is_sound else None


def _read(derived: Path, encoder: str) -> tuple[AdapterFacts, bytes] | None:
    """Return the facts and the bytes of the matrix; None if there are none, or they are damaged."""
    try:
        data = read_regular_file(_path(derived, encoder), _MAX_BYTES)
        if _digest(data[_DIGEST_BYTES:]) != data[:_DIGEST_BYTES]:
            return None
        line, _, matrix = data[_DIGEST_BYTES:].partition(b"\n")
        values = json.loads(line)
        kinds = {name: type(value) for name, value in _values(AdapterFacts("")).items()}
        return AdapterFacts(**{name: kind(values[name]) for name, kind in kinds.items()}), matrix
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return None


def _path(derived: Path, encoder: str) -> Path:
    return encoder_path(derived, f"adapter-{encoder}")


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _values(facts: AdapterFacts) -> dict[str, Any]:
    return {each.name: getattr(facts, each.name) for each in fields(facts)}
