"""The seam between the registries and the miner."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from dowse_training.pairs.model import Package


class FetchError(Exception):
    """A package could not be had; the message is a reason that is counted, the same for all alike."""


class Source(Protocol):
    """Something that lays out the source of a package, given its name, in a folder."""

    @property
    def registry(self) -> str:
        """What names of this source begin with, on the command line and in the manifest."""
        ...

    def fetch(self, name: str, scratch: Path) -> Package:
        """Lay a package out (in `scratch`, an empty folder, unless it lies somewhere already).

        Called from several threads at once.

        Raises:
            FetchError: With the reason.
        """
        ...
