"""An index of the format before this one: rebuilt by the next update, and no vector is encoded again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from dowse import Index
from dowse.storage.local.catalog import FORMAT_VERSION


def vectors(index: Index) -> dict[str, list[float]]:
    encoder = index.encoder
    assert encoder is not None
    with index.backend.reader() as reader:
        rows = reader.rows_of_files([file.file_id for file in reader.files()])
        found = reader.vectors(encoder.id, [row.row for row in rows])
        return {row.key: vector.tolist() for row, vector in zip(rows, found, strict=True)}


def test_vectors_survive_an_upgrade(sample: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with Index.open(sample, index_dir=str(folder), encoder="small", refresh="never") as index:
        index.update(embed=False)
        first = index.vectors.embed()
        before = vectors(index)
    assert first.missing == 0 and len(before) > 10
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as catalog, catalog:
        catalog.execute("UPDATE meta SET value=? WHERE key='format'", (str(FORMAT_VERSION - 1),))
    with Index.open(sample, index_dir=str(folder), encoder="small", refresh="never") as index:
        assert not index.exists
        index.update(embed=False)
        again = index.vectors.embed()
        assert (again.encoded, again.missing) == (0, 0)
        assert vectors(index) == before
