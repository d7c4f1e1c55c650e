"""Hooks among those of others: added to each list, removed to the character."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.install.editing import EditError
from dowse.install.hooks_edit import EVENTS, created, get_entry, remove_entry, set_entry
from dowse.install.json_edit import append_item, remove_item
from dowse.install.jsonc import parse
from dowse.install.kit import hooks
from json_documents import documents, is_kept

KEYS = ("hooks", "dowse hooks")
OURS = hooks("/opt/dowse")
OTHER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "make lint"}]}
LISTS = st.sampled_from([None, [], [OTHER], [OTHER, OTHER], [{"hooks": []}]])


@st.composite
def settings_files(draw: st.DrawFn) -> str:
    """Write settings in some layout, with hooks of others or without."""
    text, data = draw(documents())
    if "hooks" in data or not draw(st.booleans()):
        return text
    for event in EVENTS:
        items = draw(LISTS)
        for item in items or ():
            text = append_item(text, ("hooks", event), item)
        if items == []:
            text = remove_item(append_item(text, ("hooks", event), 1), ("hooks", event), lambda _: True)
    return text


@given(settings_files())
def test_hooks_are_added_and_removed_to_the_character(text):
    before = parse(text).value
    if not isinstance(before.get("hooks", {}), dict):
        with pytest.raises(EditError):
            set_entry(text, KEYS, OURS)
        return
    made = created(text, KEYS)
    new = set_entry(text, KEYS, OURS)
    expected = copy.deepcopy(before)
    for event in EVENTS:
        expected.setdefault("hooks", {}).setdefault(event, []).append(OURS[event])
    assert parse(new).value == expected and is_kept(text, new)
    assert get_entry(new, KEYS) == OURS and get_entry(text, KEYS) is None
    assert set_entry(new, KEYS, OURS) == new
    assert remove_entry(new, KEYS, made) == text


@given(settings_files())
def test_a_moved_command_takes_the_place_of_the_old_one(text):
    if not isinstance(parse(text).value.get("hooks", {}), dict):
        return
    new = set_entry(set_entry(text, KEYS, OURS), KEYS, hooks("uvx dowse"))
    assert get_entry(new, KEYS) == hooks("uvx dowse")
    assert "/opt/dowse" not in new


def test_lists_that_are_none_are_refused():
    with pytest.raises(EditError, match="a list is expected"):
        set_entry('{"hooks": {"SessionStart": {}}}', KEYS, OURS)
