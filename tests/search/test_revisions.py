"""`rev:` searches another branch, tag or commit from git's objects; the work tree stays as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import DowseError, FilterError
from dowse.interfaces.cli.main import main
from dowse.query.parser import parse_query
from dowse.source.revisions import KEPT, export_revision
from git_servers import git

from helpers import write_tree


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Path:
    """A repository with the branch `bank`, the tag `v1`, a changed work tree and a cache of its own."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    root = write_tree(
        tmp_path / "shop", {"src/till.py": "def ring_up(): pass\n", "docs/x.md": "# X\n\nTill.\n"}
    )
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "open the shop")
    git(root, "tag", "v1")
    git(root, "checkout", "-qb", "bank")
    write_tree(root, {"src/bank.py": "def count_money(): pass\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a bank")
    git(root, "checkout", "-q", "main")
    (root / "src/till.py").write_text("def ring_up_everything(): pass\n")
    return root


def found(index: Index, query: str) -> set[str]:
    return {hit.symbol.name for hit in index.search(query, 20).hits}


def test_another_branch_is_searched_and_the_work_tree_stays(shop):
    before = {path: path.stat().st_mtime_ns for path in shop.rglob("*") if path.is_file()}
    with Index.open(shop, refresh="never") as index:
        index.update()
        assert found(index, "kind:function") == {"ring_up_everything"}
        assert found(index, "rev:bank kind:function") == {"ring_up", "count_money"}
        for revision in ("v1", "HEAD", "bank~1", "bank^", git(shop, "rev-parse", "v1")[:8], "refs/tags/v1"):
            answer = index.search(f"kind:function rev:{revision}")
            assert [hit.symbol.name for hit in answer.hits] == ["ring_up"]
            assert answer.notes[0].text.startswith(f"searched {revision}")
        symbol = index.search("count money rev:bank").hits[0].symbol
        assert (symbol.path, symbol.repo) == ("src/bank.py", "shop")
    assert before == {path: path.stat().st_mtime_ns for path in shop.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "revision", ["nonesuch", "-x", "--upload-pack=touch", "a..b", "v1:src/till.py", "@{u}", "0" * 40, "v1~9"]
)
def test_what_is_no_revision_is_one_line(shop, revision, capfd):
    assert main(["search", f"till rev:{revision}", str(shop), "--no-daemon"]) == 2
    assert len(capfd.readouterr().err.splitlines()) == 1
    assert not (Path(os.environ["DOWSE_CACHE_DIR"]) / "indexes").exists()


def test_the_command_line_searches_below_a_folder_of_the_revision(shop, capfd):
    assert main(["search", "rev:bank", "money", str(shop / "src"), "--format", "grep", "--no-daemon"]) == 0
    line = capfd.readouterr().out.splitlines()[0]
    path = Path(line.partition(":")[0])
    assert path.read_text() == "def count_money(): pass\n"
    assert not path.is_relative_to(shop)
    assert main(["search", "rev:bank", "Till", str(shop / "src"), "--mode", "regex", "--no-daemon"]) == 1


def test_few_revisions_are_kept(shop):
    cache = Path(os.environ["DOWSE_CACHE_DIR"])
    with Index.open(shop) as index:
        index.search("till rev:bank")
        assert len(list((cache / "indexes").iterdir())) == 1
    for number in range(KEPT):
        git(shop, "commit", "-q", "--allow-empty", "-m", str(number))
        export_revision(shop, "HEAD")
    assert len([each for each in cache.glob("revisions/*/*") if each.is_dir()]) == KEPT
    assert not list((cache / "indexes").iterdir())


def test_clear_removes_the_revisions(shop):
    cache = Path(os.environ["DOWSE_CACHE_DIR"])
    with Index.open(shop) as index:
        index.update()
        index.search("till rev:bank")
    assert len(list((cache / "indexes").iterdir())) == 2
    assert main(["clear", str(shop)]) == 0
    assert not list((cache / "indexes").glob("*/catalog.sqlite")) and not list(cache.glob("revisions/*"))


def test_vectors_are_shared(shop):
    with Index.open(shop, encoder="small") as index:
        index.update()
        other = index.internals.at_revision("bank")
        report = other.update().embedding
        assert report.reused >= 1  # what both have
        assert report.encoded == 2  # ring_up and count_money are not in the work tree


def test_a_linked_work_tree_has_the_branches_of_its_repository(shop, tmp_path):
    git(shop, "worktree", "add", "-q", str(tmp_path / "linked"), "bank")
    with Index.open(tmp_path / "linked") as index:
        assert found(index, "kind:function rev:main") == {"ring_up"}


def test_a_folder_without_git_has_no_revisions(tmp_path):
    write_tree(tmp_path / "plain", {"a.py": "def a(): pass\n"})
    with Index.open(tmp_path / "plain") as index, pytest.raises(DowseError, match="no git repository"):
        index.search("a rev:main")


@pytest.mark.parametrize("query", ["-rev:a x", "(rev:a x)", "rev:a OR x", "rev:a rev:b x", "rev:a"])
def test_a_revision_is_named_once(query):
    with pytest.raises(FilterError, match="rev:"):
        parse_query(query)
