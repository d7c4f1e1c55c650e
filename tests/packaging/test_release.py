"""A release: version, changelog, commit and tag by one command, and its notes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from dowse.version import __version__

ROOT = Path(__file__).parents[2]
FILES = (
    *("scripts/release", "scripts/release-notes", "scripts/package", "scripts/repository_address.py"),
    *("src/dowse/version.py", "pyproject.toml", "server.json", "README.md", "mkdocs.yml"),
    *("packaging/systemd/dowse.service", "editors/vscode/package.json", "docs/PACKAGING.md"),
    *("scripts/figures", *(f"bench/{name}.py" for name in ("figures", "extract", "tables", "common"))),
)
ADDRESS = "https://github.com/acme/dowse"
# The first release writes the address into this repository.
HAS_ADDRESS = "\nRepository = " in (ROOT / "pyproject.toml").read_text()
without_address = pytest.mark.skipif(HAS_ADDRESS, reason="a release has been made")


@pytest.fixture
def clone(tmp_path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## Unreleased (0.2.0)\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"
    )
    # Nothing is to be measured, and no page has tables.
    (tmp_path / "bench/measures.py").write_text("Measure, MEASURES, GROUPS, ENGINE = object, (), (), ()\n")
    (tmp_path / "bench/tables.md").write_text("")
    for name in ("README.md", "docs/PACKAGING.md"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(re.sub(r"<!-- /?figures.*? -->", "", text))
    (tmp_path / ".gitignore").write_text("__pycache__\n")
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
    done = run(clone, "scripts/release", "0.2.0", *([] if HAS_ADDRESS else ["--repository", ADDRESS]))
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
    (clone / "README.md").write_text("# dowse\n\nChanged.\n")
    assert "commit or stash" in run(clone, "scripts/release", "0.2.0").stderr


def test_a_release_needs_all_figures(clone):
    table = "from types import SimpleNamespace\nMeasure, GROUPS, ENGINE = object, (), ()\n"
    (clone / "bench/measures.py").write_text(f"{table}MEASURES = (SimpleNamespace(name='total'),)\n")
    run(clone, "git", "commit", "-qam", "one measure")
    refused = run(clone, "scripts/release", "0.2.0", *([] if HAS_ADDRESS else ["--repository", ADDRESS]))
    assert refused.returncode == 1 and "missing: total" in refused.stderr
    assert run(clone, "git", "status", "--porcelain").stdout == ""


@without_address
def test_the_first_release_needs_the_address_of_the_repository(clone):
    unnamed = run(clone, "scripts/package", "--tag", f"v{__version__}")
    assert unnamed.returncode == 1 and "lacks the address of the repository" in unnamed.stderr
    assert "--repository URL" in run(clone, "scripts/release", "0.2.0").stderr
    elsewhere = run(clone, "scripts/release", "0.2.0", "--repository", "https://example.org/acme/dowse")
    assert elsewhere.returncode == 1 and "https://github.com/ACCOUNT/NAME" in elsewhere.stderr
    assert run(clone, "git", "status", "--porcelain").stdout == ""


@without_address
def test_the_first_release_names_the_repository_everywhere(clone):
    run(clone, "scripts/release", "0.2.0", "--repository", ADDRESS)
    texts = {name: (clone / name).read_text() for name in FILES}
    server = json.loads(texts["server.json"])
    assert (server["name"], server["repository"]["url"]) == ("io.github.acme/dowse", ADDRESS)
    assert "\n<!-- mcp-name: io.github.acme/dowse -->\n" in texts["README.md"]
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    assert project["urls"]["Repository"] == ADDRESS and "dev" in project["optional-dependencies"]
    assert f"  repository: {ADDRESS}\n" in texts["mkdocs.yml"]
    extension = json.loads(texts["editors/vscode/package.json"])
    assert extension["repository"]["url"] == f"{ADDRESS}.git"
    assert f"--baseImagesUrl {ADDRESS}/raw/HEAD/editors/vscode" in extension["scripts"]["package"]
    manual = f"Documentation={ADDRESS}/blob/main/docs/OPERATIONS.md"
    assert f"\n{manual}\nAfter=" in texts["packaging/systemd/dowse.service"]
    assert {f"repo: {ADDRESS}", "uses: acme/dowse@v0.1.0"} <= set(
        re.findall(r"- (.*)", texts["docs/PACKAGING.md"])
    )
    (clone / "CHANGELOG.md").write_text("## Unreleased (0.3.0)\n\n- More.\n")
    run(clone, "git", "commit", "-qam", "more")
    twice = run(clone, "scripts/release", "0.3.0", "--repository", "https://github.com/other/dowse")
    assert twice.returncode == 1 and "already" in twice.stderr
    assert run(clone, "scripts/release", "0.3.0").returncode == 0


@without_address
def test_until_then_nothing_names_an_address():
    """A made-up address would send users to somebody else's repository."""
    texts = {name: (ROOT / name).read_text() for name in FILES if not name.startswith("scripts/")}
    assert [name for name, text in texts.items() if re.search(r"github\.com/[\w-]+/dowse|OWNER", text)] == []
