"""The query adapter: a linear map, learnt from a repository's history, that moves queries towards its code.

    q' = normalise(q + strength · q Δ)

Δ is a ridge regression (Hoerl and Kennard 1970) of the code that commits changed on their subjects. It is
stored for each encoder, in the folder of what is derived from an index (`Reader.cache_folder`):

    16 bytes    a hash of all that follows: a damaged file counts as none
    one line    JSON, the fields of `AdapterFacts`
    matrix      Δ as 32-bit floats; empty where the adapter is not used
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.lazy_classes import asdict, dataclass, replace
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
MAX_BYTES = 4 * MAX_DIMENSION**2 + 10_000
# Limits on what is read: an index may come from anybody.
MAX_TEXT, _MAX_NUMBER = 500, 1e9


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


class AdapterFile:
    """The file with the adapter of an encoder, in the folder of what is derived from an index."""

    def __init__(self, derived: Path, encoder: str) -> None:
        self.path = encoder_path(derived, f"adapter-{encoder}")

    def read(self) -> bytes:
        """Return its content, nothing if it can't be read."""
        try:
            return read_regular_file(self.path, MAX_BYTES)
        except (OSError, ValueError):
            return b""

    def write(self, data: bytes) -> None:
        """Replace it."""
        make_private_directory(self.path.parent)
        write_atomically(self.path, data)


def read_facts(store: AdapterFile) -> AdapterFacts | None:
    """Return what is known of an adapter; None if none was learnt, or if it is damaged."""
    known = unpack(store.read())
    return known[0] if known else None


def write_adapter(store: AdapterFile, facts: AdapterFacts, matrix: Floats | None = None) -> None:
    """Replace an adapter atomically."""
    is_used = matrix is not None and facts.strength
    store.write(pack(facts, matrix.astype("<f4").tobytes() if is_used and matrix is not None else b""))


def move_head(store: AdapterFile, head: str) -> None:
    """Record that a history up to another commit says nothing new."""
    known = unpack(store.read())
    if known:
        store.write(pack(replace(known[0], head=head), known[1]))


def pack(facts: AdapterFacts, matrix: bytes) -> bytes:
    """Return an adapter as it is stored."""
    body = json.dumps(asdict(facts)).encode() + b"\n" + matrix
    return _digest(body) + body


def unpack(data: bytes) -> tuple[AdapterFacts, bytes] | None:
    """Return the facts and the bytes of the matrix; None if there are none, or they are damaged."""
    body = data[_DIGEST_BYTES:]
    if len(data) > MAX_BYTES or _digest(body) != data[:_DIGEST_BYTES]:
        return None
    line, _, matrix = body.partition(b"\n")
    facts = parse_facts(line)
    return (facts, matrix) if facts else None


def parse_facts(line: str | bytes) -> AdapterFacts | None:
    """Return facts from their JSON; None if a field is missing or beyond all limits."""
    try:
        values = json.loads(line)
        kinds = {name: type(value) for name, value in asdict(AdapterFacts("")).items()}
        known = {name: kind(values[name]) for name, kind in kinds.items()}
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    texts = [value for value in known.values() if isinstance(value, str)]
    numbers = [value for value in known.values() if not isinstance(value, str)]
    is_sound = all(len(text) <= MAX_TEXT for text in texts) and all(
        math.isfinite(number) and 0 <= number < _MAX_NUMBER for number in numbers
    )
    return AdapterFacts(**known) if is_sound else None


def load_adapter(derived: Path | None, encoder: str, dimension: int, cache: dict[str, Any]) -> Adapter | None:
    """Return the adapter of an encoder if it is used; `cache` keeps it until its file is replaced."""
    if derived is None:
        return None
    store = AdapterFile(derived, encoder)
    path = store.path
    try:
        status = path.stat()
    except OSError:
        return None
    stamp, name = (status.st_ino, status.st_size, status.st_mtime_ns), path.name
    if name not in cache or cache[name][0] != stamp:
        cache[name] = (stamp, decode_adapter(store.read(), dimension))
    adapter: Adapter | None = cache[name][1]
    return adapter


def is_damaged(derived: Path | None, encoder: str) -> bool:
    """Whether there is an adapter of an encoder that is not what was written."""
    data = AdapterFile(derived, encoder).read() if derived is not None else b""
    return bool(data) and unpack(data) is None


def decode_adapter(data: bytes, dimension: int) -> Adapter | None:
    """Return an adapter that is used; None if it is not, or if it is damaged or of another dimension."""
    known = unpack(data)
    if known is None or len(known[1]) != 4 * dimension**2:
        return None
    import numpy as np

    facts, values = known
    matrix = np.frombuffer(values, "<f4").reshape(dimension, dimension)
    # An index may come from anybody: the hash proves nothing.
    is_sound = 0 < facts.strength <= 1 and bool(np.isfinite(matrix).all()) and bool(abs(matrix).max() < 1e3)
    return Adapter(facts, matrix) if is_sound else None


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
