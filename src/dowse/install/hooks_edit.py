"""Hooks in a client's settings: one item of ours in the list of each event, `{"hooks": {"EVENT": [{…}]}}`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dowse.install import json_edit
from dowse.install.editing import EditError

# The commands of our hooks contain this; the command before it may change.
HOOK = " hook "
EVENTS = ("SessionStart", "PreToolUse")


def get_entry(text: str, keys: Sequence[str]) -> object:
    """Return our item of each event, None if there is none; what is above them for shorter keys."""
    if len(keys) < 2:
        return json_edit.get_entry(text, keys)
    ours = {event: item for event in EVENTS if (item := _our_item(text, keys, event)) is not None}
    return ours or None


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Add our item to the list of each event, or replace it."""
    for event, item in entry.items():
        current = _our_item(text, keys, event)
        if current == item:
            continue
        if current is not None:
            text = _remove(text, keys, event, prune=0)
        text = json_edit.append_item(text, (*keys[:-1], event), item)
    return text


def created(text: str, keys: Sequence[str]) -> int:
    """Return which objects and lists an addition creates: a bit for the object, then one for each event."""
    levels = [keys[:-1], *((*keys[:-1], event) for event in EVENTS)]
    return sum(1 << bit for bit, level in enumerate(levels) if _value(text, level) is None)


def remove_entry(text: str, keys: Sequence[str], made: int = 0) -> str:
    """Remove our items, and the lists and the object that were created for them and are empty."""
    for bit, event in enumerate(EVENTS, 1):
        if _our_item(text, keys, event) is not None:
            text = _remove(text, keys, event, prune=made >> bit & 1)
    if made & 1 and _value(text, keys[:-1]) == {}:
        text = json_edit.remove_entry(text, keys[:-1])
    return text


def _remove(text: str, keys: Sequence[str], event: str, prune: int) -> str:
    level = (*keys[:-1], event)
    text = json_edit.remove_item(text, level, _is_ours)
    return json_edit.remove_entry(text, level) if prune and _value(text, level) == [] else text


def _our_item(text: str, keys: Sequence[str], event: str) -> object:
    items = _value(text, (*keys[:-1], event))
    if items is not None and not isinstance(items, list):
        raise EditError(f'a list is expected for "{event}"', text, 0)
    return next((item for item in items or () if _is_ours(item)), None)


def _is_ours(item: object) -> bool:
    """Whether an item of a list runs one of our hooks and nothing else."""
    hooks = item.get("hooks") if isinstance(item, dict) else None
    if not isinstance(hooks, list) or len(hooks) != 1 or not isinstance(hooks[0], dict):
        return False
    command = str(hooks[0].get("command", ""))
    return "dowse" in command and HOOK in command


def _value(text: str, keys: Sequence[str]) -> object:
    return json_edit.get_entry(text, keys)


def written(entry: Mapping[str, Any]) -> str:
    """Return hooks as a file of their own, for a plugin."""
    return json.dumps({"hooks": {event: [item] for event, item in entry.items()}}, indent=2) + "\n"
