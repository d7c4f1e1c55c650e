"""Questions that contradict what everything is asked with."""

from __future__ import annotations

import pytest

from dowse.errors import QueryError
from dowse.eval import Case, Dataset
from dowse.eval.run import check_filters, clashes, note_clashes


@pytest.mark.parametrize(
    ("query", "expected"), [("run the test", True), ("Run the TEST", False), ("run the tests", False)]
)
def test_a_question_for_an_excluded_word_clashes(query: str, expected: bool) -> None:
    assert clashes(query, "lang:go -test") is expected


def test_conditions_without_a_meaning_are_no_clash_but_an_error() -> None:
    check_filters("")
    check_filters("lang:go -test -path:x")
    with pytest.raises(QueryError):
        check_filters("lang:")
    with pytest.raises(QueryError):
        check_filters("lang:go -lang:go")


def test_they_are_counted() -> None:
    asked = ("run the test", "test it", "where is the oven")
    data = Dataset("x", tuple(Case(query, {"a.py": 1.0}) for query in asked))
    assert note_clashes(data, "-test").startswith("2 questions ask for what the filters exclude")
    assert note_clashes(data, "-oven").startswith("1 question asks")
    assert note_clashes(data, "-nothing") == note_clashes(data, "") == ""
