"""What every encoder can do, whatever it is made of."""

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
    """Turns documents and queries into unit vectors whose inner product says how alike they are.

    A vector depends on the encoder's id and on its own text alone, never on what is encoded beside it: it can
    be kept and compared for as long as the id stays.
    """

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def id(self) -> str:
        """Fingerprint of the weights and of what is read; fit for a file name."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """Return a unit row for every document."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit row for every query."""


def file_safe(name: str) -> str:
    """Return a name with nothing but a-z, 0-9, dots and dashes."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "encoder"
