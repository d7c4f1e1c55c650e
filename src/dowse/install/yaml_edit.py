"""Add, change and remove one entry of a YAML mapping; every other character stays unchanged.

PyYAML reads the document and says where each value is. An entry is written before the first one of its
mapping, where nothing that follows can be part of it, so that removing it restores the text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.install.editing import EditError, nest, with_entry, without_entry

if TYPE_CHECKING:
    import yaml

_UNIT = "  "


def get_entry(text: str, keys: Sequence[str]) -> object:
    """Return the value under nested keys, or None."""
    value = _load(text)
    for key in keys:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise EditError(f"a mapping is expected here, with `{key}` in it", text, 0)
        value = value.get(key)
    return value


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Add an entry, or set values of an existing one; its other fields stay."""
    existing = get_entry(text, keys)
    if isinstance(existing, dict):
        if all(existing.get(key) == value for key, value in entry.items()):
            return text
        expected = with_entry(_load(text), keys, entry)
        merged = {**existing, **entry}
        return _checked(_insert(remove_entry(text, keys), keys, merged), expected)
    expected = with_entry(_with_mappings(_load(text), keys), keys, entry)
    return _checked(_insert(text, keys, entry), expected)


def remove_entry(text: str, keys: Sequence[str], prune: int = 0) -> str:
    """Remove an entry, and up to `prune` mappings around it that it leaves empty."""
    if get_entry(text, keys) is None:
        return text
    depth = len(keys) - 1
    nodes = [_node(text, keys[:length]) for length in range(len(keys))]
    while prune > 0 and depth > 0 and len(nodes[depth].value) == 1:
        depth, prune = depth - 1, prune - 1
    expected = without_entry(_load(text), keys[: depth + 1])
    start, end = _span(text, nodes[depth], keys[depth])
    after = text[:start] + text[end:]
    if len(nodes[depth].value) == 1 and not nodes[depth].flow_style:  # an empty block is null
        return _checked(after, _emptied(expected, keys[:depth]))
    return _checked(after, expected)


def _load(text: str) -> Any:  # noqa: ANN401 - any YAML
    import yaml

    try:
        return yaml.load(text, Loader=_loader())  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise _edit_error(text, error) from None
    except (ValueError, RecursionError) as error:  # an impossible date; nested too deeply
        raise EditError(f"this can't be read: {type(error).__name__}", text, 0) from None


def _loader() -> type[yaml.SafeLoader]:
    """Return PyYAML's safe loader; a duplicate key, which it would drop, is an error."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            names = [(key.tag, key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for position, (key, _) in enumerate(node.value):
                if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in names[:position]:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"`{key.value}` is here a second time", key.start_mark
                    )
            return super().construct_mapping(node, deep)

    return Loader


def _edit_error(text: str, error: yaml.YAMLError) -> EditError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "it has a character that YAML does not allow"
    return EditError(f"this is not YAML: {problem}", text, mark.index if mark else 0)


def _node(text: str, keys: Sequence[str]) -> Any:  # noqa: ANN401 - a node, or None for an empty document
    """Return the node of the mapping under nested keys."""
    import yaml

    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    for key in keys:
        node = next(value for name, value in node.value if name.value == key)
    return node


def _with_mappings(data: object, keys: Sequence[str]) -> object:
    """Return data with a mapping where a key has no value, as an empty block has none."""
    if data is None:
        return nest(keys[:-1], {})
    table: Any = data
    for key in keys[:-1]:
        if isinstance(table, dict) and key in table and table[key] is None:
            table[key] = {}
        table = table.get(key, {}) if isinstance(table, dict) else {}
    return data


def _emptied(data: object, keys: Sequence[str]) -> object:
    """Return data with null for a mapping that has lost its last entry."""
    if not keys:
        return None
    table: Any = data
    for key in keys[:-1]:
        table = table[key]
    table[keys[-1]] = None
    return data


def _insert(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Write an entry as the first of the innermost mapping that is there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if _load(text) is None:
        gap = newline if text.strip("\ufeff") and not text.endswith("\n") else ""
        return text + gap + _block(nest(keys, entry), "", newline)
    depth = 0
    while depth < len(keys) - 1 and get_entry(text, keys[: depth + 1]) is not None:
        depth += 1
    added = nest(keys[depth:], entry)
    node = _node(text, keys[:depth])
    start = node.start_mark.index
    if node.flow_style:
        comma = ", " if node.value else ""
        return f"{text[: start + 1]}{_flow(added)[1:-1]}{comma}{text[start + 1 :]}"
    if depth < len(keys) - 1 and (empty := _empty_block(text, node, keys[depth])):
        indent = " " * (node.start_mark.column + len(_UNIT))
        gap = "" if text[:empty].endswith("\n") else newline
        return text[:empty] + gap + _block(added[keys[depth]], indent, newline) + text[empty:]
    line = text.rfind("\n", 0, start) + 1
    indent = text[line:start].removeprefix("\ufeff")
    if indent.strip(" "):
        raise EditError("an entry can't be written before this key; write it by hand", text, start)
    line = start - len(indent)
    return text[:line] + _block(added, indent, newline) + text[line:]


def _empty_block(text: str, node: Any, key: str) -> int:  # noqa: ANN401 - a node
    """Return where the entries of a key without a value begin: behind its line; 0 if it has none."""
    for name, value in node.value:
        if name.value == key:
            if value.start_mark.index != value.end_mark.index:  # ~, or null
                raise EditError(
                    "this has the value null; write the entry by hand", text, value.start_mark.index
                )
            end = text.find("\n", name.end_mark.index)
            return end + 1 if end >= 0 else len(text)
    return 0


def _span(text: str, node: Any, key: str) -> tuple[int, int]:  # noqa: ANN401 - a node
    """Return the characters of an entry: its lines in a block, with its comma in a flow mapping."""
    position = next(at for at, (name, _) in enumerate(node.value) if name.value == key)
    name, value = node.value[position]
    start = name.start_mark.index
    if node.flow_style:
        if position + 1 < len(node.value):
            behind = text.find(",", value.end_mark.index) + 1
            return start, behind + text.startswith(" ", behind)
        before = node.value[position - 1][1].end_mark.index if position else start
        return before, value.end_mark.index
    line = text.rfind("\n", 0, start) + 1
    end = text.find("\n", _last_character(text, value))
    return line + text.startswith("\ufeff", line), end + 1 if end >= 0 else len(text)


def _last_character(text: str, node: Any) -> int:  # noqa: ANN401 - a node
    """Return the position of the last character of a value; blocks end where the next token begins."""
    while not isinstance(node.value, str) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    start: int = node.start_mark.index
    return max(start, start + len(text[start : node.end_mark.index].rstrip()) - 1)


def _block(value: Mapping[str, Any], indent: str, newline: str) -> str:
    """Return a mapping in block style; scalars and lists as JSON, which YAML includes."""
    lines = []
    for key, each in value.items():
        if isinstance(each, dict) and each:
            lines.append(f"{indent}{_key(key)}:{newline}{_block(each, indent + _UNIT, newline)}")
        else:
            lines.append(f"{indent}{_key(key)}: {_flow(each)}{newline}")
    return "".join(lines)


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("-", "").isalpha() else _flow(key)


def _flow(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _checked(text: str, expected: object) -> str:
    """Return an edited text if its data is as expected."""
    if _load(text) != expected:
        raise EditError("this text could not be edited safely; write the entry by hand", text, 0)
    return text
