"""Other tools, measured as dowse is: each a callable that takes a query and how many results are wanted.

They see what dowse sees: the files and texts of its index, without documentation where that is stripped.
"""

from __future__ import annotations

from collections.abc import Callable

from dowse.errors import EvalError
from dowse.eval.systems.baselines import fts5
from dowse.eval.systems.ripgrep import ripgrep
from dowse.eval.types import RankedSearch
from dowse.index import Index

# Prepares a tool for the queries about an index, at a level.
MakeSystem = Callable[[Index, str], RankedSearch]

_SYSTEMS: dict[str, MakeSystem] = {"ripgrep": ripgrep, "fts5": lambda index, _: fts5(index)}


def named_system(name: str) -> MakeSystem:
    """Return the factory of a tool."""
    if name not in _SYSTEMS:
        raise EvalError(f"no tool is called {name!r}; there are {' and '.join(_SYSTEMS)}")
    return _SYSTEMS[name]
