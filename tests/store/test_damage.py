"""A damaged index is named, with the remedy, and the remedy works."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError, IndexDamaged, IndexMissing, IndexVersionError
from dowse.store.catalog import FORMAT_VERSION

from helpers import age, image, write_tree


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tree and its index, large enough that a catalog cut in half still has its first pages."""
    base = tmp_path_factory.mktemp("damage")
    files = {f"m{i}.py": f"def load_{i}():\n    return 'the text of {i}'\n" for i in range(60)}
    root = write_tree(base / "tree", files)
    age(root)
    with Index.open(root, index_dir=str(base / "index")) as index:
        index.update()
    return root, base / "index"


@pytest.fixture
def broken(whole, tmp_path):
    """A copy of the index to break, and the tree."""
    root, folder = whole
    return root, Path(shutil.copytree(folder, tmp_path / "index"))


def use(root: Path, folder: Path) -> None:
    """Do what a user would: search by word and by text, change a file's record, list everything."""
    with Index.open(root, index_dir=str(folder)) as index:
        index.search("load")
        index.search('"the text"', k=0)
        index.symbols("*", 1000)
        index.status()
        image(index)


def truncated_to_half(folder: Path) -> None:
    catalog = folder / "catalog.sqlite"
    os.truncate(catalog, catalog.stat().st_size // 2 // 4096 * 4096)


def truncated_in_a_page(folder: Path) -> None:
    catalog = folder / "catalog.sqlite"
    os.truncate(catalog, catalog.stat().st_size - 1000)


def truncated_to_nothing(folder: Path) -> None:
    os.truncate(folder / "catalog.sqlite", 0)


def garbage(folder: Path) -> None:
    (folder / "catalog.sqlite").write_bytes(b"this is no database at all " * 1000)


def garbage_after_the_header(folder: Path) -> None:
    catalog = folder / "catalog.sqlite"
    data = catalog.read_bytes()
    catalog.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


def another_database(folder: Path) -> None:
    (folder / "catalog.sqlite").unlink()
    with sqlite3.connect(folder / "catalog.sqlite") as db:
        db.execute("CREATE TABLE recipes (name)")
    db.close()


def no_generation(folder: Path) -> None:
    shutil.rmtree(folder / "text")


def half_a_generation(folder: Path) -> None:
    (generation,) = (folder / "text").iterdir()
    shutil.rmtree(generation / "files")


def truncated_segments(folder: Path) -> None:
    for path in (folder / "text").rglob("*"):
        if path.is_file() and path.suffix in (".term", ".idx", ".store", ".fast", ".fieldnorm"):
            os.truncate(path, path.stat().st_size // 2)


def missing_segments(folder: Path) -> None:
    for path in (folder / "text").rglob("*.idx"):
        path.unlink()


def garbage_meta(folder: Path) -> None:
    for path in (folder / "text").rglob("meta.json"):
        path.write_text("{ not json")


WAYS = [
    truncated_to_half,
    truncated_in_a_page,
    truncated_to_nothing,
    garbage,
    garbage_after_the_header,
    another_database,
    no_generation,
    half_a_generation,
    truncated_segments,
    missing_segments,
    garbage_meta,
]


@pytest.mark.parametrize("damage", WAYS)
def test_damage_is_named_and_a_rebuild_heals_it(broken, damage):
    root, folder = broken
    damage(folder)
    with pytest.raises(IndexDamaged, match="dowse index --rebuild") as raised:
        use(root, folder)
    assert str(folder) in str(raised.value) and "\n" not in str(raised.value)
    with Index.open(root, index_dir=str(folder)) as index:
        assert index.backend.check() != []
        index.update(rebuild=True)
        assert index.backend.check() == []
        assert len(index.search("load", k=0).hits) == 60
    use(root, folder)


@pytest.mark.parametrize("damage", WAYS)
def test_an_update_never_makes_half_an_index_of_a_damaged_one(broken, damage, tmp_path):
    """It says so, or heals it; in no case does it leave an index that lacks what it should hold."""
    root, folder = Path(shutil.copytree(broken[0], tmp_path / "tree")), broken[1]
    damage(folder)
    (root / "m1.py").write_text("def changed(): ...\n")
    (root / "m2.py").unlink()
    with Index.open(root, index_dir=str(folder)) as index:
        try:
            index.update()
        except IndexDamaged as error:
            assert "dowse index --rebuild" in str(error)
        else:
            assert index.backend.check() == []
            assert len(index.search("load", k=0).hits) == 58


@pytest.mark.parametrize("version", ["0", str(FORMAT_VERSION + 1), "banana"])
def test_another_format_is_told_apart_from_damage(broken, version):
    root, folder = broken
    with sqlite3.connect(folder / "catalog.sqlite") as db:
        db.execute("UPDATE meta SET value=? WHERE key='format'", (version,))
    db.close()
    with Index.open(root, index_dir=str(folder)) as index:
        for action in (lambda: index.search("load"), index.update):
            with pytest.raises(IndexVersionError, match=rf"format {version}.*dowse index --rebuild"):
                action()
        index.update(rebuild=True)
        assert index.search("load").hits


def test_no_index_yet(tmp_path):
    root = write_tree(tmp_path / "tree", {"a.py": "x = 1\n"})
    with (
        Index.open(root, index_dir=str(tmp_path / "none")) as index,
        pytest.raises(IndexMissing, match="dowse index"),
    ):
        index.search("x")
    assert not (tmp_path / "none").exists()


def test_removing_an_index_leaves_other_files_alone(tmp_path):
    """An index may be told to lie in a folder with other things in it, even in the repository itself."""
    root = write_tree(tmp_path / "tree", {"a.py": "def keep(): ...\n", "text/notes.md": "mine\n"})
    home = write_tree(tmp_path / "home", {"precious.txt": "do not lose\n"})
    for folder in (home, root / "sub"):
        with Index.open(root, index_dir=str(folder)) as index:
            index.update()
            index.update(rebuild=True)
            index.backend.clear()
    assert (home / "precious.txt").read_text() == "do not lose\n"
    assert sorted(p.name for p in home.iterdir()) == ["precious.txt"]
    assert sorted(p.name for p in root.iterdir()) == ["a.py", "text"]


def test_errors_are_of_one_family():
    for error in (IndexDamaged, IndexMissing, IndexVersionError):
        assert issubclass(error, DowseError)
