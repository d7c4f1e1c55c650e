"""How texts lie in the catalog: LZ4 unpacks seven times as fast as zlib, at three quarters of its ratio.

Exact search unpacks every file that its trigrams let through, so this is where its time goes.
"""

from __future__ import annotations


class BrokenBlock(Exception):
    """Bytes that are not what `pack` made."""


def pack(data: bytes) -> bytes:
    """Compress bytes."""
    import lz4.block

    packed: bytes = lz4.block.compress(data)
    return packed


def unpack(packed: bytes) -> bytes:
    """Return what was packed."""
    import lz4.block

    try:
        data: bytes = lz4.block.decompress(packed)
    except (lz4.block.LZ4BlockError, ValueError) as error:
        raise BrokenBlock(str(error)) from error
    return data
