"""Export an index: one generation of its catalog and text, and its vectors, whatever writers do meanwhile."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from dowse.errors import IndexUnavailable
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.security.leftovers import temporary_folder
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.layout import CATALOG, TEXT, VECTORS, catalog_path, generation_path
from dowse.transfer.archive import create_archive
from dowse.vectors.files import STATE, TEMPORARY

# A writer may remove a generation, or compact vectors, while their files are opened.
_TRIES = 20
_NOT_CONTENT = (".lock", TEMPORARY)


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What was exported or imported."""

    source: str
    files: int
    symbols: int
    vectors: Mapping[str, int]  # by encoder
    bytes: int  # of the archive
    seconds: float


class _OpenFile(NamedTuple):
    """A file that stays readable after a writer has removed it."""

    name: str  # in the archive
    file: IO[bytes]
    size: int  # the rest is not committed


def export(backend: LocalBackend, path: Path) -> TransferReport:
    """Write an index to an archive, which appears when it is complete."""
    started = time.monotonic()
    with backend.reader():  # raises if it is missing or damaged
        pass
    with contextlib.ExitStack() as stack:
        catalog, files = _open_generation(backend.folder, stack)
        vectors = {}
        for folder in sorted((backend.folder / VECTORS).glob(f"*/{STATE}")):
            rows, vector_files = _open_vectors(folder.parent, stack)
            vectors[folder.parent.name] = rows
            files += vector_files
        copy = stack.enter_context(temporary_folder(".dowse-", path.parent))
        catalog.copy_to(copy / CATALOG)
        files.append(_open(copy / CATALOG, CATALOG, stack))
        with create_archive(path) as archive:
            for each in files:
                archive.add(*each)
        counts, source = catalog.counts(), catalog.meta().get("repo", "")
    size, seconds = path.stat().st_size, time.monotonic() - started
    return TransferReport(source, counts["files"], counts["symbols"], vectors, size, seconds)


def _open_generation(folder: Path, stack: contextlib.ExitStack) -> tuple[Catalog, list[_OpenFile]]:
    """Open a snapshot of the catalog and the text indexes of the same generation."""
    for _ in range(_TRIES):
        with contextlib.ExitStack() as opened:
            catalog = opened.enter_context(contextlib.closing(Catalog.open_for_reading(catalog_path(folder))))
            generation = opened.enter_context(catalog.snapshot())
            text = generation_path(folder, generation)
            with contextlib.suppress(FileNotFoundError):
                files = [
                    opened_file
                    for part in ("symbols", "files")
                    for opened_file in _open_folder(text / part, f"{TEXT}/{part}", opened)
                ]
                # A writer removes files of a generation after it has committed the next one.
                if _newest_generation(folder) == generation:
                    stack.push(opened.pop_all())
                    return catalog, files
    raise IndexUnavailable("the index changes faster than it can be read; try again")


def _newest_generation(folder: Path) -> int:
    with contextlib.closing(Catalog.open_for_reading(catalog_path(folder))) as catalog:
        return catalog.generation()


def _open_vectors(folder: Path, stack: contextlib.ExitStack) -> tuple[int, list[_OpenFile]]:
    """Open the vectors of an encoder; return how many there are, and the files."""
    from dowse.vectors.matrix import any_dimension, read_state  # loads NumPy

    for _ in range(_TRIES):
        with contextlib.ExitStack() as opened, contextlib.suppress(FileNotFoundError):
            state = read_state(folder, any_dimension(folder))
            files = _open_folder(folder, f"{VECTORS}/{folder.name}", opened)
            if read_state(folder, state.dimension) == state:
                # Rows are only appended, and those behind the committed ones do not count.
                sizes = {
                    f"{state.number:06d}{end}": width * state.rows for end, width in state.row_bytes().items()
                }
                stack.push(opened.pop_all())
                return state.rows, [
                    each._replace(size=sizes.get(Path(each.name).name, each.size)) for each in files
                ]
    raise IndexUnavailable(f"the vectors in {folder} change faster than they can be read; try again")


def _open_folder(folder: Path, name: str, stack: contextlib.ExitStack) -> list[_OpenFile]:
    """Open all files of a folder."""
    return [
        _open(path, f"{name}/{path.name}", stack)
        for path in sorted(folder.iterdir())
        if not path.name.endswith(_NOT_CONTENT)
    ]


def _open(path: Path, name: str, stack: contextlib.ExitStack) -> _OpenFile:
    file = stack.enter_context(path.open("rb"))
    return _OpenFile(name, file, os.fstat(file.fileno()).st_size)
