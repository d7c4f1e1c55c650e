"""JSON documents in any layout, with comments anywhere, for property tests."""

from __future__ import annotations

import json

from hypothesis import strategies as st

names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
# Comments, some of which look like what they are not.
COMMENTS = ['// a } comment, with "quotes"', "/* a */", "/* two\n lines , { */", '// "mcpServers": {}']


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict]:
    """Some data with servers or without, written in some layout."""
    data = draw(st.dictionaries(names, values, max_size=3))
    if draw(st.booleans()):
        others = draw(st.dictionaries(names.filter(lambda name: name != "dowse"), values, max_size=2))
        items = [*data.items(), ("mcpServers", others)]
        data = dict(draw(st.permutations(items)))
    newline = draw(st.sampled_from(["\n", "\r\n", ""]))
    unit = draw(st.sampled_from(["  ", "    ", "\t"])) if newline else ""
    comments = draw(st.booleans()) and bool(newline)
    trailing = draw(st.booleans())

    def blank(depth: int) -> str:
        if not newline:
            return ""
        comment = draw(st.sampled_from(["", "", *COMMENTS])) if comments else ""
        return f" {comment}".rstrip().replace("\n", newline) + newline + unit * depth

    def write(value: object, depth: int) -> str:
        if not isinstance(value, (dict, list)) or not value:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        parts = (
            [
                f"{json.dumps(key)}:{' ' if newline else ''}{write(each, depth + 1)}"
                for key, each in value.items()
            ]
            if isinstance(value, dict)
            else [write(each, depth + 1) for each in value]
        )
        inside = "".join(
            blank(depth + 1) + part + ("," if trailing or at < len(parts) else "")
            for at, part in enumerate(parts, 1)
        )
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + inside + blank(depth) + closing

    text = write(data, 0)
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", newline])), data


def is_kept(old: str, new: str) -> bool:
    """Whether every character of the old text is in the new one, in this order."""
    rest = iter(new)
    return all(character in rest for character in old)
