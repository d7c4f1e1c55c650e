"""Import an archive: its content becomes the next generation of an index, without parsing or encoding."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from dowse.security.index_permissions import drop_permissions
from dowse.security.terminal import escape_surrogates
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.layout import VECTORS, catalog_path
from dowse.transfer.archive import open_archive
from dowse.transfer.export_index import TransferReport
from dowse.vectors.files import STATE


def import_archive(
    path: Path,
    backend: LocalBackend,
    root: Path,
    *,
    wait: float | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> TransferReport:
    """Replace an index by the content of an archive, which becomes visible when it is complete.

    Args:
        path: The archive.
        backend: The index.
        root: The tree or corpus that the index belongs to from now on.
        wait: Seconds to wait for another writer; None waits as long as it takes.
        on_wait: Called once with a message if another writer holds the index.
    """
    started = time.monotonic()
    with open_archive(path) as archive, backend.replacement(wait, on_wait) as folder:
        archive.extract(folder)
        with contextlib.closing(Catalog.open_for_writing(catalog_path(folder))) as catalog:
            source = _adopt(catalog, root)
            counts = catalog.counts()
        vectors = {
            each.parent.name: _count_vectors(each.parent) for each in (folder / VECTORS).glob(f"*/{STATE}")
        }
    seconds = time.monotonic() - started
    return TransferReport(source, counts["files"], counts["symbols"], vectors, path.stat().st_size, seconds)


def _adopt(catalog: Catalog, root: Path) -> str:
    """Let an index belong to a folder of this machine, and drop what its user has allowed there."""
    meta = {**drop_permissions(catalog.meta()), "root": escape_surrogates(str(root))}
    catalog.replace_meta(meta)
    return meta.get("repo", "")


def _count_vectors(folder: Path) -> int:
    """Return how many vectors there are; raises if they can't be read."""
    from dowse.vectors.matrix import Matrix, any_dimension  # loads NumPy

    return len(Matrix.open(folder, any_dimension(folder)))
