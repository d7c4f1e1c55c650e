"""YAML as it is written by hand: an entry is added and removed, and every other character stays."""

from __future__ import annotations

import copy
import json

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from dowse.install.editing import EditError
from dowse.install.yaml_edit import get_entry, remove_entry, set_entry

ENTRY = {"name": "dowse", "type": "stdio", "cmd": 'C:\\bin\\"dowse" # ☃', "args": ["mcp"], "enabled": True}
KEYS = ("extensions", "dowse")
names = st.from_regex(r"[a-z][a-z_]{0,5}", fullmatch=True).filter(lambda name: name not in KEYS)
scalars = st.sampled_from(
    ["1", "true", "~", "text", "'a: b'", '"x # y"', "2026-01-01", "[a, b]", "{c: d}", "*a"]
)
COMMENTS = ["# a comment: {", "  # indented", "", "# extensions:", "#dowse: 1"]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Write a document, with extensions in some form or without."""
    lines = draw(st.lists(st.sampled_from(COMMENTS), max_size=2))
    lines += draw(st.sampled_from([[], ["---"]]))
    keys = draw(st.lists(names, max_size=3, unique=True))
    form = draw(st.sampled_from(["none", "block", "flow", "empty", "compact"]))
    if form != "none":
        keys.insert(draw(st.integers(0, len(keys))), "extensions")
    anchored = False
    for key in keys:
        lines += draw(st.lists(st.sampled_from(COMMENTS), max_size=1))
        if key == "extensions":
            lines += draw(_extensions(form))
            continue
        kind = draw(st.sampled_from(["scalar", "literal", "list", "map"]))
        if kind == "literal":
            lines += [
                f"{key}: |{draw(st.sampled_from(['', '+', '-']))}",
                "  dowse:",
                "",
                "  extensions: no",
                "",
            ]
        elif kind == "list":
            lines += [f"{key}:", "- a: 1", "  b: 2", "-  c"]
        elif kind == "map":
            lines += [f"{key}: &a" if not anchored else f"{key}:", "    deep:", "        deeper: 1  # here"]
            anchored = True
        else:
            value = draw(scalars)
            lines.append(f"{key}: {value if value != '*a' or anchored else 'a'}")
    lines += draw(st.lists(st.sampled_from(COMMENTS), max_size=2))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(lines) + draw(st.sampled_from(["", newline]))
    return draw(st.sampled_from(["", "\ufeff"])) + text


@st.composite
def _extensions(draw: st.DrawFn, form: str) -> list[str]:
    others = draw(st.lists(names, min_size=1, max_size=2, unique=True))
    indent = draw(st.sampled_from(["  ", "    ", " "]))
    if form == "flow":
        inside = draw(st.sampled_from(["", "a: 1", " a: {b: 1} , c: 2 "]))
        return [f"extensions: {{{inside}}} # flow"]
    if form == "empty":
        return ["extensions:  # none yet"]
    if form == "compact":
        return ["extensions:", f"{indent}{others[0]}: {{enabled: true}}"]
    lines = ["extensions: # all"]
    for other in others:
        lines += draw(st.lists(st.sampled_from([*COMMENTS[:3], f"{indent}# same"]), max_size=1))
        lines += [f"{indent}{other}:", f"{indent}  type: builtin", "", f"{indent}  args:", f"{indent}  - x"]
    return lines


def load(text: str) -> dict:
    return yaml.safe_load(text) or {}


@given(documents())
def test_an_entry_is_added_and_removed_to_the_character(text):
    expected = copy.deepcopy(load(text))
    made = "extensions" not in expected
    expected["extensions"] = {**(expected.get("extensions") or {}), "dowse": ENTRY}
    new = set_entry(text, KEYS, ENTRY)
    assert load(new) == expected and get_entry(new, KEYS) == ENTRY
    assert set_entry(new, KEYS, ENTRY) == new
    left = remove_entry(new, KEYS, prune=int(made))
    # A last line without an end gets one if the entry follows it.
    assert left == text or (new.startswith(text) and left.rstrip("\r\n") == text)
    if "\r\n" in text:
        assert "\n" not in new.replace("\r\n", "")


@given(documents(), st.sampled_from(["later: 1", "# later"]))
def test_an_entry_is_changed_and_others_stay(text, later):
    new = set_entry(set_entry(text, KEYS, ENTRY), KEYS, {"cmd": "/opt/dowse", "timeout": 7})
    assert get_entry(new, KEYS) == {**ENTRY, "cmd": "/opt/dowse", "timeout": 7}
    assume(new.endswith("\n") and "|" not in new.rsplit("extensions", 1)[-1])
    data = load(remove_entry(new + later + "\n", KEYS))
    data.pop("later", None)
    before = load(text)
    assert {**data, "extensions": data.get("extensions") or {}} == {
        **before,
        "extensions": before.get("extensions") or {},
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "not YAML"),
        ("a: 1\na: 2\n", "second time"),
        ("- a\n", "a mapping is expected"),
        ("extensions: 3\n", "a mapping is expected"),
        ("extensions: ~\n", "write the entry by hand"),
        ("a: 1\n---\nb: 2\n", "not YAML"),
        ("a: !!python/object:os.system 1\n", "not YAML"),
        ("a: 2026-99-99\n", "can't be read"),
        ("a: \x07\n", "not YAML"),
        ("[" * 5_000, "can't be read"),
    ],
)
def test_what_can_not_be_edited_is_refused(text, told):
    with pytest.raises(EditError, match=told):
        set_entry(text, KEYS, ENTRY)


@given(st.text(max_size=40))
def test_any_text_is_edited_or_refused(text):
    try:
        new = set_entry(text, KEYS, ENTRY)
    except EditError:
        return
    assert yaml.safe_load(new)["extensions"]["dowse"] == json.loads(json.dumps(ENTRY))
