"""Names within an edit distance, found in memory, are those that comparing all of them finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dowse.query.edits import edit_distance, fold_name, fold_names
from dowse.storage.near_names import FoldedNames, matches_pattern

NAMES = st.lists(st.text("abAB_ ", min_size=1, max_size=8), max_size=30)


@given(NAMES, st.text("ab", min_size=4, max_size=7), st.integers(0, 2))
def test_near_names_are_those_within_the_distance(names: list[str], wanted: str, distance: int) -> None:
    found = {names[row] for row in FoldedNames(enumerate(names)).near(wanted, distance)}
    folded = {name: fold_name(name) for name in names}
    near = {name for name in names if edit_distance(folded[name], wanted, distance) <= distance}
    assert found == near


def test_folding_many_names_gives_what_folding_each_gives() -> None:
    for names in ([], ["a_b", "ΑΣ", "Über-Maß", "__", "x\ny"], ["with\0nul", "b_c"]):
        assert fold_names(names) == [fold_name(name) for name in names]


def test_a_name_that_begins_with_a_separator_is_another_one() -> None:
    assert matches_pattern("computeDigest", "computedigest", 0)
    assert not matches_pattern("_compute_digest", "computedigest", 0)
