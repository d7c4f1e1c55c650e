"""Ignore rules say what git says."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dowse.source.ignore import read_rules


def git_ignored(repository: Path, paths: list[str]) -> set[str]:
    """The paths that git ignores."""
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=repository,
        input="\0".join(paths).encode("utf-8", "surrogateescape"),
        capture_output=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return {name for name in done.stdout.decode("utf-8", "surrogateescape").split("\0") if name}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """One repository with a fixed tree, whose .gitignore the tests rewrite."""
    place = tmp_path_factory.mktemp("parity")
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    (place / ".git/info/exclude").write_text("")
    for path, is_folder in TREE.items():
        (place / path).mkdir() if is_folder else (place / path).touch()
    return place


SEGMENTS = ["a", "b", "ab", "foo", "bar", "foo.py", "x.log", "a b", "-", "]", "[", "!a", "#c", "a\\b", "é"]
PATHS = [
    *SEGMENTS,
    *(f"{x}/{y}" for x in ("a", "foo", "bar", "-") for y in SEGMENTS),
    *(f"{x}/{y}/{z}" for x in ("a", "foo") for y in ("b", "a", "bar", "]") for z in ("a", "b", "x.log", "é")),
    "a/b/a/b",
    "foo/a/b/foo/bar",
]


def tree() -> dict[str, bool]:
    """Every path with whether it is a folder: what has children is, and every other leaf."""
    parents = {str(parent) for path in PATHS for parent in Path(path).parents} - {"."}
    everything = sorted({*PATHS, *parents})
    return {path: path in parents or at % 2 == 1 for at, path in enumerate(everything)}


TREE = tree()

literal = st.sampled_from(["a", "b", "foo", ".py", ".log", "x", "é", " ", "-", "]", "!", "#", "\\a", "\\*"])
BRACKETS = (
    r"[ab] [!a] [^b] [a-f] []a] [!]] [a [ [[:alpha:]] [[:nope:]] [\]] [a-] [-a] [z-a] [[:digit:]x] [a-c-e] "
    r"[]-a] [[:a] [[:] [\a-f] [] [!] [!]a-]"
)
bracket = st.sampled_from(BRACKETS.split())
piece = st.one_of(literal, literal, st.sampled_from(["*", "?", "\\", "***"]), bracket)
pieces = st.lists(piece, min_size=1, max_size=3).map("".join)
segment = st.one_of(pieces, st.just("**"), st.sampled_from(SEGMENTS))
pattern = st.builds(
    lambda bang, lead, parts, tail, spaces: bang + lead + "/".join(parts) + tail + spaces,
    st.sampled_from(["", "", "", "!", "!!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(segment, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/**", "/*"]),
    st.sampled_from(["", "", "", " ", "\\ ", "\t", "\\"]),
)


def has_glued_stars(line: str) -> bool:
    """`foo**/bar`: git's documentation and (differently in each version) its code disagree about these."""
    glob = line.removeprefix("!")
    return any("**" in part and part.strip("*") for part in glob.split("/")) and "/" in glob.rstrip("/ ")


def matches(glob: str, name: str) -> bool:
    """Whether a glob of letters, "?" and "*" matches, by the table of all prefixes of both."""
    row = [True] + [False] * len(name)
    for character in glob:
        if character == "*":
            below = [any(row[: at + 1]) for at in range(len(name) + 1)]
        else:
            hits = (was and character in (seen, "?") for was, seen in zip(row, name, strict=False))
            below = [False, *hits]
        row = below
    return row[-1]


def byte_wise(line: str) -> bool:
    """Patterns where git would take the two bytes of é one by one."""
    return "?" in line or "[" in line


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(pattern.filter(lambda line: not has_glued_stars(line)), min_size=1, max_size=5))
def test_parity_with_git(repository, lines):
    (repository / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
    rules = read_rules("\n".join(lines))
    skip_accents = any(map(byte_wise, lines))
    asked = {path: is_folder for path, is_folder in TREE.items() if not (skip_accents and "é" in path)}
    expected = git_ignored(repository, list(asked))
    ours = {path for path, is_folder in asked.items() if rules.ignores(path, is_folder)}
    assert ours == expected


@pytest.mark.parametrize(
    ("lines", "path", "ignored"),
    [
        ("*.log\n!keep.log", "a/keep.log", False),
        ("!keep.log\n*.log", "keep.log", True),
        ("build/", "build/x.py", True),
        ("build/", "build", False),
        ("/top", "sub/top", False),
        ("a/b", "x/a/b", False),
        ("**/a/b", "x/a/b", True),
        ("a/**/b", "a/b", True),
        ("a/**", "a", False),
        ("logs\n!logs/keep", "logs/keep", True),  # nothing comes back from an excluded folder
        ("logs/*\n!logs/keep", "logs/keep", False),
        ("\\#x", "#x", True),
        ("#x", "#x", False),
        ("\\!x", "!x", True),
        ("x\\ ", "x ", True),
        ("x  ", "x", True),
        ("caf?", "café", True),  # a character, not a byte
        ("\ufeffx\r\ny\r\n", "y", True),
        ("\ufeffx", "x", True),
        ("*.tar.gz", "a.tar.gz", True),
        ("[", "[", False),
        ("\udcff*", "\udcffz", True),
    ],
)
def test_single_rules(lines, path, ignored):
    assert read_rules(lines).ignores(path) is ignored


# Patterns and names that a backtracking engine never comes to an end with, or only slowly.
HANGS = """
from dowse.source.ignore import read_rules
name = "a" * 255
folders = "a/" * 2000 + "a"
for text, path in [
    ("*a" * 30 + "*b", name),
    ("*a?" * 30 + "*b", name),
    ("*[ab]" * 30 + "*c", name),
    ("?*" * 100 + "b", name),
    ("/x/" + "*a" * 30 + "*b/y", f"x/{name}/y"),
    ("**/" * 30 + "x", folders),
    ("**/a/" * 30 + "x", folders),
    ("**/*a*/" * 30 + "x", folders),
    ("a/**/" * 30 + "b/**", folders),
    ("\\n".join(f"*{at}" for at in range(200_000)), name),
    ("\\n".join(f"name{at}" for at in range(100_000)), name),
    ("*" * 500_000, name),
    ("[" * 500_000, name),
    ("\\\\" * 500_000, name),
]:
    rules = read_rules(text)
    assert {rules.match(path, False) is None for _ in range(20)} in ({False}, {True})
"""


def test_no_pattern_makes_matching_slow():
    subprocess.run([sys.executable, "-c", HANGS], timeout=30, check=True)
