"""Compiled grammars, from the archive in the package `semble-grammars`.

A grammar is extracted when it is first used. What is extracted is loaded as code, so it goes to a folder that
only the user can write to. The package's own loader does not check that folder, and reads the whole archive
twice for each grammar: parsing processes have little CPU time for a file.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from dowse.damage import find_remedy
from dowse.errors import DowseError
from dowse.runtime_paths import cache_folder, digest
from dowse.security.safe_files import make_private_directory, write_atomically

if TYPE_CHECKING:
    from tree_sitter import Language

_PACKAGE = "semble_grammars"
# The package's own variable for the folder of extracted grammars.
_FOLDER_VARIABLE = "SEMBLE_GRAMMARS_CACHE_DIR"
_CAPSULE_NAME = b"tree_sitter.Language"

_lock = Lock()
# In a process that may not write: whether its parent should be asked for what is missing.
_asks: bool | None = None


class GrammarMissing(Exception):
    """A grammar is not extracted or damaged, and this process may not write: its parent may (`extract`)."""


def load_language(name: str) -> Language:
    """Return a compiled grammar by its name in the package.

    Raises:
        DowseError: The package is missing or has no such grammar, or the grammar can't be loaded.
    """
    manifest, archive = _manifest()
    entry = manifest["languages"].get(name)
    if entry is None:
        raise DowseError(f"no grammar is called {name}; reinstall dowse")
    with _lock:
        try:
            folder = _folder(archive)
            make_private_directory(folder)
            if _asks is None:
                return _load(archive, entry, folder)
            return _open(folder / entry["file"], entry["symbol"])
        except (OSError, DowseError):  # read-only, full, mounted without `exec`, of another user
            if _asks:
                raise GrammarMissing(name) from None
        try:
            return _load_from_memory(archive, entry)
        except OSError as error:
            remedy = find_remedy(error) or "check its folder, or reinstall dowse"
            raise DowseError(f"the grammar of {name} can't be loaded ({error}); {remedy}") from error


def extract(name: str) -> None:
    """Extract a grammar for a process that may not; if it can't be stored, that process uses memory."""
    with contextlib.suppress(OSError, DowseError, KeyError):
        manifest, archive = _manifest()
        folder, entry = _folder(archive), manifest["languages"][name]
        make_private_directory(folder)
        library = folder / entry["file"]
        if not library.exists() or _checksum(library.read_bytes()) != entry["sha256"]:
            write_atomically(library, _extract(archive, entry))


def ask_for_missing(asks: bool) -> None:
    """Have `load_language` write no files, and raise GrammarMissing instead or load grammars into memory."""
    global _asks
    _asks = asks


def grammars_folder() -> str:
    """Return the folder of extracted grammars, which is made if it can be."""
    folder = _folder(_manifest()[1])
    with contextlib.suppress(OSError, DowseError):
        make_private_directory(folder)
    return str(folder)


def damaged_grammars(names: Iterable[str]) -> list[str]:
    """Return those of some grammars that are missing in the archive or not as they were published."""
    manifest, archive = _manifest()
    checksums = {name: manifest["languages"].get(name, {}).get("sha256") for name in sorted(names)}
    found = {_checksum(data) for _, data in _members(archive)}
    return [name for name, checksum in checksums.items() if checksum not in found]


@cache
def _manifest() -> tuple[dict[str, Any], Path]:
    """Return the list of grammars for this system, and their archive."""
    spec = find_spec(_PACKAGE)  # without importing it, which takes longer than to load a grammar
    found = list(Path(spec.origin).parent.glob("grammars/*/manifest.json")) if spec and spec.origin else []
    if not found:
        raise DowseError("the package semble-grammars is missing or not for this system; reinstall dowse")
    manifest = json.loads(found[0].read_text("utf-8"))
    return manifest, found[0].with_name(manifest["archive"])


def _folder(archive: Path) -> Path:
    """Return the folder of what is extracted from an archive: another version has one of its own."""
    base = os.environ.get(_FOLDER_VARIABLE) or os.path.join(cache_folder(), "grammars")
    return Path(base) / digest(archive.with_name("manifest.json").read_text("utf-8"))


def _load(archive: Path, entry: dict[str, str], folder: Path) -> Language:
    """Load a grammar from a folder; extract it if it is missing or can't be loaded."""
    library = folder / entry["file"]
    if library.exists():
        try:
            return _open(library, entry["symbol"])
        except OSError:  # damaged
            pass
    write_atomically(library, _extract(archive, entry))
    return _open(library, entry["symbol"])


def _load_from_memory(archive: Path, entry: dict[str, str]) -> Language:
    """Load a grammar that no folder can keep: from memory, or a folder that goes at once."""
    data = _extract(archive, entry)
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create(entry["file"])
        try:
            with os.fdopen(handle, "wb", closefd=False) as stream:
                stream.write(data)  # all of it: a part would crash whoever loads it
            return _open(Path(f"/proc/self/fd/{handle}"), entry["symbol"])
        finally:
            os.close(handle)
    from dowse.security.leftovers import temporary_folder

    with temporary_folder("dowse-grammar-") as temporary:
        return _load(archive, entry, temporary)


def _extract(archive: Path, entry: dict[str, str]) -> bytes:
    """Return one file of an archive; raises OSError if it is damaged."""
    for name, data in _members(archive):
        if name == entry["file"] and _checksum(data) == entry["sha256"]:
            return data
    raise OSError(f"{entry['file']} in {archive} is missing or damaged")


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive; it is read as a stream, as far as the caller wants."""
    import tarfile  # slow to load, and needed once

    try:
        with tarfile.open(archive, "r|gz") as stream:
            for member in stream:
                file = stream.extractfile(member)
                yield member.name, file.read() if file else b""
    except (tarfile.TarError, EOFError) as error:
        raise OSError(f"{archive} is damaged: {error}") from error


def _checksum(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def _open(library: Path, symbol: str) -> Language:
    from tree_sitter import Language

    function = getattr(ctypes.CDLL(str(library)), symbol)
    function.restype = ctypes.c_void_p
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.restype = ctypes.py_object
    make_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(make_capsule(function(), _CAPSULE_NAME, None))
