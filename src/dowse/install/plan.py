"""What would change in a file, and the change itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dowse.errors import DowseError
from dowse.install import files, json_edit, records, section, toml_edit
from dowse.install.clients import Client
from dowse.install.errors import Damaged

# What an entry must say; what else it says is a first proposal, which its owner may have changed.
_NEEDED = ("type", "source", "command", "args")
# What an entry has that reaches its server over the network: none of ours.
_REMOTE = ("url", "httpUrl", "serverUrl")


@dataclass(frozen=True, slots=True)
class Editor:
    """How one format is edited; all three take the text and where the entry stands."""

    get: Callable[[str, tuple[str, ...]], object]
    put: Callable[[str, tuple[str, ...], Mapping[str, Any]], str]
    cut: Callable[[str, tuple[str, ...], int], str]


_EDITORS = {
    "json": Editor(json_edit.get_entry, json_edit.set_entry, json_edit.remove_entry),
    "toml": Editor(toml_edit.get_entry, toml_edit.set_entry, toml_edit.remove_entry),
    "section": Editor(
        lambda text, _: section.get_section(text),
        lambda text, _, __: section.set_section(text),
        lambda text, _, __: section.remove_section(text),
    ),
}


@dataclass(frozen=True, slots=True)
class Target:
    """An entry in a file."""

    title: str  # of the program that reads it
    path: Path
    format: str
    keys: tuple[str, ...]  # where the entry stands, its own name last


@dataclass(frozen=True, slots=True)
class Change:
    """What a file is and what it would be; None for no file."""

    target: Target
    before: bytes | None
    after: bytes | None
    made: int = 0  # objects that are made around the entry

    @property
    def is_none(self) -> bool:
        """Whether all is as it should be already."""
        return self.before == self.after


def client_target(client: Client, project: Path | None, name: str) -> Target:
    """Return the entry of a client, for a user or a project."""
    path = client.file(project)
    if path is None:
        other = f"`dowse install {client.name} --project`" if client.project else "it without --project"
        raise DowseError(f"{client.title} has no such file; use {other}")
    if project is not None:
        _refuse_links_out(path, project)
    target = Target(client.title, path, client.format, (*client.keys, name))
    if client.newer:
        found = _get(replace(target, keys=(*client.keys, client.newer)), files.read(path))
        if isinstance(found, dict) and "command" not in found:
            return replace(target, keys=(*client.keys, client.newer, name))
    return target


def section_target(path: Path) -> Target:
    """Return the section of a file of instructions; no link leads out of its folder, or out of this one."""
    _refuse_links_out(path, path.parent)
    if path.absolute().is_relative_to(Path.cwd()):
        _refuse_links_out(path, Path.cwd())
    return Target("Instructions", path, "section", ("Finding code",))


def _refuse_links_out(path: Path, project: Path) -> None:
    """A project is somebody else's: its links must not lead to files of the user."""
    if not path.resolve().is_relative_to(project.resolve()):
        raise DowseError(
            f"{path} is a link that leads out of {project}; remove it, or edit its target yourself"
        )


def current(target: Target) -> object:
    """Return the entry as it is now, or None."""
    return _get(target, files.read(target.path))


def plan_add(target: Target, entry: Mapping[str, Any]) -> Change:
    """Plan to add an entry, or to bring it up to date."""
    before = files.read(target.path)
    found = _get(target, before)
    if isinstance(found, dict) and any(key in found for key in _REMOTE):
        raise DowseError(
            f'{target.path} has another server called "{target.keys[-1]}"; remove it, or use --name OTHER'
        )
    if isinstance(found, dict):
        entry = {key: value for key, value in entry.items() if key in _NEEDED or key not in found}
    try:
        text = files.decode(before)
        editor = _EDITORS[target.format]
        after = editor.put(text, target.keys, entry)
        missing = [
            depth for depth in range(1, len(target.keys)) if editor.get(text, target.keys[:depth]) is None
        ]
    except Damaged as error:
        raise error.about(target.path) from None
    return Change(
        target, before, before if after == text and before is not None else after.encode(), len(missing)
    )


def plan_remove(target: Target) -> Change:
    """Plan to remove an entry: back to the bytes from before it, where nothing else has changed since."""
    before = files.read(target.path)
    if before is None or _get(target, before) is None:
        return Change(target, before, before)
    record = records.load(target.path, target.keys[-1])
    if record and record.after == records.hash_of(before):
        original = records.original(record)
        if _get(target, original) is None:  # else there was an entry already, not written here
            return Change(target, before, original)
    try:
        made = record.made if record else 0
        after = _EDITORS[target.format].cut(files.decode(before), target.keys, made)
    except Damaged as error:
        raise error.about(target.path) from None
    was_ours = record is not None and not record.original
    is_empty = after.strip("\ufeff \t\r\n") in ("", "{}")
    return Change(target, before, None if was_ours and is_empty else after.encode())


def add(change: Change) -> Path | None:
    """Write a file with its entry, and return where a copy of what was there before is kept."""
    path, name = change.target.path, change.target.keys[-1]
    after = change.after or b""
    backup = records.keep(path, change.before)
    made = files.write(path, change.before, after)
    record = records.load(path, name)
    if record and record.after == records.hash_of(change.before):
        # Changed by us alone since it was first written: what was there before that is what to restore.
        record = replace(record, after=records.hash_of(after))
    else:
        kept = backup.name if backup else ""
        record = records.Record(kept, records.hash_of(after), change.made, tuple(map(os.fspath, made)))
    records.save(path, name, record)
    return backup


def remove(change: Change) -> Path | None:
    """Write a file without its entry, and return where a copy of what was there before is kept."""
    path, name = change.target.path, change.target.keys[-1]
    backup = records.keep(path, change.before)
    record = records.load(path, name)
    if change.after is None:
        files.remove(path, [Path(folder) for folder in record.folders] if record else [])
    else:
        files.write(path, change.before, change.after)
    records.forget(path, name)
    return backup


def _get(target: Target, data: bytes | None) -> object:
    try:
        return _EDITORS[target.format].get(files.decode(data), target.keys)
    except Damaged as error:
        raise error.about(target.path) from None
