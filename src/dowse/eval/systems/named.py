"""Other tools by the names that the command line gives them: `semble=FOLDER`, `paper=ADDRESS`."""

from __future__ import annotations

from collections.abc import Callable

from dowse.errors import EvalError
from dowse.eval.systems.constant import constant
from dowse.eval.systems.fts5 import fts5
from dowse.eval.systems.ripgrep import ripgrep
from dowse.eval.systems.semble import semble
from dowse.eval.systems.system import System
from dowse.index import Index

# Makes a tool ready to answer questions about an index, at a level.
MakeSystem = Callable[[Index, str], System]


def named_system(text: str) -> tuple[str, MakeSystem]:
    """Return what a row is called, and what makes the tool for it."""
    name, _, folder = text.partition("=")
    if name == "ripgrep":
        return name, lambda index, level: ripgrep(index, level=level)
    if name == "constant":
        return name, lambda index, level: constant(index, level=level)
    if name == "fts5":
        return name, lambda index, _: fts5(index)
    if name == "semble" and folder:
        return name, lambda index, level: semble(index, folder, level=level)
    if name == "paper" and folder:
        return name, lambda index, _: _paper(index, folder)
    if name == "semble":
        raise EvalError("semble needs a model2vec model; write semble=FOLDER")
    if name == "paper":
        raise EvalError("paper needs a cluster; write paper=elastic://HOST:PORT/NAME")
    raise EvalError(
        f"no tool is called {name!r}; there are ripgrep, fts5, constant, semble=FOLDER and paper=ADDRESS"
    )


def _paper(index: Index, address: str) -> System:
    from dowse.research.paper import paper  # a cluster's client is loaded only for a cluster

    return paper(index, address)
