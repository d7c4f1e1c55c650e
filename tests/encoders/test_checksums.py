"""Shipped models have checksums; a flipped byte is found and named."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dowse
from dowse.encoders import checksums
from dowse.encoders.checksums import SUMS_FILE, check_once, damaged_files
from dowse.encoders.model_files import shipped_folder
from dowse.errors import DowseError

from helpers import write_tree


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A small model with its checksums."""
    folder = tmp_path / "models"
    write_tree(
        folder, {"tiny/weights.bin": b"w" * 1000, "tiny/encoder.json": "{}", "other/weights.bin": b"x"}
    )
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n" for file in files
    ]
    (folder / SUMS_FILE).write_text("".join(lines))
    return folder


def flip(file: Path) -> None:
    """Change one bit, and neither size nor time."""
    before, data = file.stat(), bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_all_shipped_files_have_checksums():
    shipped = shipped_folder()
    listed = {line.split("  ", 1)[1] for line in (shipped / SUMS_FILE).read_text().splitlines()}
    assert listed == {str(path.relative_to(shipped)) for path in shipped.glob("*/*")}
    assert damaged_files(shipped) == []


def test_damage_is_named(models):
    assert damaged_files(models) == []
    flip(models / "tiny/weights.bin")
    (models / "other/weights.bin").unlink()
    assert sorted(damaged_files(models)) == ["other/weights.bin", "tiny/weights.bin"]
    assert damaged_files(models, "tiny") == ["tiny/weights.bin"]


def test_files_are_read_once(models, tmp_path, monkeypatch):
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    read = []
    digest = checksums._digest
    monkeypatch.setattr(checksums, "_digest", lambda file: read.append(file.name) or digest(file))
    for _ in range(2):
        check_once(models / "tiny")
    assert sorted(read) == ["encoder.json", "weights.bin"]
    weights = models / "tiny/weights.bin"
    shutil.copy(weights, tmp_path / "new")
    flip(tmp_path / "new")
    (tmp_path / "new").replace(weights)  # another inode
    with pytest.raises(DowseError, match=r"tiny/weights\.bin is damaged; reinstall"):
        check_once(models / "tiny")
    with pytest.raises(DowseError):  # damage is not remembered as checked
        check_once(models / "tiny")


def link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def test_an_installation_with_a_flipped_byte(tmp_path):
    """`dowse doctor` names the file, and so does a search that needs it."""
    package = tmp_path / "site/dowse"
    shutil.copytree(
        Path(dowse.__file__).parent,
        package,
        copy_function=link,
        ignore=shutil.ignore_patterns("__pycache__", "page"),
    )
    shutil.copytree(shipped_folder(), package / "models", copy_function=link)
    weights = package / "models/small/weights.bin"
    shutil.copy(weights, tmp_path / "copy")
    flip(tmp_path / "copy")
    (tmp_path / "copy").replace(weights)
    root = write_tree(tmp_path / "inn", {"a.py": 'def sweep():\n    """Sweep the floor."""\n'})
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "DOWSE_ENCODER": "small"}

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dowse.interfaces.cli.main", *map(str, arguments)]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)

    doctor = run("doctor")
    assert doctor.returncode == 2
    assert f"BAD  models: damaged: {weights}; reinstall dowse" in doctor.stdout
    answer = run("search", "sweep the floor", "--no-daemon")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.splitlines()[-1] == f"dowse: {weights} is damaged; reinstall dowse"
