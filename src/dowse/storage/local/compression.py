"""How texts lie in the catalog: LZ4 unpacks seven times as fast as zlib, at three quarters of its ratio.

Exact search unpacks every file that its trigrams let through, so this is where its time goes.
"""

from __future__ import annotations

from dowse.storage.protocol import BrokenBlock

_SIZE_BYTES = 4
# LZ4 can't shrink anything to less than a 255th.
_MAX_RATIO = 255


def pack(data: bytes) -> bytes:
    """Compress bytes."""
    import lz4.block

    packed: bytes = lz4.block.compress(data)
    return packed


def unpack(packed: bytes) -> bytes:
    """Return what was packed."""
    import lz4.block

    try:
        unpacked_size(packed)
        data: bytes = lz4.block.decompress(packed)
    except (lz4.block.LZ4BlockError, ValueError) as error:
        raise BrokenBlock(str(error)) from error
    return data


def unpacked_size(packed: bytes) -> int:
    """Return the size that a block says it unpacks to.

    Memory for it is taken before unpacking begins, so one that can't be true must not get that far.
    """
    size = int.from_bytes(packed[:_SIZE_BYTES], "little")
    if size > _MAX_RATIO * len(packed):
        raise BrokenBlock("the block can't be as large as it says")
    return size
