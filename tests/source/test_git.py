"""Git's files are read as git reads them."""

import os
import subprocess

import pytest

from dowse.source import git


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit, and a function to run git in it."""
    place = tmp_path / "work"

    def run(*arguments):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, cwd=place, check=True, capture_output=True, text=True).stdout.strip()

    place.mkdir()
    run("init", "-q")
    (place / "sub").mkdir()
    (place / "sub/a.py").touch()
    run("add", ".")
    run("commit", "-qm", "x")
    return place, run


def test_toplevel_and_head(repository):
    place, run = repository
    head = run("rev-parse", "HEAD")
    assert git.toplevel(place / "sub") == str(place)
    assert git.head_commit(place / "sub") == head
    run("pack-refs", "--all")
    assert git.head_commit(place) == head
    run("checkout", "-q", "--detach")
    assert git.head_commit(place) == head


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="gives files to other users")
def test_a_repository_of_another_user_above_a_folder_does_not_count(repository, monkeypatch):
    place, _ = repository
    os.chown(place / ".git", 12345, 12345)
    assert git.toplevel(place / "sub") is None
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(place))
    assert git.toplevel(place / "sub") == str(place)
    monkeypatch.undo()
    os.chown(place / "sub", 12345, 12345)
    assert git.toplevel(place / "sub") == str(place)


def test_linked_work_trees(repository, tmp_path):
    _, run = repository
    run("remote", "add", "origin", "https://github.com/owner/name.git")
    run("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    assert git.head_commit(tmp_path / "linked") == run("rev-parse", "other")
    assert git.repo_identity(tmp_path / "linked") == "owner/name"
    assert git.info_exclude(str(tmp_path / "linked")).endswith("info/exclude")
    assert git.toplevel(tmp_path / "linked/x/y") == str(tmp_path / "linked")


def test_without_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    (tmp_path / "plain/.git").mkdir(parents=True)  # an empty folder is no repository
    assert git.toplevel(tmp_path / "plain") is None
    assert git.head_commit(tmp_path / "plain") == ""
    assert git.repo_identity(tmp_path / "plain") == "plain"
    assert git.global_excludes().endswith("git/ignore")


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://github.com/owner/name.git", "owner/name"),
        ("https://user:token@github.com/owner/name/", "owner/name"),
        ("git@github.com:owner/name.git", "owner/name"),
        ("ssh://git@host:22/group/owner/name", "owner/name"),
        ("host:name.git", "name"),
        ("file:///srv/git/name.git", "git/name"),
        ("../name", "name"),
        ("https://github.com", ""),
        ("", ""),
    ],
)
def test_remote_urls(url, identity):
    assert git.normalise_url(url) == identity
