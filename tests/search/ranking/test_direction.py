"""The direction of a conversion, in queries and in names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.ranking.direction import Direction, agreement, asked_direction


@pytest.mark.parametrize(
    ("query", "direction"),
    [
        ("convert int to string", ("int", "string")),
        ("how to turn a list into a dict", ("list", "dict")),
        ("string from an int", ("int", "string")),
        ("parse cookie header", None),
        ("to string", None),
    ],
)
def test_queries(query, direction):
    assert asked_direction(query) == direction


@pytest.mark.parametrize(
    ("name", "agrees"),
    [
        *((name, 1) for name in ("int_to_string", "IntToString", "int2str", "strFromInt", "integer_to_str")),
        *((name, -1) for name in ("string_to_int", "StringToInt", "str2int", "intFromString")),
        *((name, 0) for name in ("to_string", "int_string", "int_to_bytes", "tosser", "from_", "")),
    ],
)
def test_names(name, agrees):
    assert agreement(name, Direction("int", "string")) == agrees


word = st.text("abcdefgh", min_size=3, max_size=8)


@given(word, word)
def test_the_opposite_direction_is_opposed(source, target):
    there, back = Direction(source, target), Direction(target, source)
    if not (source.startswith(target) or target.startswith(source)):
        assert agreement(f"{source}_to_{target}", there) == 1 == -agreement(f"{source}_to_{target}", back)


@given(st.text(), st.text())
def test_any_text_and_name(query, name):
    asked = asked_direction(query)
    assert asked is None or agreement(name, asked) in (-1, 0, 1)
