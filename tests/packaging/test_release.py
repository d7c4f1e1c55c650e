"""A release: version, changelog, commit and tag by one command, and its notes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dowse.version import __version__

ROOT = Path(__file__).parents[2]
FILES = ("scripts/release", "scripts/release-notes", "scripts/package", "src/dowse/version.py")


@pytest.fixture
def clone(tmp_path) -> Path:
    for name in (*FILES, "server.json", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## Unreleased (0.2.0)\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"
    )
    run(tmp_path, "git", "init", "-q", "-b", "main")
    run(tmp_path, "git", "add", "-A")
    run(tmp_path, "git", "commit", "-q", "-m", "begin")
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    names = {
        f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **names}, capture_output=True, text=True, check=False
    )


def test_notes(clone):
    assert run(clone, "scripts/release-notes", "0.1.0").stdout.strip() == "- Old."
    assert run(clone, "scripts/release-notes", "0.2.0").stdout.strip() == "- New."
    missing = run(clone, "scripts/release-notes", "0.3.0")
    assert missing.returncode == 1 and "no section for 0.3.0" in missing.stderr


def test_notes_of_this_version():
    assert run(ROOT, "scripts/release-notes", __version__).returncode == 0


def test_one_command_makes_a_release(clone):
    done = run(clone, "scripts/release", "0.2.0")
    assert done.returncode == 0 and "git push origin HEAD v0.2.0" in done.stdout, done.stderr
    assert '__version__ = "0.2.0"' in (clone / "src/dowse/version.py").read_text()
    server = json.loads((clone / "server.json").read_text())
    assert server["version"] == server["packages"][0]["version"] == "0.2.0"
    assert server["$schema"].endswith("server.schema.json")
    assert "## 0.2.0 (20" in (clone / "CHANGELOG.md").read_text()
    assert run(clone, "git", "describe").stdout == "v0.2.0\n"
    assert run(clone, "git", "status", "--porcelain").stdout == ""
    again = run(clone, "scripts/release", "0.2.0")
    assert again.returncode == 1 and "already" in again.stderr


def test_a_release_is_refused(clone):
    assert "is no version" in run(clone, "scripts/release", "two").stderr
    wrong = run(clone, "scripts/package", "--tag", "v9.9.9")
    assert wrong.returncode == 1 and "v9.9.9 is not that of version" in wrong.stderr
    (clone / "pyproject.toml").write_text('Repository = "https://github.com/OWNER/dowse"\n')
    unnamed = run(clone, "scripts/package", "--tag", f"v{__version__}")
    assert unnamed.returncode == 1 and "instead of OWNER" in unnamed.stderr
    assert "commit or stash" in run(clone, "scripts/release", "0.2.0").stderr
