"""The index folder: where things lie, generations as folders of hard links, and the writer's lock.

    catalog.sqlite      the authority: its `generation` names the folder that belongs to it
    text/000012/        tantivy's files of generation 12 (`symbols/` and `files/`)
    vectors/ENCODER/    a matrix of vectors, whatever the generation (dowse.vectors)
    derived/            caches of what research computes from the index on first use; none is needed
    writer.lock         held while somebody writes
    CACHEDIR.TAG        tells backups, and our own walker, that nothing here was written by hand

A new generation starts as hard links to the files of the last one (tantivy never changes a file it
has written), is changed in its own folder, and becomes visible when the catalog's transaction
commits. A writer killed before that leaves a folder nobody refers to; the next writer removes it.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from dowse.errors import DowseError, IndexDamaged
from dowse.security.safe_files import open_without_links
from dowse.security.safe_files import refuse_links as _refuse_links
from dowse.write_lock import LOCK

CATALOG = "catalog.sqlite"
TEXT = "text"
VECTORS = "vectors"
DERIVED = "derived"
TAG = "CACHEDIR.TAG"
_TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# The index of `dowse`; `dowse clear` removes it.\n"
_CATALOG_FILES = tuple(CATALOG + ending for ending in ("", "-wal", "-shm", "-journal"))
_GENERATION = re.compile(r"[0-9]{6,}")
# What hinders SQLite and tantivy though the index is whole, in their words, and what to do about it.
_HINDRANCES = (
    ("disk is full", "free some space on its disk"),
    ("No space left", "free some space on its disk"),
    ("is locked", "wait for the other process that has it open, or end that"),
    ("readonly database", "check the permissions of that folder"),
    ("unable to open database", "check the permissions of that folder"),
    ("Permission denied", "check the permissions of that folder"),
    ("out of memory", "free some memory"),
)


def catalog_path(folder: Path) -> Path:
    """Return where the catalog lies."""
    return folder / CATALOG


def generation_path(folder: Path, generation: int) -> Path:
    """Return where the text indexes of one generation lie."""
    return folder / TEXT / f"{generation:06d}"


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
        raise damaged(folder, f"{source} is missing")
    if not old:
        target.mkdir(parents=True)
        return target
    shutil.copytree(source, target, copy_function=_link, ignore=shutil.ignore_patterns("*.lock"))
    return target


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


def remove_index(folder: Path) -> None:
    """Remove the files of an index; the folder too, unless something else lies in it.

    The catalog goes first: a reader then finds no index rather than half of one.
    """
    import shutil

    for name in _CATALOG_FILES:
        (folder / name).unlink(missing_ok=True)
    remove_other_generations(folder, keep=0)
    remove_generation(folder, 0)
    with contextlib.suppress(OSError):
        if (folder / TAG).read_bytes() == _TAG_TEXT.encode():
            (folder / TAG).unlink()
    with contextlib.suppress(OSError):  # something else lies in it
        (folder / TEXT).rmdir()
    for name in (VECTORS, DERIVED):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / LOCK).unlink(missing_ok=True)  # from here on, another writer may be at work
    with contextlib.suppress(OSError):
        folder.rmdir()


def tag_new_index(folder: Path) -> None:
    """Mark the folder of an index that is about to be made, so that no walk takes it for source text."""
    if not (folder / CATALOG).exists() and not (folder / TAG).exists():
        with os.fdopen(open_without_links(folder / TAG, os.O_WRONLY), "wb") as file:
            file.write(_TAG_TEXT.encode())


def refuse_links(folder: Path) -> None:
    """Raise if an index folder holds links: one that came with a repository may lead anywhere."""
    _refuse_links(folder, f"an index holds none: remove {folder}, or name another one with --index-dir")


def refuse_foreign_folder(folder: Path) -> None:
    """Raise if the folder holds something, but neither an index nor what a killed writer left of one."""
    try:
        names = set(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return  # there is none; making it says what is wrong with the path, if something is
    if CATALOG in names:
        return
    foreign = names - {*_CATALOG_FILES, LOCK, TAG, VECTORS, DERIVED}
    if foreign == {TEXT}:
        foreign = {e.name for e in (folder / TEXT).glob("*") if not _GENERATION.fullmatch(e.name)}
    if foreign:
        raise DowseError(
            f"{folder} holds other files ({min(foreign)}) and no index; "
            "name an empty or new folder for the index"
        )


def hindered(folder: Path, reason: object) -> DowseError | None:
    """Return the error for an index that is whole but can't be used now, None if that is not the reason."""
    for words, remedy in _HINDRANCES:
        if words in str(reason):
            return DowseError(f"the index in {folder} can't be used now ({reason}); {remedy}")
    return None


def damaged(folder: Path, reason: object) -> IndexDamaged:
    """Return the error for an index that can't be read."""
    return IndexDamaged(f"the index in {folder} is damaged ({reason}); run `dowse index --rebuild`")


def _link(source: str, target: str) -> str:
    import shutil

    # tantivy replaces these two by renaming a new file over them, which leaves the link's other name
    # alone; but `.managed.json` is small and a plain copy costs nothing.
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)
    return target
