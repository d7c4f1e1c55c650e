"""Add, change and remove one entry of a TOML document; every other character stays unchanged."""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dowse.install.editing import EditError, nest, with_entry, without_entry

_BOM = "\ufeff"
_POSITION = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


def get_entry(text: str, keys: Sequence[str]) -> object:
    """Return the value under nested keys, or None."""
    value: object = _load(text)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Add an entry as a new table at the end, or set values of an existing one."""
    for depth, key in enumerate(keys, 1):
        if not isinstance(get_entry(text, keys[:depth]), dict | None):
            start = next((start for path, start, _ in _statements(text) if path[-1:] == (key,)), 0)
            raise EditError(f"`{key}` must be a table", text, start)
    before = _load(text)
    expected = with_entry(before, keys, entry)
    if expected == before:
        return text
    is_new = get_entry(text, keys) is None
    edited = _append_table(text, keys, entry) if is_new else _set_values(text, keys, entry)
    return _checked(edited, expected, text)


def remove_entry(text: str, keys: Sequence[str], prune: int = 0) -> str:
    """Remove an entry with all tables below it; `prune` counts for formats that name empty objects."""
    del prune  # a table without entries of its own has no header here that we would have written
    if get_entry(text, keys) is None:
        return text
    expected = without_entry(_load(text), keys)
    spans = _entry_spans(text, tuple(keys))
    if not spans:  # in an inline table
        bom, document = _parse(text)
        del _nested_table(document, keys[:-1])[keys[-1]]
        return _checked(bom + document.as_string(), expected, text)
    edited = text
    for start, end in reversed(spans):
        edited = edited[:start] + edited[end:]
    return _checked(_without_gap(edited, spans[0][0]), expected, text, removed=keys)


def _append_table(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    import tomlkit  # late: only editing needs it

    newline = _newline(text)
    gap = "" if not text.strip(_BOM) else newline if text.endswith("\n") else newline * 2
    return text + gap + tomlkit.dumps(nest(keys, entry)).replace("\n", newline)


def _set_values(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    import tomlkit
    from tomlkit.items import InlineTable, Table

    bom, document = _parse(text)
    table = _nested_table(document, keys)
    # tomlkit appends new keys behind comments at the end of a table, which belong to the table that follows,
    # and removes the blank at the end of an inline table.
    trailing: list[Any] = []
    body = table.value.body if isinstance(table, (InlineTable, Table)) else []
    while body and body[-1][0] is None:
        trailing.insert(0, body.pop())
    for key, value in entry.items():
        if table.get(key) != value:
            item = tomlkit.item(value)
            if not isinstance(table, InlineTable):
                item.trivia.trail = _newline(text)
            table[key] = item
    body.extend(trailing)
    return bom + str(document.as_string())


def _parse(text: str) -> tuple[str, Any]:
    """Return the byte order mark, if there is one, and the document."""
    import tomlkit

    bom = _BOM if text.startswith(_BOM) else ""
    return bom, tomlkit.parse(text.removeprefix(bom))


def _nested_table(document: Any, keys: Sequence[str]) -> Any:  # noqa: ANN401 - tomlkit has several classes
    for key in keys:
        document = document[key]
    return document


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _load(text: str) -> dict[str, object]:
    """Return the data of a document, or raise an error with the position of the problem."""
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as error:
        position = _POSITION.search(str(error))
        offset = len(text)
        if position and position[1]:
            lines = text.split("\n")[: int(position[1]) - 1]
            offset = sum(len(line) + 1 for line in lines) + int(position[2]) - 1
        problem = _POSITION.sub("", str(error))
        raise EditError(f"this is not TOML: {problem}", text, offset) from None


def _entry_spans(text: str, path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the spans of an entry, from the first line of each run of its statements to the last."""
    spans: list[tuple[int, int]] = []
    is_run = False
    for statement, start, end in _statements(text):
        if statement[: len(path)] == path:
            spans[len(spans) - is_run :] = [(spans[-1][0] if is_run else start, end)]
            is_run = True
        elif statement:
            is_run = False
    return spans


def _statements(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield the full key, start and end of each statement of a valid document; comments have the key ().

    A statement ends with the first line that makes it valid TOML on its own: strings and arrays of several
    lines are invalid until they are closed.
    """
    table: tuple[str, ...] = ()
    start = end = 1 if text.startswith(_BOM) else 0
    while end < len(text):
        end = text.find("\n", end) + 1 or len(text)
        try:
            keys = _statement_keys(text[start:end])
        except tomllib.TOMLDecodeError:
            continue
        if text[start:end].lstrip().startswith("["):
            table, keys = keys, ()
            yield table, start, end
        else:
            yield (*table, *keys) if keys else (), start, end
        start = end


def _statement_keys(statement: str) -> tuple[str, ...]:
    """Return the keys of a header or an assignment; () for a comment or an empty line."""
    data: Any = tomllib.loads(statement)
    if data and not statement.lstrip().startswith("["):
        # The key ends at the first "=" that is not quoted; the value may be an inline table.
        for equals in re.finditer("=", statement):
            with contextlib.suppress(tomllib.TOMLDecodeError):
                data = tomllib.loads(statement[: equals.start()] + "=0")
                break
    keys = []
    while data:
        if isinstance(data, list):
            data = data[0]
        else:
            key, data = next(iter(data.items()))
            keys.append(key)
    return tuple(keys)


def _without_gap(text: str, position: int) -> str:
    """Remove one of the two empty lines around a removed table, or the one at the end."""
    for newline in ("\r\n", "\n"):
        is_end = position == len(text) or text.startswith(newline, position)
        if text[:position].endswith(newline * 2) and is_end:
            return text[: position - len(newline)] + text[position:]
    return text


def _checked(edited: str, expected: object, text: str, removed: Sequence[str] = ()) -> str:
    """Return an edited document if its data is as expected."""
    try:
        data: object = _load(edited)
    except EditError:
        raise EditError("these tables are written inline, where none can be added", text, 0) from None
    if removed and data != expected:  # a table that only its entries had named is gone with the last
        data = with_entry(data, removed[:-1], {})
    if data != expected:
        raise EditError("this text could not be edited safely; write the entry by hand", text, 0)
    return edited
