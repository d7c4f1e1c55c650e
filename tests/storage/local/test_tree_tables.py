"""The tree in the catalog depends on the files alone, not on how they came, and moves only what it must."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.research.hyperbolic.chains import DEEPEST
from dowse.research.hyperbolic.embed import as_floats, embed
from dowse.research.hyperbolic.poincare import distances
from dowse.research.hyperbolic.scale import Scale
from dowse.research.hyperbolic.shape import tree_of_paths
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.layout import catalog_path
from dowse.storage.local.tree_tables import _unpacked
from dowse.types import FileRecord

from helpers import file_record, symbol

META = {"root": "/somewhere"}
NAMES = st.sampled_from(["a", "b", "lib"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
# Key, repository, path, symbols: several keys may share a path, and a path may also be a folder's.
FILES = st.tuples(st.sampled_from("uvwxyz"), st.sampled_from(["one", "two", ""]), PATHS, st.integers(0, 4))
# What one update does: puts and deletes.
UPDATES = st.lists(st.lists(st.one_of(FILES, st.sampled_from("uvwxyz")), max_size=5), min_size=1, max_size=4)


def record(key: str, repo: str, path: str, count: int) -> FileRecord:
    names = [symbol(f"f{n}", key=f"{key}-{n}", lines=(n + 1, n + 1)) for n in range(count)]
    return file_record(key, names, repo=repo, path=path)


def written(folder: Path) -> tuple[dict[str, object], dict[str, int]]:
    """Return all that is stored of the tree: nodes by the way to them, and the numbers of symbols."""
    with sqlite3.connect(catalog_path(folder)) as db:
        rows = {row[0]: row[1:] for row in db.execute("SELECT * FROM tree")}
        leaves = dict(db.execute("SELECT key, leaf FROM symbols"))
        nodes = dict(db.execute("SELECT key, node FROM files"))
    ways = {node: "\0".join(_way(rows, node)) for node in rows}
    found = {ways[node]: (depth, *rest) for node, (_, _, depth, *rest) in rows.items()}
    found["files"] = {file: ways[node] for file, node in nodes.items()}
    return found, leaves


def _way(rows: Mapping[int, tuple[object, ...]], node: int) -> list[str]:
    parent, name = rows[node][:2]
    return [*_way(rows, parent), name] if parent else []  # type: ignore[arg-type, list-item]


def update(folder: Path, changes: list[object], dimension: int = 5) -> None:
    with LocalBackend(folder).writer() as writer:
        for change in changes:
            if isinstance(change, str):
                writer.delete(change)
            else:
                writer.put(record(*change))  # type: ignore[misc]
        writer.commit({**META, "tree_dimension": str(dimension)})


def update_catalog(folder: Path, changes: list[object], dimension: int) -> None:
    """Do the same to the catalog alone: its text indexes take nearly all the time."""
    catalog = Catalog.open_for_writing(catalog_path(folder))
    catalog.begin()
    for change in changes:
        if isinstance(change, str):
            catalog.delete_file(change)
        else:
            new = record(*change)  # type: ignore[misc]
            catalog.put_file(new, catalog.delete_file(new.key, instead=new))
    catalog.tree.embed(dimension)
    catalog.commit(catalog.generation() + 1, META)
    catalog.close()


@settings(max_examples=20)
@given(UPDATES, st.sampled_from([2, 5]))
def test_after_any_updates_the_tree_is_that_of_an_index_made_afresh(
    updates: list[list[object]], dimension: int
) -> None:
    left: dict[str, object] = {}
    with TemporaryDirectory() as place:
        for changes in updates:
            update_catalog(Path(place, "old"), changes, dimension)
            for change in changes:
                left.pop(change if isinstance(change, str) else change[0], None)  # type: ignore[index]
                if not isinstance(change, str):
                    left[change[0]] = change  # type: ignore[index]
        update_catalog(Path(place, "new"), list(left.values()), dimension)
        assert written(Path(place, "old")) == written(Path(place, "new"))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    files = [("u", "shop", "src/a.py", 3), ("v", "shop", "src/b.py", 2), ("w", "shop", "docs/x.md", 1)]
    update(tmp_path, [*files, ("x", "other", "src/a.py", 4)])
    return tmp_path


def points(folder: Path) -> dict[str, bytes]:
    with sqlite3.connect(catalog_path(folder)) as db:
        rows = {row[0]: row[1:] for row in db.execute("SELECT * FROM tree")}
    return {"/".join(_way(rows, node)): row[-1] for node, row in rows.items()}


def test_only_what_hangs_on_a_change_moves(shop: Path) -> None:
    before = points(shop)
    update(shop, [("y", "shop", "src/_.py", 1)])
    after = points(shop)
    moved = {way for way in before if after[way] != before[way]}
    assert moved == {"shop/src/a.py", "shop/src/b.py"}, "one more comes before them; nothing else turned"


def test_a_change_inside_a_file_moves_nothing(shop: Path) -> None:
    before = points(shop)
    update(shop, [("u", "shop", "src/a.py", 4)])
    assert points(shop) == before


def test_another_dimension_embeds_everything_anew(shop: Path) -> None:
    update(shop, [], dimension=2)
    assert {len(point) for point in points(shop).values()} == {16}


def test_what_is_near_in_the_tree_is_near_in_the_ball(shop: Path) -> None:
    with LocalBackend(shop).reader() as reader:
        rows = {row.key: row.row for row in reader.lookup("*", 100)}
        places = reader.places([rows[key] for key in ("u-0", "u-1", "v-0", "w-0", "x-0")])
    apart = distances(places, places)[0]
    assert list(np.argsort(apart)) == [0, 1, 2, 3, 4]
    hops = np.array([2.0, 4.0, 6.0, 8.0])
    assert np.allclose(apart[1:] / apart[1] * 2, hops, rtol=0.25)


def test_places_are_seen_from_the_deepest_that_holds_them_all(shop: Path) -> None:
    with LocalBackend(shop).reader() as reader:
        rows = {row.key: row.row for row in reader.lookup("*", 100)}
        in_one_file = reader.places([rows["u-0"], rows["u-2"]])
        alone = reader.places([rows["u-0"]])
    lengths = np.linalg.norm(in_one_file, axis=1)
    assert lengths[0] == pytest.approx(lengths[1]), "both hang on the origin, their file"
    assert np.linalg.norm(alone) == pytest.approx(lengths[0])


def test_an_empty_index_has_a_root_and_nothing_else(tmp_path: Path) -> None:
    update(tmp_path, [])
    assert list(points(tmp_path)) == [""]
    update(tmp_path, [("u", "shop", "a.py", 1)])
    update(tmp_path, ["u"])
    assert list(points(tmp_path)) == [""], "what holds nothing any more is gone"


def test_a_tree_too_wide_for_doubles_is_kept_in_decimals(tmp_path: Path) -> None:
    wide = [(f"k{n}", "shop", f"src/f{n}.py", 1) for n in range(600)]
    update(tmp_path, wide, dimension=2)
    with sqlite3.connect(catalog_path(tmp_path)) as db:
        (stored,) = db.execute("SELECT point FROM tree WHERE depth = 3 LIMIT 1").fetchone()
    assert len(stored.split()) == 2 and len(stored) > 60, "two decimals with more digits than a double has"
    with LocalBackend(tmp_path).reader() as reader:
        rows = {row.key: row.row for row in reader.lookup("*", 1000)}
        apart = reader.places([rows["k0-0"], rows["k1-0"], rows["k300-0"]])
    assert np.isfinite(apart).all() and (np.linalg.norm(apart, axis=1) < 1).all()


def test_a_tree_of_usual_depth_is_embedded_whole(tmp_path: Path) -> None:
    """Every level has its own points, those that the geometry alone gives."""
    chain = ["shop", *[f"d{n}" for n in range(DEEPEST - 2)], "x.py"]
    update_catalog(tmp_path, [("u", "shop", "/".join(chain[1:]), 1)], 5)
    tree, _ = tree_of_paths([chain])
    scale = Scale.choose(1, DEEPEST + 1, 5)
    expected = as_floats(embed(tree, scale))
    found = _unpacked(list(by_depth(tmp_path).values()), scale)
    assert len(found) == DEEPEST + 1
    assert np.abs(as_floats(found) - expected).max() < 1e-9


def test_what_lies_deeper_shares_the_place_above_it(tmp_path: Path) -> None:
    deep, deeper = "d/" * (DEEPEST + 20), "d/" * (DEEPEST + 10)
    update(tmp_path, [("u", "shop", deep + "x.py", 2), ("v", "shop", deeper + "y.py", 1)])
    stored = by_depth(tmp_path)
    assert len(set(stored.values())) == DEEPEST + 1
    assert {stored[depth] for depth in stored if depth >= DEEPEST} == {stored[DEEPEST]}
    with LocalBackend(tmp_path).reader() as reader:
        rows = {row.key: row.row for row in reader.lookup("*", 100)}
        placed = reader.places([rows[key] for key in ("u-0", "u-1", "v-0")])
    assert np.isfinite(placed).all() and (np.linalg.norm(placed, axis=1) < 1).all()
    assert distances(placed, placed)[0, 1] > 1
    update_catalog(tmp_path / "afresh", [("v", "shop", deeper + "y.py", 1)], 5)
    update(tmp_path, ["u"])
    assert written(tmp_path) == written(tmp_path / "afresh")


def test_a_very_deep_tree_takes_little_more_digits_than_a_deep_one(tmp_path: Path) -> None:
    """What a point takes, and with it the time for a node, is bounded: a chain was cubic in its length."""
    for name, parts in (("deep", DEEPEST), ("deeper", 1_900)):
        update_catalog(tmp_path / name, [("u", "shop", "d/" * parts + "x.py", 1)], 10)
    deep, deeper = (max(map(len, by_depth(tmp_path / name).values())) for name in ("deep", "deeper"))
    assert deeper == deep


def by_depth(folder: Path) -> dict[int, bytes]:
    """Return a point of each level."""
    with sqlite3.connect(catalog_path(folder)) as db:
        return dict(db.execute("SELECT depth, point FROM tree ORDER BY depth"))
