"""Plan and apply the change of one entry in a configuration file."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from dowse.errors import DowseError
from dowse.install import files, json_edit, section, toml_edit
from dowse.install.clients import Client
from dowse.install.editing import EditError
from dowse.lazy_classes import dataclass, replace

# Fields that are always set; the others are defaults, which the owner may have changed.
_REQUIRED_FIELDS = ("type", "source", "command", "args")
# Fields of an entry whose server is reached over the network: never one of ours.
_REMOTE_FIELDS = ("url", "httpUrl", "serverUrl")


# Each module has `get_entry`, `set_entry` and `remove_entry`.
_EDITORS: dict[str, ModuleType] = {
    "json": json_edit,
    "toml": toml_edit,
    "section": section,
}


@dataclass(frozen=True, slots=True)
class Target:
    """The position of an entry: a file and keys."""

    title: str  # of the program that reads it
    path: Path
    format: str
    keys: tuple[str, ...]  # nested keys, the name of the entry last


@dataclass(frozen=True, slots=True)
class Change:
    """The content of a file before and after; None for no file."""

    target: Target
    before: bytes | None
    after: bytes | None

    @property
    def is_none(self) -> bool:
        """Whether nothing changes."""
        return self.before == self.after


def client_target(client: Client, project: Path | None, name: str) -> Target:
    """Return the entry of a client, for a user or a project."""
    path = client.file(project)
    if path is None:
        raise DowseError(f"{client.title} has no file for a project; use it without --project")
    if project is not None:
        refuse_outside_links(path, project)
    target = Target(client.title, path, client.format, (*client.keys, name))
    if client.newer:
        existing = _get_entry(replace(target, keys=(*client.keys, client.newer)), files.read(path))
        if isinstance(existing, dict) and "command" not in existing:
            return replace(target, keys=(*client.keys, client.newer, name))
    return target


def section_target(path: Path) -> Target:
    """Return the section of an instruction file; its links must stay in its folder and the current one."""
    refuse_outside_links(path, path.parent)
    if path.absolute().is_relative_to(Path.cwd()):
        refuse_outside_links(path, Path.cwd())
    return Target("Instructions", path, "section", ("Finding code",))


def refuse_outside_links(path: Path, project: Path) -> None:
    """Refuse a link that leads out of a project: it could lead to files of the user."""
    if not path.resolve().is_relative_to(project.resolve()):
        raise DowseError(
            f"{path} is a link that leads out of {project}; remove it, or edit its target yourself"
        )


def current_entry(target: Target) -> object:
    """Return the entry in the file now, or None."""
    return _get_entry(target, files.read(target.path))


def plan_add(target: Target, entry: Mapping[str, Any]) -> Change:
    """Plan to add an entry, or to update it."""
    before = files.read(target.path)
    existing = _get_entry(target, before)
    if isinstance(existing, dict) and any(key in existing for key in _REMOTE_FIELDS):
        raise DowseError(
            f'{target.path} has another server called "{target.keys[-1]}"; remove it, or use --name OTHER'
        )
    if isinstance(existing, dict):
        entry = {key: value for key, value in entry.items() if key in _REQUIRED_FIELDS or key not in existing}
    try:
        text = files.decode(before)
        after: str = _EDITORS[target.format].set_entry(text, target.keys, entry)
    except EditError as error:
        raise error.in_file(target.path) from None
    return Change(target, before, before if after == text and before is not None else after.encode())


def plan_remove(target: Target) -> Change:
    """Plan to remove an entry, with the objects around it and the file if nothing else is in them."""
    before = files.read(target.path)
    entry = None if before is None else _get_entry(target, before)
    if before is None or entry is None:
        return Change(target, before, before)
    original = _original(target, before, entry)
    if original is not None:
        return Change(target, before, original)
    try:
        after: str = _EDITORS[target.format].remove_entry(files.decode(before), target.keys)
    except EditError as error:
        raise error.in_file(target.path) from None
    is_empty = after.strip("\ufeff \t\r\n") in ("", "{}")
    return Change(target, before, None if is_empty else after.encode())


def _original(target: Target, before: bytes, entry: object) -> bytes | None:
    """Return the file as it was, if adding the entry to a backup of it gives what it is now."""
    editor = _EDITORS[target.format]
    for backup in files.backups(target.path):
        with contextlib.suppress(EditError):
            text = files.decode(backup)
            is_without = editor.get_entry(text, target.keys) is None
            if is_without and editor.set_entry(text, target.keys, entry).encode() == before:
                return backup
    return None


def apply(change: Change) -> Path | None:
    """Write a file as planned, and return the backup of its content before."""
    backup = files.write_backup(change.target.path, change.before)
    if change.after is None:
        files.remove(change.target.path)
    else:
        files.write(change.target.path, change.before, change.after)
    return backup


def _get_entry(target: Target, data: bytes | None) -> object:
    try:
        entry: object = _EDITORS[target.format].get_entry(files.decode(data), target.keys)
    except EditError as error:
        raise error.in_file(target.path) from None
    return entry
