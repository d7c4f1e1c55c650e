"""The protocol of dense encoders (bi-encoders)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.document import Document

    Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """A dense encoder: documents and queries become unit vectors whose inner product is their similarity.

    A vector depends on the encoder's id and on its own text alone, never on what is encoded in the same call:
    it can be stored and compared for as long as the id stays.
    """

    @property
    def name(self) -> str:
        """The name that the user gives."""

    @property
    def id(self) -> str:
        """Fingerprint of the weights and the input format; fit for a file name."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def encode_documents(self, documents: Sequence[Document | str]) -> Vectors:
        """Return a unit row for every document; a text is code without a name."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit row for every query."""


def file_safe(name: str) -> str:
    """Return a name with nothing but a-z, 0-9, dots and dashes."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "encoder"
