"""Trees to test with."""

from __future__ import annotations

from hypothesis import strategies as st

from dowse.research.hyperbolic.shape import Tree, tree_from_parents


@st.composite
def trees(draw: st.DrawFn, most: int = 24) -> Tree:
    count = draw(st.integers(1, most))
    return tree_from_parents([0, *(draw(st.integers(0, node - 1)) for node in range(1, count))])


def climb(tree: Tree, a: int, b: int) -> int:
    """Edges between two nodes, counted one by one."""
    above = []
    for node in (a, b):
        path = [node]
        while path[-1]:
            path.append(int(tree.parents[path[-1]]))
        above.append(path)
    shared = len(set(above[0]) & set(above[1]))
    return len(above[0]) + len(above[1]) - 2 * shared
