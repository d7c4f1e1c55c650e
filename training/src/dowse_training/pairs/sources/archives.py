"""Unpacking what registries serve: only source files, only inside the folder, only so much."""

from __future__ import annotations

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from dowse.parsing.languages import LANGUAGES, detect_language
from dowse_training.pairs.model import MAX_FILE_BYTES
from dowse_training.pairs.sources.protocol import FetchError

# A package of more source than this is a distribution of others, or generated.
MAX_UNPACKED_BYTES = 64 << 20
MAX_FILES = 20_000

# What is laid out besides source: where a package states its licence.
_METADATA = frozenset({"METADATA", "PKG-INFO", "Cargo.toml", "package.json", "copyright"})


def unpack(data: bytes, folder: Path) -> None:
    """Lay out the source files of an archive (zip, wheel, jar, or tar compressed in any way)."""
    try:
        members = _zip_members(data) if data[:2] == b"PK" else _tar_members(data)
        _write(members, folder)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise FetchError("damaged archive") from error
    except (NotImplementedError, RuntimeError) as error:  # exotic compression, encryption
        raise FetchError("archive of an unknown kind") from error


def project_folder(folder: Path) -> Path:
    """Where the project begins: inside the one folder that most archives put around it."""
    entries = list(folder.iterdir())
    lone = len(entries) == 1 and entries[0].is_dir() and not entries[0].is_symlink()
    return entries[0] if lone and not (entries[0] / "__init__.py").exists() else folder


def _write(members: Iterator[tuple[str, bytes]], folder: Path) -> None:
    """Write what is wanted, and stop when it is too much."""
    written = 0
    for number, (name, content) in enumerate(members):
        written += len(content)
        if written > MAX_UNPACKED_BYTES or number >= MAX_FILES:
            raise FetchError("too large when unpacked")
        target = folder.joinpath(*PurePosixPath(name).parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _zip_members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The wanted files of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if not member.is_dir() and _is_wanted(member.filename, member.file_size):
                yield member.filename, archive.read(member)


def _tar_members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The wanted plain files of a tar archive; links are left out."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            wanted = member.isfile() and _is_wanted(member.name, member.size)
            stream = archive.extractfile(member) if wanted else None
            if stream is not None:
                yield member.name, stream.read()


def _is_wanted(name: str, size: int) -> bool:
    """Whether a member is source or metadata of a sensible size, and its path stays inside."""
    path = PurePosixPath(name)
    if size > MAX_FILE_BYTES or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        return False
    return path.name in _METADATA or detect_language(name) in LANGUAGES
