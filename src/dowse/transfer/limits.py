"""Limits of a snapshot: more than any real one needs, and too little to fill the memory or the disk."""

from __future__ import annotations

from dowse.errors import DowseError

# Uncompressed bytes of one frame; `dowse export` fills them to some 6 MB.
FRAME_BYTES = 48_000_000
FRAMES = 100_000
# Values in the JSON of one frame: a frame of 6 MB has 300,000.
ELEMENTS = 2_000_000
# Uncompressed references or facts of one file; the largest of a real file is 0.1 MB.
PACKED_BYTES = 16_000_000
PACKED_ELEMENTS = 500_000
# Components of a path; the deepest real trees have some 40.
PATH_PARTS = 200
DIMENSION = 4_096
ENCODERS = 16
VECTORS_IN_FRAME = 65_536
# Everything that a snapshot expands to, against its size: source code compresses to a fifth, generated code
# to a thirtieth, a decompression bomb to a thousandth.
ALLOWANCE_BYTES = 4_000_000
RATIO = 100


class BrokenSnapshot(DowseError):
    """A file that is no snapshot, or not a complete one, or one that dowse did not write."""


class Budget:
    """Counts what a snapshot expands to and stops beyond what its size allows."""

    def __init__(self, compressed: int) -> None:
        """Allow what a file of that many bytes may hold."""
        self._left = ALLOWANCE_BYTES + RATIO * compressed

    def spend(self, count: int) -> None:
        """Count bytes before they are decompressed or read."""
        self._left -= count
        if self._left < 0:
            raise BrokenSnapshot(f"it unpacks to more than {RATIO} times its size")
