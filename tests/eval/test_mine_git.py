"""Mining a history: real repositories, made for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse.errors import EvalError
from dowse.eval.mine import build_from_git
from eval.git_repo import GitRepo

BREAD = """import os

FLOUR = 1


class Loaf:
    weight = 500

    def bake(self):
        return os.getcwd()

    def slice(self):
        return 1


def knead(dough):
    def fold(part):
        return part

    return fold(dough)
"""


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "bakery")
    made.commit("Initial import of the bakery code", {"bread.py": BREAD})
    return made


def only(repo: Path, **options: object) -> tuple[str, list[str], list[str]]:
    """Mine a repository that holds one case."""
    (case,) = build_from_git(repo, **options)
    assert case.source == "git"
    assert set(case.files.values()) | set(case.symbols.values()) == {1.0}
    return case.query, list(case.symbols), list(case.files)


def test_a_subject_asks_for_the_method_it_touched(repo: GitRepo) -> None:
    sha = repo.commit("Bake loaves at home (#7)", {"bread.py": changed(BREAD, "getcwd()", "getenv('HOME')")})
    (case,) = build_from_git(repo.root)
    assert case.query == "Bake loaves at home"
    assert dict(case.symbols) == {"bread.py::Loaf.bake": 1.0}
    assert dict(case.files) == {"bread.py": 1.0}
    assert sha.startswith(case.id) and len(case.id) >= 8


@pytest.mark.parametrize(
    ("old", "new", "symbols"),
    [
        ("weight = 500", "weight = 750", ["Loaf"]),
        ("return part", "return [part]", ["knead", "knead.fold"]),
        ("return fold(dough)", "return fold(fold(dough))", ["knead"]),
        ("        return 1\n", "        return 1\n\n    def sell(self):\n        return 2\n", ["Loaf.sell"]),
        ("    weight = 500\n", "    weight = 500\n\n\n", []),
        ("FLOUR = 1", "FLOUR = 2", []),
        ("    return fold(dough)\n", "    return fold(dough)\n\n\ndef rest():\n    pass\n", ["rest"]),
    ],
)
def test_changed_lines_name_what_they_belong_to(
    repo: GitRepo, old: str, new: str, symbols: list[str]
) -> None:
    repo.commit("Let dough rest overnight", {"bread.py": changed(BREAD, old, new)})
    found = [list(case.symbols) for case in build_from_git(repo.root)]
    assert found == ([[f"bread.py::{name}" for name in symbols]] if symbols else [])


def test_what_was_taken_out_as_a_whole_answers_nothing(repo: GitRepo) -> None:
    less = changed(BREAD, "    def slice(self):\n        return 1\n\n", "")
    repo.commit("Customers slice their loaves themselves", {"bread.py": less})
    assert build_from_git(repo.root) == []
    assert len(build_from_git(repo.root, symbols=False)) == 1


def test_answers_must_still_be_there(repo: GitRepo) -> None:
    repo.commit("Knead rye dough longer", {"bread.py": changed(BREAD, "return part", "return part * 2")})
    repo.commit("Sell cake with cream", {"cake.py": "def sell(cream):\n    return cream\n"})
    repo.commit("Drop the sweet department altogether", {"cake.py": None})
    repo.commit("Rename knead for beginners", {"bread.py": changed(BREAD, "knead", "press")})
    assert [case.query for case in build_from_git(repo.root)] == ["Rename knead for beginners"]
    # Files of the work tree count, not those of HEAD.
    (repo.root / "bread.py").unlink()
    assert build_from_git(repo.root, symbols=False) == []


def test_renames_are_followed_to_todays_path(repo: GitRepo) -> None:
    baked = changed(BREAD, "getcwd()", "getenv('HOME')")
    repo.commit("Bake loaves at home", {"bread.py": baked})
    for old, new in (("bread.py", "lib/bread.py"), ("lib/bread.py", "lib/dough/loaf.py")):
        (repo.root / new).parent.mkdir(parents=True, exist_ok=True)
        repo.git("mv", old, new)
        repo.commit(f"Move {new}", {})
    repo.commit("Totally unrelated pastry recipes", {"bread.py": "def pastry():\n    return 'sweet'\n"})
    newest, oldest = build_from_git(repo.root)
    assert list(newest.symbols) == ["bread.py::pastry"]
    assert list(oldest.symbols) == ["lib/dough/loaf.py::Loaf.bake"]


def test_a_folder_sees_its_own_files_with_their_history_outside(repo: GitRepo) -> None:
    repo.commit(
        "Bake loaves at home",
        {"bread.py": changed(BREAD, "getcwd()", "getenv('HOME')"), "shop.py": "def sell():\n    return 1\n"},
    )
    (repo.root / "src" / "own").mkdir(parents=True)
    repo.git("mv", "bread.py", "src/own/bread.py")
    repo.commit("Move everything around", {})
    query, symbols, files = only(repo.root / "src" / "own")
    assert (query, symbols, files) == ("Bake loaves at home", ["bread.py::Loaf.bake"], ["bread.py"])
    repo.git("checkout", "--quiet", "--detach")
    assert only(repo.root / "src")[1] == ["own/bread.py::Loaf.bake"]


def test_tests_vendored_generated_and_prose_are_no_answers(repo: GitRepo) -> None:
    code = "def weigh():\n    return 1\n"
    names = ("tests/test_loaf.py", "vendor/yeast.py", "gen/x_pb2.py", "examples/demo.py", "min.min.js")
    generated = "# Code generated by oven. DO NOT EDIT.\n" + code
    files = {**dict.fromkeys(names, code), "made.py": generated, "docs.md": "# Weigh\n", "data.json": "{}\n"}
    repo.commit("Weigh every single loaf", files)
    assert build_from_git(repo.root) == build_from_git(repo.root, symbols=False) == []
    assert only(repo.root, with_tests=True)[1] == ["tests/test_loaf.py::weigh"]


def test_mass_edits_are_left_out(repo: GitRepo) -> None:
    functions = "".join(f"def f{n}():\n    return 1\n\n\n" for n in range(16))
    repo.commit("Count loaves in many functions", {"many.py": functions})
    repo.commit("Count loaves in many files", {f"f{n}.py": "def f():\n    return 1\n" for n in range(11)})
    assert build_from_git(repo.root) == []
    assert [case.query for case in build_from_git(repo.root, symbols=False)] == [
        "Count loaves in many functions"
    ]
    # One that is left of many is no better.
    repo.commit("Clean", {f"f{n}.py": None for n in range(1, 11)})
    assert len(build_from_git(repo.root, symbols=False)) == 1


def test_no_question_twice_and_the_newest_first(repo: GitRepo) -> None:
    text = BREAD
    for number in range(3):
        text = changed(text, "fold(dough)", f"fold(dough) * {number}")
        repo.commit("Knead the dough harder", {"bread.py": text})
        text = changed(text, "weight = ", f"weight = {number} + ")
        repo.commit(f"Weigh loaves with scale {'abc'[number]} instead", {"bread.py": text})
    cases = build_from_git(repo.root)
    assert [case.query[-9:] for case in cases] == ["c instead", "gh harder", "b instead", "a instead"]
    assert [case.query for case in cases[:2]] == [
        case.query for case in build_from_git(repo.root, max_cases=2)
    ]
    assert build_from_git(repo.root, max_cases=0) == cases
    assert len({case.id for case in cases}) == 4


def test_merges_and_robots_are_left_out(repo: GitRepo) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("Bake loaves at home", {"bread.py": changed(BREAD, "getcwd()", "getenv('HOME')")})
    repo.git("checkout", "--quiet", "main")
    repo.commit(
        "Weigh cakes with cream", {"cake.py": "def weigh():\n    return 1\n"}, "bakebot[bot] <b@x.org>"
    )
    repo.git("merge", "--quiet", "--no-ff", "-m", "Home baking for everybody and cake", "side")
    assert only(repo.root)[0] == "Bake loaves at home"


def test_since_limits_the_history_and_must_be_a_time(repo: GitRepo) -> None:
    repo.commit("Bake loaves at home", {"bread.py": changed(BREAD, "getcwd()", "getenv('HOME')")})
    assert len(build_from_git(repo.root, since="2023-12-31")) == 1
    assert build_from_git(repo.root, since="2024-02-01") == []
    with pytest.raises(EvalError, match="no time in the past"):
        build_from_git(repo.root, since="whenever")


@pytest.mark.parametrize(
    "name", ["with space.py", 'quo"te.py', "naïve/brød.py", "tab\there.py", "line\nbreak.py"]
)
def test_file_names_of_any_kind(repo: GitRepo, name: str) -> None:
    repo.commit("Bake pastry with butter", {name: "def bake():\n    return 1\n"})
    repo.commit("Bake pastry without salt", {name: "def bake():\n    return 2\n", "bread.py": BREAD + "\n"})
    cases = build_from_git(repo.root)
    assert [list(case.symbols) for case in cases] == [[f"{name}::bake"]] * 2
    assert list(cases[0].files) == sorted([name, "bread.py"])


def test_places_without_a_history_are_refused(repo: GitRepo, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(EvalError, match="not a folder in the work tree of a git repository"):
        build_from_git(plain)
    with pytest.raises(EvalError, match="is not a folder;"):
        build_from_git(tmp_path / "missing")
    with pytest.raises(EvalError, match="no commits yet"):
        build_from_git(GitRepo(tmp_path / "fresh").root)
    with pytest.raises(EvalError, match="work tree"):
        build_from_git(repo.root / ".git")


def test_a_shallow_clone_is_refused_with_its_remedy(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("Bake loaves at home", {"bread.py": changed(BREAD, "getcwd()", "getenv('HOME')")})
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.root}", str(tmp_path / "clone"))
    with pytest.raises(EvalError, match="git fetch --unshallow"):
        build_from_git(tmp_path / "clone")


def test_a_machine_without_git_is_told_so(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EvalError, match="install it"):
        build_from_git(repo.root)
