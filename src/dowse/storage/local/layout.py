"""The index folder: its files, and generations as folders of hard links.

    catalog.sqlite      the source of truth: its `generation` names the folder of text indexes
    text/000012/        tantivy's files of generation 12 (`symbols/` and `files/`)
    vectors/ENCODER/    a matrix of vectors, shared by all generations (dowse.vectors)
    derived/            caches that `dowse.research` fills on first use
    writer.lock         the write lock (dowse.write_lock)
    CACHEDIR.TAG        tells backups, and our own walker, that all of this can be rebuilt

A new generation starts as hard links to the files of the last one (tantivy never changes a file it
has written), is changed in its own folder, and becomes visible when the catalog's transaction
commits: an atomic commit. A writer killed before that leaves an unreferenced folder, which the next writer
removes.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection
from pathlib import Path

from dowse.damage import damage_error
from dowse.errors import DowseError
from dowse.security.safe_files import open_without_links, sync_folder
from dowse.security.safe_files import refuse_links as _refuse_links
from dowse.vectors.files import STATE
from dowse.write_lock import LOCK, has_locks

# What differs once a file was written or replaced.
FileVersion = tuple[int, int, int, int]

CATALOG = "catalog.sqlite"
TEXT = "text"
VECTORS = "vectors"
DERIVED = "derived"
# An index that is to replace this one; left by a killed import, and removed by the next writer.
STAGING = "import"
TAG = "CACHEDIR.TAG"
_TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# The index of `dowse`; `dowse clear` removes it.\n"
_CATALOG_FILES = (
    *(CATALOG + ending for ending in ("", "-wal", "-shm", "-journal")),
    *(f"{CATALOG}.sums", "verified.json"),  # of formats before 12
)
_GENERATION = re.compile(r"[0-9]{6,}")
# Errors of SQLite where the file system has no locks.
_LOCK_ERRORS = frozenset(
    "SQLITE_PROTOCOL SQLITE_IOERR_LOCK SQLITE_IOERR_RDLOCK SQLITE_IOERR_SHMLOCK SQLITE_IOERR_UNLOCK".split()
)


def catalog_path(folder: Path) -> Path:
    """Return the path of the catalog."""
    return folder / CATALOG


def generation_path(folder: Path, generation: int) -> Path:
    """Return the folder of the text indexes of one generation."""
    return folder / TEXT / f"{generation:06d}"


def derived_folder(folder: Path) -> Path:
    """Return the folder of what is derived from an index."""
    return folder / DERIVED


def derived_folders(folder: Path) -> list[Path]:
    """Return the folders of caches that have a write lock of their own."""
    return sorted(entry for entry in (folder / DERIVED).glob("*") if entry.is_dir())


def clone_generation(folder: Path, old: int, new: int) -> Path:
    """Start generation `new` as a copy of `old` made of hard links, or empty if there is no old one."""
    import shutil

    target = generation_path(folder, new)
    shutil.rmtree(target, ignore_errors=True)
    source = generation_path(folder, old)
    if old and not source.is_dir():
        raise damage_error(folder, f"{source} is missing")
    if not old:
        target.mkdir(parents=True)
        return target
    shutil.copytree(source, target, copy_function=link_file, ignore=shutil.ignore_patterns("*.lock"))
    return target


def sync_generation(folder: Path, generation: int) -> None:
    """Make the names of a generation durable; tantivy syncs what is in its files, not its last rename."""
    path = generation_path(folder, generation)
    for each in (*sorted(path.iterdir()), path, path.parent, folder):
        sync_folder(each)


def has_generations(folder: Path, besides: int = 0) -> bool:
    """Whether there is the folder of any generation, besides one."""
    names = {entry.name for entry in (folder / TEXT).glob("*")} - {generation_path(folder, besides).name}
    return any(map(_GENERATION.fullmatch, names))


def remove_generation(folder: Path, generation: int) -> None:
    """Remove the folder of one generation, if there is one."""
    import shutil

    shutil.rmtree(generation_path(folder, generation), ignore_errors=True)


def remove_other_generations(folder: Path, keep: int) -> None:
    """Remove every generation folder but one, and nothing else; readers keep what they have open."""
    import shutil

    kept = generation_path(folder, keep)
    for entry in sorted((folder / TEXT).glob("*")):
        if entry != kept and _GENERATION.fullmatch(entry.name):
            shutil.rmtree(entry, ignore_errors=True)


def remove_index(folder: Path, keep_vectors: Collection[str] = ()) -> None:
    """Remove the files of an index; the folder too, unless something else is in it.

    The catalog is removed first: a reader then finds no index rather than half of one.
    """
    import shutil

    remove_catalog(folder)
    with contextlib.suppress(OSError):
        sync_folder(folder)
    remove_other_generations(folder, keep=0)
    remove_generation(folder, 0)
    with contextlib.suppress(OSError):
        if (folder / TAG).read_bytes() == _TAG_TEXT.encode():
            (folder / TAG).unlink()
    with contextlib.suppress(OSError):  # something else is in it
        (folder / TEXT).rmdir()
    for encoder in (folder / VECTORS).glob("*"):
        if encoder.name not in keep_vectors:
            remove_vectors(encoder)
    shutil.rmtree(folder / DERIVED, ignore_errors=True)
    remove_staging(folder)
    with contextlib.suppress(OSError):  # some are kept
        (folder / VECTORS).rmdir()
    (folder / LOCK).unlink(missing_ok=True)  # from here on, another process may write
    with contextlib.suppress(OSError):
        folder.rmdir()


def file_version(path: Path) -> FileVersion | None:
    """Return the version of a file; None if there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    # The number may be used again; the first time is that of the change, on Windows of the creation.
    return stat.st_ino, stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size


