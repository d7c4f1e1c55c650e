r"""Escaping of untrusted text for terminals and line-based formats.

File names, code, documentation and messages that quote them come from whoever wrote the repository. Raw,
they could inject terminal escape sequences (set the clipboard or the title, overwrite lines), forge lines of
output that programs read, or reorder what people see with bidi overrides (Trojan Source, CVE-2021-42574; see
docs/USING.md, "Control characters"). Every renderer passes such text through `escape_controls` or
`escape_name`; `protect_terminals` is the second line of defence, for a command that forgets it.

This module loads nothing but `re`: every search imports it.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, TextIO

# Characters to escape: they are invisible, move the cursor, reorder text or are no characters at all.
# U+200C, U+200D and variation selectors stay: emoji, Persian, Indic and CJK text needs them, and they do not
# reorder it. `str.isprintable` is False for all of these, so most text passes at once.
_UNSAFE = (
    "\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi marks, overrides and isolates
    "\u2028\u2029"  # line and paragraph separators
    "\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # invisible
    "\ud800-\udfff"  # lone surrogates: undecodable bytes of names, broken JSON
    "\U000e0000-\U000e00ff"  # tags: invisible text
)
# The line ends of `str.splitlines` and editors.
_LINE_END = "\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
# What JSON does not escape but a terminal would interpret, or UTF-8 can't hold.
_UNSAFE_IN_JSON = _UNSAFE.replace("\x00-\x1f", "")
# The escape sequences of dowse itself: colours, clearing a line, and links with an encoded target.
_OWN_SEQUENCE = r"\x1b\[[0-9;]*[mK]|\x1b\]8;;[!-~]*\x1b\\"
# How much of a library's error a message quotes.
_MAX_REASON_CHARACTERS = 200
_patterns: dict[str, re.Pattern[str]] = {}


def escape_controls(text: str, *, keep: str = "\t") -> str:
    r"""Return a text with control, invisible and reordering characters shown as `\x1b` or `\u202e`.

    Args:
        text: Anything from a repository, a request or the file system.
        keep: Control characters that are not escaped.
    """
    if text.isprintable():  # in C, and true of nearly every text
        return text
    return _pattern(f"[{_UNSAFE}]").sub(
        lambda match: match[0] if match[0] in keep else _escaped(match[0]), text
    )


def escape_name(text: str) -> str:
    """Return a path or a name for one line of output: tabs and line ends are escaped, too."""
    return text if text.isprintable() else escape_controls(text, keep="")


def escape_message(error: Exception, text: str | None = None) -> str:
    """Return the message of an error on one line, or on several if it is a list (`DowseError.is_list`)."""
    keep = "\n" if getattr(error, "is_list", False) else ""
    return escape_controls(str(error) if text is None else text, keep=keep)


def first_line(error: BaseException) -> str:
    """Return the start of an exception's message, escaped: it may quote untrusted text."""
    return escape_name(str(error).strip().partition("\n")[0][:_MAX_REASON_CHARACTERS])


def escape_line_ends(text: str) -> str:
    """Return a text that is one line to every reader, and otherwise exact: for code in a pipe."""
    return text if text.isprintable() else _pattern(f"[{_LINE_END}]").sub(lambda end: _escaped(end[0]), text)


def escape_json(text: str) -> str:
    """Return an equivalent JSON document that is safe on a terminal and valid UTF-8."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _pattern(f"[{_UNSAFE_IN_JSON}]").sub(lambda match: _json_escaped(match[0]), text)


def replace_surrogates(text: str) -> str:
    """Return a text with "?" for lone surrogates, which UTF-8 can't hold."""
    return text.encode("utf-8", "replace").decode()


def escape_surrogates(text: str) -> str:
    r"""Return a text that UTF-8 can hold: undecodable bytes become `\xff`, as in the paths of an index."""
    if text.isascii():
        return text
    return _pattern("[\ud800-\udfff]").sub(lambda match: _escaped(match[0]), text)


def escape_surrogates_in_json(data: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON data whose texts UTF-8 can hold."""
    if isinstance(data, str):
        return escape_surrogates(data)
    if isinstance(data, dict):
        return {
            escape_surrogates_in_json(name): escape_surrogates_in_json(value) for name, value in data.items()
        }
    return [escape_surrogates_in_json(each) for each in data] if isinstance(data, list | tuple) else data


def escape_for_terminal(text: str) -> str:
    """Return output without control sequences other than those of dowse itself."""
    if text.isprintable():
        return text
    # A status line begins with a carriage return; anywhere else it would hide what precedes it.
    start = 1 if text.startswith("\r") else 0
    pattern = _pattern(f"{_OWN_SEQUENCE}|\r\n|[{_UNSAFE}]")
    return text[:start] + pattern.sub(_allowed, text[start:])


def _allowed(match: re.Match[str]) -> str:
    text = match[0]
    return text if len(text) > 1 or text in "\t\n" else _escaped(text)


def _pattern(source: str) -> re.Pattern[str]:
    """Return a compiled pattern, compiled on first use: most runs need none."""
    if source not in _patterns:
        _patterns[source] = re.compile(source)
    return _patterns[source]


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a surrogate escape of a byte that is no UTF-8
        code -= 0xDC00
        return f"\\x{code:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escaped(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


class TerminalStream:
    """A standard stream on a terminal: what is written is escaped, everything else is forwarded."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text without control sequences of others."""
        self._stream.write(escape_for_terminal(text))
        return len(text)

    def writelines(self, lines: Any) -> None:  # noqa: ANN401 - as of a stream
        """Write texts without control sequences of others."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        return getattr(self._stream, name)


def protect_terminals() -> None:
    """Escape what this process writes to terminals, and never fail at a character that can't be encoded."""
    _open_closed_streams()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TerminalStream):
            continue
        if getattr(stream, "errors", "") == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        if stream.isatty():
            setattr(sys, name, TerminalStream(stream))


def _open_closed_streams() -> None:
    """Open standard streams that are closed: else the next file to be opened would be taken for one.

    What is written to a closed standard output fails, as anywhere; a closed standard error loses messages.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
