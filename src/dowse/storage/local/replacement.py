"""Put an index into the place of another one, whose write lock is held."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from dowse.damage import CATALOG_ERRORS, damage_error, translate_errors
from dowse.errors import IndexDamaged, IndexOutdated
from dowse.security.safe_files import sync_folder
from dowse.storage.local import layout
from dowse.storage.local.catalog import Catalog
from dowse.vectors.files import STATE

_BLOCK_ROWS = 16_384


def put_generation(staging: Path, folder: Path) -> None:
    """Commit catalog and text indexes of another folder as the generation after the last one."""
    import shutil

    _check_text(staging / layout.TEXT)
    with (
        contextlib.closing(Catalog.open_for_writing(layout.catalog_path(staging))) as new,
        contextlib.closing(_open_live(folder)) as live,
    ):
        generation = live.generation() + 1
        text = layout.generation_path(folder, generation)
        shutil.rmtree(text, ignore_errors=True)  # of a killed writer
        text.parent.mkdir(exist_ok=True)
        (staging / layout.TEXT).rename(text)
        layout.sync_generation(folder, generation)
        new.begin()
        new.commit(generation, {})
        live.replace_by(new)
    layout.remove_other_generations(folder, generation)


def put_vectors(staging: Path, folder: Path, wait: float | None, on_wait: Callable[[str], None]) -> None:
    """Add vectors of another folder: they are named by content, so that those that are there stay valid."""
    import shutil

    for vectors in sorted((staging / layout.VECTORS).glob("*")):
        target = folder / layout.VECTORS / vectors.name
        if (target / STATE).exists():
            _append_vectors(vectors, target, wait, on_wait)
            continue
        sync_folder(vectors)
        target.parent.mkdir(exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)  # a lock alone
        vectors.rename(target)
        sync_folder(target.parent)


def _append_vectors(source: Path, target: Path, wait: float | None, on_wait: Callable[[str], None]) -> None:
    from dowse.vectors.matrix import Matrix, any_dimension, blocks  # loads NumPy
    from dowse.vectors.quantize import restore
    from dowse.vectors.writer import matrix_writer

    matrix = Matrix.open(source, any_dimension(source))
    with matrix_writer(target, matrix.dimension, wait, on_wait) as writer:
        for rows in blocks(len(matrix), _BLOCK_ROWS):
            writer.append(matrix.keys[rows], restore(matrix.codes[rows], matrix.scales[rows]))
        writer.commit()


def _open_live(folder: Path) -> Catalog:
    """Open the catalog; one that can't be read is made anew."""
    try:
        with translate_errors(folder, *CATALOG_ERRORS):
            return Catalog.open_for_writing(layout.catalog_path(folder))
    except (IndexDamaged, IndexOutdated):
        layout.remove_catalog(folder)
        return Catalog.open_for_writing(layout.catalog_path(folder))


def _check_text(folder: Path) -> None:
    """Raise if text indexes can't be opened."""
    from dowse.storage.local.fulltext import FulltextReader  # loads tantivy

    try:
        FulltextReader(folder)
    except (ValueError, OSError) as error:
        raise damage_error(folder, error) from error
