"""Trees to test with: any small one, and those that are hard to keep."""

from __future__ import annotations

from hypothesis import strategies as st

from dowse.research.hyperbolic.shape import Tree, tree_from_parents


@st.composite
def trees(draw: st.DrawFn, most: int = 24) -> Tree:
    count = draw(st.integers(1, most))
    return tree_from_parents([0, *(draw(st.integers(0, node - 1)) for node in range(1, count))])


def spine(depth: int, degree: int, slot: int) -> Tree:
    """Every node of a path has many children; the path goes on with the same one of them each time."""
    parents, node = [0], 0
    for _ in range(depth):
        below = len(parents)
        parents += [node] * degree
        node = below + slot
    return tree_from_parents(parents)


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
