"""Mining a hostile repository: git runs with our configuration, over the repository's own objects only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.errors import EvalError
from dowse.eval.mine import build_from_git
from dowse.history.log import open_blobs, open_repository
from dowse.source import git_process
from dowse.source.walk import MAX_FILE_BYTES
from eval.git_repo import GitRepo

from helpers import run_dowse

BREAD = "def bake():\n    return 1\n"
BAKED = "def bake():\n    return 'at home'\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A repository with one case."""
    made = GitRepo(tmp_path / "bakery")
    made.commit(
        "Initial import of the bakery code", {"bread.py": BREAD, "shop.py": "def sell():\n    return 2\n"}
    )
    made.commit("Bake loaves at home", {"bread.py": BAKED})
    return made


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A command that leaves a file "ran-NAME" for its first argument."""
    path = tmp_path / "attack"
    path.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran-$1"\nexit 1\n')
    path.chmod(0o755)
    return path


def executed(script: Path) -> list[str]:
    return sorted(path.name for path in script.parent.glob("ran-*"))


def queries(root: Path) -> list[str]:
    return [case.query for case in build_from_git(root)]


def remove_object(repo: GitRepo, name: str) -> None:
    sha = repo.git("rev-parse", name).strip()
    (repo.root / ".git/objects" / sha[:2] / sha[2:]).unlink()


def make_promisor(repo: GitRepo, script: Path) -> None:
    """Let git believe that missing objects can be had by running a command."""
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.partialClone", "origin")
    repo.git("config", "remote.origin.url", str(repo.root))
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "remote.origin.uploadpack", f"{script} uploadpack")


def test_a_missing_object_is_not_fetched(repo: GitRepo, script: Path) -> None:
    make_promisor(repo, script)
    remove_object(repo, "HEAD:bread.py")
    with pytest.raises(EvalError, match="could not read the history"):
        build_from_git(repo.root)
    done = run_dowse("eval", repo.root, "--modes", "keyword")
    assert done.returncode == 2 and "git could not read" in done.stderr.strip().splitlines()[-1], done.stderr
    assert executed(script) == []
    # git itself would have run it.
    subprocess.run(
        ["git", "cat-file", "-p", "HEAD:bread.py"], cwd=repo.root, capture_output=True, check=False
    )
    assert executed(script) == ["ran-uploadpack"]


# Settings that are commands; "!" is for aliases, and what stands alone needs no shell.
COMMANDS = {
    "fsmonitor": ("core.fsmonitor",),
    "sshCommand": ("core.sshCommand",),
    "external": ("diff.external", "diff.attack.command"),
    "textconv": ("diff.attack.textconv",),
    "filters": ("filter.attack.smudge", "filter.attack.clean", "filter.attack.process"),
    "gpg": ("gpg.program", "gpg.ssh.program", "gpg.x509.program"),
    "pager": ("core.pager", "pager.log", "pager.rev-list"),
    "editor": ("core.editor", "sequence.editor"),
    "askpass": ("core.askPass", "credential.helper"),
    "alias": ("alias.log", "alias.cat-file", "alias.rev-list"),
    "alternates": ("core.alternateRefsCommand", "core.gitProxy"),
}


def configure(repo: GitRepo, script: Path, kind: str) -> None:
    for key in COMMANDS[kind]:
        prefix = "!" if key.startswith("alias.") else ""
        repo.git("config", key, f"{prefix}{script} {kind}")
    repo.git("config", "log.showSignature", "true")
    (repo.root / ".gitattributes").write_text("*.py diff=attack filter=attack\n")


@pytest.mark.parametrize("kind", COMMANDS)
def test_commands_of_a_configuration_are_not_run(repo: GitRepo, script: Path, kind: str) -> None:
    expected = queries(repo.root)
    configure(repo, script, kind)
    assert queries(repo.root) == expected == ["Bake loaves at home"]
    assert executed(script) == []


def test_no_command_runs_what_a_repository_names(repo: GitRepo, script: Path, tmp_path: Path) -> None:
    for kind in COMMANDS:
        configure(repo, script, kind)
    make_promisor(repo, script)
    for path in executed(script):  # by `git config` and `git rev-parse` of this test
        (tmp_path / path).unlink()
    commands: list[tuple[object, ...]] = [
        ("index", repo.root),
        ("search", "bake", repo.root),
        ("status", repo.root),
        ("eval", repo.root, "--modes", "keyword"),
    ]
    for command in commands:
        done = run_dowse(*command)
        assert done.returncode in (0, 1), done.stderr
    assert executed(script) == []


def test_a_git_in_the_repository_is_not_run(
    repo: GitRepo, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.root / "git").symlink_to(script)
    monkeypatch.chdir(repo.root)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    assert queries(repo.root) == ["Bake loaves at home"]
    assert executed(script) == []


def test_objects_of_other_repositories_are_refused(repo: GitRepo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--shared", str(repo.root), str(tmp_path / "borrower"))
    with pytest.raises(EvalError, match="git repack -a -d"):
        build_from_git(tmp_path / "borrower")
    objects = repo.root / ".git/objects"
    (objects / "info/alternates").write_text("# only a note\n\n")
    assert queries(repo.root) == ["Bake loaves at home"]
    objects.rename(tmp_path / "objects")
    objects.symlink_to(tmp_path / "objects")
    with pytest.raises(EvalError, match="symbolic link or special file"):
        build_from_git(repo.root)


@pytest.mark.parametrize("place", ["pack", "pack/x.idx", "info", "ab", "aa/" + "0" * 38, "info/alternates"])
@pytest.mark.parametrize("is_link", [True, False])
def test_links_and_special_files_among_the_objects_are_refused(
    repo: GitRepo, tmp_path: Path, place: str, is_link: bool
) -> None:
    path = repo.root / ".git/objects" / place
    if path.is_dir():
        path.rename(tmp_path / "moved")
    path.parent.mkdir(exist_ok=True)
    if is_link:
        path.symlink_to(tmp_path)
    else:
        os.mkfifo(path)
    with pytest.raises(EvalError, match=r"special file|can't be read"):
        build_from_git(repo.root)


def test_linked_work_trees_submodules_and_other_hashes_are_mined(repo: GitRepo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"))
    assert queries(tmp_path / "linked") == ["Bake loaves at home"]
    outer = GitRepo(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.root), "libs/bread")
    assert queries(outer.root / "libs/bread") == ["Bake loaves at home"]
    modern = tmp_path / "modern"
    subprocess.run(["git", "init", "--quiet", "--object-format=sha256", str(modern)], check=True)
    made = GitRepo(modern)
    made.commit("Initial import of the bakery code", {"bread.py": BREAD})
    made.commit("Bake loaves at home", {"bread.py": BAKED})
    assert queries(modern) == ["Bake loaves at home"]
    made.git("gc", "--quiet")
    assert queries(modern) == ["Bake loaves at home"]


def test_a_blob_that_expands_is_not_read(repo: GitRepo) -> None:
    name = repo.commit("Bake an enormous cake", {"cake.py": b"#" * (40 << 20)})
    blob, small = (repo.git("rev-parse", f"{name}:{file}").strip() for file in ("cake.py", "bread.py"))
    with open_repository(repo.root) as repository, open_blobs(repository.git) as blobs:
        assert blobs.read(blob) is None
        assert blobs.read("0" * 40) is None
        assert blobs.read(small) == BAKED.encode()
        # It is compared as a binary file: no line of it is printed.
        printed = sum(map(len, history_lines(repository)))
    assert printed < MAX_FILE_BYTES
    assert queries(repo.root) == ["Bake loaves at home"]


def history_lines(repository: object) -> Iterator[bytes]:
    with repository.git.start("log", "-p", "HEAD") as process:  # type: ignore[attr-defined]
        yield from process.lines(100_000_000)


@pytest.mark.parametrize("content", [b"", b"garbage", b"PACK\0\0\0\2\xff\xff\xff\xff" + b"x" * 999])
def test_damaged_packs_are_one_line(repo: GitRepo, content: bytes) -> None:
    repo.git("gc", "--quiet")
    for path in (repo.root / ".git/objects/pack").glob("*.pack"):
        path.chmod(0o644)
        path.write_bytes(content)
    with pytest.raises(EvalError, match=r"^[^\n]*git fsck[^\n]*$"):
        build_from_git(repo.root)


def test_a_git_that_hangs_is_ended(repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(git_process, "IDLE_TIMEOUT_SECONDS", 0.2)
    with pytest.raises(EvalError, match="no answer within"):
        build_from_git(repo.root)


def test_the_private_folder_goes_and_nothing_is_written(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    def state() -> dict[Path, int]:
        return {path: path.lstat().st_mtime_ns for path in repo.root.rglob("*")}

    before = state()
    with open_repository(repo.root):
        (folder,) = temporary.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert queries(repo.root) == ["Bake loaves at home"]
    assert list(temporary.iterdir()) == []
    assert state() == before


def test_variables_of_the_environment_do_not_reach_git(
    repo: GitRepo, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_ASKPASS"):
        monkeypatch.setenv(name, f"{script} environment")
    monkeypatch.setenv("GIT_TRACE", str(script.parent / "ran-trace"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'diff.external={script} environment'")
    assert queries(repo.root) == ["Bake loaves at home"]
    assert executed(script) == []
