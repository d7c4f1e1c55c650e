"""The public API: `Index`, which opens, updates and searches the index of a repository."""

from __future__ import annotations

from dowse.index.api import Index
from dowse.index.internals import REVISION_SETTINGS
from dowse.index.limits import QUICK_SECONDS, QUICK_SYMBOLS, REFRESH_CHANGES, REFRESH_FILES

__all__ = [
    "QUICK_SECONDS",
    "QUICK_SYMBOLS",
    "REFRESH_CHANGES",
    "REFRESH_FILES",
    "REVISION_SETTINGS",
    "Index",
]
