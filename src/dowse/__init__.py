"""dowse finds code by what it does: `Index.open(".")`, `update()`, `search("retry with backoff")`."""

from __future__ import annotations

from dowse.version import __version__

# As in `typing`, whose import would take a third of the time of a command that a warm process answers.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dowse.answer import Answer
    from dowse.config import Settings
    from dowse.encoders.encoder import Encoder
    from dowse.encoders.registry import load_encoder
    from dowse.errors import DowseError
    from dowse.index import Index
    from dowse.index.asynchronous import AsyncIndex
    from dowse.types import Contribution, Hit, LineMatch, Symbol

__all__ = [
    "Answer",
    "AsyncIndex",
    "Contribution",
    "DowseError",
    "Encoder",
    "Hit",
    "Index",
    "LineMatch",
    "Settings",
    "Symbol",
    "__version__",
    "load_encoder",
]

# The module of each export, imported on first use: the command line starts through this file and needs none.
_MODULES = {
    "Answer": "dowse.answer",
    "AsyncIndex": "dowse.index.asynchronous",
    "DowseError": "dowse.errors",
    "Encoder": "dowse.encoders.encoder",
    "Index": "dowse.index",
    "Settings": "dowse.config",
    "load_encoder": "dowse.encoders.registry",
    **dict.fromkeys(("Contribution", "Hit", "LineMatch", "Symbol"), "dowse.types"),
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'dowse' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
