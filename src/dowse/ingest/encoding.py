"""Encoders whose work can be begun now and fetched later, here or on other machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dowse.errors import DowseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.document import Document
    from dowse.encoders.encoder import Encoder, Vectors

    Codes = NDArray[np.int8]

# Documents that a worker encodes at a time: a few seconds, which is all that its death can cost, and enough
# that sequences of the same length meet.
CHUNK = 256


class EncoderChoice(NamedTuple):
    """What names an encoder on every machine."""

    name: str
    view: str
    device: str
    threads: int = 1


class Spread(Protocol):
    """What encodes chunks elsewhere."""

    def __call__(
        self, choice: EncoderChoice, chunks: Sequence[Sequence[Document]]
    ) -> Callable[[], list[Codes]]:
        """Begin with some chunks; the result waits for them, in their order."""


@lru_cache(maxsize=2)
def loaded(choice: EncoderChoice) -> Encoder:
    """Return an encoder, which stays loaded for as long as the process lives."""
    from dowse.encoders.registry import load_encoder

    return load_encoder(*choice)


def encode_chunk(choice: EncoderChoice, documents: Sequence[Document]) -> Codes:
    """Encode some documents; bytes come back, for that is what every index keeps of a vector."""
    import numpy as np

    from dowse.vectors.quantize import quantise

    vectors = loaded(choice).encode_documents(documents)
    if not np.isfinite(vectors).all():
        raise DowseError(f"the encoder {choice.name} gives numbers that are not finite; use another one")
    return quantise(vectors)[0]


def _encode_here(choice: EncoderChoice, documents: Sequence[Document]) -> list[Codes]:
    return [encode_chunk(choice, documents)] if documents else []


class SpreadEncoder:
    """An encoder that does a few documents itself and spreads many over workers."""

    def __init__(self, choice: EncoderChoice, spread: Spread | None = None, chunk: int = CHUNK) -> None:
        self._choice, self._spread, self._chunk = choice, spread, chunk

    @cached_property
    def _encoder(self) -> Encoder:
        return loaded(self._choice)

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self._encoder.name

    @property
    def id(self) -> str:
        """Fingerprint of the weights and of what is read."""
        return self._encoder.id

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit row for every query."""
        return self._encoder.encode_queries(texts)

    def encode_documents(self, documents: Sequence[Document]) -> Vectors:
        """Return a unit row for every document."""
        return self.begin(documents)()

    def begin(self, documents: Sequence[Document]) -> Callable[[], Vectors]:
        """Begin to encode; what is returned waits for the end and gives a unit row for every document."""
        import numpy as np

        from dowse.vectors.quantize import restore, scales_of

        ready: Callable[[], list[Codes]]
        if self._spread is None or len(documents) <= self._chunk:
            ready = partial(_encode_here, self._choice, documents)
        else:
            starts = range(0, len(documents), self._chunk)
            ready = self._spread(self._choice, [documents[at : at + self._chunk] for at in starts])

        def vectors() -> Vectors:
            codes = np.concatenate([np.empty((0, self.dimension), np.int8), *ready()])
            return restore(codes, scales_of(codes))

        return vectors
