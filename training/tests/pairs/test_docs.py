"""Tags give way to what they introduce."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval.mine.doc_pairs import clean_doc


@pytest.mark.parametrize(
    ("doc", "cleaned"),
    [
        ("@brief Add two numbers.\n@param a one", "Add two numbers.\n@param a one"),
        ("\\brief Add two numbers.", "Add two numbers."),
        ("@return the number of open files", "Returns the number of open files"),
        ("\\returns a reference to the diagonal", "Returns a reference to the diagonal"),
        ("@returns {number} - the sum of all", "Returns the sum of all"),
        ("@name addDays\n@category Day Helpers\n@summary Add days.\n\n@param x y", "Add days.\n\n@param x y"),
        ("@description\nAdd the given days.", "Add the given days."),
        ("@public", ""),
        ("Return the sum.\n\n@return it", "Return the sum.\n\n@return it"),
        ("@param x the first", "@param x the first"),
        ("@namespaced things stay", "@namespaced things stay"),
    ],
)
def test_tags_before_the_text_are_taken_away(doc, cleaned):
    assert clean_doc(doc) == cleaned


@given(st.text())
def test_texts_without_tags_stay(doc):
    if not doc.strip().startswith(("@", "\\")):
        assert clean_doc(doc) == doc.strip()
