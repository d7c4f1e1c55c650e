"""Every example of docs/USING.md, run as a reader would run it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from dowse import Index
from dowse.install.clients import CLIENTS

from helpers import need

GUIDE = Path(__file__).parents[3] / "docs" / "USING.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r'^[#"] (\S+)\n')


class Block(NamedTuple):
    """A block of code, and where it stands."""

    section: str
    language: str
    text: str

    @property
    def file(self) -> str:
        """The file that its first line names, if it does."""
        named = _FILE.match(self.text)
        return named[1] if named else ""


def blocks() -> list[Block]:
    """Return the blocks of the guide in order."""
    found = []
    for part in re.split(r"^## ", GUIDE.read_text(), flags=re.MULTILINE):
        title = part.split("\n", 1)[0]
        found += [Block(title, *block.groups()) for block in _BLOCK.finditer(part)]
    return found


BLOCKS = blocks()
SECTIONS = list(dict.fromkeys(block.section for block in BLOCKS))


class Desk:
    """A repository, a home, an editor that notes what it is asked to open, and a shell."""

    def __init__(self, repository: Path, home: Path) -> None:
        self.repository = repository
        self.home = home
        self.opened = home / "opened"
        editor = home / "editor"
        editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{self.opened}"\n')
        editor.chmod(0o755)
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "DOWSE_DATA_DIR": str(home / "data"),
            "DOWSE_CACHE_DIR": str(home / "dowse-cache"),
            "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "EDITOR": str(editor),
            # fzf takes what is left without asking, if that is one line.
            "FZF_DEFAULT_OPTS": "--select-1 --exit-0 --query parseCookieHeader",
        }

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script in the repository; whatever fails in it fails."""
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.repository,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )

    def write(self, block: Block) -> None:
        """Put a block into the file that it names."""
        path = Path(block.file.replace("~", str(self.home), 1))
        path = path if path.is_absolute() else self.repository / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)


@pytest.fixture
def desk(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    repository = tmp_path / "bakery"
    shutil.copytree(sample, repository, ignore=shutil.ignore_patterns(".git"))
    home = tmp_path / "home"
    home.mkdir()
    desk = Desk(repository, home)
    done = desk.shell(
        "git init -q && git config user.name Ada && git config user.email ada@example.org"
        " && git add . && git commit -qm begin"
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("DOWSE_CACHE_DIR", desk.environment["DOWSE_CACHE_DIR"])
    with Index.open(repository) as index:
        index.update()
    return desk


def section(name: str, language: str) -> list[Block]:
    return [block for block in BLOCKS if block.section == name and block.language == language]


def run(desk: Desk, name: str) -> list[subprocess.CompletedProcess[str]]:
    """Write the files and run the scripts of a section; all must succeed."""
    done = []
    for block in BLOCKS:
        if block.section != name:
            continue
        if block.file:
            desk.write(block)
        elif block.language == "sh":
            done.append(desk.shell(block.text))
            assert done[-1].returncode == 0, (block.text, done[-1].stdout, done[-1].stderr)
    return done


def test_every_block_is_run_by_a_test_below():
    assert set(SECTIONS) == {"Formats", "fzf", "git", "Vim", "Coding agents"}
    assert {block.language for block in BLOCKS} == {"sh", "console", "vim"}
    assert all(block.file for block in BLOCKS if block.language == "vim")


def test_formats(desk):
    for block in section("Formats", "console"):
        for example in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, output = example.split("\n", 1)
            done = desk.shell(command)
            assert (done.returncode, done.stdout) == (0, output), command
    run(desk, "Formats")
    opened = desk.opened.read_text().splitlines()
    assert len(opened) == 3 and all((desk.repository / path).is_file() for path in opened)


def test_fzf(desk):
    need("fzf")
    run(desk, "fzf")
    assert desk.opened.read_text() == "+20\nweb/cart.js\n"


def test_git(desk):
    (done,) = run(desk, "git")
    assert "web/cart.js:20:export function parseCookieHeader(header) {\n" in done.stdout
    assert re.search(
        r"^tests/test_orders\.py:\d+:function test_\w+: calls, resolved$", done.stdout, re.MULTILINE
    )
    below = desk.shell("cd web && git ask 'parse cookie header' -k 1")
    assert below.stdout.startswith("web/cart.js:20:")


def test_vim(desk):
    need("vim")
    run(desk, "Vim")
    arguments = ["vim", "-N", "-es", "-u", str(desk.home / ".vimrc")]
    code = "map(getqflist(), {_, q -> join([bufname(q.bufnr), q.lnum, q.col, q.text], '|')})"
    for command, first in (
        (
            'silent grep! "parse cookie header"',
            "web/cart.js|20|17|export function parseCookieHeader(header) {",
        ),
        ("silent Callers orders.parse_order", "examples/order_demo.py|7|"),
    ):
        found = desk.home / "found"
        done = subprocess.run(
            [*arguments, "-c", command, "-c", f"call writefile({code}, '{found}')", "-c", "qa!"],
            cwd=desk.repository,
            env={**desk.environment, "TERM": "dumb"},
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )
        lines = found.read_text().splitlines()
        assert lines and lines[0].startswith(first), (lines, done.stdout)
        assert all(line.split("|")[0] and int(line.split("|")[1]) > 0 for line in lines)


def test_coding_agents(desk):
    before = {path: path.read_bytes() for path in desk.repository.rglob("*") if path.is_file()}
    done = run(desk, "Coding agents")
    assert 'Codex: "dowse" written to ~/.codex/config.toml' in done[0].stdout
    assert not (desk.home / ".claude.json").exists()
    shared = json.loads((desk.repository / ".mcp.json").read_text())
    assert shared["mcpServers"]["dowse"]["args"] == ["mcp", "--watch"]
    cursor = json.loads((desk.home / ".cursor" / "mcp.json").read_text())
    assert cursor["mcpServers"]["dowse"]["args"] == ["mcp"]
    assert not (desk.repository / "AGENTS.md").exists()
    assert all(path.read_bytes() == data for path, data in before.items() if ".git" not in path.parts)


def test_the_table_of_clients_is_that_of_the_code(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    rows = [
        (
            client.name,
            f"`{client.file(None)}`".replace("/home/ada", "~"),
            f"`{client.project[0]}`" if client.project else "–",
            f"`{client.keys[0]}`",
        )
        for client in CLIENTS.values()
    ]
    written = re.findall(
        r"^\| `([\w-]+)`[^|]* \| (.+?) \| (.+?) \| (.+?) \|$", GUIDE.read_text(), re.MULTILINE
    )
    assert [row for row in written if row[0] in CLIENTS] == rows
