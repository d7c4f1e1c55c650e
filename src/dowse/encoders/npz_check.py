"""NumPy archives (.npz) are checked before their arrays are read: no pickles, no decompression bombs."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

MAX_WEIGHT_BYTES = 2_000_000_000
_MAX_ARRAYS = 1_000
_MAX_DIMENSIONS = 2


def check_npz(archive: Path) -> None:
    """Raise ValueError unless an .npz archive holds plain arrays of floats, as large as their headers say.

    `numpy.savez` compresses nothing, so whatever is compressed may be a decompression bomb. NumPy allocates
    an array before it reads it, so the header has to agree with the size of the file.
    """
    with zipfile.ZipFile(archive) as arrays:
        entries = arrays.infolist()
        if len(entries) > _MAX_ARRAYS or sum(entry.file_size for entry in entries) > MAX_WEIGHT_BYTES:
            raise ValueError("too many arrays, or too large")
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED:
                raise ValueError("compressed arrays")
            with arrays.open(entry) as file:
                if _size_in_header(file) != entry.file_size:
                    raise ValueError("an array of another size than it says")


def _size_in_header(file: IO[bytes]) -> int:
    """Return the size of an array with its header, according to the header."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read:
        raise ValueError("an unknown version of the format")
    shape, _, kind = read[version](file)
    if kind.kind != "f" or len(shape) > _MAX_DIMENSIONS:
        raise ValueError("no array of floats")
    return file.tell() + math.prod(shape) * int(kind.itemsize)
