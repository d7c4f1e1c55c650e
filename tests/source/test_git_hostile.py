"""Hostile git folders are read as data: nothing blocks, nothing leads outside, refs are checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.source import git
from dowse.source.git import is_ref_name
from dowse.source.git_config import parse_config
from dowse.source.walk import WalkedFile, walk

COMMIT = "0123456789" * 4
OTHER_URL = "https://example.org/victim/private.git"

# Everything that reads git's files, in a process that can be ended, with less memory than such files have.
ASK = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from dowse.source import git
from dowse.source.walk import walk
root = sys.argv[1]
print(json.dumps({
    "top": git.toplevel(root), "head": git.head_commit(root), "name": git.repo_identity(root),
    "exclude": git.info_exclude(root), "excludes": git.global_excludes(),
    "walked": [each.path for each in walk(root) if hasattr(each, "size")],
}))
"""


def ask(root: Path) -> dict[str, object]:
    """Return what is known of a repository, from a process with a generous hang limit."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(root)], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def write_git(folder: Path, url: str = "https://example.org/acme/shop.git") -> Path:
    """Write the git folder of a repository with one (absent) commit."""
    (folder / "refs/heads").mkdir(parents=True)
    (folder / "info").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "refs/heads/main").write_text(COMMIT + "\n")
    (folder / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    (folder / "info/exclude").write_text("*.hidden\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A work tree with a file that its exclude file names."""
    place = tmp_path / "work"
    write_git(place / ".git")
    (place / "a.py").write_text("a = 1\n")
    (place / "b.hidden").write_text("b\n")
    return place


def sparse(path: Path) -> None:
    """Make a file that claims to have 8 GB."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(8 << 30)


def fifo(path: Path) -> None:
    """Put a FIFO that nobody writes to in a file's place."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def zero(path: Path) -> None:
    """Put a link to an endless device in a file's place."""
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("name", ["config", "refs/heads/main", "info/exclude"])
@pytest.mark.parametrize("replace", [fifo, zero, sparse])
def test_special_and_huge_files_in_a_git_folder_are_passed_over(
    root: Path, name: str, replace: Callable[[Path], None]
) -> None:
    replace(root / ".git" / name)
    found = ask(root)
    is_lost = {"config": "name", "HEAD": "head", "info/exclude": "walked"}.get(name, "head")
    expected = {"name": "work", "head": "", "walked": ["a.py", "b.hidden"]}
    assert found[is_lost] == expected[is_lost]


@pytest.mark.parametrize(
    "ref",
    [
        "../../../../../../../../dev/zero",
        "/dev/zero",
        "refs/../../../../../../../../dev/zero",
        "refs/heads/../../x",
    ],
)
def test_head_names_nothing_outside_of_refs(root: Path, ref: str) -> None:
    (root / ".git/x").write_text(COMMIT)
    (root / ".git/HEAD").write_text(f"ref: {ref}\n")
    assert ask(root)["head"] == ""
    (root / ".git/HEAD").unlink()
    (root / ".git/HEAD").symlink_to(ref)
    assert ask(root)["head"] == ""


def test_an_exclude_file_does_not_lead_outside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (root / ".git/info/exclude").rename(tmp_path / "victim/exclude")
    (root / ".git/info/exclude").symlink_to(tmp_path / "victim/exclude")
    assert [each.path for each in walk(root) if isinstance(each, WalkedFile)] == ["a.py", "b.hidden"]
    (root / ".git/info/exclude").unlink()
    (root / ".git/info").rmdir()
    (root / ".git/info").symlink_to(tmp_path / "victim")
    assert git.info_exclude(str(root)) is None
    assert [each.path for each in walk(root) if isinstance(each, WalkedFile)] == ["a.py", "b.hidden"]


def victim_of(tmp_path: Path) -> Path:
    """Write a repository that belongs to somebody else."""
    return write_git(tmp_path / "victim/.git", OTHER_URL)


@pytest.mark.parametrize(
    "pointer",
    ["{victim}", "../victim/.git", "{victim}/worktrees/x", "{victim}/modules/x", "{victim}/modules/own"],
)
def test_a_git_file_does_not_lead_to_a_repository_that_knows_nothing_of_it(
    tmp_path: Path, pointer: str
) -> None:
    victim = victim_of(tmp_path)
    linked = write_git(victim / "worktrees/x", OTHER_URL)
    (linked / "gitdir").write_text(f"{tmp_path}/elsewhere/.git\n")
    write_git(victim / "modules/x", OTHER_URL)
    module = write_git(victim / "modules/own", OTHER_URL)
    (module / "config").write_text(
        f'[core]\n\tworktree = ../../../own\n[remote "origin"]\n\turl = {OTHER_URL}\n'
    )
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / ".git").write_text(f"gitdir: {pointer.format(victim=victim)}\n")
    assert git.git_directory(str(hostile)) is None
    assert git.head_commit(hostile) == ""
    assert git.repo_identity(hostile) == "hostile"


