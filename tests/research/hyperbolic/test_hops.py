"""Distances in trees, against climbing one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dowse.research.hyperbolic.chains import hop_matrix
from dowse.research.hyperbolic.shape import Tree, tree_from_paths
from research.hyperbolic.embedding_quality import hops
from research.hyperbolic.trees import climb, trees

chains = st.lists(st.lists(st.sampled_from("abc"), max_size=6), max_size=10)


@given(trees(12))
def test_hops_between_all_pairs(tree: Tree):
    every = np.arange(len(tree))
    found = hops(tree, every[:, None], every)
    assert found.tolist() == [[climb(tree, a, b) for b in every] for a in every]


@given(chains)
def test_chains_need_no_tree(names: list[list[str]]):
    tree, ends = tree_from_paths(names)
    found = hop_matrix(names)
    assert found.shape == (len(names), len(names))
    assert (found == hops(tree, ends[:, None], ends)).all()


def test_the_same_name_in_two_folders_is_two_places():
    found = hop_matrix([("repo", "a", "x.py", "f"), ("repo", "b", "x.py", "f"), ("repo", "a", "x.py")])
    assert found.tolist() == [[0, 6, 1], [6, 0, 5], [1, 5, 0]]
