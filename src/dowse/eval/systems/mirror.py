"""A copy of the files of an index, for tools that read files: the same files, the same text."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from dowse.index import Index
from dowse.lazy_classes import dataclass
from dowse.security.leftovers import remove_leftovers
from dowse.storage.protocol import Reader
from dowse.types import StoredFile

# Files whose texts are held at once.
_BATCH = 500


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Mirror:
    """A folder that lasts as long as this object."""

    folder: Path
    files: dict[str, StoredFile]  # by their names in the folder
    corpus: bool  # whether each file is an entry of a corpus


def mirror(index: Index) -> Mirror:
    """Write every file of an index as the index knows it; lines keep their numbers.

    Where documentation is held back it is left out here too, or a tool that reads files would be asked for
    sentences that it can simply look up.
    """
    remove_leftovers(Path(tempfile.gettempdir()), "dowse-eval-")
    folder = Path(tempfile.mkdtemp(prefix=f"dowse-eval-{os.getpid()}-"))
    with index.backend.reader() as reader:
        names = {_name(file, reader.is_corpus): file for file in reader.files()}
        copy = Mirror(folder, names, reader.is_corpus)
        weakref.finalize(copy, shutil.rmtree, folder, ignore_errors=True)
        paths = {file.file_id: folder / name for name, file in names.items()}
        ids = list(paths)
        for start in range(0, len(ids), _BATCH):
            for file_id, text in indexed_texts(reader, ids[start : start + _BATCH]):
                paths[file_id].parent.mkdir(parents=True, exist_ok=True)
                paths[file_id].write_bytes(text)
    return copy


def indexed_texts(reader: Reader, ids: list[int]) -> Iterable[tuple[int, bytes]]:
    """Give the texts of files, without documentation where that is held back."""
    stripped = reader.meta().get("strip_docs") == "1"
    return _stripped(reader, ids) if stripped else reader.texts(ids)


def _name(file: StoredFile, corpus: bool) -> str:
    """Return a file's name in the copy: its path; in a corpus, where paths come again, its number."""
    if not corpus:
        return file.path
    suffix = PurePosixPath(file.path).suffix
    return f"{file.file_id}{suffix if suffix[1:].isalnum() else ''}"


def _stripped(reader: Reader, ids: list[int]) -> Iterable[tuple[int, bytes]]:
    """Put files together from the texts of their symbols, which lack the documentation."""
    rows = reader.rows_of_files(ids)
    lines: dict[int, dict[int, str]] = {file_id: {} for file_id in ids}
    for row, symbol in zip(rows, reader.symbols(rows), strict=True):
        for number, text in symbol.numbered_lines:
            known = lines[row.file_id]
            known[number] = known.get(number, "") + text
    for file_id, known in lines.items():
        whole = (known.get(number, "") for number in range(1, max(known, default=0) + 1))
        yield file_id, "\n".join(whole).encode("utf-8", "replace")
