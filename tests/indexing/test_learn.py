"""The query adapter: learnt from real commits, used where it wins, and without effect where it can't be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dowse import Index
from dowse.vectors.adapter import AdapterFile, read_facts
from eval.git_repo import GitRepo
from indexing.told_by_history import QUESTION, THINGS, commits, make, source

from helpers import large_from


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A repository whose history says more than its code, and its index with an adapter."""
    folder = tmp_path_factory.mktemp("learn")
    repo = make(folder / "repo", "Fix the {topic} workshop for {thing}", THINGS)
    with opened(repo.root, folder / "index") as index:
        index.update()
        assert index.vectors.has_new_history()
        index.vectors.learn()
        assert not index.vectors.has_new_history()
    return repo.root, folder / "index"


@pytest.fixture
def place(learnt: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of it to change."""
    for path, name in zip(learnt, ("repo", "index"), strict=True):
        shutil.copytree(path, tmp_path / name)
    return tmp_path / "repo", tmp_path / "index"


def opened(root: Path, folder: Path, **settings: object) -> Index:
    fixed = {"index_dir": str(folder), "encoder": "small", "threads": 1, "isolation": "never"}
    return Index.open(root, **{**fixed, "adapter": True, **settings})


def adapted(index: Index, query: str = QUESTION) -> bool:
    """Whether a query is adapted; the best hit says so."""
    hit = index.search(query, mode="embedding", k=1).hits[0]
    return hit.lanes[0].detail.startswith("adapted by ")


def test_it_finds_what_only_the_history_knows(learnt):
    with opened(*learnt) as index, opened(*learnt, adapter=False) as plain:
        facts = index.status()["adapter"]
        assert facts["commits"] == 60 and facts["validated"] == 60
        assert facts["strength"] and facts["after"] > facts["shuffled"] + 0.2 > facts["before"]
        assert index.search(QUESTION, mode="embedding").hits[0].symbol.name == "parse_calendar_day"
        assert (
            plain.status()["adapter"] is None and not adapted(plain) and not plain.vectors.has_new_history()
        )
        assert plain.vectors.learn() is None


@pytest.mark.parametrize("query", ["where is the falcon workshop", "falcon workshop tulips", "fix"])
def test_only_requests_for_a_change_are_adapted(learnt, query):
    with opened(*learnt) as index:
        assert adapted(index) and not adapted(index, query)


def test_a_history_that_says_nothing_new_is_not_used(tmp_path):
    repo = make(tmp_path / "repo", "Fix {name} of the {thing}", THINGS)
    with opened(repo.root, tmp_path / "index") as index:
        index.update()
        facts = index.vectors.learn()
        assert facts and facts.validated == 60 and not facts.strength and facts.reason == "no gain"
        assert facts.text.endswith("not used: no gain")
        assert not adapted(index)


def test_new_commits_are_learnt_and_few_are_only_noted(place):
    root, folder = place
    repo = GitRepo(root)
    with opened(root, folder) as index:
        before = read_facts(AdapterFile(folder / "derived", index.encoder.id))
        repo.commit("Fix the falcon workshop for pianos", source("falcon", 100))
        assert index.vectors.has_new_history()
        few = index.vectors.learn()
        assert few and few.commits == 60 and few.newest == before.newest and few.head != before.head
        assert not index.vectors.has_new_history() and adapted(index)
        repo.commit_many(commits("Add the {topic} workshop for {thing}", ["flutes"]))
        index.update()
        more = index.vectors.learn()
        assert more and more.commits == 67 and more.newest != before.newest


def test_a_rewritten_history_is_read_again(place):
    root, folder = place
    GitRepo(root).git("commit", "--quiet", "--amend", "--no-edit", "--date=2025-01-01T00:00:00Z")
    GitRepo(root).git("reflog", "expire", "--expire=now", "--all")
    GitRepo(root).git("gc", "--quiet", "--prune=now")
    with opened(root, folder) as index:
        assert index.vectors.has_new_history()
        facts = index.vectors.learn()
        assert facts and facts.commits == 60 and facts.strength


def test_an_evaluation_learns_nothing_that_is_as_new_as_its_questions(place):
    root, folder = place
    names = GitRepo(root).git("log", "--format=%H").split()
    with opened(root, folder) as index:
        facts = index.vectors.learn(asked=[names[0][:12], names[5][:12]])
        assert facts and facts.commits == 54 and index.vectors.has_new_history()
        assert index.vectors.learn(asked=[names[0], "0" * 12]).commits == 0  # of another history
        assert index.vectors.learn().commits == 60


@pytest.mark.parametrize("damage", ["short", "flipped"])
def test_a_damaged_adapter_counts_as_none(place, damage):
    root, folder = place
    (file,) = (folder / "derived").glob("adapter-*")
    data = bytearray(file.read_bytes())
    if damage == "flipped":
        data[-1] ^= 1
    file.unlink()
    file.write_bytes(data[: len(data) // 2] if damage == "short" else data)
    with opened(root, folder) as index:
        assert not adapted(index)
        assert index.vectors.has_new_history()


@pytest.mark.parametrize("damage", [b"{", b"[1, 2]"])
def test_damaged_commits_are_mined_again(place, damage):
    root, folder = place
    (folder / "derived" / "commits.json").write_bytes(damage)
    (file,) = (folder / "derived").glob("adapter-*")
    file.unlink()
    with opened(root, folder) as index:
        assert index.vectors.learn().commits == 60


@pytest.mark.parametrize("history", large_from(2, ["shallow", "none", "alternates", "few", "unreadable"]))
def test_where_nothing_can_be_learnt_nothing_changes(learnt, tmp_path, history):
    root = tmp_path / "repo"
    if history == "shallow":
        GitRepo(tmp_path).git("clone", "--quiet", "--depth=5", f"file://{learnt[0]}", str(root))
    else:
        shutil.copytree(learnt[0], root)
    if history == "none":
        shutil.rmtree(root / ".git")
    elif history == "alternates":
        (root / ".git/objects/info").mkdir(exist_ok=True)
        (root / ".git/objects/info/alternates").write_text("/elsewhere\n")
    elif history == "few":
        GitRepo(root).git("reset", "--quiet", "--hard", "HEAD~20")
    elif history == "unreadable":
        for pack in (root / ".git/objects/pack").glob("*.pack"):
            pack.chmod(0o600)
            pack.write_bytes(b"PACK")
    with opened(root, tmp_path / "index") as index:
        index.update()
        facts = index.vectors.learn()
        assert not adapted(index)
        if history == "none":
            assert facts is None and index.status()["adapter"] is None
        else:
            assert facts and facts.reason and index.status()["adapter"]["text"].startswith("none: ")
        assert not index.vectors.has_new_history()
