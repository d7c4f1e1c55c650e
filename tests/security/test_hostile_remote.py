"""A hostile repository on a real git server: nothing of it runs, nothing outside is read or written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import hostile
import pytest
import traced

from dowse.source.git_objects import is_inner_path
from git_servers import git, git_daemon


def _make_remote(top: Path) -> Path:
    """A remote with hooks, filters, links outside, submodules and names with escapes."""
    root, outside = hostile.build(top)
    payload = outside / "payload"
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n*.py filter=lfs\n")
    (root / ".lfsconfig").write_text(f"[lfs]\n\turl = file://{outside}\n")
    (root / ".gitmodules").write_text(
        f'[submodule "sub"]\n\tpath = sub\n\turl = {outside}\n'
        f'[submodule "two"]\n\tpath = two\n\turl = git://127.0.0.1/shop\n'
    )
    (root / ".dowse.toml").write_text(f'index_dir = "{outside}"\nencoder = "{outside}"\n')
    (root / "escape\x1b]0;title\x07.py").write_text("def add_the_prices(): pass\n")
    os.symlink(outside / "precious.txt", root / "link.txt")
    os.symlink(outside, root / "folder")
    git(root, "add", "-A")
    commit = git(root, "rev-parse", "HEAD")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    git(root, "commit", "-qm", "attack")
    for hook in ("post-checkout", "post-merge", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"):
        (root / ".git" / "hooks").mkdir(exist_ok=True)
        shutil.copy(payload, root / ".git" / "hooks" / hook)
    with (root / ".git" / "config").open("a") as config:
        config.write(
            f'[core]\n\tfsmonitor = {payload}\n[filter "evil"]\n\tsmudge = {payload}\n'
            f"[uploadpack]\n\tpackObjectsHook = {payload}\n"
        )
    return outside


def test_a_hostile_remote_harms_nobody(tmp_path, monkeypatch):
    if shutil.which("strace") is None:
        if os.environ.get("DOWSE_REQUIRE_TOOLS"):
            pytest.fail("strace is missing")
        pytest.skip("strace is missing")
    monkeypatch.setenv("HOSTILE_ENCODER", "none")
    outside = _make_remote(tmp_path / "remotes")
    client = tmp_path / "client"
    (client / "here").mkdir(parents=True)
    with git_daemon(tmp_path / "remotes") as server:
        command = traced.Command(("search", hostile.QUERY, "--repo", f"{server}/repository"))
        monkeypatch.setitem(traced.COMMANDS, "search", command)
        found = traced.run("search", traced.Places(client, client / "here"))
    port = server.rpartition(":")[2]
    violations = [each for each in found.violations if f"htons({port})" not in each]
    assert not violations, found.output[-2_000:]
    assert "ring_up" in found.output and "\x1b" not in found.output
    assert not (outside / "executed").exists()
    (copy,) = (client / "cache" / "repositories").glob("*/repository")
    assert not any(path.is_symlink() for path in copy.rglob("*"))
    assert not (copy / "sub").exists()
    assert "precious" not in "".join(path.read_text() for path in copy.glob("*.txt"))


@pytest.mark.parametrize("path", ["../x", "a/../x", "/x", "a//x", ".git/config", "a/.GIT/hooks/x", "."])
def test_no_path_of_a_tree_leads_elsewhere(path):
    assert not is_inner_path(path)


def test_objects_that_git_would_not_write_are_refused(tmp_path, monkeypatch):
    """A tree with `..` and `.git` in it: git's own check refuses the fetch."""
    from dowse.errors import DowseError
    from dowse.source.clones import fetch_clone, find_clone
    from dowse.source.git_address import parse_git_address

    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "remotes" / "shop"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    blob = (root / "x.py").write_text("x = 1\n") and git(root, "hash-object", "-w", "x.py")
    tree = b"100644 ..\0" + bytes.fromhex(blob) + b"40000 .git\0" + bytes.fromhex(_empty_tree(root))
    (root / "tree").write_bytes(tree)
    name = git(root, "hash-object", "-w", "-t", "tree", "--literally", "tree")
    git(root, "update-ref", "refs/heads/main", git(root, "commit-tree", "-m", "bad", name))
    with git_daemon(tmp_path / "remotes") as server:
        address = parse_git_address(f"{server}/shop")
        with pytest.raises(DowseError, match="can't be fetched"):
            fetch_clone(address)
    assert find_clone(address) is None


def _empty_tree(root: Path) -> str:
    (root / "empty").write_bytes(b"")
    return git(root, "hash-object", "-w", "-t", "tree", "empty")
