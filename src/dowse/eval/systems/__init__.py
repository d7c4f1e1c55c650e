"""Other tools, measured as dowse is: each a callable that takes a question and how many results are wanted.

They see what dowse sees: the files and texts of its index, without documentation where that is held back.
"""

from __future__ import annotations

from dowse.eval.systems.constant import constant
from dowse.eval.systems.fts5 import fts5
from dowse.eval.systems.ripgrep import ripgrep
from dowse.eval.systems.semble import semble
from dowse.eval.systems.system import System

__all__ = ["System", "constant", "fts5", "ripgrep", "semble"]
