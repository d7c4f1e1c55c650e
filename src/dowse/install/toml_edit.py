"""Add, change and remove one entry of a TOML text; every other character stays where it is."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.install.errors import Damaged
from dowse.install.toml_scan import load, statements

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def get_entry(text: str, keys: Sequence[str]) -> object:
    """Return what stands under some keys, or None."""
    value: object = load(text)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Add an entry as a table of its own at the end, or give one that is there these values."""
    before = load(text)
    expected: Any = copy.deepcopy(before)
    place = expected
    for key in keys:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            at = next((each.start for each in statements(text) if each.path[-1:] == (key,)), 0)
            raise Damaged(f"`{key}` must be a table", text, at)
    is_new = not place
    place.update(entry)
    if expected == before:
        return text
    if is_new and get_entry(text, keys) is None:
        return _checked(text + _section(text, keys, entry), expected, text)
    for key, value in entry.items():
        text = _set_value(text, tuple(keys), key, value)
    return _checked(text, expected, text)


def remove_entry(text: str, keys: Sequence[str], prune: int = 0) -> str:
    """Remove an entry with all tables below it; `prune` counts for formats that name what is empty."""
    del prune  # a table without entries of its own has no header here that we would have written
    if get_entry(text, keys) is None:
        return text
    expected = load(text)
    place: Any = expected
    for key in keys[:-1]:
        place = place[key]
    del place[keys[-1]]
    spans = _spans(text, tuple(keys))
    cut = text
    for start, end in reversed(spans):
        cut = cut[:start] + cut[end:]
    return _checked(_without_gap(cut, spans[0][0]), expected, text, without=keys)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _section(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return a table as it is put at the end of a text."""
    newline = _newline(text)
    gap = newline if text.strip("\ufeff") else ""
    if gap and not text.endswith("\n"):
        gap = newline + newline
    lines = [f"[{'.'.join(map(_key, keys))}]", *(f"{_key(key)} = {_dump(entry[key])}" for key in entry)]
    return gap + "".join(line + newline for line in lines)


def _set_value(text: str, path: tuple[str, ...], key: str, value: object) -> str:
    """Set one value of an entry, in whichever of TOML's ways it was written."""
    found = list(statements(text))
    for each in found:
        if each.path == (*path, key) and each.keys:
            return text[: each.value[0]] + _dump(value) + text[each.value[1] :]
        if each.path == path and each.keys:  # an inline table
            inside: Any = get_entry(text, path)
            return text[: each.value[0]] + _dump({**inside, key: value}) + text[each.value[1] :]
    for each in found:
        if each.path == path:  # its header
            newline = _newline(text)
            line = f"{_key(key)} = {_dump(value)}{newline}"
            gap = "" if text[: each.end].endswith("\n") else newline
            return text[: each.end] + gap + line + text[each.end :]
    raise Damaged(f"`{'.'.join(path)}` is written in a way that can't be edited safely", text, 0)


def _spans(text: str, path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return where an entry stands, from the first line of each run of its statements to the last."""
    spans: list[tuple[int, int]] = []
    goes_on = False
    first = 1 if text.startswith("\ufeff") else 0
    for each in statements(text):
        belongs = each.path[: len(path)] == path
        if belongs and goes_on:
            spans[-1] = (spans[-1][0], each.end)
        elif belongs:
            spans.append((text.rfind("\n", 0, each.start) + 1 or first, each.end))
        goes_on = belongs
    return spans


def _without_gap(cut: str, at: int) -> str:
    """Take one of the two empty lines that a removed table leaves behind, or the one at the end."""
    for newline in ("\r\n", "\n"):
        if cut[:at].endswith(newline * 2) and (at == len(cut) or cut.startswith(newline, at)):
            return cut[: at - len(newline)] + cut[at:]
    return cut


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _dump(value: object) -> str:
    """Write a value as TOML; texts and lists look as in JSON."""
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_dump(each)}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_dump, value))}]"
    if isinstance(value, (str, bool)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def _checked(text: str, expected: object, before: str, without: Sequence[str] = ()) -> str:
    """Return an edited text if it says what it must."""
    try:
        found: Any = load(text)
    except Damaged:
        raise Damaged("these tables are written inline, where none can be added", before, 0) from None
    if without and found != expected:  # a table that only its entries had named is gone with the last
        found = copy.deepcopy(found)
        place = found
        for key in without[:-1]:
            place = place.setdefault(key, {})
    if found != expected:
        raise Damaged("this text could not be edited safely; write the entry by hand", before, 0)
    return text
