"""The archive: a zip file of the files of an index, with a manifest of their sizes and SHA-256.

    manifest.json             format, version of the index, size and SHA-256 of every other file
    catalog.sqlite            a copy of one generation of the catalog
    text/symbols/, text/files/    tantivy's files of the same generation
    vectors/ENCODER/          the vectors of an encoder

An archive may come from anywhere: names and sizes are checked before the first byte is written, sizes and
digests again while reading. Names are of a fixed form, so that none leads out of a folder; all are written as
regular files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dowse.errors import DowseError, IndexVersionError
from dowse.lazy_classes import dataclass
from dowse.security.safe_files import open_atomically, open_regular_file, open_without_links
from dowse.storage.local.catalog import FORMAT_VERSION
from dowse.version import __version__

FORMAT = 2
_MANIFEST = "manifest.json"
_ENCODER = r"[a-z0-9](?:[a-z0-9.-]{0,126}[a-z0-9])?"
_FILE = r"\.?[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,32}){0,3}"
_NAME = re.compile(rf"catalog\.sqlite|text/(?:symbols|files)/{_FILE}|vectors/{_ENCODER}/{_FILE}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MANIFEST_BYTES = 4_000_000
# All files together, against the archive: an index shrinks to a third, a zip bomb to a thousandth.
_ALLOWANCE_BYTES = 4_000_000
_RATIO = 100
_CHUNK = 1 << 20
# Vectors hardly shrink, and texts are compressed: more effort would gain little.
_LEVEL = 1
# What zipfile raises for damaged, encrypted or exotic archives.
_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class BrokenArchive(DowseError):
    """A file that is no archive of an index, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in the manifest."""

    size: int
    sha256: str


class ArchiveWriter:
    """Writes files to an archive, one after another; the manifest comes last."""

    def __init__(self, zip_file: zipfile.ZipFile) -> None:
        self._zip = zip_file
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, file: IO[bytes], size: int) -> None:
        """Add the first bytes of a file."""
        digest, left = hashlib.sha256(), size
        with self._zip.open(name, "w", force_zip64=True) as target:
            while left and (chunk := file.read(min(left, _CHUNK))):
                target.write(chunk)
                digest.update(chunk)
                left -= len(chunk)
        if left:
            raise DowseError(f"{name} of the index was cut off while it was read; run this again")
        self._entries[name] = Entry(size, digest.hexdigest())

    def finish(self) -> None:
        """Add the manifest."""
        files = {name: [entry.size, entry.sha256] for name, entry in self._entries.items()}
        manifest = {"format": FORMAT, "index": FORMAT_VERSION, "dowse": __version__, "files": files}
        self._zip.writestr(_MANIFEST, json.dumps(manifest))


@contextmanager
def create_archive(path: Path) -> Iterator[ArchiveWriter]:
    """Write an archive, which appears when it is complete."""
    with (
        open_atomically(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as zip_file,
    ):
        writer = ArchiveWriter(zip_file)
        yield writer
        writer.finish()


class Archive:
    """An archive whose names and sizes have been checked; open, so that nobody can exchange it."""

    def __init__(self, path: Path, zip_file: zipfile.ZipFile, entries: Mapping[str, Entry]) -> None:
        self._path, self._zip, self._entries = path, zip_file, entries

    def extract(self, folder: Path) -> None:
        """Write all files below an empty folder, and compare their digests."""
        for name, entry in self._entries.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with (
                _translate_errors(self._path),
                self._zip.open(name) as source,
                os.fdopen(open_without_links(target, os.O_WRONLY), "wb") as file,
            ):
                if _copy(source, file, entry.size) != entry.sha256:
                    raise BrokenArchive(f"{name} is not what was exported")
                file.flush()
                os.fsync(file.fileno())


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> str:
    """Copy a file of a known size; return its SHA-256."""
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        size -= len(chunk)
        if size < 0:
            raise BrokenArchive("a file is larger than the archive says")
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive and check it.

    Raises:
        BrokenArchive: It is damaged, or not what dowse writes.
        IndexVersionError: Another version of dowse wrote it.
    """
    with os.fdopen(open_regular_file(path, follow_symlinks=True), "rb") as file:
        with _translate_errors(path):
            zip_file = zipfile.ZipFile(file)
            entries = _check_manifest(path, _read_manifest(zip_file))
            _check_files(zip_file, entries, os.fstat(file.fileno()).st_size)
        with zip_file:
            yield Archive(path, zip_file, entries)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (*_ERRORS, BrokenArchive) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BrokenArchive(f"{path} is no intact export of dowse ({reason}); export it again") from None


def _read_manifest(zip_file: zipfile.ZipFile) -> object:
    if _MANIFEST not in zip_file.namelist():
        raise BrokenArchive("it has no manifest")
    with zip_file.open(_MANIFEST) as file:
        data = file.read(_MANIFEST_BYTES + 1)
    if len(data) > _MANIFEST_BYTES:
        raise BrokenArchive("its manifest is too large")
    manifest: object = json.loads(data)
    return manifest


def _check_manifest(path: Path, manifest: Any) -> dict[str, Entry]:  # noqa: ANN401 - any JSON
    """Return the files of the manifest."""
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise BrokenArchive("its manifest has another form")
    versions = (manifest.get("format"), manifest.get("index"))
    if versions != (FORMAT, FORMAT_VERSION):
        raise IndexVersionError(
            f"{path} was exported by another version of dowse; export it again with this one, "
            "or run `dowse index`"
        )
    entries = {}
    for name, facts in manifest["files"].items():
        match facts:
            case [int(size), str(digest)] if (
                size >= 0 and _SHA256.fullmatch(digest) and _NAME.fullmatch(name)
            ):
                entries[name] = Entry(size, digest)
            case _:
                raise BrokenArchive("its manifest names a file that no index has")
    if "catalog.sqlite" not in entries or len({name.lower() for name in entries}) < len(entries):
        raise BrokenArchive("its manifest lacks the catalog, or has a name twice")
    return entries


def _check_files(zip_file: zipfile.ZipFile, entries: Mapping[str, Entry], archive_bytes: int) -> None:
    """Compare what the archive holds with its manifest."""
    found = [(info.filename, info.file_size) for info in zip_file.infolist() if info.filename != _MANIFEST]
    if sorted(found) != sorted((name, entry.size) for name, entry in entries.items()):
        raise BrokenArchive("its files are not those of its manifest")
    if sum(entry.size for entry in entries.values()) > _ALLOWANCE_BYTES + _RATIO * archive_bytes:
        raise BrokenArchive(f"it unpacks to more than {_RATIO} times its size")
