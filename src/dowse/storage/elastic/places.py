"""Places of symbols in the Poincaré ball: the tree of those that are asked for, embedded when they are.

A cluster may hold thousands of repositories, and a search asks for some hundred symbols: their own tree,
with nothing else in it, takes milliseconds to embed and nothing to keep. It has the same paths as the whole
tree, so distances order pairs of symbols as hops do; only the angles are wider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dowse.research.hyperbolic.chains import DEEPEST, common_place, file_chain
from dowse.types import SymbolRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def points(rows: Sequence[SymbolRow], dimension: int) -> NDArray[np.float64]:
    """Return the points of symbols, seen from the deepest folder or file that holds them all."""
    from dowse.research.hyperbolic.embed import as_floats, embed, seen_from
    from dowse.research.hyperbolic.scale import Scale
    from dowse.research.hyperbolic.shape import tree_of_paths

    if not rows:
        raise ValueError("there is no symbol to place")
    files = sorted({_place(row) for row in rows})
    shared = common_place(files)
    # As in the whole tree: children by name, then symbols by line.
    ordered = sorted(set(rows), key=_in_file)
    tree, ends = tree_of_paths([shared, *files, *((*_place(row), row.key) for row in ordered)])
    scale = Scale.choose(tree.widest, tree.depth, dimension)
    embedded = embed(tree, scale)
    at = {row.row: end for row, end in zip(ordered, ends[1 + len(files) :], strict=True)}
    placed = embedded[[at[row.row] for row in rows]]
    return as_floats(seen_from(placed, embedded[ends[0]]) if shared else placed)


def _place(row: SymbolRow) -> tuple[str, ...]:
    """Return the way to the file of a symbol, as far as it is embedded."""
    return file_chain(row.repo, row.path)[:DEEPEST]


def _in_file(row: SymbolRow) -> tuple[str, str, int, int, str]:
    return row.repo, row.path, row.start_line, -row.end_line, row.key
