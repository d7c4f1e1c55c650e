"""What is wrong with a snapshot."""

from __future__ import annotations

from dowse.errors import DowseError


class BrokenSnapshot(DowseError):
    """A file that is no snapshot, or not all of one, or one that dowse did not write."""
