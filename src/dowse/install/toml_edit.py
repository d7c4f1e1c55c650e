"""Add, change and remove one entry of a TOML document; tomlkit keeps comments and formatting of the rest."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.install.editing import EditError, nest, with_entry, without_entry

_BOM = "\ufeff"


def get_entry(text: str, keys: Sequence[str]) -> object:
    """Return the value under nested keys, or None."""
    value: object = _parse(text).unwrap()
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Add an entry as a table at the end, or set values of an existing one."""
    import tomlkit  # late: only editing needs it

    document = table = _parse(text)
    expected = with_entry(document.unwrap(), keys, entry)
    for key in keys:
        table = table.get(key, {})
        if not isinstance(table, dict):
            raise EditError(f"`{key}` must be a table", text, max(text.find(key), 0))
    if expected == document.unwrap():
        return text
    if not table:
        gap = "" if not text.strip(_BOM) else "\n" if text.endswith("\n") else "\n\n"
        added = (gap + tomlkit.dumps(nest(keys, entry))).replace("\n", _newline(text))
        return _checked(text + added, text, expected)
    trailing = _pop_trailing(table)
    table.update({key: value for key, value in entry.items() if table.get(key) != value})
    _body(table).extend(trailing)
    return _checked(_render(document, text), text, expected)


def remove_entry(text: str, keys: Sequence[str]) -> str:
    """Remove an entry."""
    from tomlkit.items import Table, Whitespace

    if get_entry(text, keys) is None:
        return text
    document = table = _parse(text)
    expected = without_entry(document.unwrap(), keys)
    for key in keys[:-1]:
        table = table[key]
    entry = table[keys[-1]]
    trailing = _pop_trailing(entry) if isinstance(entry, Table) else []
    position = next((at for at, (key, _) in enumerate(_body(table)) if key == keys[-1]), None)
    del table[keys[-1]]  # leaves an empty item
    if position is not None and trailing:
        _body(table)[position] = (None, Whitespace("".join(item.as_string() for _, item in trailing)))
    return _checked(_render(document, text), text, expected, keys)


def _pop_trailing(table: Any) -> list[Any]:  # noqa: ANN401 - tomlkit has several classes of tables
    """Take comments from the end of a table: tomlkit counts those before the next table among them."""
    from tomlkit.items import Table

    body = _body(table)
    trailing: list[Any] = []
    while body and isinstance(body[-1][1], Table):
        body = _body(body[-1][1])
    while body and body[-1][0] is None:
        trailing.insert(0, body.pop())
    return trailing


def _body(table: Any) -> list[Any]:  # noqa: ANN401 - as above
    """Return the items of a table; none of one whose parts are in several places."""
    body: list[Any] = getattr(getattr(table, "value", table), "body", [])
    return body


def _parse(text: str) -> Any:  # noqa: ANN401 - as above
    """Return the document, or raise an error with the problem's position."""
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    text = text.removeprefix(_BOM).replace(_newline(text), "\n")
    try:
        return tomlkit.parse(text)
    except ParseError as error:
        offset = sum(len(line) + 1 for line in text.split("\n")[: error.line - 1]) + error.col
        raise EditError(f"this is not TOML: {str(error).partition(' at line ')[0]}", text, offset) from None
    except TOMLKitError as error:
        raise EditError(f"this is not TOML: {error}", text, 0) from None


def _render(document: Any, text: str) -> str:  # noqa: ANN401 - as above
    """Return an edited document with the byte order mark and the line ends of its text."""
    bom = _BOM if text.startswith(_BOM) else ""
    return bom + str(document.as_string()).replace("\n", _newline(text))


def _newline(text: str) -> str:
    """Return the line end of a text where all are alike; a line feed where they are mixed."""
    return "\r\n" if 0 < text.count("\n") == text.count("\r\n") else "\n"


def _checked(edited: str, text: str, expected: object, removed: Sequence[str] = ()) -> str:
    """Return an edited text if its data is as expected."""
    try:
        # A table that only held the removed entry is gone with it.
        data = with_entry(tomllib.loads(edited.removeprefix(_BOM)), removed[:-1], {})
    except tomllib.TOMLDecodeError:
        data = None
    if data != expected:
        raise EditError("this text could not be edited safely; write the entry by hand", text, 0)
    return edited
