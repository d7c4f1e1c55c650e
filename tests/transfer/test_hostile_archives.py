"""Archives that are damaged, or that somebody has tampered with: refused in one line, nothing is written."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError, IndexVersionError
from dowse.storage.local.backend import LocalBackend
from dowse.transfer.archive import BrokenArchive
from dowse.transfer.export_index import export
from dowse.transfer.import_index import import_archive

from helpers import image, run_dowse, write_tree

Files = dict[str, bytes]
MANIFEST = "manifest.json"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of a small index."""
    folder = tmp_path_factory.mktemp("good")
    tree = write_tree(folder / "tree", {"a.py": "def a(): return 1\n"})
    with Index.open(tree, index_dir=str(folder / "index"), encoder="none") as index:
        index.update()
        assert isinstance(index.backend, LocalBackend)
        export(index.backend, folder / "good.zip")
    return folder / "good.zip"


def refuse(path: Path, folder: Path, error: type[DowseError] = BrokenArchive) -> str:
    """Import into a new index and into one that is there; return the one line that is said."""
    with pytest.raises(error) as caught:
        import_archive(path, LocalBackend(folder / "new"), folder)
    assert not (folder / "new").exists()
    tree = write_tree(folder / "tree", {"b.py": "def b(): return 1\n"})
    with Index.open(tree, index_dir=str(folder / "old"), encoder="none") as index:
        index.update()
        before = image(index)
        assert isinstance(index.backend, LocalBackend)
        with pytest.raises(error):
            import_archive(path, index.backend, tree)
        assert image(index) == before
    assert not (folder / "old" / "import").exists()
    assert sorted(each.name for each in folder.iterdir()) == sorted({path.name, "old", "tree"})
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rewrite(good: Path, target: Path, change: Callable[[Files], object]) -> Path:
    """Write an archive with other files."""
    with zipfile.ZipFile(good) as source:
        files = {name: source.read(name) for name in source.namelist()}
    change(files)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return target


def manifest(files: Files, change: Callable[[dict], object]) -> None:
    """Change what the manifest says."""
    said = json.loads(files[MANIFEST])
    change(said)
    files[MANIFEST] = json.dumps(said).encode()


@pytest.mark.parametrize(
    "name",
    [
        *("../x", "/tmp/x", "..", "vectors/../x", "vectors/a/../../x", "text/files/../x", "text/other/x"),
        *("vectors/a/b/c", "vectors\\a\\b", "C:x", "text/files/a b", "catalog.sqlite-wal", "writer.lock"),
        *("CATALOG.SQLITE", "text/files/META.JSON", "text/files/a\0b", "vectors/Ä/x", "derived/x"),
    ],
)
def test_names_that_no_index_has(good: Path, tmp_path: Path, name: str) -> None:
    def change(files: Files) -> None:
        manifest(files, lambda said: said["files"].update({name: [1, "0" * 64]}))
        files[name] = b"x"

    assert "manifest" in refuse(rewrite(good, tmp_path / "x.zip", change), tmp_path)


CHANGES: list[Callable[[Files], object]] = [
    lambda files: files.pop("catalog.sqlite"),
    lambda files: files.update({"vectors/a/x": b"x"}),
    lambda files: files.update({"catalog.sqlite": files["catalog.sqlite"][:-1]}),
    lambda files: manifest(files, lambda said: said["files"].pop("catalog.sqlite")),
    lambda files: manifest(files, lambda said: said["files"].update({"catalog.sqlite": [-1, "0" * 64]})),
    lambda files: manifest(files, lambda said: said.update(files=[])),
    lambda files: files.update({MANIFEST: b"[" * 100_000}),
    lambda files: files.update({MANIFEST: b" " * 5_000_000}),
    lambda files: files.pop(MANIFEST),
]


@pytest.mark.parametrize("change", CHANGES)
def test_files_that_differ_from_the_manifest(
    good: Path, tmp_path: Path, change: Callable[[Files], object]
) -> None:
    refuse(rewrite(good, tmp_path / "x.zip", change), tmp_path)


def test_a_zip_bomb(good: Path, tmp_path: Path) -> None:
    def change(files: Files) -> None:
        files["catalog.sqlite"] = b"\0" * 50_000_000
        manifest(files, lambda said: said["files"].update({"catalog.sqlite": [50_000_000, "0" * 64]}))

    assert "100 times" in refuse(rewrite(good, tmp_path / "x.zip", change), tmp_path)


def test_other_content_of_the_same_size(good: Path, tmp_path: Path) -> None:
    def change(files: Files) -> None:
        data = bytearray(files["catalog.sqlite"])
        data[5_000] ^= 1
        files["catalog.sqlite"] = bytes(data)

    assert "not what was exported" in refuse(rewrite(good, tmp_path / "x.zip", change), tmp_path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_damaged_archive(good: Path, tmp_path: Path, share: float, is_cut: bool) -> None:
    data = good.read_bytes()
    at = int(len(data) * share)
    damaged = data[:at] if is_cut else data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
    (tmp_path / "x.zip").write_bytes(damaged)
    refuse(tmp_path / "x.zip", tmp_path)


@pytest.mark.parametrize("field", ["format", "index"])
def test_another_version_is_refused_with_the_remedy(good: Path, tmp_path: Path, field: str) -> None:
    def change(files: Files) -> None:
        manifest(files, lambda said: said.update({field: 99}))

    path = rewrite(good, tmp_path / "x.zip", change)
    assert "export it again with this one" in refuse(path, tmp_path, IndexVersionError)


def test_links_in_the_archive_become_files(good: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(tmp_path / "x.zip", "w") as target:
        for info in source.infolist():
            info.external_attr = 0o120777 << 16
            target.writestr(info, source.read(info))
    import_archive(tmp_path / "x.zip", LocalBackend(tmp_path / "i"), tmp_path)
    assert not [path for path in (tmp_path / "i").rglob("*") if path.is_symlink()]


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.zip").write_text("bread, butter")
    os.mkfifo(tmp_path / "fifo.zip")
    for file, said in (
        ("notes.zip", "is no intact export of dowse"),
        ("missing.zip", "No such file"),
        ("fifo.zip", "fifo.zip"),
    ):
        done = run_dowse("import", tmp_path / file, tmp_path, "--index-dir", tmp_path / "i")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "i").exists()
