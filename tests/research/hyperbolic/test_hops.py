"""Distances in trees, against climbing one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dowse.research.hyperbolic.chains import hop_matrix
from dowse.research.hyperbolic.shape import tree_from_paths
from research.hyperbolic.trees import climb

chains = st.lists(st.lists(st.sampled_from("abc"), max_size=6), max_size=10)


@given(chains)
def test_chains_need_no_tree(names: list[list[str]]):
    tree, ends = tree_from_paths(names)
    found = hop_matrix(names)
    assert found.shape == (len(names), len(names))
    assert found.tolist() == [[climb(tree, a, b) for b in ends] for a in ends]


def test_the_same_name_in_two_folders_is_two_places():
    found = hop_matrix([("repo", "a", "x.py", "f"), ("repo", "b", "x.py", "f"), ("repo", "a", "x.py")])
    assert found.tolist() == [[0, 6, 1], [6, 0, 5], [1, 5, 0]]
