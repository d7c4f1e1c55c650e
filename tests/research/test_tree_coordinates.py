"""Tree coordinates depend on the files alone, not on how they came, and are cached beside the index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.research.hyperbolic.chains import MAX_DEPTH, file_chain
from dowse.research.hyperbolic.embed import edge_length, embed, recenter
from dowse.research.hyperbolic.poincare import distances
from dowse.research.hyperbolic.shape import tree_from_paths
from dowse.research.tree_coordinates import tree_coordinates
from dowse.storage.local.backend import LocalBackend
from dowse.types import FileRecord, StoredFile, SymbolRow

from helpers import file_record, symbol

META = {"root": "/somewhere"}
NAMES = st.sampled_from(["a", "b", "lib"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
# Key, repository, path, symbols: several keys may share a path, and a path may also be a folder's.
FILES = st.tuples(st.sampled_from("uvwxyz"), st.sampled_from(["one", "two", ""]), PATHS, st.integers(0, 4))
File = tuple[str, str, str, int]


def record(key: str, repo: str, path: str, count: int) -> FileRecord:
    names = [symbol(f"f{n}", key=f"{key}-{n}", lines=(n + 1, n + 1)) for n in range(count)]
    return file_record(key, names, repo=repo, path=path)


def update(folder: Path, files: Sequence[File], deleted: Sequence[str] = ()) -> None:
    with LocalBackend(folder).writer() as writer:
        for file in files:
            writer.put(record(*file))
        for key in deleted:
            writer.delete(key)
        writer.commit(META)


def coordinates(folder: Path, keys: Sequence[str] = (), dimension: int = 5) -> dict[str, np.ndarray]:
    """Return the points of symbols by their keys; of all if none are named."""
    with LocalBackend(folder).reader() as reader:
        rows = {row.key: row.row for row in reader.lookup("*", 1000)}
        keys = keys or sorted(rows)
        points = tree_coordinates(reader, [rows[key] for key in keys], dimension) if keys else []
        return dict(zip(keys, points, strict=True))


def embedded_whole(files: Sequence[File], dimension: int) -> dict[str, np.ndarray]:
    """Return the points of all symbols as an embedding of the whole tree gives them."""
    chains = sorted({file_chain(repo, path) for _, repo, path, _ in files})
    symbols = [
        (f"{key}-{n}", (*file_chain(repo, path), f"{key}-{n}"))
        for key, repo, path, count in sorted(files)
        for n in range(count)
    ]
    tree, ends = tree_from_paths([*chains, *(chain for _, chain in symbols)])
    # As the repository tree has it: a file without symbols has room for one below it.
    depth = max(map(len, chains)) + 1
    points = embed(tree, edge_length(depth), dimension)
    used = [chain[:-1] for _, chain in symbols]
    shared = next(
        (used[0][:n] for n in range(min(map(len, used)), 0, -1) if len({c[:n] for c in used}) == 1), ()
    )
    placed = points[ends[len(chains) :]]
    if shared:
        (centre,) = tree_from_paths([*chains, *(chain for _, chain in symbols), shared])[1][-1:]
        placed = recenter(placed, points[centre])
    return dict(zip([key for key, _ in symbols], placed, strict=True))


def assert_equal(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for key, point in found.items():
        assert np.abs(point - expected[key]).max() < 1e-9


class Files:
    """A reader of files in memory: all that the tree is made of."""

    identity, generation = "1-2", 1

    def __init__(self, files: Sequence[File], cache_folder: Path | None = None) -> None:
        self.cache_folder, self.derived = cache_folder, {}
        self._records = {number: record(*file) for number, file in enumerate(files, 1)}
        self.every = [
            SymbolRow(
                *(100 * number + n, each.key, file.repo, file.path, "", "", "", each.name, each.name),
                *(each.start_line, each.end_line, "", number),
            )
            for number, file in self._records.items()
            for n, each in enumerate(file.symbols)
        ]

    def symbol_count(self) -> int:
        return len(self.every)

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        return [{row.row: row for row in self.every}[row] for row in rows]

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        return [row for row in self.every if row.file_id in file_ids]

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        return [SymbolRow(0, self._records[n].key, *[""] * 7, 1, 1, "", n) for n in file_ids]

    def files(self) -> list[StoredFile]:
        return [
            StoredFile(number, file.repo, file.path, "", "", 0, 0, "", 0, "", len(file.symbols))
            for number, file in self._records.items()
        ]


@settings(max_examples=60, deadline=None)
@given(st.lists(FILES, min_size=1, max_size=8, unique_by=lambda file: file[0]), st.sampled_from([5, 10]))
def test_points_are_those_of_the_whole_tree_embedded_at_once(files: list[File], dimension: int) -> None:
    with TemporaryDirectory() as place:
        for reader in (Files(files, Path(place)), Files(files[::-1]), Files(files, Path(place))):
            if reader.every:
                points = tree_coordinates(reader, [row.row for row in reader.every], dimension)
                found = {row.key: point for row, point in zip(reader.every, points, strict=True)}
                expected = embedded_whole(files, dimension)
                if reader.cache_folder or not _shares_a_path(files):
                    assert_equal(found, expected)


def _shares_a_path(files: Sequence[File]) -> bool:
    """Whether keys of files order symbols, or a file has none: a cluster knows neither."""
    return len({file[1:3] for file in files}) < len(files) or any(not count for *_, count in files)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    files: list[File] = [
        *[("u", "shop", "src/a.py", 3), ("v", "shop", "src/b.py", 2)],
        *[("w", "shop", "docs/x.md", 1), ("x", "other", "src/a.py", 4)],
    ]
    update(tmp_path / "shop", files)
    return tmp_path / "shop"


def test_after_an_update_points_are_those_of_an_index_made_afresh(shop: Path, tmp_path: Path) -> None:
    coordinates(shop)  # what is cached now is outdated next time
    added: list[File] = [("y", "shop", "src/_.py", 1), ("u", "shop", "src/a.py", 1)]
    update(shop, added, deleted=["x"])
    update(tmp_path / "afresh", [("w", "shop", "docs/x.md", 1), ("v", "shop", "src/b.py", 2), *added])
    assert_equal(coordinates(shop), coordinates(tmp_path / "afresh"))


def test_the_shape_of_the_tree_is_cached_beside_the_index(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = coordinates(shop)
    assert (shop / "derived" / "tree.i64").exists()
    monkeypatch.setattr("dowse.storage.local.reader.LocalReader.files", lambda _: pytest.fail("read again"))
    assert_equal(coordinates(shop), expected)


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 16, b"\xff" * 800])
def test_a_cache_that_cannot_be_read_is_computed_again(shop: Path, data: bytes) -> None:
    expected = coordinates(shop)
    (shop / "derived" / "tree.i64").write_bytes(data)
    assert_equal(coordinates(shop), expected)


def test_what_is_near_in_the_tree_is_near_in_the_ball(shop: Path) -> None:
    points = np.array(list(coordinates(shop, ("u-0", "u-1", "v-0", "w-0", "x-0")).values()))
    apart = distances(points, points)[0]
    assert list(np.argsort(apart)) == [0, 1, 2, 3, 4]
    hops = np.array([2.0, 4.0, 6.0, 8.0])
    assert np.allclose(apart[1:] / apart[1] * 2, hops, rtol=0.25)


def test_files_below_the_deepest_level_share_the_point_above_them(tmp_path: Path) -> None:
    deep, deeper = "d/" * (MAX_DEPTH + 20), "d/" * 1_900
    update(tmp_path, [("u", "shop", deep + "x.py", 2), ("v", "shop", deeper + "y.py", 1)])
    points = np.array(list(coordinates(tmp_path, ("u-0", "u-1", "v-0")).values()))
    assert np.isfinite(points).all() and (np.linalg.norm(points, axis=1) < 1).all()
    assert distances(points, points)[0, 1] > 1
