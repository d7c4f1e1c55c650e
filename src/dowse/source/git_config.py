"""A parser of git configuration files that takes one pass and follows no include."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from dowse.security.safe_files import read_regular_file

MAX_CONFIG_BYTES = 1_000_000

_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def read_config(file: str | os.PathLike[str], wanted: Collection[str]) -> dict[str, list[str]]:
    """Return the values of some keys ("remote.origin.url"); none if the file is missing, special or large."""
    try:
        data = read_regular_file(Path(file), MAX_CONFIG_BYTES)
    except (OSError, ValueError):
        return {}
    return parse_config(data.decode("utf-8", "replace"), wanted)


def parse_config(text: str, wanted: Collection[str]) -> dict[str, list[str]]:
    """Return the values of some keys in their order; what git could not parse is skipped."""
    values: dict[str, list[str]] = {}
    section = ""
    for line in _logical_lines(text):
        line = line.lstrip()
        if line.startswith("["):
            header = _parse_header(line)
            if header is None:
                section = ""
                continue
            section, line = header
        key, equals, value = line.partition("=")
        name = f"{section}.{key.strip().lower()}"
        if equals and name in wanted:
            values.setdefault(name, []).append(_parse_value(value))
    return values


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines, joined where a backslash precedes the line break."""
    pending: list[str] = []
    for line in text.split("\n"):
        line = line.removesuffix("\r")
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending.append(line[:-1])
            continue
        yield "".join((*pending, line)) if pending else line
        pending.clear()
    yield "".join(pending)


def _parse_header(line: str) -> tuple[str, str] | None:
    """Return the section of `[name]` or `[name "subsection"]` and what follows it; None if malformed."""
    bracket, quote = line.find("]"), line.find('"')
    if quote < 0 or 0 <= bracket < quote:
        return None if bracket < 0 else (line[1:bracket].strip().lower(), line[bracket + 1 :].lstrip())
    subsection, end = _parse_quoted(line, quote + 1)
    remainder = line[end:].lstrip()
    if not remainder.startswith("]"):
        return None
    return f"{line[1:quote].strip().lower()}.{subsection}", remainder[1:].lstrip()


def _parse_quoted(line: str, start: int) -> tuple[str, int]:
    """Return the subsection that starts after a quote, and the offset after the closing quote."""
    out: list[str] = []
    at = start
    while at < len(line) and line[at] != '"':
        if line[at] == "\\":
            at += 1
        out.append(line[at : at + 1])
        at += 1
    return "".join(out), at + 1


def _parse_value(text: str) -> str:
    """Return a value without quotes, escapes, comment and surrounding space."""
    out: list[str] = []
    kept = 0  # trailing spaces after this length do not belong to the value
    quoted = False
    characters = iter(text.strip())
    for character in characters:
        if character == '"':
            quoted = not quoted
            kept = len(out)
            continue
        if character in "#;" and not quoted:
            break
        if character == "\\":
            escaped = next(characters, "")
            character = _ESCAPES.get(escaped, escaped)
        out.append(character)
        if quoted or not character.isspace():
            kept = len(out)
    return "".join(out[:kept])
