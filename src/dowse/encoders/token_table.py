"""A table of token vectors: approximates the document vectors of an encoder without running its model.

The vector of a sequence is the sum of its tokens' vectors, weighted by their places, and was trained to be
the vector that the encoder gives it (`dowse train table`). Queries are encoded by the encoder itself, so the
same query vector finds documents of both kinds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoders.encoder import file_safe
from dowse.encoders.model_files import (
    CONFIG_FILE,
    is_shipped,
    is_shipped_file,
    read_model_settings,
    shipped_folder,
)
from dowse.encoders.onnx_encoder import WEIGHTS_FILE, OnnxEncoder
from dowse.errors import DowseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.encoders.document import Document
    from dowse.encoders.encoder import Encoder, Vectors

ARCHITECTURE = "token table"
FORMAT_VERSION = 1


class TableEncoder(OnnxEncoder):
    """Encodes documents by a table, and queries by the shipped encoder that the table approximates."""

    def __init__(self, folder: Path, *, view: str = "symbol", device: str = "auto", threads: int = 1) -> None:
        values = _read_config(folder)
        super().__init__(shipped_folder() / values["of"], view=view, device=device, threads=threads)
        self._of = self.id
        self._table_folder, self._shape = folder, (values["tokens"], self.dimension, values["places"])
        self.name = str(values["name"])
        content = f"{FORMAT_VERSION} {self._of} {values['sha256'][WEIGHTS_FILE]}"
        self.id = f"{file_safe(self.name)}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    def approximates(self, encoder: Encoder) -> bool:
        """Whether its document vectors stand for those of another encoder."""
        return encoder.id == self._of

    def encode_documents(self, documents: Sequence[Document | str]) -> Vectors:
        """Return a unit row for every document."""
        return self._encode(self._views(documents), lambda sequences, _: self._table.encode(sequences))

    @cached_property
    def _table(self) -> TokenTable:
        from dowse.encoders.checksums import check_once

        check_once(self._table_folder)
        return TokenTable(self._table_folder / WEIGHTS_FILE, *self._shape)


class TokenTable:
    """Token vectors in eight bits, mapped from a file: rows, their scales, weights of places, an offset."""

    def __init__(self, file: Path, tokens: int, dimension: int, places: int) -> None:
        import numpy as np

        data: NDArray[np.uint8] = np.memmap(file, np.uint8, "r").view(np.ndarray)  # plain views are fast
        if len(data) != tokens * dimension + 4 * (tokens + places + dimension):
            raise DowseError(f"{file} has not the size of its table; install dowse again")
        rows, numbers = data[: tokens * dimension], data[tokens * dimension :].view(np.float32)
        self._rows = rows.view(np.int8).reshape(tokens, dimension)
        self._scales, self._places, self._offset = np.split(numbers, [tokens, tokens + places])

    def encode(self, sequences: Sequence[Sequence[int]]) -> Vectors:
        """Return a unit row for every sequence of token ids."""
        import numpy as np

        from dowse.encoders.batching import normalise_rows

        out = np.empty((len(sequences), self._rows.shape[1]), np.float32)
        for number, sequence in enumerate(sequences):
            ids = np.array(sequence[: len(self._places)])
            weights = self._scales.take(ids) * self._places[: len(ids)]
            out[number] = (weights / len(ids) ** 0.5) @ self._rows.take(ids, 0).astype(np.float32)
        return normalise_rows(out + self._offset)


def _read_config(folder: Path) -> dict[str, Any]:
    """Read encoder.json; only a shipped table is one: its files need no checks."""
    values = read_model_settings(folder / CONFIG_FILE)
    if (
        not is_shipped_file(folder / CONFIG_FILE)
        or not is_shipped(values["of"])
        or values["version"] != FORMAT_VERSION
    ):
        raise DowseError(
            f"{folder} is no table of this version of dowse; use the shipped one, `--encoder tiny`"
        )
    return values
