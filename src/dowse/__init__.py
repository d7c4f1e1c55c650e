"""dowse finds code by what it does: `Index.open(".")`, `update()`, `search("retry with backoff")`."""

from __future__ import annotations

from dowse.api import Index
from dowse.config import Settings
from dowse.errors import DowseError
from dowse.types import Answer, Contribution, Hit, LineMatch, Symbol
from dowse.version import __version__

__all__ = [
    "Answer",
    "Contribution",
    "DowseError",
    "Hit",
    "Index",
    "LineMatch",
    "Settings",
    "Symbol",
    "__version__",
]
