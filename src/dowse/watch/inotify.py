"""File changes on Linux, by system calls to inotify.

A library would not do: only folders that are indexed are watched, so that neither `node_modules` nor git's
objects cost anything; and an overflow of the kernel's queue is noticed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from pathlib import Path

from dowse.source.git import git_directory, info_exclude
from dowse.watch.sources import GIT_EXCLUDE, GIT_FILES, FileChanges, WatchLimitReached

_ATTRIB, _CLOSE_WRITE = 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_OVERFLOW, _IGNORED = 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS = 0x1000000, 0x2000000
# Not every write: a file that is being written is read when it is closed.
_CONTENT = _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_MASK = _CONTENT | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 20
_REMEDY = "raise it with `sysctl fs.inotify.max_user_watches=524288`"


class InotifySource:
    """Watches the folders that are added, and git's own."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.handle = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.handle < 0:
            raise WatchLimitReached(f"no more inotify instances: {os.strerror(ctypes.get_errno())}")
        self._folders: dict[int, str] = {}
        git = git_directory(self._root)
        self._git = self._watch(git) if git else -1
        exclude = info_exclude(self._root)
        self._info = self._watch(os.path.dirname(exclude)) if exclude else -1  # noqa: PTH120

    @property
    def description(self) -> str:
        """How changes are found, for people."""
        return f"inotify, {len(self._folders):,} folders"

    def add(self, folder: str) -> None:
        """Report changes in a folder too."""
        watch = self._watch(os.path.join(self._root, folder))
        if watch >= 0:
            self._folders[watch] = folder

    def due(self) -> float:
        """Return a time that never comes: the handle tells."""
        return float("inf")

    def read(self) -> FileChanges:
        """Return all changes that the kernel has queued."""
        changes = FileChanges()
        while True:
            try:
                data = os.read(self.handle, _READ_BYTES)
            except BlockingIOError:
                return changes
            self._parse(data, changes)

    def close(self) -> None:
        """Stop watching."""
        os.close(self.handle)

    def _parse(self, data: bytes, changes: FileChanges) -> None:
        offset = 0
        while offset < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, offset)
            name = os.fsdecode(data[offset + _EVENT.size : offset + _EVENT.size + length].rstrip(b"\0"))
            offset += _EVENT.size + length
            if mask & _OVERFLOW:
                changes.needs_scan = True
            elif watch == self._git:
                if name in GIT_FILES:
                    changes.paths.add(f".git/{name}")
            elif watch == self._info:
                if name == "exclude":
                    changes.paths.add(GIT_EXCLUDE)
            elif (folder := self._folders.get(watch)) is not None:
                self._add_change(changes, watch, folder, mask, name)

    def _add_change(self, changes: FileChanges, watch: int, folder: str, mask: int, name: str) -> None:
        if mask & _IGNORED:  # the folder is gone, and its watch descriptor may be reused
            del self._folders[watch]
        elif mask & (_DELETE_SELF | _MOVE_SELF):
            if mask & _MOVE_SELF:  # the kernel follows it to its new path: there it is another folder
                self._libc.inotify_rm_watch(self.handle, watch)
            if folder:
                changes.paths.add(folder.rstrip("/"))
            else:
                changes.needs_scan = True
        elif name:
            changes.paths.add(folder + name)

    def _watch(self, path: str) -> int:
        watch = int(self._libc.inotify_add_watch(self.handle, os.fsencode(path), _MASK))
        if watch >= 0:
            return watch
        error = ctypes.get_errno()
        if error == errno.ENOSPC:
            raise WatchLimitReached(f"the system watches no more folders; {_REMEDY}")
        return -1  # gone already, or not readable: the scan that reads it sees that
