"""JSON as it is written by hand: any layout, comments anywhere, and nothing lost."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.install.editing import EditError
from dowse.install.json_edit import get_entry, remove_entry, set_entry
from dowse.install.jsonc import parse
from json_documents import documents, is_kept

ENTRY = {"type": "stdio", "command": 'C:\\bin\\"dowse"', "args": ["mcp", "--watch"]}
KEYS = ("mcpServers", "dowse")


def with_entry(data: dict) -> dict:
    expected = copy.deepcopy(data)
    expected.setdefault("mcpServers", {})["dowse"] = ENTRY
    return expected


@given(documents())
def test_what_is_read_is_what_was_written(document):
    text, data = document
    assert parse(text).value == data


@given(documents())
def test_an_entry_is_added_and_every_character_stays(document):
    text, data = document
    new = set_entry(text, KEYS, ENTRY)
    assert parse(new).value == with_entry(data)
    assert is_kept(text, new)
    assert set_entry(new, KEYS, ENTRY) == new
    if "\r\n" in text:
        assert "\n" not in new.replace("\r\n", "")


@given(documents())
def test_what_was_added_is_taken_out_to_the_character(document):
    text, data = document
    if data.get("mcpServers") != {}:  # an object that is left empty goes, too
        assert remove_entry(set_entry(text, KEYS, ENTRY), KEYS) == text


@given(documents(), st.data())
def test_any_member_is_taken_out_and_the_rest_stays(document, data_):
    text, data = document
    if not data:
        return
    key = data_.draw(st.sampled_from(sorted(data)))
    if data[key] is None:
        return
    expected = {name: value for name, value in data.items() if name != key}
    new = remove_entry(text, (key,))
    assert parse(new).value == expected
    assert is_kept(new, text)


@given(documents())
def test_a_value_is_changed_where_it_stands(document):
    text, data = document
    new = set_entry(set_entry(text, KEYS, ENTRY), KEYS, {"command": "other", "timeout": 3})
    expected = with_entry(data)
    expected["mcpServers"]["dowse"] = {**ENTRY, "command": "other", "timeout": 3}
    assert parse(new).value == expected
    assert is_kept(text, new)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '{\n  "s": {\n    "d": {\n      "a": 1\n    }\n  }\n}\n'),
        ("// mine", '// mine\n{\n  "s": {\n    "d": {\n      "a": 1\n    }\n  }\n}\n'),
        ("{}\n", '{\n  "s": {\n    "d": {\n      "a": 1\n    }\n  }\n}\n'),
        ('{"s":{}}', '{"s":{"d":{"a":1}}}'),
        ('{"x": 1}', '{"x": 1, "s": {"d": {"a": 1}}}'),
        (
            '{\n    "x": 1 // one\n    // end\n}',
            '{\n    "x": 1, // one\n    "s": {\n        "d": {\n            "a": 1\n        }\n    }\n'
            "    // end\n}",
        ),
        (
            '{\n\t"s": {\n\t\t// none yet\n\t}\n}',
            '{\n\t"s": {\n\t\t// none yet\n\t\t"d": {\n\t\t\t"a": 1\n\t\t}\n\t}\n}',
        ),
        ('{\n  "s": {"b": {}},\n}', '{\n  "s": {"b": {}, "d": {"a": 1}},\n}'),
    ],
)
def test_an_entry_looks_as_its_neighbours_do(text, expected):
    assert set_entry(text, ("s", "d"), {"a": 1}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "a": 1, // one\n  "d": 2, "b": 3\n}', '{\n  "a": 1, // one\n  "b": 3\n}'),
        ('{\n  "a": 1, // one\n  "d": 2}', '{\n  "a": 1 // one\n  }'),
        ('{\n  "a": 1,\n  "d": 2 }', '{\n  "a": 1 }'),
        ('{\n  "d": 2, // mine\n  // about b\n  "b": 3\n}', '{\n  // about b\n  "b": 3\n}'),
        ('{"d": 2, "b": 3}', '{"b": 3}'),
        ('{"a": 1, /* d */ "d": 2, "b": 3}', '{"a": 1, /* d */ "b": 3}'),
        ('{ "d": {} }', "{}"),
        ('{\n\n  "a": 1,\n\n  "d": 2\n\n}', '{\n\n  "a": 1\n\n}'),
    ],
)
def test_what_goes_with_an_entry(text, expected):
    assert remove_entry(text, ("d",)) == expected


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "Expecting ',' delimiter"),
        ('{"a": }', 1, 7, "Expecting value"),
        ('{"a": tru}', 1, 7, "Expecting value"),
        ('{"a": NaN}', 1, 7, "NaN"),
        ('{"a": 01}', 1, 8, "Expecting ',' delimiter"),
        ('{\n  "a": "text\n}', 2, 13, "Invalid control character"),
        ('{"a": "\\x"}', 1, 8, "escape"),
        ('{"a": 1', 1, 8, "Expecting ',' delimiter"),
        ("{'a': 1}", 1, 2, "property name enclosed in double quotes"),
        ('{"a": {,}}', 1, 8, "property name enclosed in double quotes"),
        ('{"a": 1,,}', 1, 9, "property name enclosed in double quotes"),
        ('{"a" 1}', 1, 6, "Expecting ':' delimiter"),
        ('{"a": 1} {', 1, 10, "behind the end"),
        ('{"a": 1}\n/* ', 2, 1, "never closed"),
        ('{"a": [1, 2}', 1, 12, "Expecting ',' delimiter"),
        ("[1, 2]", 1, 1, "an object is expected"),
        ('{"mcpServers": []}', 1, 16, "an object is expected"),
        ('{"mcpServers": {"dowse": "x"}}', 1, 26, "an object is expected"),
        ('{"mcpServers": {}, "mcpServers": {}}', 1, 20, "a second time"),
        ('{"mcpServers": {"dowse": {}, "dowse": {}}}', 1, 30, "a second time"),
        ("<<<<<<< HEAD\n{}", 1, 1, "Expecting value"),
        ("[" * 100_000, 1, 1, "deep"),
    ],
)
def test_damage_is_told_with_its_place(text, line, column, problem):
    with pytest.raises(EditError, match=problem.replace("{", "\\{").replace("[", "\\[")) as told:
        set_entry(text, KEYS, ENTRY)
    assert (told.value.line, told.value.column) == (line, column)


@given(documents(), st.data())
def test_a_text_cut_short_is_told_or_still_whole(document, data_):
    """A file that was half written is never made worse."""
    text, _ = document
    short = text[: data_.draw(st.integers(0, len(text)))]
    try:
        new = set_entry(short, KEYS, ENTRY)
    except EditError:
        return
    assert is_kept(short, new) and get_entry(new, KEYS) == ENTRY
