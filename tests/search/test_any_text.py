"""Any text can be searched for: what is no query language is plain text."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dowse import Index
from dowse.errors import FilterError, QueryError

PIECES = st.sampled_from([
    "lang:py", "lang:", "-path:x", 'path:"a b', "case:yes", "AND", "OR", "NOT", "(", ")", '"', '""', "`", "/",
    "/a(/", "/a+/i", "-", '-"', "who calls", "where is", "defined", "bake", "Oven", "node:fs", "std::x", "\n",
    "\ud800", '"\ud800"', "tests for", "path from", "to", "\x00", "?", "é", "File \"/x.py\", line 3",
    "sym:*[",

])  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.lists(PIECES, max_size=8).map(" ".join),
    st.lists(PIECES, max_size=8).map("".join),
)


@settings(max_examples=100)
@given(TEXTS)
@example("TypeError: x is not a function\n    at node:internal/process (node:internal:95:5)")
@example("/(?:a|b/")
@example("x" * 20_000)
def test_only_a_bad_filter_and_an_empty_query_are_errors(sample_index: Index, text: str):
    try:
        answer = sample_index.search(text)
    except FilterError:
        return
    except QueryError:
        assert not text.strip()
        return
    assert answer.query == text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("langauge:py oven", "did you mean lang:?"),
        ('bake "bread', 'the " at position 5 is never closed'),
        ("bake AND", "AND at position 5"),
        ("a) b) c) d) e)", "and 2 more"),
    ],
)
def test_a_note_says_what_was_taken_as_plain_text(sample_index: Index, query: str, text: str):
    notes = [note.text for note in sample_index.search(query).notes if note.code == "plain-text"]
    assert len(notes) == 1
    assert text in notes[0]


def test_a_bad_pattern_of_the_regex_mode_is_an_error(sample_index: Index):
    with pytest.raises(QueryError, match="unclosed"):
        sample_index.search("a(", mode="regex")
