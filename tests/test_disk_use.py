"""What is kept on disk: shown with its limit, and removed when nobody uses it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from dowse import Index
from dowse.config import cache_folder
from dowse.disk_use import measure_stores, remove_unused
from dowse.install import files
from dowse.interfaces.cli.main import main
from dowse.write_lock import LOCK, write_lock

from helpers import write_tree


def make_old(folder: Path, days: int) -> Path:
    """Date a folder and what is directly in it back."""
    then = time.time() - days * 86_400
    for path in (*folder.iterdir(), folder):
        os.utime(path, (then, then))
    return folder


def make_part(name: str, days: int) -> Path:
    folder = cache_folder() / name
    write_tree(folder, {LOCK: "", "deep/file": "x" * 1_000})
    return make_old(folder, days)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHE", "DATA"):
        monkeypatch.setenv(f"DOWSE_{name}_DIR", str(tmp_path / name))


def test_what_nobody_used_for_long_goes_when_an_index_is_made(tmp_path):
    old = [make_part(f"{name}/a", 100) for name in ("histories", "repositories", "revisions", "mirrors")]
    new, vectors = make_part("histories/b", 80), make_part("vectors", 400)
    outside = write_tree(tmp_path / "outside", {"file": "x"})
    (cache_folder() / "histories" / "link").symlink_to(make_old(outside, 400))
    with write_lock(held := make_part("run/a.watch", 0), 0.0, lambda _: None):
        make_old(held, 100)
        Index.open(write_tree(tmp_path / "tree", {"a.py": "x = 1\n"}), encoder="none").update()
        assert held.exists()
    assert not any(folder.exists() for folder in old)
    assert new.exists() and vectors.exists() and (outside / "file").exists()


def test_an_index_goes_only_if_its_folder_is_gone(tmp_path):
    roots = [write_tree(tmp_path / name, {"a.py": "x = 1\n"}) for name in ("kept", "gone", "just gone")]
    folders = []
    for root in roots:
        with Index.open(root, encoder="none") as index:
            index.update()
            folders.append(index.backend.folder)
    for root in roots[1:]:
        (root / "a.py").unlink()
        root.rmdir()
    for folder in folders[:2]:
        make_old(folder, 100)
    remove_unused()
    assert [folder.exists() for folder in folders] == [True, False, True]


def test_status_shows_sizes_and_limits(tmp_path, capsys):
    root = write_tree(tmp_path / "tree", {"a.py": "x = 1\n"})
    make_part("histories/a", 1)
    assert main(["index", str(root), "--encoder", "none", "--quiet"]) == 0
    assert main(["status", str(root), "--encoder", "none"]) == 0
    shown = capsys.readouterr().out
    assert "histories 1.0 KB (removed if unused for 90 days)" in shown
    assert main(["status", str(root), "--encoder", "none", "--json"]) == 0
    stores = {store["name"]: store for store in json.loads(capsys.readouterr().out)["disk"]}
    assert stores["histories"]["bytes"] == 1_000 and stores["indexes"]["limit"]
    assert {store.name for store in measure_stores()} - {"temporary"} == set(stores) - {"temporary"}


def test_the_first_backup_and_the_newest_are_kept(tmp_path):
    """What the user had before any change of ours can't be made again."""
    target = tmp_path / "settings.json"
    made = []
    for number in range(25):
        backup = files.write_backup(target, b"%d" % number)
        os.utime(backup, (number, number))
        made.append(backup)
    assert [backup.exists() for backup in made] == [True] + [False] * 4 + [True] * 20
