"""Code cells of Jupyter notebooks, as text of the same lines and length as the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dowse.parsing.grammar_library import load_language
from dowse.parsing.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

# More cells than any notebook has.
_MAX_CELLS = 2_000
_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
# Lines for the notebook's front end, not for the language.
_MAGIC = (b"%", b"!", b"?")


def notebook_code(text: bytes) -> tuple[str, bytes, dict[int, int]] | None:
    """Return the language of a notebook, its code, and by line how far its columns are moved to the left.

    Each line of a cell is a JSON string on a line of its own, as tools write it. It is moved to the start
    of that line: in Python, indentation matters. None for other forms, and for a file without code.
    """
    from tree_sitter import Parser

    root = Parser(load_language("json")).parse(text).root_node
    notebook = _pairs(text, root.named_children[0]) if root.named_children else {}
    code, shifts, last = bytearray(text.translate(_BLANK)), dict[int, int](), -1
    cells = notebook.get("cells")
    for cell in cells.named_children[:_MAX_CELLS] if cells is not None else ():
        for string in _source_lines(text, cell):
            row, column = string.start_point
            if row == last:
                return None
            line, last = _decoded(text, string), row
            if b"\n" in line or line.startswith(_MAGIC):
                continue
            start = string.start_byte - column
            code[start : start + len(line)] = line
            shifts[row + 1] = column + 1
    return (_language(text, notebook), bytes(code), shifts) if shifts else None


def _pairs(text: bytes, node: Node) -> dict[str, Node]:
    """Return the values of a JSON object by their keys."""
    pairs = {}
    for pair in node.named_children if node.type == "object" else ():
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            pairs[text[key.start_byte : key.end_byte].decode("utf-8", "ignore").strip('"')] = value
    return pairs


def _source_lines(text: bytes, cell: Node) -> Iterator[Node]:
    """Yield the strings that are the lines of a code cell."""
    pairs = _pairs(text, cell)
    kind, source = pairs.get("cell_type"), pairs.get("source")
    if kind is None or source is None or _decoded(text, kind) != b"code" or source.type != "array":
        return
    for string in source.named_children:
        if string.type == "string" and string.start_point.row == string.end_point.row:
            yield string


def _decoded(text: bytes, string: Node) -> bytes:
    """Return what a JSON string stands for, without the line break at its end."""
    try:
        value = json.loads(text[string.start_byte : string.end_byte])
    except ValueError:
        return b""
    return (
        value.encode("utf-8", "ignore").removesuffix(b"\n").removesuffix(b"\r")
        if isinstance(value, str)
        else b""
    )


def _language(text: bytes, notebook: dict[str, Node]) -> str:
    """Return the language that the notebook's metadata names, Python if it names none that is known."""
    metadata = _pairs(text, notebook["metadata"]) if "metadata" in notebook else {}
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        if place in metadata:
            node = _pairs(text, metadata[place]).get(key)
            name = _decoded(text, node).decode("utf-8", "ignore").lower() if node is not None else ""
            if name in LANGUAGES:
                return name
    return "python"
