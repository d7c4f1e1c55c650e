"""The walker finds what git would list, says why it leaves the rest, and never leaves the root."""

import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.source.corpus import is_corpus
from dowse.source.walk import MAX_DEPTH, SkippedFile, WalkedFile, walk


def build(root: Path, files: dict[str, str]) -> Path:
    """Write a small tree."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def init(root: Path) -> Path:
    """Make a folder a git repository."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def kept(root: Path, **options) -> list[str]:
    """The paths that the walker keeps."""
    options.setdefault("user_ignores", False)
    return [item.path for item in walk(root, **options) if isinstance(item, WalkedFile)]


def skipped(root: Path, **options) -> dict[str, str]:
    """The paths that the walker leaves out, with its reasons."""
    options.setdefault("user_ignores", False)
    return {item.path: item.reason for item in walk(root, **options) if isinstance(item, SkippedFile)}


def test_files_come_with_size_and_time_in_a_fixed_order(tmp_path):
    build(tmp_path, {"b.py": "12345", "a/z.py": "", "a/a.py": "", "c/x.py": "", "B.py": ""})
    os.utime(tmp_path / "b.py", ns=(1, 1_234_567_890_123_456_789))
    items = list(walk(tmp_path, user_ignores=False))
    assert [item.path for item in items] == ["B.py", "b.py", "a/a.py", "a/z.py", "c/x.py"]
    assert items[1] == WalkedFile("b.py", 5, 1_234_567_890_123_456_789)


def test_nested_ignores(tmp_path):
    build(
        tmp_path,
        {
            ".gitignore": "*.log\n/only-here\n",
            "a.log": "",
            "only-here": "",
            "sub/only-here": "",
            "sub/.gitignore": "!keep.log\n/x.py\n",
            "sub/keep.log": "",
            "sub/x.py": "",
            "sub/deep/x.py": "",
        },
    )
    assert kept(tmp_path) == [
        ".gitignore",
        "sub/.gitignore",
        "sub/keep.log",
        "sub/only-here",
        "sub/deep/x.py",
    ]
    assert skipped(tmp_path)["sub/x.py"] == "ignored by sub/.gitignore: /x.py"


def test_ignores_of_parents_up_to_the_repository(tmp_path):
    build(
        tmp_path,
        {
            ".gitignore": "*.above\n",
            "repo/.gitignore": "/sub/inner/a.py\n*.tmp\n",
            "repo/sub/.gitignore": "!keep.tmp\n",
            "repo/sub/.dowseignore": "inner/b.py\n",
            **{f"repo/sub/inner/{name}": "" for name in ("a.py", "b.py", "c.above", "d.tmp", "keep.tmp")},
        },
    )
    init(tmp_path / "repo")
    (tmp_path / "repo/.git/info/exclude").write_text("sub/inner/e.py\n")
    (tmp_path / "repo/sub/inner/e.py").touch()
    assert kept(tmp_path / "repo/sub/inner") == ["c.above", "keep.tmp"]
    assert skipped(tmp_path / "repo/sub/inner") == {
        "a.py": "ignored by ../../.gitignore: /sub/inner/a.py",
        "b.py": "ignored by ../.dowseignore: inner/b.py",
        "d.tmp": "ignored by ../../.gitignore: *.tmp",
        "e.py": "ignored by .git/info/exclude: sub/inner/e.py",
    }


def test_dowseignore_brings_back_names_and_outer_rules_of_its_kind(tmp_path):
    build(
        tmp_path,
        {
            ".dowseignore": "*.sql\nsecret.py\n!Cargo.lock\n!node_modules/\n",
            "secret.py": "",
            "Cargo.lock": "",
            "node_modules/m.js": "",
            "sub/.dowseignore": "!a.sql\n",
            "sub/a.sql": "",
            "sub/b.sql": "",
        },
    )
    paths = kept(tmp_path)
    assert {"sub/a.sql", "Cargo.lock", "node_modules/m.js"} <= set(paths)
    assert not {"secret.py", "sub/b.sql"} & set(paths)


@pytest.mark.parametrize("place", [".gitignore", "sub/.gitignore", ".git/info/exclude", "the user's"])
@pytest.mark.parametrize("negation", ["!private.txt", "!**"])
@pytest.mark.parametrize("level", ["", "above"])
def test_dowseignore_never_brings_back_what_git_ignores(tmp_path, monkeypatch, place, negation, level):
    repository, home = tmp_path / "repo", tmp_path / "home"
    init(build(repository, {"sub/private.txt": "", "sub/public.txt": ""}))
    rules = {place: "private.txt\n"} if place != "the user's" else {}
    build(home, {"git/ignore": "private.txt\n" if place == "the user's" else ""})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    root = repository / "sub" if level == "above" else repository
    build(repository, {**rules, f"{'' if level == 'above' else level}.dowseignore": negation + "\n"})
    names = {Path(path).name for path in kept(root, user_ignores=True)}
    assert "public.txt" in names
    assert "private.txt" not in names
    assert "private.txt" in {
        Path(path).name for path in kept(root, user_ignores=True, exclude=["!private.txt"])
    }


