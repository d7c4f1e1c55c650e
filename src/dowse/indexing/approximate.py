"""Approximate vectors for symbols that have none yet: a first pass that takes seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowse.vectors.files import approximation_of

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.storage.protocol import Backend

# Fewer symbols are embedded within seconds.
MIN_SYMBOLS = 1_000
# Symbols between two commits: less than a second.
_CHUNK = 4_096


def embed_approximately(backend: Backend, encoder: Encoder, table: Encoder) -> int:
    """Encode symbols without a vector of `encoder` by its `table`; return how many were encoded."""
    approximation, encoded = approximation_of(encoder.id), 0
    with backend.vector_writer(approximation, encoder.dimension, 0.0) as writer:
        while missing := _missing(backend, encoder.id, approximation):
            generation, symbols = missing
            while symbols:
                chunk, symbols = symbols[:_CHUNK], symbols[_CHUNK:]
                with backend.reader() as reader:
                    if reader.generation != generation:
                        break  # the rows are those of another generation
                    documents = reader.documents([row for row, _ in chunk])
                writer.put([key for _, key in chunk], table.encode_documents(documents))
                encoded += len(chunk)
    return encoded


def _missing(
    backend: Backend, encoder: str, approximation: str
) -> tuple[int, list[tuple[int, bytes]]] | None:
    """Return the newest generation and the (row, key) of its symbols that have no vector of either kind."""
    with backend.reader() as reader:
        symbols = reader.missing_vectors(encoder)
        symbols = reader.without_vector(approximation, [row for row, _ in symbols])
        return (reader.generation, symbols) if symbols else None
