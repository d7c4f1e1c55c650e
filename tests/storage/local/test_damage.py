"""A damaged index is built again by whoever meets the damage; what is no damage is named as what it is."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError, IndexDamaged, IndexVersionError
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.fulltext import FulltextWriter
from dowse.storage.local.queries import CatalogQueries
from dowse.write_lock import LOCK, write_lock

from helpers import age, image, run_dowse, write_tree

REBUILT = "the index was damaged and has been built again"


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


def views_for_tables(folder: Path) -> None:
    with sqlite3.connect(folder / "catalog.sqlite") as db:
        db.execute("ALTER TABLE files RENAME TO other")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        db.execute(f"CREATE VIEW files AS SELECT other.* FROM other, ({endless})")
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
    views_for_tables,
    no_generation,
    half_a_generation,
    truncated_segments,
    missing_segments,
    garbage_meta,
]


@pytest.mark.parametrize("damage", WAYS)
def test_a_search_builds_a_damaged_index_again(broken, damage):
    root, folder = broken
    damage(folder)
    with Index.open(root, index_dir=str(folder)) as index:
        assert index.backend.check() != []
        messages: list[str] = []
        index.internals.on_rebuild(messages.append)
        found = [index.search("load", k=0), index.search('"the text"', k=0)]
        assert [len(answer.hits) for answer in found] == [60, 60]
        assert len(messages) == 1 and str(folder) in messages[0] and "\n" not in messages[0]
        assert sum(REBUILT in map(str, answer.notes) for answer in found) == 1
        assert index.backend.check() == []
    use(root, folder)


@pytest.mark.parametrize("damage", WAYS)
def test_an_update_builds_a_damaged_index_again(broken, damage, tmp_path):
    root, folder = Path(shutil.copytree(broken[0], tmp_path / "tree")), broken[1]
    damage(folder)
    (root / "m1.py").write_text("def changed(): ...\n")
    (root / "m2.py").unlink()
    with Index.open(root, index_dir=str(folder)) as index:
        index.update()
        assert len(index.search("load", k=0).hits) == 58
        assert index.backend.check() == []


@pytest.mark.parametrize("act", [LocalBackend.remove_damage, LocalBackend.start_over])
def test_what_another_process_built_again_stays(whole, broken, act):
    folder, waiting = broken[1], threading.Event()
    garbage_meta(folder)
    late = threading.Thread(target=act, args=(LocalBackend(folder), None, lambda _: waiting.set()))
    with write_lock(folder, 0, lambda _: None):
        late.start()
        assert waiting.wait(60)  # it has seen the damage
        shutil.copytree(whole[1], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(LOCK))
    late.join(60)
    assert LocalBackend(folder).exists() and LocalBackend(folder).check() == []


def test_damaged_vectors_alone_are_dropped(broken):
    root, folder = broken
    with Index.open(root, index_dir=str(folder), encoder="small", isolation="never") as index:
        index.vectors.embed()
        (rows,) = folder.glob("vectors/*/*.rows")
        index.close()  # a mapped file that is cut ends the process
        os.truncate(rows, rows.stat().st_size // 2)
        catalog = (folder / "catalog.sqlite").stat().st_ino
        answer = index.search("load the text", mode="hybrid")
        assert answer.hits and any("vectors were damaged" in str(note) for note in answer.notes)
        assert (folder / "catalog.sqlite").stat().st_ino == catalog
        index.vectors.embed()
        assert index.vectors.missing() == 0 and index.backend.check() == []


def test_the_commands_say_what_happens(broken):
    root, folder = broken
    place, settings = (root, "--index-dir", folder), {"DOWSE_ENCODER": "none"}
    next(folder.rglob("files/*.term")).unlink()
    checked = run_dowse("doctor", *place, **settings)
    assert checked.returncode == 2 and "BAD  index" in checked.stdout and "--rebuild" in checked.stdout
    found = run_dowse("search", "load", *place, **settings)
    assert found.returncode == 0 and "building it again" in found.stderr and REBUILT in found.stderr
    assert run_dowse("search", "load", *place, **settings).stderr == ""
    assert run_dowse("doctor", *place, **settings).returncode == 0


def test_where_nothing_can_be_written_it_is_said_in_one_line(broken, monkeypatch):
    root, folder = broken
    garbage_meta(folder)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(folder))

    monkeypatch.setattr(LocalBackend, "_remove", refuse)
    with (
        Index.open(root, index_dir=str(folder)) as index,
        pytest.raises(
            IndexDamaged, match=r"is damaged .* can't be built again there; .*--index-dir"
        ) as raised,
    ):
        index.search("load")
    assert "\n" not in str(raised.value)


def test_an_index_of_an_older_version_is_rebuilt_by_itself(broken):
    root, folder = broken
    with sqlite3.connect(folder / "catalog.sqlite") as db:
        db.execute("UPDATE meta SET value='1' WHERE key='format'")
        db.execute("DROP TABLE symbols")
    db.close()
    with Index.open(root, index_dir=str(folder)) as index:
        assert not index.exists
        with pytest.raises(IndexVersionError, match=r"format 1.*dowse index"):
            index.search("load")
        index.update()
        assert index.exists and index.search("load").hits


def test_removing_an_index_leaves_other_files_alone(tmp_path):
    """Something may be put into the folder of an index, or the index into the repository itself."""
    root = write_tree(tmp_path / "tree", {"a.py": "def keep(): ...\n", "text/notes.md": "mine\n"})
    precious = {"precious.txt": "do not lose\n", "text/notes.md": "mine\n", "text/12/deep.md": "mine\n"}
    for folder, others in ((tmp_path / "home", precious), (root / "sub", {})):
        with Index.open(root, index_dir=str(folder)) as index:
            index.update()
            write_tree(folder, others)
            (root / "a.py").write_text(f"def keep_{len(others)}(): ...\n")
            index.update()
            index.update(rebuild=True)
            index.backend.clear()
        left = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}
        assert left == others and folder.exists() == bool(others)
    assert sorted(p.name for p in root.iterdir()) == ["a.py", "text"]


@pytest.mark.parametrize("mine", ["notes.txt", "text/notes.md", "text/12/notes.md"])
@pytest.mark.parametrize("rebuild", [False, True])
def test_no_index_is_made_among_other_files(tmp_path, mine, rebuild):
    root = write_tree(tmp_path / "tree", {"a.py": "x = 1\n"})
    home = write_tree(tmp_path / "home", {mine: "mine\n"})
    with (
        Index.open(root, index_dir=str(home)) as index,
        pytest.raises(DowseError, match=r"home holds other files .* name an empty or new folder"),
    ):
        index.update(rebuild=rebuild)
    assert [p for p in home.rglob("*") if p.is_file()] == [home / mine]


@pytest.mark.parametrize(
    ("name", "words", "remedy"),
    [
        ("SQLITE_FULL", "database or disk is full", "free some space"),
        ("SQLITE_BUSY", "database is locked", "other process"),
        ("SQLITE_READONLY_DIRECTORY", "attempt to write a readonly database", "permissions"),
    ],
)
def test_an_index_that_is_unavailable_is_not_damaged(broken, monkeypatch, name, words, remedy):
    root, folder = broken

    def fail(*_: object) -> None:
        error = sqlite3.OperationalError(words)
        error.sqlite_errorname = name
        raise error

    monkeypatch.setattr(Catalog, "begin", fail)
    monkeypatch.setattr(CatalogQueries, "counts", fail)
    with Index.open(root, index_dir=str(folder), strip_docs=True) as index:
        for action in (index.update, index.contents.file_count):
            with pytest.raises(DowseError, match=f"{words}.*{remedy}") as raised:
                action()
            assert not isinstance(raised.value, IndexDamaged)


@pytest.mark.parametrize("half", ["_file_writer", "_symbol_writer"])
def test_a_commit_that_fails_in_one_half_changes_nothing(broken, tmp_path, monkeypatch, half):
    """The error is the one that the user sees, and readers keep the last generation."""
    root, folder = Path(shutil.copytree(broken[0], tmp_path / "tree")), broken[1]
    (root / "m1.py").write_text("def changed(): ...\n")

    class Failing:
        def __init__(self, writer: object) -> None:
            self._writer = writer

        def __getattr__(self, name: str) -> object:
            return getattr(self._writer, name)

        def commit(self) -> None:
            raise OSError("no room for it")

    create = FulltextWriter.__init__

    def create_failing(self: FulltextWriter, *arguments: object, **options: object) -> None:
        create(self, *arguments, **options)
        setattr(self, half, Failing(getattr(self, half)))

    with Index.open(root, index_dir=str(folder)) as index:
        before = image(index)
        with monkeypatch.context() as patch:
            patch.setattr(FulltextWriter, "__init__", create_failing)
            with pytest.raises(OSError, match="no room for it"):
                index.update()
        assert [p.name for p in (folder / "text").iterdir()] == ["000001"]
        assert image(index) == before and index.backend.check() == []
        assert index.update().changed == 1
        assert index.backend.check() == []
