"""Positions: code units, edits of open documents, and lines of one text in another version of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from dowse.interfaces.lsp.documents import Document, Documents, LineMap
from dowse.interfaces.lsp.encoding import Encoding

LINES = st.lists(st.sampled_from(["a", "b", "", "def f():", "    x"]), max_size=12)
TEXTS = st.text("aä😋\n\r\f\u2028", max_size=12)


@given(st.text("aä😋€", max_size=8), st.integers(0, 8))
def test_code_units_lead_back_to_the_character(line: str, index: int) -> None:
    index = min(index, len(line))
    for encoding in Encoding:
        assert encoding.to_index(line, encoding.to_units(line[:index])) == index
        assert encoding.to_index(line, 1_000) == len(line)


def test_an_offset_inside_a_character_means_its_start() -> None:
    assert Encoding.UTF16.to_index("a😋b", 2) == 1
    assert Encoding.UTF8.to_index("a😋b", 3) == 1
    assert [each.to_units("a😋ä") for each in Encoding] == [7, 4, 3]
    assert Encoding.named("utf-8") is Encoding.UTF8


@given(LINES, LINES)
def test_a_line_is_mapped_into_the_other_text_and_equal_texts_to_themselves(
    lines: list[str], others: list[str]
) -> None:
    mapped = LineMap(lines, others)
    for number in range(len(lines) + 3):
        assert 0 <= mapped.map(number) <= max(0, len(others) - 1)
    same = LineMap(lines, lines)
    assert [same.map(number) for number in range(len(lines))] == list(range(len(lines)))


@given(LINES, LINES, LINES)
def test_lines_around_an_edit_keep_their_text(before: list[str], new: list[str], after: list[str]) -> None:
    old, edited = [*before, *after], [*before, *new, *after]
    mapped = LineMap(old, edited)
    for number, line in enumerate(old):
        assert edited[mapped.map(number)] == line


def test_a_large_rewrite_is_mapped_without_comparing_all_pairs() -> None:
    old, new = [f"a{n}" for n in range(5_000)], [f"b{n}" for n in range(4_000)]
    mapped = LineMap(["head", *old, "tail"], ["head", *new, "tail"])
    assert (mapped.map(0), mapped.map(10), mapped.map(5_001)) == (0, 10, 4_001)


@given(TEXTS, TEXTS, st.data())
def test_edits_are_applied_as_the_client_applies_them(text: str, new: str, data: st.DataObject) -> None:
    # A client cuts its own text; what it sends are positions.
    lines = Document.create(text).lines
    ends = sorted(data.draw(st.tuples(_place(lines), _place(lines))))
    documents = Documents()
    documents.open("untitled:x", text)
    positions = [types.Position(line, Encoding.UTF16.to_units(lines[line][:index])) for line, index in ends]
    documents.change("untitled:x", [types.TextDocumentContentChangePartial(types.Range(*positions), new)])
    (first, start), (last, end) = ends
    joined = "\n".join([*lines[:first], lines[first][:start]]) + new
    expected = joined + "\n".join([lines[last][end:], *lines[last + 1 :]])
    assert documents.snapshot()["untitled:x"] == Document.create(expected)


def _place(lines: tuple[str, ...]) -> st.SearchStrategy[tuple[int, int]]:
    return st.integers(0, len(lines) - 1).flatmap(
        lambda line: st.tuples(st.just(line), st.integers(0, len(lines[line])))
    )


@pytest.mark.parametrize("spelling", ["file:///tmp/a%20b/%C3%A4.py", "file:///tmp/a b/ä.py"])
def test_clients_that_escape_differently_mean_the_same_document(spelling: str) -> None:
    documents = Documents()
    documents.open(spelling, "x")
    documents.change("file:///tmp/a%20b/%c3%a4.py", [types.TextDocumentContentChangeWholeDocument("y")])
    assert [each.lines for each in documents.snapshot().values()] == [("y",)]
    documents.change("file:///not/open", [types.TextDocumentContentChangeWholeDocument("y")])
    documents.close("file:///tmp/a%20b/ä.py")
    assert not documents.snapshot()
