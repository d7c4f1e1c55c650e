"""Frames of vectors: a small JSON header, then keys, then one signed byte a dimension."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dowse.security.limited_json import parse_json_limited
from dowse.transfer.limits import VECTORS_IN_FRAME, BrokenSnapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8]

_LENGTH = struct.Struct("<I")
# The header holds the name of an encoder, and a number.
_HEADER_BYTES = 1_000


def encode_vector_frame(encoder: str, keys: Sequence[bytes], codes: Codes) -> bytes:
    """Return the payload of a frame."""
    header = json.dumps({"encoder": encoder, "count": len(keys)}).encode()
    return _LENGTH.pack(len(header)) + header + b"".join(keys) + codes.tobytes()


def check_vector_frame(data: bytes, dimensions: Mapping[str, int]) -> tuple[str, int, int]:
    """Return encoder, count and the offset of the keys; raises if the payload has another size."""
    from dowse.vectors.keys import KEY_BYTES

    try:
        (length,) = _LENGTH.unpack_from(data)
        if length > _HEADER_BYTES:
            raise ValueError("too long")
        offset = _LENGTH.size + length
        header = parse_json_limited(
            data[_LENGTH.size : offset], max_memory=4 * _HEADER_BYTES, max_elements=10
        )
        encoder, count = header["encoder"], header["count"]
        if type(count) is not int or not 1 <= count <= VECTORS_IN_FRAME:
            raise ValueError("out of range")
        if len(data) != offset + count * (KEY_BYTES + dimensions[encoder]):
            raise ValueError("another size")
    except (struct.error, ValueError, KeyError, TypeError):
        raise BrokenSnapshot("a frame of vectors is not of the size that it says") from None
    return encoder, count, offset


def decode_vector_frame(data: bytes, dimensions: Mapping[str, int]) -> tuple[str, list[bytes], Codes]:
    """Return encoder, keys and codes."""
    import numpy as np

    from dowse.vectors.keys import KEY_BYTES

    encoder, count, offset = check_vector_frame(data, dimensions)
    codes_offset = offset + count * KEY_BYTES
    keys = [data[start : start + KEY_BYTES] for start in range(offset, codes_offset, KEY_BYTES)]
    codes = np.frombuffer(data, np.int8, offset=codes_offset)
    return encoder, keys, codes.reshape(count, dimensions[encoder])
