"""File access in folders that may be hostile: no symbolic links, no devices, bounded reads, private folders.

What lies in a cloned repository is data (docs/SECURITY.md). Every file of a repository is read through
`read_regular_file`, and every file that dowse writes is created in a folder that was checked, without
following links. Loads nothing but the standard library's smallest modules: every search starts here.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from dowse.errors import DowseError

# Missing on Windows: there is neither a FIFO to block on nor a flag to refuse links with.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | _NOFOLLOW
PRIVATE_DIRECTORY, PRIVATE_FILE = 0o700, 0o600
_OTHERS = 0o077


class NotRegularFile(OSError):
    """A symbolic link, FIFO, device, socket or directory where a plain file was expected."""


class FileTooLarge(OSError):
    """A file with more bytes than its reader accepts."""


def read_regular_file(
    path: str | os.PathLike[str], max_bytes: int, *, follow_symlinks: bool = False
) -> bytes:
    """Return the content of a regular file; raises OSError for anything else, and for a larger file.

    The checks are made on the opened file, so that nobody can exchange it in between. `O_NONBLOCK` keeps a
    FIFO without a writer from blocking for ever.

    Args:
        path: The file.
        max_bytes: A larger file raises `FileTooLarge`; no more than this is ever read.
        follow_symlinks: Only for files that the user named or owns; never inside a repository.
    """
    handle = open_regular_file(path, follow_symlinks=follow_symlinks)
    try:
        size = os.fstat(handle).st_size
        if size > max_bytes:
            raise FileTooLarge(errno.EFBIG, f"larger than {max_bytes:,} bytes", os.fspath(path))
        return _read_at_most(handle, size, max_bytes, path)
    finally:
        os.close(handle)


def open_regular_file(path: str | os.PathLike[str], *, follow_symlinks: bool = False) -> int:
    """Open a regular file for reading and return its descriptor; raises NotRegularFile for anything else."""
    try:
        handle = os.open(path, _READ | (0 if follow_symlinks else _NOFOLLOW))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a symbolic link; a socket
            raise _not_regular(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _not_regular(path)
    return handle


def resolve_inside(root: Path, path: str) -> Path:
    """Return a file of a repository by the path that an index has for it, which may be anything.

    Raises:
        NotRegularFile: The path leads elsewhere: it is absolute, goes up, or passes a symbolic link that a
            folder has become since.
    """
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise _not_regular(path)
    file = root.joinpath(*parts)
    if file.parent.resolve() != root.resolve().joinpath(*parts[:-1]):
        raise _not_regular(path)
    return file


def _read_at_most(handle: int, size: int, max_bytes: int, path: str | os.PathLike[str]) -> bytes:
    """Read to the end; files of /proc and files that grow have more bytes than their size says."""
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
    """Make a directory for its owner alone (0700); one that exists and is ours becomes so.

    Raises:
        DowseError: The path is a symbolic link or belongs to another user: whoever owns it could exchange
            what is written there.
        OSError: It can't be made.
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
    """Make the missing parents of a path, for their owner alone."""
    missing = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(PRIVATE_DIRECTORY, exist_ok=True)


def check_private_directory(folder: Path) -> None:
    """Take away other users' access to a directory of ours; raises DowseError if it is not ours."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise DowseError(f"{folder} is a symbolic link; dowse writes nothing there: name what it leads to")
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not hasattr(os, "geteuid"):  # Windows: the user's profile is private by its access control list
        return
    if found.st_uid != os.geteuid():
        if os.geteuid() == 0:  # root in a container, on a mounted volume
            return
        raise DowseError(f"{folder} belongs to another user; name a directory of your own")
    if found.st_mode & _OTHERS:
        folder.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


def refuse_links(folder: Path, remedy: str) -> None:
    """Raise DowseError if a folder of ours holds a symbolic link, device, FIFO or socket at any depth.

    SQLite and tantivy open files by path and follow links. A folder that came with a repository may hold
    links to files of the user; one that is private and holds no links can't lead elsewhere.
    """
    pending = [folder]
    while pending:
        try:
            found = os.scandir(pending.pop())
        except (FileNotFoundError, NotADirectoryError):  # there is none, or a writer has just removed it
            continue
        with found as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    raise DowseError(f"{entry.path} is a symbolic link or no regular file; {remedy}")


def open_without_links(path: str | os.PathLike[str], flags: int, mode: int = PRIVATE_FILE) -> int:
    """Open or create a file for writing and return its descriptor; a symbolic link is refused, not followed.

    Raises:
        DowseError: There is a symbolic link, or something that is no regular file.
    """
    return _opened(path, flags | _CREATE, mode)


def open_existing_without_links(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file that exists and return its descriptor; links and all but regular files are refused."""
    return _opened(path, flags | _CREATE & ~os.O_CREAT, 0)


def _opened(path: str | os.PathLike[str], flags: int, mode: int) -> int:
    try:
        handle = os.open(path, flags, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise _refused(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _refused(path)
    return handle


def _refused(path: str | os.PathLike[str]) -> DowseError:
    return DowseError(f"{os.fspath(path)} is a symbolic link or no regular file; remove it and try again")


def write_atomically(path: str | os.PathLike[str], data: bytes, mode: int = PRIVATE_FILE) -> None:
    """Give a file new content in one step that survives a crash; a link at its place is replaced.

    The temporary file is created exclusively, so that a link with its name is not followed.
    """
    target = Path(path)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.new")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_EXCL | _CREATE, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