def remove_catalog(folder: Path) -> None:
    """Remove the catalog: then there is no index."""
    for name in _CATALOG_FILES:
        (folder / name).unlink(missing_ok=True)


def remove_staging(folder: Path) -> None:
    """Remove what an import has left there."""
    import shutil

    shutil.rmtree(folder / STAGING, ignore_errors=True)


def remove_vectors(folder: Path) -> None:
    """Remove the vectors of an encoder, what names them first: nobody finds a part of them."""
    import shutil

    with contextlib.suppress(OSError):
        (folder / STATE).unlink(missing_ok=True)
        sync_folder(folder)
    shutil.rmtree(folder, ignore_errors=True)


def tag_new_index(folder: Path) -> None:
    """Tag the folder of a new index, so that the walker does not index it."""
    if not (folder / CATALOG).exists() and not (folder / TAG).exists():
        with os.fdopen(open_without_links(folder / TAG, os.O_WRONLY), "wb") as file:
            file.write(_TAG_TEXT.encode())


def refuse_links(folder: Path) -> None:
    """Raise if an index folder holds symbolic links: one from a repository may point anywhere."""
    _refuse_links(folder, f"an index holds none: remove {folder}, or name another one with --index-dir")


def refuse_foreign_folder(folder: Path) -> None:
    """Raise if the folder holds other files and neither an index nor the leftovers of a killed writer."""
    try:
        names = set(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return  # creating it reports what is wrong with the path
    if CATALOG in names:
        return
    foreign = names - {*_CATALOG_FILES, LOCK, TAG, VECTORS, DERIVED, STAGING}
    if foreign == {TEXT}:
        foreign = {e.name for e in (folder / TEXT).glob("*") if not _GENERATION.fullmatch(e.name)}
    if foreign:
        raise DowseError(
            f"{folder} holds other files ({min(foreign)}) and no index; "
            "name an empty or new folder for the index"
        )


def has_no_locks(folder: Path, error: object) -> bool:
    """Whether SQLite could not lock, as in some network folders; it takes some for another process."""
    name = getattr(error, "sqlite_errorname", "")
    return name in _LOCK_ERRORS or (name == "SQLITE_BUSY" and not has_locks(folder))


def link_file(source: str, target: str) -> str:
    """Make a hard link, or a copy on a file system without them."""
    import shutil

    # tantivy never writes to an existing file: it renames a new one over it, which keeps the other link.
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
        with open(target, "rb+") as file:
            os.fsync(file.fileno())
    return target
