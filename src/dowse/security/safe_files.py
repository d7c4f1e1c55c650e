"""File access in untrusted folders, safe from symlink attacks, path traversal and TOCTOU races.

A cloned repository is untrusted data (docs/SECURITY.md). Every file of a repository is read through
`read_below`: no symbolic links, no devices, bounded reads. Every file that dowse writes is created in
a private folder that was checked, without following links. This module loads only the standard library's
smallest modules: every search imports it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple

# Missing on Windows: there is neither a FIFO to block on nor a flag to refuse links.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0) | os.O_RDONLY
_CREATE = os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | _NOFOLLOW
PRIVATE_DIRECTORY, PRIVATE_FILE = 0o700, 0o600
_OTHERS = 0o077


class NotRegularFile(OSError):
    """A symbolic link, FIFO, device, socket or directory instead of a regular file."""


class FileTooLarge(OSError):
    """A file larger than its reader accepts."""


def read_regular_file(
    path: str | os.PathLike[str], max_bytes: int, *, follow_symlinks: bool = False
) -> bytes:
    """Return the content of a regular file; raises OSError for anything else, and for a larger file.

    The checks are made on the open descriptor, so that nobody can replace the file in between (TOCTOU).
    `O_NONBLOCK` keeps a FIFO without a writer from blocking for ever.

    Args:
        path: The file.
        max_bytes: A larger file raises `FileTooLarge`; no more is ever read.
        follow_symlinks: Only for files that the user named or owns; never inside a repository.
    """
    handle = open_regular_file(path, follow_symlinks=follow_symlinks)
    try:
        return _read_open_file(handle, max_bytes, path)
    finally:
        os.close(handle)


def read_below(directory: str | os.PathLike[str], path: str, max_bytes: int) -> bytes:
    """Read a regular file below a directory; raises OSError if a part of the path is a link or special.

    Each folder is opened in the one above it: whoever swaps a folder for a link in between gains nothing.
    """
    *folders, name = _split(path)
    with open_folder_below(directory, folders) as folder:
        handle = _open_checked(*_inside(folder, name), _READ | _NOFOLLOW)
        try:
            return _read_open_file(handle, max_bytes, path)
        finally:
            os.close(handle)


class OpenFolder(NamedTuple):
    """A folder by its descriptor, and by its path where the system can't open files by descriptors."""

    path: str
    handle: int | None

    def list_entries(self) -> dict[str, os.DirEntry[str]]:
        """Return what is in the folder, by name; valid while it is open."""
        with os.scandir(self.path if self.handle is None else self.handle) as listing:
            return {entry.name: entry for entry in listing}

    def read_link(self, name: str) -> str:
        """Return where a symbolic link in the folder leads."""
        path, handle = _inside(self, name)
        return os.readlink(path, dir_fd=handle)

    def can_read(self, name: str) -> bool:
        """Whether this process may read a file in the folder."""
        path, handle = _inside(self, name)
        return os.access(path, os.R_OK, dir_fd=handle)


