"""What makes text of repositories harmless: every kind of control character, and nothing else."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dowse.security.terminal import (
    TerminalStream,
    escape_controls,
    escape_for_terminal,
    escape_json,
    escape_line_ends,
    escape_name,
    escape_surrogates,
    protect_terminals,
)

# Arbitrary text, with what attacks are made of more often than chance would have it.
ATTACKS = st.sampled_from(
    [
        *("\x1b]52;c;aGk=\x07", "\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\x1bP", "\x1b]8;;http://x\x1b\\"),
        *("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\t", "\x00", "\x7f", "\b"),
        *("\u202e", "\u2066", "\u2069", "\u200e", "\u061c", "\u200b", "\ufeff", "\ud800", "\udcff"),
        *("\U000e0041", "\U000e007f"),
    ]
)
# What dowse itself may write to a terminal.
OWN = re.compile(r"\x1b\[[0-9;]*[mK]|\x1b\]8;;[!-~]*\x1b\\|\r\n")
HOSTILE = st.lists(st.text(st.characters(), max_size=8) | ATTACKS, max_size=6).map("".join)


UNSAFE = {
    chr(code)
    for codes in (
        range(0x20),
        range(0x7F, 0xA0),
        range(0x202A, 0x202F),
        range(0x2066, 0x206A),
        (0x2028, 0x2029),
    )
    for code in codes
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("a\nb\rc\td", r"a\x0ab\x0dc\x09d"),
        ("\x7f\x9b\x85", r"\x7f\u009b\u0085"),
        ("\u202eevil\u202c", r"\u202eevil\u202c"),
        ("\u2066\u2069\u200e\u200f\u061c", r"\u2066\u2069\u200e\u200f\u061c"),
        ("\u2028\u2029\u200b\ufeff", r"\u2028\u2029\u200b\ufeff"),
        ("\udcff\ud800", r"\xff\ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_what_steers_a_terminal_is_shown(text: str, shown: str) -> None:
    assert escape_name(text) == shown


@pytest.mark.parametrize(
    "text",
    ["def größe(x): return '面包'", "👨\u200d👩\u200d👧", "می\u200cخواهم", "a\u00a0b\u3000c", "e\u0301", ""],
)
def test_printable_text_is_untouched(text: str) -> None:
    assert escape_name(text) == escape_controls(text) == escape_for_terminal(text) == text


def is_harmless(text: str, allowed: str = "") -> bool:
    """Whether a text holds no character that does more than show itself."""
    return not (UNSAFE - set(allowed)).intersection(text) and escape_surrogates(text) == text


@given(HOSTILE)
def test_escaped_text_is_harmless_and_escaping_again_changes_nothing(text: str) -> None:
    escaped = escape_name(text)
    assert is_harmless(escaped) and escape_name(escaped) == escaped
    assert is_harmless(escape_controls(text), "\t")
    assert len(escaped.splitlines()) <= 1


@given(HOSTILE)
def test_code_in_a_pipe_is_one_line_and_otherwise_exact(text: str) -> None:
    line = escape_line_ends(text)
    assert len(line.splitlines()) <= 1
    if len(text.splitlines()) <= 1 and text.splitlines() == [text]:
        assert line == text


@settings(max_examples=50)
@given(st.dictionaries(HOSTILE, st.lists(HOSTILE, max_size=2), max_size=2))
def test_json_means_the_same_and_is_harmless(data: object) -> None:
    text = escape_json(json.dumps(data, ensure_ascii=False))
    assert json.loads(text) == data
    assert is_harmless(text) and len(text.splitlines()) == 1
    text.encode()


@given(HOSTILE)
@example("\x1b[31")
@example("\x1b]8;;http://x y\x1b\\")
def test_only_own_sequences_reach_a_terminal(text: str) -> None:
    ours = f"\x1b[1;31mfound\x1b[0m \x1b]8;;file:///a%20b\x1b\\a b\x1b]8;;\x1b\\{escape_name(text)}\n"
    assert escape_for_terminal(ours) == ours
    assert is_harmless(OWN.sub("", escape_for_terminal(f"x{text}")), "\t\n")


def test_terminals_are_filtered_and_other_streams_never_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    raw, piped = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(raw, encoding="utf-8", write_through=True))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(piped, encoding="ascii", write_through=True))
    protect_terminals()
    protect_terminals()  # a second time changes nothing
    assert isinstance(sys.stdout, TerminalStream) and sys.stdout.encoding == "utf-8"
    sys.stdout.write("a\x1b]0;title\x07\udcff\n")
    sys.stdout.writelines(["\x1b[2J", "\x1b[0m"])
    sys.stderr.write("größe \udcff\x1b[31m")
    assert raw.getvalue() == rb"a\x1b]0;title\x07\xff" + b"\n" + rb"\x1b[2J" + b"\x1b[0m"
    assert piped.getvalue() == rb"gr\xf6\xdfe \udcff" + b"\x1b[31m"
