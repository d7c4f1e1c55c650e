"""Copies of remote repositories, from real git servers."""

from __future__ import annotations

import os
import socketserver
import threading
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.interfaces.cli.main import main
from dowse.source.clones import fetch_clone, find_clone, has_history, read_clone, remove_clone
from dowse.source.git import repo_identity
from dowse.source.git_address import parse_git_address
from git_servers import git, git_daemon, git_http, redirect

from helpers import write_tree


@pytest.fixture
def remotes(tmp_path, monkeypatch) -> Path:
    """A folder with the repository `acme/shop`, and a cache folder of its own."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    shop = write_tree(
        tmp_path / "remotes" / "acme" / "shop", {"till.py": "def ring_up(): pass\n", "old/x.py": "x = 1\n"}
    )
    git(shop, "init", "-q", "-b", "main")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "open the shop")
    git(shop, "tag", "-a", "v1", "-m", "first")
    (shop / "till.py").write_text("def ring_up_all(): pass\n")
    git(shop, "rm", "-q", "old/x.py")
    git(shop, "commit", "-qam", "ring up all")
    return tmp_path / "remotes"


@pytest.mark.parametrize("serve", [git_daemon, git_http])
def test_a_repository_is_cloned_and_kept_fresh(serve, remotes):
    shop = remotes / "acme" / "shop"
    with serve(remotes) as server:
        address = parse_git_address(f"{server}/acme/shop")
        clone = fetch_clone(address)
        assert clone == find_clone(address) == read_clone(clone.root)
        assert clone.commit == git(shop, "rev-parse", "HEAD")
        assert [path.name for path in clone.root.iterdir() if path.name != ".git"] == ["till.py"]
        assert repo_identity(clone.root) == "acme/shop"
        assert not has_history(clone)

        write_tree(shop, {"bank/safe.py": "def lock(): pass\n"})
        git(shop, "add", "-A")
        git(shop, "rm", "-q", "till.py")
        git(shop, "commit", "-qm", "a bank")
        before = clone.root.stat().st_ino
        assert fetch_clone(address, history=True).commit == git(shop, "rev-parse", "HEAD")
        assert clone.root.stat().st_ino == before
        assert not (clone.root / "till.py").exists()
        assert (clone.root / "bank/safe.py").read_text() == "def lock(): pass\n"
        current = find_clone(address)
        assert current is not None and has_history(current)
        assert fetch_clone(address) and has_history(current)  # a later fetch cuts nothing off
    assert remove_clone(address)
    assert find_clone(address) is None and remove_clone(address) is None


def test_a_branch_a_tag_or_a_commit(remotes):
    shop = remotes / "acme" / "shop"
    first = git(shop, "rev-parse", "HEAD~1")
    with git_daemon(remotes) as server:
        for ref in ("v1", first):
            clone = fetch_clone(parse_git_address(f"{server}/acme/shop@{ref}"))
            assert clone.commit == first
            assert (clone.root / "old/x.py").exists()
        with pytest.raises(DowseError, match="couldn't find remote ref nonesuch"):
            fetch_clone(parse_git_address(f"{server}/acme/shop@nonesuch"))
    assert not list((Path(os.environ["DOWSE_CACHE_DIR"]) / "repositories").glob("*/new-*"))


def test_credentials_reach_git_and_nothing_else(remotes, capfd):
    with git_http(remotes, "ann:s3cret") as server:
        address = server.replace("://", "://ann:s3cret@") + "/acme/shop"
        assert main(["search", "ring up", "--repo", address, "--no-daemon"]) == 0
        assert main(["status", address]) == 0
        wrong = address.replace("s3cret", "wr0ng") + "@main"
        assert main(["search", "ring up", "--repo", wrong, "--no-daemon"]) == 2
    output = "".join(capfd.readouterr())
    assert "ring_up_all" in output and "copy of" in output
    assert "s3cret" not in output and "wr0ng" not in output and "ann:" not in output
    for file in Path(os.environ["DOWSE_CACHE_DIR"]).rglob("*"):
        assert not file.is_file() or b"s3cret" not in file.read_bytes(), file


def test_redirects_are_not_followed(remotes):
    """The user names what is connected to, not a server."""
    with git_http(remotes) as server, redirect(server) as (elsewhere, asked):
        address = parse_git_address(f"{elsewhere}/acme/shop")
        with pytest.raises(DowseError, match="the server names another address"):
            fetch_clone(address)
    assert asked and find_clone(address) is None


def test_a_copy_stays_when_the_server_is_gone(remotes, capfd):
    with git_daemon(remotes) as server:
        address = f"{server}/acme/shop"
        assert main(["index", address, "--quiet"]) == 0
    assert main(["symbols", "ring", address, "--fresh", "--no-daemon"]) == 0
    captured = capfd.readouterr()
    assert "till.py:1" in captured.out
    assert "can't be fetched" in captured.err and "using what there is" in captured.err
    assert main(["clear", address]) == 0
    assert main(["clear", address]) == 1
    assert main(["symbols", "ring", address, "--no-daemon"]) == 2


def test_an_interrupted_clone_leaves_nothing_usable(remotes):
    """A server that hangs up in the middle of a line."""

    class Half(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(b"000eversion 2\n0015agent=git/")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Half) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = parse_git_address(f"git://127.0.0.1:{server.server_address[1]}/acme/shop")
        with pytest.raises(DowseError, match="can't be fetched"):
            fetch_clone(address)
        server.shutdown()
        thread.join()
    assert find_clone(address) is None
    folder = Path(os.environ["DOWSE_CACHE_DIR"]) / "repositories"
    assert {path.name for path in folder.glob("*/*")} == {"writer.lock"}
