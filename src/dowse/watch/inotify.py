"""News from Linux: inotify, asked directly.

Three things speak against a library here: only folders that are indexed are watched, so that neither
`node_modules` nor git's objects cost anything; the kernel's queue can be read at any moment, so that a search
knows whether it has heard of all that was saved before; and an overflow of that queue is noticed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
from pathlib import Path

from dowse.source.git import git_directory, info_exclude
from dowse.watch.sources import GIT_EXCLUDE, LimitReached, News

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
# Of git's folder: what is checked out, and that it is being changed.
_GIT_FILES = frozenset({"HEAD", "index", "index.lock"})
_REMEDY = "raise it with `sysctl fs.inotify.max_user_watches=524288`"


class Inotify:
    """Watches the folders it is told of, and the one where git keeps what is checked out."""

    is_exact = True

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._handle = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._handle < 0:
            raise LimitReached(f"no more inotify instances: {os.strerror(ctypes.get_errno())}")
        self._folders: dict[int, str] = {}
        self._poll = select.poll()
        self._poll.register(self._handle, select.POLLIN)
        git = git_directory(self._root)
        self._git = self._watch(git) if git else -1
        exclude = info_exclude(self._root)
        self._info = self._watch(os.path.dirname(exclude)) if exclude else -1  # noqa: PTH120

    @property
    def words(self) -> str:
        """How changes are seen, for people."""
        return f"inotify, {len(self._folders):,} folders"

    def add(self, folder: str) -> None:
        """Tell of changes in a folder too."""
        number = self._watch(os.path.join(self._root, folder))
        if number >= 0:
            self._folders[number] = folder

    def wait(self, wake: int, seconds: float) -> None:
        """Wait for news, or to be woken."""
        self._poll.register(wake, select.POLLIN)
        self._poll.poll(max(0.0, seconds) * 1000)

    def read(self) -> News:
        """Return what the kernel knows by now."""
        news = News()
        while True:
            try:
                data = os.read(self._handle, _READ_BYTES)
            except BlockingIOError:
                return news
            self._take(data, news)

    def close(self) -> None:
        """Watch nothing any more."""
        os.close(self._handle)

    def _take(self, data: bytes, news: News) -> None:
        at = 0
        while at < len(data):
            number, mask, _, length = _EVENT.unpack_from(data, at)
            name = os.fsdecode(data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0"))
            at += _EVENT.size + length
            if mask & _OVERFLOW:
                news.lost = True
            elif number == self._git:
                if name in _GIT_FILES:
                    news.paths.add(f".git/{name}")
            elif number == self._info:
                if name == "exclude":
                    news.paths.add(GIT_EXCLUDE)
            elif (folder := self._folders.get(number)) is not None:
                self._note(news, number, folder, mask, name)

    def _note(self, news: News, number: int, folder: str, mask: int, name: str) -> None:
        if mask & _IGNORED:  # the folder is gone, and its number goes to another
            del self._folders[number]
        elif mask & (_DELETE_SELF | _MOVE_SELF):
            if mask & _MOVE_SELF:  # the kernel follows it to its new place: there it is another folder
                self._libc.inotify_rm_watch(self._handle, number)
            if folder:
                news.paths.add(folder.rstrip("/"))
            else:
                news.lost = True
        elif name:
            news.paths.add(folder + name)

    def _watch(self, place: str) -> int:
        number = int(self._libc.inotify_add_watch(self._handle, os.fsencode(place), _MASK))
        if number >= 0:
            return number
        error = ctypes.get_errno()
        if error == errno.ENOSPC:
            raise LimitReached(f"the system watches no more folders; {_REMEDY}")
        return -1  # gone already, or not to be read: whoever reads it sees that