@contextlib.contextmanager
def open_folder_below(directory: str | os.PathLike[str], folders: Sequence[str]) -> Iterator[OpenFolder]:
    """Open a folder below a directory; raises OSError if a part of the path below it is a link."""
    path = os.path.join(directory, *folders)
    if os.open not in os.supports_dir_fd:  # Windows, where only administrators make links
        for count in range(1, len(folders) + 1):
            if not stat.S_ISDIR(os.lstat(os.path.join(directory, *folders[:count])).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        yield OpenFolder(path, None)
        return
    handle = os.open(directory, _FOLDER)
    try:
        for name in folders:
            inner = os.open(name, _FOLDER | _NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield OpenFolder(path, handle)
    finally:
        os.close(handle)


def _split(path: str) -> list[str]:
    """Return the parts of a path that may come from anyone; raises NotRegularFile if it leads elsewhere."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise _not_regular(path)
    return parts


def _inside(folder: OpenFolder, name: str) -> tuple[str, int | None]:
    return (os.path.join(folder.path, name), None) if folder.handle is None else (name, folder.handle)


def open_regular_file(path: str | os.PathLike[str], *, follow_symlinks: bool = False) -> int:
    """Open a regular file for reading and return its descriptor; raises NotRegularFile for anything else."""
    return _open_checked(path, None, _READ | (0 if follow_symlinks else _NOFOLLOW))


def resolve_inside(root: Path, path: str) -> Path:
    """Return a file of a repository by its path in an index, which is untrusted: no path traversal.

    Raises:
        NotRegularFile: The path leads out of the root: it is absolute, has `..`, or passes a folder that has
            become a symbolic link.
    """
    parts = _split(path)
    file = root.joinpath(*parts)
    if file.parent.resolve() != root.resolve().joinpath(*parts[:-1]):
        raise _not_regular(path)
    return file


def _read_open_file(handle: int, max_bytes: int, path: str | os.PathLike[str]) -> bytes:
    """Read to the end; files of /proc and files that grow have more bytes than their size."""
    size = os.fstat(handle).st_size
    if size > max_bytes:
        raise FileTooLarge(errno.EFBIG, f"larger than {max_bytes:,} bytes", os.fspath(path))
    blocks, total = [], 0
    while block := os.read(handle, max(size + 1 - total, 4096)):
        blocks.append(block)
        total += len(block)
        if total > max_bytes:
            raise FileTooLarge(errno.EFBIG, f"larger than {max_bytes:,} bytes", os.fspath(path))
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def _not_regular(path: str | os.PathLike[str]) -> NotRegularFile:
    return NotRegularFile(errno.EINVAL, "not a regular file", os.fspath(path))


def make_private_directory(path: str | os.PathLike[str]) -> None:
    """Create a directory for its owner alone (0700); an existing one of this user becomes private.

    Raises:
        DowseError: The path is a symbolic link or belongs to another user, who could replace what is written
            there.
        OSError: It can't be created.
    """
    folder = Path(path)
    try:
        folder.mkdir(PRIVATE_DIRECTORY)
    except FileNotFoundError:
        make_parents(folder)  # `Path.mkdir(parents=True)` would leave them open to others
        folder.mkdir(PRIVATE_DIRECTORY, exist_ok=True)
    except FileExistsError:
        check_private_directory(folder)


def make_parents(path: Path) -> None:
    """Create the missing parents of a path, for their owner alone."""
    missing = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(PRIVATE_DIRECTORY, exist_ok=True)


def check_private_directory(folder: Path) -> None:
    """Remove other users' access to a directory; raises DowseError if it belongs to another user."""
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise DowseError(f"{folder} is a symbolic link; dowse writes nothing there: name what it leads to")
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not hasattr(os, "geteuid"):  # Windows: the user's profile is private by its ACL
        return
    if status.st_uid != os.geteuid():
        if os.geteuid() == 0:  # root in a container, on a mounted volume
            return
        raise DowseError(f"{folder} belongs to another user; name a directory of your own")
    if status.st_mode & _OTHERS:
        handle = os.open(folder, _FOLDER | _NOFOLLOW)  # in a shared folder, a link may have replaced it
        try:
            os.fchmod(handle, stat.S_IMODE(status.st_mode) & ~_OTHERS)
        finally:
            os.close(handle)


def refuse_links(folder: Path, remedy: str) -> None:
    """Raise DowseError if a folder holds a symbolic link, device, FIFO or socket at any depth.

    SQLite and tantivy open files by path and follow links. A folder that came with a repository may hold
    links to files of the user (symlink attack); a private one without links can't lead elsewhere.
    """
    pending = [folder]
    while pending:
        try:
            listing = os.scandir(pending.pop())
        except (FileNotFoundError, NotADirectoryError):  # missing, or a writer has just removed it
            continue
        with listing as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    raise DowseError(f"{entry.path} is a symbolic link or no regular file; {remedy}")


def open_without_links(
    path: str | os.PathLike[str], flags: int, mode: int = PRIVATE_FILE, *, create: bool = True
) -> int:
    """Open or create a file for writing and return its descriptor; a symbolic link is refused, not followed.

    Raises:
        DowseError: The path is a symbolic link, or no regular file.
    """
    try:
        return _open_checked(path, None, flags | (_CREATE if create else _CREATE & ~os.O_CREAT), mode)
    except NotRegularFile:
        raise DowseError(
            f"{os.fspath(path)} is a symbolic link or no regular file; remove it and try again"
        ) from None


def _open_checked(path: str | os.PathLike[str], folder: int | None, flags: int, mode: int = 0) -> int:
    """Open a file and check the open descriptor; raises NotRegularFile for all but regular files."""
    try:
        handle = os.open(path, flags, mode, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a symbolic link; a socket
            raise _not_regular(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _not_regular(path)
    return handle


def write_atomically(path: str | os.PathLike[str], data: bytes, mode: int = PRIVATE_FILE) -> None:
    """Replace a file atomically, so that it survives a crash; a symbolic link is replaced, not followed."""
    with open_atomically(path, mode) as file:
        file.write(data)


@contextlib.contextmanager
def open_atomically(path: str | os.PathLike[str], mode: int = PRIVATE_FILE) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces the one at a path when all is written.

    The temporary file is created exclusively, so that a link with its name is not followed either.
    """
    from dowse.security.leftovers import remove_leftovers

    target = Path(path)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.new")
    temporary.unlink(missing_ok=True)
    remove_leftovers(target.parent, f"{target.name}.")
    handle = os.open(temporary, os.O_WRONLY | os.O_EXCL | _CREATE, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: a power cut may undo a rename or a new file of synced content.

    Windows and some network folders can't do that, and need not.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except (PermissionError, FileNotFoundError):  # Windows; or somebody has just removed it
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise
    finally:
        os.close(handle)
