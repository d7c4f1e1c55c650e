"""Plan and apply the change of one entry in a configuration file."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from dowse.errors import DowseError
from dowse.install import files, hooks_edit, json_edit, section, text_file, toml_edit
from dowse.install.clients import Client
from dowse.install.editing import EditError

# Fields that are always set; the others are defaults, which the owner may have changed.
_REQUIRED_FIELDS = ("type", "source", "command", "args", *hooks_edit.EVENTS)
# Fields of an entry whose server is reached over the network: never one of ours.
_REMOTE_FIELDS = ("url", "httpUrl", "serverUrl")


# Each module has `get_entry`, `set_entry` and `remove_entry`.
_EDITORS: dict[str, ModuleType] = {
    "json": json_edit,
    "toml": toml_edit,
    "section": section,
    "hooks": hooks_edit,
    "text": text_file,
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
    created_objects: int = 0  # objects that are created around the entry

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
        editor = _EDITORS[target.format]
        after: str = editor.set_entry(text, target.keys, entry)
        created = _created(editor, text, target.keys)
    except EditError as error:
        raise error.in_file(target.path) from None
    return Change(target, before, before if after == text and before is not None else after.encode(), created)


def _created(editor: ModuleType, text: str, keys: tuple[str, ...]) -> int:
    """Return what an addition creates around the entry: how many objects, or which."""
    if editor is hooks_edit:
        return hooks_edit.created(text, keys)
    return sum(editor.get_entry(text, keys[:depth]) is None for depth in range(1, len(keys)))


def plan_remove(target: Target) -> Change:
    """Plan to remove an entry: restore the original bytes if nothing else has changed since."""
    before = files.read(target.path)
    if before is None or _get_entry(target, before) is None:
        return Change(target, before, before)
    record = files.load_record(target.path, target.keys[-1])
    if record and record.after == files.content_hash(before):
        original = files.original_content(record)
        if _get_entry(target, original) is None:  # else the entry is older than our change
            return Change(target, before, original)
    try:
        created = record.created_objects if record else 0
        after: str = _EDITORS[target.format].remove_entry(files.decode(before), target.keys, created)
    except EditError as error:
        raise error.in_file(target.path) from None
    is_our_file = record is not None and not record.original
    is_empty = after.strip("\ufeff \t\r\n") in ("", "{}")
    return Change(target, before, None if is_our_file and is_empty else after.encode())


def add(change: Change) -> Path | None:
    """Write a file with its entry, and return the backup of its content before."""
    path, name = change.target.path, change.target.keys[-1]
    after = change.after or b""
    backup = files.write_backup(path, change.before)
    folders = files.write(path, change.before, after)
    record = files.load_record(path, name)
    if record and record.after == files.content_hash(change.before):
        # Changed by us alone since the first change: the content before that is to be restored.
        record = replace(record, after=files.content_hash(after))
    else:
        original = backup.name if backup else ""
        record = files.Record(
            original, files.content_hash(after), change.created_objects, tuple(map(os.fspath, folders))
        )
    files.save_record(path, name, record)
    return backup


def remove(change: Change) -> Path | None:
    """Write a file without its entry, and return the backup of its content before."""
    path, name = change.target.path, change.target.keys[-1]
    backup = files.write_backup(path, change.before)
    record = files.load_record(path, name)
    if change.after is None:
        files.remove(path, [Path(folder) for folder in record.folders] if record else [])
    else:
        files.write(path, change.before, change.after)
    files.delete_record(path, name)
    return backup


def unified_diff(change: Change) -> str:
    """Return a change as `diff -u` shows it."""
    path = str(change.target.path)
    lines = difflib.unified_diff(
        _lines(change.before),
        _lines(change.after),
        "/dev/null" if change.before is None else path,
        "/dev/null" if change.after is None else path,
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(data: bytes | None) -> list[str]:
    """Return the lines with their ends, split at line feeds only."""
    text = (data or b"").decode(errors="replace")
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _get_entry(target: Target, data: bytes | None) -> object:
    try:
        entry: object = _EDITORS[target.format].get_entry(files.decode(data), target.keys)
    except EditError as error:
        raise error.in_file(target.path) from None
    return entry
