"""JSON that anybody may have written."""

from __future__ import annotations

import json

import pytest

from dowse.security.limited_json import parse_json_limited


def parse(data: bytes, memory: int = 1_000_000, elements: int = 1_000) -> object:
    return parse_json_limited(data, max_memory=memory, max_elements=elements)


@pytest.mark.parametrize("value", [{"a": [1, -2.5, None, True, 'x\n"\\']}, [], "ä😀", 12, {"": {"": {}}}])
def test_json_is_parsed(value: object) -> None:
    for ascii_only in (True, False):
        assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


def test_marks_within_texts_do_not_count() -> None:
    text = ",[{" * 5_000 + '"\\'
    assert parse(json.dumps([text]).encode(), elements=10) == [text]


@pytest.mark.parametrize(
    "data",
    [
        b"[NaN]",
        b"[Infinity]",
        b"[-Infinity]",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 5_000 + b"]" * 5_000,
        b'["\\ud800"]',
        b'["\\udc00x"]',
        b'["\xed\xa0\x80"]',
        b'["\xff"]',
        b"[" + b"9" * 5_000 + b"]",
        b"[" + b"[]," * 1_000 + b"[]]",
        b"[" + b'{"":0},' * 600 + b"0]",
        b'"' + b"x" * 2_000_000 + b'"',
        b'"' + "😀".encode() + b"x" * 300_000 + b'"',
        b'"\\ud83d\\ude00' + b"x" * 300_000 + b'"',
        "[1]".encode("utf-16"),
        b"",
        b"[1] 2",
    ],
)
def test_what_could_do_harm_is_a_plain_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(data)


def test_a_text_about_surrogates_is_no_surrogate() -> None:
    text = 'write "\\ud800" for half a pair'
    assert parse(json.dumps(text).encode()) == text
