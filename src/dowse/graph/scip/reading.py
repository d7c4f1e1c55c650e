"""Reads a SCIP file, which may come from anybody: document by document, within limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from dowse.errors import DowseError
from dowse.graph.scip.schema import DOCUMENTS_FIELD, METADATA_FIELD, Message, messages
from dowse.security.safe_files import open_regular_file

# An index of the Linux kernel has some gigabytes.
MAX_FILE_BYTES = 4 << 30
# A source file of a megabyte gives some megabytes. An empty occurrence takes 2 bytes here and a hundred in
# memory, so this bounds the memory of a hostile file to about a gigabyte.
MAX_DOCUMENT_BYTES = 16 << 20
MAX_DOCUMENTS = 1_000_000
# A tag or a length of protobuf has at most so many bytes.
_MAX_VARINT_BYTES = 10
_BYTES = 2  # the wire type of all fields of an index


class ScipError(DowseError):
    """A SCIP file that can't be used."""


@dataclass(frozen=True, slots=True)
class ScipFile:
    """A SCIP file: where it is, and when it was written."""

    path: Path
    mtime_ns: int
    size: int
    follows_links: bool = True  # only for a file that the user named

    def documents(self) -> Iterator[Message]:
        """Yield its documents, each as a message."""
        parse = messages().document.FromString
        count = 0
        for field, data in self._fields():
            if field == DOCUMENTS_FIELD:
                count += 1
                if count > MAX_DOCUMENTS:
                    raise ScipError(f"{self.path} has more than {MAX_DOCUMENTS:,} documents")
                yield self._parse(parse, data)

    def metadata(self) -> Message:
        """Return its metadata: the tool that wrote it, and where."""
        for field, data in self._fields():
            if field == METADATA_FIELD:
                return self._parse(messages().metadata.FromString, data)
        return messages().metadata()

    def _parse(self, parse: Callable[[bytes], Message], data: bytes) -> Message:
        from google.protobuf.message import DecodeError

        try:
            return parse(data)
        except DecodeError as error:
            raise self._damaged() from error

    def _fields(self) -> Iterator[tuple[int, bytes]]:
        """Yield number and content of the fields of the outermost message."""
        try:
            with os.fdopen(open_regular_file(self.path, follow_symlinks=self.follows_links), "rb") as file:
                while (tag := _read_varint(file)) is not None:
                    length = _read_varint(file) if tag & 7 == _BYTES else None
                    if length is None or not tag >> 3:
                        raise self._damaged()
                    if length > MAX_DOCUMENT_BYTES:
                        limit = f"{MAX_DOCUMENT_BYTES >> 20} MiB"
                        raise ScipError(f"{self.path} has a document of more than {limit}")
                    data = file.read(length)
                    if len(data) < length:
                        raise self._damaged()
                    yield tag >> 3, data
        except ValueError as error:
            raise self._damaged() from error
        except OSError as error:
            raise ScipError(f"{self.path} can't be read ({error.strerror or error})") from error

    def _damaged(self) -> ScipError:
        return ScipError(f"{self.path} is no SCIP index, or only a part of one; write it again")


def open_scip(path: Path, *, follow_symlinks: bool = True) -> ScipFile:
    """Return a SCIP file with its time; raises ScipError unless it is a regular file of a sensible size."""
    try:
        handle = open_regular_file(path, follow_symlinks=follow_symlinks)
        try:
            status = os.fstat(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise ScipError(f"{path} can't be read ({error.strerror or error})") from error
    if status.st_size > MAX_FILE_BYTES:
        raise ScipError(f"{path} is larger than {MAX_FILE_BYTES >> 30} GiB")
    return ScipFile(path, status.st_mtime_ns, status.st_size, follow_symlinks)


def folder_of_project(project_root: str, root: Path) -> str:
    """Return the folder below `root` that the paths of a SCIP index begin in, "" for the root itself.

    An index of a part of the repository names that folder by its URI; one from another machine names a folder
    that means nothing here.
    """
    try:
        path = unquote(urlsplit(project_root).path).rstrip("/")
    except ValueError:
        return ""
    prefix = f"{root}/"
    inside = path.removeprefix(prefix) if path.startswith(prefix) else ""
    return f"{inside}/" if inside and is_safe_path(inside) else ""


def is_safe_path(path: str) -> bool:
    """Whether a path of a document is relative and stays inside its root."""
    return bool(path) and "\0" not in path and not {"", ".", ".."} & set(path.split("/"))


def _read_varint(file: BinaryIO) -> int | None:
    """Return the next number in protobuf's variable-length encoding, None at the end of the file."""
    value = 0
    for position in range(_MAX_VARINT_BYTES):
        byte = file.read(1)
        if not byte:
            if position:
                raise ValueError("a number without an end")
            return None
        value |= (byte[0] & 0x7F) << (7 * position)
        if byte[0] < 0x80:
            return value
    raise ValueError("a number of more than 64 bits")
