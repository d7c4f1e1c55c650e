"""An encoder whose batches run asynchronously, here or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dowse.errors import DowseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.document import Document
    from dowse.encoders.encoder import Encoder, Vectors

    Codes = NDArray[np.int8]

# Documents of one task: a few seconds of work, which is all that the death of a worker can cost, and enough
# to batch sequences of the same length.
BATCH = 256


class EncoderSpec(NamedTuple):
    """The arguments that load an encoder, on every machine."""

    name: str
    view: str
    device: str
    threads: int = 1


class Dispatch(Protocol):
    """Encodes batches on workers."""

    def __call__(self, spec: EncoderSpec, batches: Sequence[Sequence[Document]]) -> Callable[[], list[Codes]]:
        """Submit batches; the result waits for them and returns their codes in order."""


@lru_cache(maxsize=2)
def load_encoder(spec: EncoderSpec) -> Encoder:
    """Return an encoder, which stays loaded for the life of the process."""
    from dowse.encoders import registry

    return registry.load_encoder(*spec)


def encode_batch(spec: EncoderSpec, documents: Sequence[Document]) -> Codes:
    """Return the vectors of documents quantised to bytes, as every index stores them."""
    import numpy as np

    from dowse.vectors.quantize import quantise

    vectors = load_encoder(spec).encode_documents(documents)
    if not np.isfinite(vectors).all():
        raise DowseError(f"the encoder {spec.name} gives numbers that are not finite; use another one")
    return quantise(vectors)[0]


class DistributedEncoder:
    """An encoder that runs small requests itself and dispatches large ones to workers."""

    def __init__(self, spec: EncoderSpec, dispatch: Dispatch | None = None, batch: int = BATCH) -> None:
        self._spec, self._dispatch, self._batch = spec, dispatch, batch

    @cached_property
    def _encoder(self) -> Encoder:
        return load_encoder(self._spec)

    @property
    def name(self) -> str:
        """The name that users know."""
        return self._encoder.name

    @property
    def id(self) -> str:
        """Fingerprint of the weights and of what is read."""
        return self._encoder.id

    @property
    def dimension(self) -> int:
        """The dimension of its vectors."""
        return self._encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for every query."""
        return self._encoder.encode_queries(texts)

    def encode_documents(self, documents: Sequence[Document]) -> Vectors:
        """Return a unit vector for every document."""
        return self.submit(documents)()

    def submit(self, documents: Sequence[Document]) -> Callable[[], Vectors]:
        """Start to encode; the result waits and returns a unit vector for every document."""
        import numpy as np

        from dowse.vectors.quantize import restore, scales_of

        def encode_here() -> list[Codes]:
            return [encode_batch(self._spec, documents)] if documents else []

        codes: Callable[[], list[Codes]] = encode_here
        if self._dispatch is not None and len(documents) > self._batch:
            starts = range(0, len(documents), self._batch)
            codes = self._dispatch(self._spec, [documents[start : start + self._batch] for start in starts])

        def wait() -> Vectors:
            joined = np.concatenate([np.empty((0, self.dimension), np.int8), *codes()])
            return restore(joined, scales_of(joined))

        return wait
