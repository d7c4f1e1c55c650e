"""Exact matching on its own: spans, cases, errors, speed of hopeless patterns."""

import pytest

from dowse.errors import QueryError
from dowse.query.regex.matcher import compile_pattern
from dowse.types import LineMatch


def lines(pattern, text, **options):
    return compile_pattern(pattern, **options).find_lines(text)


def test_all_matches_of_a_line_in_characters():
    assert lines("o", "é foo\nbar\nzoo") == [
        LineMatch(1, "é foo", ((3, 4), (4, 5))),
        LineMatch(3, "zoo", ((1, 2), (2, 3))),
    ]


@pytest.mark.parametrize("text", ["aXb\r\nX", b"aXb\r\nX"])
def test_text_and_bytes_agree_and_a_carriage_return_stays(text):
    expected = [LineMatch(1, "aXb\r", ((1, 2),)), LineMatch(2, "X", ((0, 1),))]
    assert lines("X", text) == expected
    assert lines("X", text, literal=True) == expected


def test_literals_are_literal():
    assert lines("a.b(", "axb(\na.b(", literal=True) == [LineMatch(2, "a.b(", ((0, 4),))]


def test_empty_text_has_no_lines_and_an_empty_match_hits_each_line():
    assert lines("a*", "") == []
    assert [hit.line for hit in lines("a*", "\n\nx")] == [1, 2, 3]
    assert lines("", "x\n", literal=True) == [LineMatch(1, "x", ((0, 0), (1, 1)))]


def test_invalid_bytes_are_survived():
    assert lines("b", b"a\xffb\n") == [LineMatch(1, "a\ufffdb", ((2, 3),))]
    assert lines(r"\bb\b", b"\xff b \xc3\xa9\n") == [LineMatch(1, "\ufffd b é", ((2, 3),))]


def test_many_matches_in_one_long_line_take_linear_time():
    hits = lines("a", "éa" * 50_000)
    assert hits[0].spans[-1] == (99_999, 100_000)
    assert lines(r"\Ba", "éa" * 5_000)[0].spans[-1] == (9_999, 10_000)


@pytest.mark.parametrize(
    ("pattern", "fragment"),
    [
        (r"(?=x)", "linear-time"),
        (r"(?>x)", "linear-time"),
        (r"(a)\1", "back-references"),
        (r"(?P<n>a)(?P=n)", "linear-time"),
        (r"a\nb", "line feed"),
        ("(", "unclosed '('"),
        (")", "too many"),
        ("[a", "unclosed '['"),
        ("[z-a]", "upwards"),
        (r"[a-\d]", "range"),
        ("[a&&]", "empty"),
        (r"[\b]", "no meaning"),
        ("*a", "nothing to repeat"),
        ("a{", "unclosed '{'"),
        ("a{3,2}", "first"),
        ("a{5000}", "at most 1000"),
        ("(a{100}){100}", "too large"),
        (r"\Q", "not a known escape"),
        ("a\\", "lone"),
        (r"\p{Nope}", "not a known category"),
        (r"\x{110000}", "hexadecimal"),
        ("(?z)", "flag"),
        ("(?P<>a)", "group name"),
        ("(" * 100 + ")" * 100, "simplify"),
        ("a" + "*" * 100, "in a row"),
        ("\ud800", "surrogate"),
    ],
)
def test_errors_name_the_remedy(pattern, fragment):
    with pytest.raises(QueryError) as caught:
        compile_pattern(pattern)
    assert fragment in str(caught.value)
    assert "\n" not in str(caught.value)


def test_line_feed_in_a_literal():
    with pytest.raises(QueryError, match="line feed"):
        compile_pattern("a\nb", literal=True)


@pytest.mark.parametrize("text", ["a" * 5_000 + "!", "é" + "a" * 2_000 + "!"])
def test_no_pattern_is_exponential(text):
    assert compile_pattern(r"\b(a|a)*(a*)*$").find_lines(text) == []