def test_exclude_beats_everything(tmp_path):
    build(tmp_path, {".dowseignore": "!a.py\n", "a.py": "", "sub/a.py": "", "sub/b.py": ""})
    assert kept(tmp_path, exclude=["/sub/", "a.py"]) == [".dowseignore"]
    assert skipped(tmp_path, exclude=["/sub/"]) == {"sub/": "ignored by exclude: /sub/"}


def test_the_users_own_ignores_can_be_switched_off(tmp_path, monkeypatch):
    build(
        tmp_path,
        {"home/git/ignore": "*.mine\n", "home/other": "*.theirs\n", "p/a.mine": "", "p/b.theirs": ""},
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    root = tmp_path / "p"
    assert kept(root, user_ignores=True) == ["b.theirs"]
    (tmp_path / "config").write_text(f"[core]\n\texcludesFile = {tmp_path}/home/other\n")
    assert kept(root, user_ignores=True) == ["a.mine"]
    assert kept(root, user_ignores=False) == ["a.mine", "b.theirs"]
    monkeypatch.setenv("PATH", "")  # without git its default place still counts
    assert kept(root, user_ignores=True) == ["b.theirs"]


def test_a_nested_repository_has_its_own_rules(tmp_path):
    init(
        build(
            tmp_path,
            {".gitignore": "*.one\n", "x.one": "", "mod/x.one": "", "mod/x.two": "", "mod/x.six": ""},
        )
    )
    init(build(tmp_path / "mod", {".gitignore": "*.two\n"}))
    (tmp_path / "mod/.git/info/exclude").write_text("*.six\n")
    assert kept(tmp_path) == [".gitignore", "mod/.gitignore", "mod/x.one"]
    assert skipped(tmp_path)["mod/.git/"] == "version control"


def test_a_submodule_points_to_its_repository_with_a_file(tmp_path):
    init(
        build(
            tmp_path,
            {
                ".gitignore": "*.one\n",
                "mod/x.one": "",
                "mod/x.six": "",
                "mod/.git": "gitdir: ../.git/modules/m\n",
            },
        )
    )
    module = {"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tworktree = ../../../mod\n"}
    build(tmp_path / ".git/modules/m", {**module, "info/exclude": "*.six\n"})
    assert kept(tmp_path) == [".gitignore", "mod/x.one"]


def test_left_out_by_name(tmp_path):
    names = ["yarn.lock", "go.sum", "a.min.js", "a.js.map", "p.PNG", "x.so", ".DS_Store"]
    folders = ["node_modules", "pkg/__pycache__", ".tox", "x.egg-info", ".hg"]
    build(tmp_path, dict.fromkeys([*names, *(f"{folder}/f.py" for folder in folders), "bin", "a", "map"], ""))
    assert kept(tmp_path) == ["a", "bin", "map"]
    assert set(skipped(tmp_path)) == {*names, *(f"{folder}/" for folder in folders)}


def test_large_files_are_listed(tmp_path):
    build(tmp_path, {"big.py": "x" * 101, "fits.py": "x" * 100})
    assert kept(tmp_path, max_file_bytes=100) == ["fits.py"]
    assert skipped(tmp_path, max_file_bytes=100) == {"big.py": "larger than 100 bytes"}


def test_symlinks_are_never_followed(tmp_path):
    build(tmp_path, {"outside/secret.py": "", "root/a.py": "", "root/sub/b.py": ""})
    root = tmp_path / "root"
    (root / "out").symlink_to("../outside")
    (root / "file.py").symlink_to("../outside/secret.py")
    (root / "sub/loop").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "gone").symlink_to("nowhere")
    assert kept(root) == ["a.py", "sub/b.py"]
    assert skipped(root) == {
        "out": "symlink to ../outside",
        "file.py": "symlink to ../outside/secret.py",
        "sub/loop": "symlink to ..",
        "self": "symlink to self",
        "gone": "symlink to nowhere",
    }


def test_an_ignore_file_may_not_be_a_link_or_a_pipe(tmp_path):
    build(tmp_path, {"rules": "*.py\n", "root/a.py": "", "root/sub/b.py": ""})
    (tmp_path / "root/.gitignore").symlink_to("../rules")
    os.mkfifo(tmp_path / "root/sub/.gitignore")
    (tmp_path / "root/.dowseignore").mkdir()
    assert kept(tmp_path / "root") == ["a.py", "sub/b.py"]


