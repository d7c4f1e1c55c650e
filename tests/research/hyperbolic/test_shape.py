"""Trees from parents and from chains of names, against plain loops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.research.hyperbolic.shape import Tree, tree_from_parents, tree_from_paths
from research.hyperbolic.trees import climb, trees

chains = st.lists(st.lists(st.sampled_from("ab"), max_size=5), max_size=12)


@given(trees())
def test_slots_degrees_and_depths(tree: Tree):
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        assert tree.slots[node] == sum(tree.parents[other] == parent for other in range(1, node))
        assert tree.depths[node] == tree.depths[parent] + 1 == climb(tree, 0, node)
    for node in range(len(tree)):
        assert tree.degrees[node] == sum(tree.parents[other] == node for other in range(1, len(tree)))
    assert tree.slots[0] == tree.depths[0] == 0
    assert tree.depth == max(tree.depths)


@pytest.mark.parametrize("parents", [[], [1, 0], [0, 1], [0, 2, 0], [0, -1], [[0]]])
def test_what_is_no_tree_is_refused(parents: list[int]):
    with pytest.raises(ValueError, match="parent"):
        tree_from_parents(parents)


@given(chains)
def test_equal_beginnings_are_the_same_nodes(names: list[list[str]]):
    tree, ends = tree_from_paths(names)
    beginnings = {tuple(chain[:level]) for chain in names for level in range(len(chain) + 1)} | {()}
    assert len(tree) == len(beginnings)
    assert [tree.depths[end] for end in ends] == [len(chain) for chain in names]
    for a, chain in zip(ends, names, strict=True):
        for b, other in zip(ends, names, strict=True):
            assert (a == b) == (chain == other)
