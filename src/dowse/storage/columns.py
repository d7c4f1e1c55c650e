"""Tables of words and numbers as one compressed block: references, and the edges of uses.

A block is columns, not rows, since a column repeats itself. Words are numbers of a vocabulary. Of numbers,
the first bytes come first, then the second ones and so on (byte shuffle, as in Blosc): most are zeros.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

from dowse.damage import BrokenBlock
from dowse.storage.compression import pack, unpack

_HEADER = struct.Struct("<iii")
_BYTES = 4


def pack_columns(
    words: Sequence[Sequence[str]], ascending: Sequence[int], numbers: Sequence[Sequence[int]]
) -> bytes:
    """Compress columns of equal length: of words, one of ascending numbers, and others of 32 bits each."""
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    text = "\0".join(vocabulary).encode("utf-8", "replace")
    steps = [after - before for before, after in pairwise((0, *ascending))]
    columns = array("i", chain(*([vocabulary[word] for word in column] for column in words), steps, *numbers))
    header = _HEADER.pack(len(ascending), len(words), len(text))
    return pack(header + text + _shuffle(columns.tobytes()))


def unpack_columns(packed: bytes) -> tuple[list[list[str]], list[array[int]]]:
    """Return the columns of words, and those of numbers; raises BrokenBlock if the block is damaged."""
    data = unpack(packed)
    try:
        count, width, length = _HEADER.unpack_from(data)
        vocabulary = data[_HEADER.size : _HEADER.size + length].decode().split("\0")
        values = array("i", _unshuffle(data[_HEADER.size + length :]))
        columns = [values[start : start + count] for start in range(0, len(values), count)]
        words = [[vocabulary[number] for number in column] for column in columns[:width]]
    except (struct.error, ValueError, IndexError) as error:
        raise BrokenBlock(str(error)) from error
    if len(columns) <= width or len(columns[-1]) != count:
        raise BrokenBlock("columns differ in length")
    return words, [array("i", accumulate(columns[width])), *columns[width + 1 :]]


def _shuffle(data: bytes) -> bytes:
    return b"".join([data[plane::_BYTES] for plane in range(_BYTES)])


def _unshuffle(data: bytes) -> bytes:
    size = len(data) // _BYTES
    numbers = bytearray(size * _BYTES)
    for plane in range(_BYTES):
        numbers[plane::_BYTES] = data[plane * size : (plane + 1) * size]
    return bytes(numbers)
