"""Which aspect each answer of a set stands for: repository or folder, also where nobody found it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.eval import Case, Dataset
from dowse.eval.index_targets import target_aspects
from eval.small_tree import make_corpus, make_places, make_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The small tree, indexed."""
    root = make_tree(tmp_path_factory.mktemp("aspects") / "tree")
    yield from indexed(root)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """A corpus of functions from two repositories, one of them without a place."""
    yield from indexed(make_places(tmp_path_factory.mktemp("aspects") / "corpus"))


def indexed(root: Path) -> Iterator[Index]:
    with Index.open(root, encoder="none", index_dir=str(root.parent / "index")) as made:
        made.update()
        yield made


def asking(level: str, *targets: str) -> Dataset:
    """Return a set of one question with some answers, and one that is judged and no answer."""
    judged = {**dict.fromkeys(targets, 1.0), "irrelevant": 0.0}
    case = Case("q", files=judged) if level == "file" else Case("q", symbols=judged)
    return Dataset("x", (case,), level=level)


def test_in_one_repository_an_aspect_is_a_folder(tree: Index) -> None:
    data = asking("file", "shop/oven.py", "orders.py#3-9", "lib/web/cart.js", "gone.py")
    assert target_aspects(tree, data) == {
        "shop/oven.py": "shop",
        "orders.py#3-9": "shop",
        "lib/web/cart.js": "web",
        "gone.py": "\0gone.py",
    }


def test_symbols_lie_where_their_files_do(tree: Index) -> None:
    row = tree.symbols("addToCart")[0]
    data = asking("symbol", "shop/oven.py::Oven.is_cold", "Oven.preheat", "preheat", row.key, "eat", "Gone")
    assert target_aspects(tree, data) == {
        "shop/oven.py::Oven.is_cold": "shop",
        "Oven.preheat": "shop",
        "preheat": "shop",
        row.key: "web",
        "eat": "\0eat",
        "Gone": "\0Gone",
    }


def test_where_there_are_several_repositories_each_is_an_aspect(corpus: Index) -> None:
    data = asking("symbol", "a1", "a2", "b1", "n1", "missing")
    assert target_aspects(corpus, data) == {
        "a1": "own/alpha",
        "a2": "own/alpha",
        "b1": "own/beta",
        "n1": "\0n1",
        "missing": "\0missing",
    }


def test_answers_from_one_repository_of_several_are_told_apart_by_folders(corpus: Index) -> None:
    assert target_aspects(corpus, asking("symbol", "a1", "a2")) == {"a1": "src", "a2": "tools"}


def test_without_places_there_are_no_aspects(tmp_path: Path) -> None:
    for index in indexed(make_corpus(tmp_path / "beir")):
        assert target_aspects(index, asking("symbol", "d1", "d2")) == {}
