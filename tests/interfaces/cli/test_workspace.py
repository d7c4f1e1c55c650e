"""One question over the repositories that a file names; a repository's own file may not choose others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dowse.errors import ConfigError
from dowse.interfaces.cli.main import main
from dowse.services.workspace import read_workspace
from git_servers import git, git_daemon

from helpers import write_tree


@pytest.fixture
def places(tmp_path, monkeypatch) -> Path:
    """Two repositories in a folder, one on a server, and a cache and configuration of their own."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DOWSE_CONFIG", str(tmp_path / "config" / "config.toml"))
    for name in ("src/shop", "src/bank", "remotes/oven"):
        root = write_tree(tmp_path / name, {"code.py": f"def count_{name[-4:]}_money(): pass\n"})
        git(root, "init", "-q", "-b", "main")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "first")
        git(root, "remote", "add", "origin", f"https://example.org/acme/{name[-4:]}.git")
    return tmp_path


def test_one_question_over_all(places, capfd):
    with git_daemon(places / "remotes") as server:
        (places / "dowse.toml").write_text(f'repositories = ["src/*", "{server}/oven", "src/shop", "gone"]\n')
        search = ["search", "count money", "--workspace", str(places), "--no-daemon"]
        assert main([*search, "--json"]) == 0
        captured = capfd.readouterr()
        assert "there is no folder gone\n" in captured.err
        answer = json.loads(captured.out)
        assert {hit["index"] for hit in answer["hits"]} == {"shop", "bank", "oven"}
        assert main([*search, "--format", "path"]) == 0
        paths = capfd.readouterr().out.split()
        assert len(paths) == 3 and all(Path(path).is_file() for path in paths)
        assert main(["search", "repo:acme/bank money", *search[2:], "--format", "path"]) == 0
        assert capfd.readouterr().out.split() == [str(places / "src/bank/code.py")]
        assert main(["search", "zyzzyva", *search[2:]]) == 1
        assert main(["diff-search", "main..", *search[1:]]) == 2


def test_a_file_of_a_repository_names_nothing_outside(places, capfd):
    shop = places / "src/shop"
    write_tree(shop, {"part/x.py": "def part_of_money(): pass\n"})
    file = shop / "dowse.toml"
    file.write_text('repositories = ["part", "../bank", "~", "https://example.org/x/y", "/"]\n')
    workspace = read_workspace(file)
    assert workspace.places == (str(shop / "part"),)
    assert workspace.untrusted == ("../bank", "~", "https://example.org/x/y", "/")
    assert main(["search", "money", "--workspace", str(file), "--no-daemon", "--format", "path"]) == 0
    captured = capfd.readouterr()
    assert captured.out.split() == [str(shop / "part/x.py")] and "copy the file out of it" in captured.err


def test_a_link_in_a_repository_does_not_lead_outside(places):
    shop = places / "src/shop"
    os.symlink(places / "src/bank", shop / "inner")
    (shop / "dowse.toml").write_text('repositories = ["inn*"]\n')
    with pytest.raises(ConfigError, match="may not choose"):
        read_workspace(shop)


def test_a_workspace_of_refused_entries_is_one_line(places, capfd):
    shop = places / "src/shop"
    (shop / "dowse.toml").write_text('repositories = ["../bank"]\n')
    assert main(["search", "x", "--workspace", str(shop), "--no-daemon"]) == 2
    stderr = capfd.readouterr().err
    assert stderr.count("\n") == 1 and "copy the file out of it" in stderr


@pytest.mark.parametrize("text", ["", "repositories = 1", "repositories = ['nonesuch']", "no toml ["])
def test_what_is_no_workspace_is_an_error(places, text, capfd):
    (places / "dowse.toml").write_text(text)
    assert main(["search", "x", "--workspace", str(places), "--no-daemon"]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1
