"""Checked-out submodules are part of a search, under the name of their own repository."""

from __future__ import annotations

from pathlib import Path

from dowse import Index
from git_servers import git

from helpers import write_tree


def make_repository(root: Path, files: dict[str, str], url: str = "") -> Path:
    """Make a repository with one commit."""
    write_tree(root, files)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    if url:
        git(root, "remote", "add", "origin", url)
    return root


def test_a_submodule_has_a_name_of_its_own(tmp_path):
    library = make_repository(tmp_path / "acme" / "oven", {"oven.py": "def heat(): pass\n"})
    shop = make_repository(
        tmp_path / "shop", {"shop.py": "def sell(): pass\n"}, "https://example.org/acme/shop.git"
    )
    git(shop, "submodule", "--quiet", "add", str(library), "vendored/oven")
    make_repository(shop / "nested", {"deep/nest.py": "def nest(): pass\n"}, "git@example.org:birds/nest.git")
    with Index.open(shop, index_dir=str(tmp_path / "index")) as index:
        index.update()

        def found(query: str) -> set[tuple[str, str]]:
            return {(hit.symbol.repo, hit.symbol.path) for hit in index.search(query).hits}

        assert found("kind:function") == {
            ("acme/shop", "shop.py"),
            ("acme/oven", "vendored/oven/oven.py"),
            ("birds/nest", "nested/deep/nest.py"),
        }
        assert found("repo:acme/oven kind:function") == {("acme/oven", "vendored/oven/oven.py")}
        assert found("-repo:acme/shop kind:function") == found("repo:oven repo:nest kind:function")
        (shop / "vendored/oven/oven.py").write_text("def heat_up(): pass\n")
        index.update()
        assert found("repo:acme/oven heat_up") == {("acme/oven", "vendored/oven/oven.py")}


def test_a_git_file_that_belongs_elsewhere_names_nothing(tmp_path):
    make_repository(tmp_path / "victim", {"x.py": "x = 1\n"}, "https://example.org/victim/private.git")
    shop = make_repository(tmp_path / "shop", {"part/y.py": "def y(): pass\n"})
    (shop / "part" / ".git").write_text(f"gitdir: {tmp_path}/victim/.git\n")
    with Index.open(shop, index_dir=str(tmp_path / "index")) as index:
        index.update()
        assert {hit.symbol.repo for hit in index.search("kind:function").hits} == {"shop"}
