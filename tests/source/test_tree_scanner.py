"""Looks at a part of a tree see what a walk of it would, each file once."""

from __future__ import annotations

import shutil
from pathlib import Path

from dowse import Index
from dowse.source.tree_scanner import TreeScanner


def test_a_file_that_is_told_with_its_folder_is_seen_once(tmp_path: Path) -> None:
    """As when a folder is removed and made again within one batch."""
    folder = tmp_path / "pkg" / "deep"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("a = 1\n")
    scanner = TreeScanner(tmp_path)
    scanner.scan()
    shutil.rmtree(tmp_path / "pkg")
    folder.mkdir(parents=True)
    (folder / "b.py").write_text("b = 1\n")
    seen = scanner.rescan({"pkg", "pkg/deep", "pkg/deep/a.py", "pkg/deep/b.py"})
    assert seen is not None and seen.paths == {"pkg"}
    assert [entry.path for entry in seen.entries] == ["pkg/deep/b.py"]


def test_what_stands_beside_a_folder_of_nearly_its_name_is_looked_at(tmp_path: Path) -> None:
    for name in ("pkg", "pkg2"):
        (tmp_path / name).mkdir()
    scanner = TreeScanner(tmp_path)
    scanner.scan()
    (tmp_path / "pkg2" / "a.py").write_text("a = 1\n")
    seen = scanner.rescan({"pkg", "pkg2/a.py"})
    assert seen is not None and [entry.path for entry in seen.entries] == ["pkg2/a.py"]


def test_a_folder_that_becomes_a_link_between_two_looks_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "pkg", outside):
        folder.mkdir(parents=True)
    (outside / "secret.py").write_text("token = 1\n")

    def swap(folder: str) -> None:
        if folder == "pkg/":  # it was listed as a folder, and is about to be read
            (root / "pkg").rmdir()
            (root / "pkg").symlink_to(outside)

    scanned = TreeScanner(root, on_folder=swap).scan()
    assert [entry.path for entry in scanned.entries] == ["pkg/"]
    with Index.open(root, index_dir=str(tmp_path / "index"), encoder="none") as index:
        (root / "pkg").unlink()
        (root / "pkg").mkdir()
        (root / "pkg" / "secret.py").write_text("own = 1\n")
        seen = TreeScanner(root).scan()
        (root / "pkg").rename(tmp_path / "moved")
        (root / "pkg").symlink_to(outside)
        index.update(seen=seen)
        assert index.contents.file_count() == 0
