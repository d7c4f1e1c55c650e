"""Looks at a part of a tree see what a walk of it would, each file once."""

from __future__ import annotations

import shutil
from pathlib import Path

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