def test_a_linked_git_folder_is_not_followed(tmp_path: Path) -> None:
    victim = victim_of(tmp_path)
    (tmp_path / "hostile").mkdir()
    (tmp_path / "hostile/.git").symlink_to(victim)
    assert git.repo_identity(tmp_path / "hostile") == "hostile"


def test_commondir_does_not_lead_to_another_repository(tmp_path: Path) -> None:
    victim = victim_of(tmp_path)
    hostile = tmp_path / "hostile"
    fake = hostile / "data/worktrees/x"
    fake.mkdir(parents=True)
    (fake / "HEAD").write_text("ref: refs/heads/main\n")
    (fake / "gitdir").write_text("../../../.git\n")
    (fake / "commondir").write_text(f"{victim}\n")
    (hostile / ".git").write_text("gitdir: data/worktrees/x\n")
    assert git.git_directory(str(hostile)) == str(fake)  # all of it lies in the tree
    assert git.head_commit(hostile) == ""
    assert git.repo_identity(hostile) == "hostile"
    # Nor in a plain git folder, where no linked work tree can be.
    plain = write_git(tmp_path / "plain/.git")
    (plain / "commondir").write_text(f"{victim}\n")
    assert git.repo_identity(tmp_path / "plain") == "acme/shop"


def run_git(folder: Path, *arguments: str) -> str:
    command = [
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "protocol.file.allow=always",
        *arguments,
    ]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_real_submodules_and_their_work_trees_are_known(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    for place in (inner, outer):
        place.mkdir()
        run_git(place, "init", "-q")
        (place / "a.py").write_text("a = 1\n")
        run_git(place, "add", ".")
        run_git(place, "commit", "-qm", "x")
    run_git(outer, "submodule", "--quiet", "add", str(inner), "libs/inner")
    run_git(outer, "commit", "-qm", "y")
    run_git(outer, "worktree", "add", "-q", str(tmp_path / "linked"))
    run_git(tmp_path / "linked", "submodule", "--quiet", "update", "--init")
    run_git(outer / "libs/inner", "worktree", "add", "-q", str(tmp_path / "side"))
    head = run_git(inner, "rev-parse", "HEAD")
    for place in (outer / "libs/inner", tmp_path / "linked/libs/inner", tmp_path / "side"):
        assert git.toplevel(place) == str(place)
        assert git.head_commit(place) == head
        assert git.repo_identity(place).endswith("/inner")
    assert git.head_commit(tmp_path / "linked") == run_git(outer, "rev-parse", "HEAD")


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            ["a", "refs", "/", ".", "..", "@", "{", ".lock", "*", " ", "~", "é", "\x01", "-", "\\"]
        )
    )
    .map("".join)
    .map(lambda tail: f"refs/{tail}")
)
def test_ref_names_as_git_checks_them(name: str) -> None:
    done = subprocess.run(["git", "check-ref-format", name], check=False)
    assert is_ref_name(name) is (done.returncode == 0)


@pytest.mark.parametrize(
    "text",
    [
        '[remote "origin"]\n\turl = https://h/o/n\n',
        '[remote "origin"] url = https://h/o/n # note\n',
        '[ReMote "origin"]\n\tURL="https://h/o/n;x" ; note\n',
        '[remote "ori\\gin"]\n\turl = a\\\n/b\n',
        '[remote "or\\"igin"]\n\turl = no\n[remote "origin"]\r\n\turl = yes  \r\n',
        '[remote "origin"]\n\turl = "a b"  c  \n',
        '# [remote "origin"]\n[core]\n\turl = no\n[remote "origin"]\n\tfetch = x\n\turl = "t\\tab"\n',
        '[remote "other"]\n\turl = no\n',
    ],
)
def test_configuration_is_read_as_git_reads_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_bytes(text.encode())
    command = ["git", "config", "-z", "-f", str(tmp_path / "config"), "--get-all", "remote.origin.url"]
    expected = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\0")[:-1]
    assert parse_config(text, ("remote.origin.url",)).get("remote.origin.url", []) == expected


def test_the_users_ignore_file_is_never_named_by_a_repository(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").write_text("*.py\n")
    named = f"[core]\n\texcludesFile = {tmp_path}/theirs\n"
    (tmp_path / "included").write_text(named)
    monkeypatch.chdir(root)
    for text in (named, f"[include]\n\tpath = {tmp_path}/included\n"):
        (root / ".git/config").write_text(text)
        assert [each.path for each in walk(root) if isinstance(each, WalkedFile)] == ["a.py"]
    (root / "theirs").write_text("*.py\n")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(
        "[core]\n\texcludesFile = theirs\n"
    )  # git would look in the repository
    assert git.global_excludes().endswith("git/ignore")
    (tmp_path / ".gitconfig").write_text(f"[include]\n\tpath = {tmp_path}/included\n")
    assert git.global_excludes() == f"{tmp_path}/theirs"
