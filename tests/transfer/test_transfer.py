"""An index moves from folder to folder: an equal one is imported, and nothing is parsed or encoded."""

from __future__ import annotations

import queue
import re
import threading
from pathlib import Path

import pytest

from dowse import Index
from dowse.interfaces.cli.main import main
from dowse.storage.local.backend import LocalBackend
from dowse.storage.protocol import Backend
from dowse.transfer.archive import Archive
from dowse.transfer.export_index import export
from dowse.transfer.import_index import import_archive

from helpers import image, run_dowse, write_tree

QUERIES = ("bake bread", "order loaves cancel", "class Order", "/def \\w+order/")
# Every commit changes all files at once; an export that mixes two generations has two numbers.
FILES = 6


@pytest.fixture(scope="module")
def made(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index with vectors, for reading only."""
    place = tmp_path_factory.mktemp("made") / "index"
    index = Index.open(sample, index_dir=str(place), encoder="small", refresh="never")
    index.update()
    return index


@pytest.fixture(scope="module")
def archive(made: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its export."""
    path = tmp_path_factory.mktemp("archive") / "bakery.zip"
    export(local(made), path)
    return path


def local(index: Index) -> LocalBackend:
    assert isinstance(index.backend, LocalBackend)
    return index.backend


def assert_same(one: Index, other: Index) -> None:
    """Both say the same of files, symbols and references, and answer alike."""
    assert image(one) == image(other)
    for query in QUERIES:
        hits = [[(hit.symbol.id, hit.score) for hit in index.search(query)] for index in (one, other)]
        assert hits[0] == hits[1]


def paths(backend: Backend) -> list[str]:
    with backend.reader() as reader:
        return sorted(file.path for file in reader.files())


def test_nothing_is_parsed_or_encoded(
    made: Index, archive: Path, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "dowse.encoders.onnx_encoder.OnnxEncoder.encode_documents",
        lambda *_: pytest.fail("something was encoded"),
    )
    copy = Index.open(sample, index_dir=str(tmp_path / "copy"), encoder="small", refresh="never")
    report = import_archive(archive, local(copy), copy.root)
    assert_same(made, copy)
    assert copy.backend.check() == []
    assert report.vectors == {made.encoder.id: copy.status()["symbols"]}  # type: ignore[union-attr]
    assert not copy.update().wrote
    assert copy.vectors.missing() == 0


def test_readers_see_the_old_content_until_the_new_one_is_complete(
    made: Index, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = write_tree(tmp_path / "t", {"old.py": "def old(): return 1\n", "b.py": "def b(): return 2\n"})
    index = Index.open(tree, index_dir=str(tmp_path / "i"), encoder="small", refresh="never")
    index.update()
    seen = []
    extract = Archive.extract
    monkeypatch.setattr(
        Archive, "extract", lambda *given: (extract(*given), seen.append(paths(index.backend)))
    )
    with index.backend.reader() as reader:
        import_archive(archive, local(index), index.root)
        assert sorted(file.path for file in reader.files()) == ["b.py", "old.py"]
    assert seen == [["b.py", "old.py"]]
    assert_same(made, index)
    assert index.backend.check() == []


@pytest.mark.parametrize("damage", [b"no catalog", b""])
def test_an_index_that_cant_be_read_is_replaced(
    made: Index, archive: Path, sample: Path, tmp_path: Path, damage: bytes
) -> None:
    (tmp_path / "i").mkdir()
    (tmp_path / "i" / "catalog.sqlite").write_bytes(damage)
    index = Index.open(sample, index_dir=str(tmp_path / "i"), encoder="small", refresh="never")
    import_archive(archive, local(index), index.root)
    assert_same(made, index)


def test_what_the_other_user_has_allowed_is_not_imported(tmp_path: Path) -> None:
    theirs = write_tree(tmp_path / "theirs", {"a.py": "x = 1\n", ".env": "A=1\n"})
    settings = {"include_secrets": True, "exclude": ["!.env", "!private.txt", "b.py"], "encoder": "none"}
    with Index.open(theirs, index_dir=str(tmp_path / "their-index"), **settings) as index:
        index.update()
        export(local(index), tmp_path / "x.zip")
    ours = write_tree(
        tmp_path / "ours",
        {"a.py": "x = 1\n", "b.py": "", ".env": "B=2\n", "private.txt": "", ".gitignore": "private.txt\n"},
    )
    our_index = str(tmp_path / "our-index")
    assert main(["import", str(tmp_path / "x.zip"), str(ours), "--index-dir", our_index, "-q"]) == 0
    with Index.open(ours, index_dir=our_index, encoder="none") as index:
        built = index.internals.as_built()
        assert (built.settings.include_secrets, built.settings.exclude) == (False, ("b.py",))
        built.update()
        assert {file.path for file in index.contents.files()} == {"a.py", ".gitignore"}


def tree_of(root: Path, number: int) -> Path:
    names = {f"m{file}.py": f"def made_{number}_in_{file}():\n    pass\n" for file in range(FILES)}
    return write_tree(root, names)


def test_an_export_beside_a_writer_is_one_generation(tmp_path: Path) -> None:
    root, folder = tree_of(tmp_path / "tree", 0), str(tmp_path / "index")
    Index.open(root, index_dir=folder).update()
    done, commits = threading.Event(), queue.SimpleQueue()

    def write() -> None:
        with Index.open(root, index_dir=folder) as index:
            number = 0
            while not done.is_set():
                number += 1
                tree_of(root, number)
                index.update()
                commits.put(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with Index.open(root, index_dir=folder) as index:
            for copy in range(2):
                commits.get(timeout=60)  # the writer goes on meanwhile
                export(local(index), tmp_path / f"{copy}.zip")
    finally:
        done.set()
        writer.join()
    for copy in range(2):
        with Index.open(root, index_dir=str(tmp_path / f"restored-{copy}")) as restored:
            import_archive(tmp_path / f"{copy}.zip", local(restored), root)
            with restored.backend.reader() as reader:
                rows = reader.rows_of_files([file.file_id for file in reader.files()])
            found = [re.fullmatch(r"made_(\d+)_in_(\d+)", row.name).groups() for row in rows]
            assert len(found) == FILES and len({number for number, _ in found}) == 1, found
            assert restored.backend.check() == []
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_command(sample: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run_dowse("index", "-q", sample, "--index-dir", first, DOWSE_ENCODER="small")
    done = run_dowse("export", sample, "--index-dir", first, tmp_path / "x.zip")
    assert (done.returncode, done.stderr) == (0, "")
    assert "vectors of small" in done.stdout
    done = run_dowse("import", tmp_path / "x.zip", "--index-dir", second, sample)
    assert (done.returncode, done.stderr) == (0, "")
    found = [run_dowse("search", "bake", sample, "--index-dir", place, "-l") for place in (first, second)]
    assert found[0].stdout
    assert found[0].stdout == found[1].stdout
    done = run_dowse("export", sample, tmp_path / "y.zip", "--index-dir", tmp_path / "none")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no index in" in done.stderr
