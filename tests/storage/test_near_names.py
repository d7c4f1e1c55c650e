"""Names within an edit distance, found in memory, are those that comparing all of them finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dowse.query.edits import edit_distance, fold_name
from dowse.storage.near_names import FoldedNames, matches_pattern

NAMES = st.lists(st.text("abAB_ ", min_size=1, max_size=8), max_size=30)


@given(NAMES, st.text("ab", min_size=1, max_size=6), st.integers(0, 2))
def test_near_names_are_those_within_the_distance(names: list[str], wanted: str, distance: int) -> None:
    found = {names[row] for row in FoldedNames(enumerate(names)).near(wanted, distance)}
    near = {
        name
        for name in names
        if fold_name(name) and edit_distance(fold_name(name), wanted, distance) <= distance
    }
    # Shorter than the pieces, nothing stays as it is; a transposition may cross the bound of two pieces.
    assert found <= near
    assert all(_touches_each_piece(fold_name(name), wanted, distance) for name in near - found)


def _touches_each_piece(name: str, wanted: str, distance: int) -> bool:
    """Whether no piece of the wanted name is in another."""
    size = -(-len(wanted) // (distance + 1))
    return not any(wanted[start : start + size] in name for start in range(0, len(wanted), size))


def test_a_name_that_begins_with_a_separator_is_another_one() -> None:
    assert matches_pattern("computeDigest", "computedigest", 0)
    assert not matches_pattern("_compute_digest", "computedigest", 0)