def test_special_files_are_not_opened(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.py")
    monkeypatch.chdir(tmp_path)  # socket paths are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert skipped(tmp_path) == {"pipe.py": "not a regular file", "socket.py": "not a regular file"}


def test_a_folder_that_cannot_be_listed_is_reported(tmp_path, monkeypatch):
    build(tmp_path, {"locked/a.py": "", "yes.py": ""})
    real = os.open

    def opened(path, *arguments, **options):  # root may open any folder
        if path == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, opened})
    assert kept(tmp_path) == ["yes.py"]
    assert skipped(tmp_path) == {"locked/": "unreadable: permission denied"}


def test_names_with_any_bytes_survive(tmp_path):
    names = [b"caf\xe9.py", "naïve.py".encode(), b"new\nline.py", b" .py", b"\xff\xfe"]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")
    (tmp_path / ".gitignore").write_bytes(b"\xff*\n")
    assert {os.fsencode(path) for path in kept(tmp_path)} == {*names[:-1], b".gitignore"}


NAMES = ["a", "b", "foo.py", "x.log", "k.txt", ".hidden"]
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
rules = st.lists(
    st.sampled_from(
        ["*.log", "!x.log", "a/", "/b", "!b", "a/*", "**/foo.py", "!a/", "b/**", "*", "!*/", "!*.py", "k*"]
    ),
    max_size=4,
).map("\n".join)
trees = st.dictionaries(paths, st.none(), max_size=14)
ignore_files = st.dictionaries(st.sampled_from(["", "a", "b", "a/b", "b/a"]), rules, max_size=3)


def write_tree(root: Path, files: dict[str, None], ignores: dict[str, str]) -> None:
    """Write what fits: a path through a file that already exists is left out."""
    for path in files:
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch()
        except OSError:
            continue
    for folder, text in ignores.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text(text)


@settings(max_examples=60, deadline=None)
@given(trees, ignore_files)
def test_parity_with_git_ls_files(files, ignores):
    with tempfile.TemporaryDirectory() as name:
        root = init(Path(name))
        write_tree(root, files, ignores)
        command = ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-coz", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout
        assert sorted(kept(root)) == sorted(path for path in listed.split("\0") if path)


@settings(max_examples=40, deadline=None)
@given(trees, ignore_files, st.lists(st.tuples(paths, paths), max_size=4))
def test_never_outside_the_root_and_always_the_same(files, ignores, links):
    with tempfile.TemporaryDirectory() as name:
        root = Path(os.path.realpath(name), "root")
        root.mkdir()
        write_tree(root.parent, {f"out/{path}": None for path in files}, {})
        write_tree(root, files, ignores)
        for at, (source, target) in enumerate(links):
            place = root / source
            if place.parent.is_dir() and not place.exists() and not place.is_symlink():
                place.symlink_to(root.parent / "out" if at % 2 else root / target)
        first, second = (list(walk(root, user_ignores=False)) for _ in range(2))
        assert first == second
        for item in first:
            place = root / item.path
            if isinstance(item, WalkedFile):
                assert os.path.realpath(place) == str(place)
            assert os.path.commonpath([root, os.path.normpath(place)]) == str(root)


@pytest.fixture
def deep(tmp_path):
    """A file at the last level that counts, one a level deeper, and folders deeper than any path may be."""
    handle = os.open(tmp_path, os.O_RDONLY)
    for depth in range(1, 2 * MAX_DEPTH):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
        if depth in (MAX_DEPTH, MAX_DEPTH + 1):
            os.close(os.open("f.py", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)  # deeper than pytest's own removal goes


def test_folders_are_followed_to_a_limit(deep):
    assert [each.path for each in walk(deep) if isinstance(each, WalkedFile)] == ["d/" * MAX_DEPTH + "f.py"]
    assert skipped(deep) == {"d/" * (MAX_DEPTH + 1): f"more than {MAX_DEPTH} folders deep"}
    assert not is_corpus(deep)


@settings(max_examples=60, deadline=None)
@given(trees, ignore_files, ignore_files)
def test_no_dowseignore_adds_to_what_git_lists(files, ignores, own_ignores):
    with tempfile.TemporaryDirectory() as name:
        root = init(Path(name))
        write_tree(root, files, ignores)
        for folder, text in own_ignores.items():
            if (root / folder).is_dir():
                (root / folder / ".dowseignore").write_text(text)
        command = ["git", "-c", "core.excludesFile=/dev/null", "ls-files", "-coz", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout
        assert set(kept(root)) <= set(listed.split("\0"))
