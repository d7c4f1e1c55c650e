"""Other tools, measured as dowse is: each a callable that takes a query and how many results are wanted.

They see what dowse sees: the files and texts of its index, without documentation where that is stripped.
"""

from __future__ import annotations

from collections.abc import Callable

from dowse.errors import EvalError
from dowse.eval.systems.baselines import fts5
from dowse.eval.systems.ripgrep import ripgrep
from dowse.eval.systems.semble import semble
from dowse.eval.types import RankedSearch
from dowse.index import Index

# Prepares a tool for the queries about an index, at a level.
MakeSystem = Callable[[Index, str], RankedSearch]


def named_system(text: str) -> tuple[str, MakeSystem]:
    """Return the row's name and the factory of a tool: `ripgrep`, `semble=FOLDER`, `paper=ADDRESS`."""
    name, _, folder = text.partition("=")
    makers: dict[str, MakeSystem] = {
        "ripgrep": ripgrep,
        "fts5": lambda index, _: fts5(index),
        "semble": lambda index, level: semble(index, folder, level),
        "paper": lambda index, _: _paper(index, folder),
    }
    if name not in makers:
        raise EvalError(
            f"no tool is called {name!r}; there are ripgrep, fts5, semble=FOLDER and paper=ADDRESS"
        )
    if name == "semble" and not folder:
        raise EvalError("semble needs a model2vec model; write semble=FOLDER")
    if name == "paper" and not folder:
        raise EvalError("paper needs a cluster; write paper=elastic://HOST:PORT/NAME")
    return name, makers[name]


def _paper(index: Index, address: str) -> RankedSearch:
    from dowse.eval.systems.paper import paper  # a cluster's client is loaded only for a cluster

    return paper(index, address)
