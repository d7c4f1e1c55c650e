"""What an agent is shown of results, and which lines are relevant: those of the index, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.eval.budget_pages import IndexTexts
from dowse.eval.matching import to_search_result
from dowse.eval.types import Case, Dataset, SearchResult
from eval.small_tree import FILES, make_corpus, make_tree


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("pages")
    settings = {"index_dir": str(folder / "i"), "encoder": "none", "refresh": "never"}
    with Index.open(make_tree(folder / "tree"), **settings) as made:
        made.update()
        yield made


@pytest.fixture(scope="module")
def library(index: Index) -> IndexTexts:
    return IndexTexts(index)


def texts(library: IndexTexts, *found: SearchResult, listed: int = 0) -> list[str]:
    return [text for _, text in library.show(found, listed)]


def numbers(library: IndexTexts, dataset: Dataset) -> dict[str, list[int]]:
    return {name: sorted(line for _, line in lines) for name, lines in library.code(dataset).items()}


def written(path: str, first: int, last: int) -> list[str]:
    """Return lines of a file that are not blank, with their numbers."""
    lines = enumerate(FILES[path].split("\n"), 1)
    return [f"{number}  {text}" for number, text in lines if first <= number <= last and text.strip()]


def test_a_symbol_is_shown_with_a_heading_and_its_own_lines(index: Index, library: IndexTexts) -> None:
    (hit,) = index.search("parse_order", k=1).hits
    assert texts(library, to_search_result(hit)) == [
        "1. shop/orders.py:4-7 parse_order",
        *written("shop/orders.py", 4, 7),
    ]


def test_a_class_is_shown_without_its_methods(index: Index, library: IndexTexts) -> None:
    (row,) = [row for row in index.search("Oven", k=9).hits if row.symbol.qualified_name == "Oven"]
    assert texts(library, to_search_result(row))[1:] == written("shop/oven.py", 1, 2)


def test_files_and_lines_of_them(library: IndexTexts) -> None:
    whole = texts(library, SearchResult("shop/money.py"))
    assert whole == ["1. shop/money.py:1-9", *written("shop/money.py", 1, 99)]
    assert texts(library, SearchResult("shop/money.py", start_line=2, end_line=3))[1:] == whole[2:4]
    assert texts(library, SearchResult("shop/money.py", start_line=2))[1:] == whole[2:3]
    assert texts(library, SearchResult("shop/money.py", start_line=90, end_line=99)) == [
        "1. shop/money.py:90-99"
    ]
    assert texts(library, SearchResult("no/such.py")) == ["1. no/such.py:0-0"]


def test_files_are_listed_before_they_are_opened(library: IndexTexts) -> None:
    paths = ["shop/money.py", "shop/oven.py", "web/cart.js"]
    found = [SearchResult(path, start_line=1, end_line=1) for path in (*paths, paths[0])]
    plain = texts(library, *found)
    assert texts(library, *found, listed=10) == [*paths, *plain]
    two = texts(library, *found, listed=2)
    assert two[:2] == paths[:2] and two[6] == paths[2] and len(two) == len(plain) + len(paths)


def test_places_are_the_same_whoever_shows_them(index: Index, library: IndexTexts) -> None:
    (hit,) = index.search("parse_order", k=1).hits
    shown = {place for place, _ in library.show([to_search_result(hit)]) if place}
    assert shown < {place for place, _ in library.show([SearchResult("shop/orders.py")]) if place}


def test_relevant_lines_of_files(library: IndexTexts) -> None:
    targets = ["shop/money.py", "money.py#2-4", "web/cart.js#9", "gone.py", "shop/oven.py#400-500"]
    found = numbers(library, Dataset("", (Case("?", files=dict.fromkeys(targets, 1.0)),)))
    assert found["shop/money.py"] == [1, 2, 3, 4, 7, 8, 9]
    assert found["money.py#2-4"] == [2, 3, 4] and found["web/cart.js#9"] == [9]
    assert found["gone.py"] == found["shop/oven.py#400-500"] == []


def test_relevant_lines_of_symbols(library: IndexTexts) -> None:
    targets = ["shop/oven.py::Oven.preheat", "preheat", "Oven", "oven.py::preheat", "shop/gone.py::Oven"]
    dataset = Dataset("", (Case("?", symbols=dict.fromkeys(targets, 1.0)),), level="symbol")
    found = numbers(library, dataset)
    assert found["shop/oven.py::Oven.preheat"] == found["preheat"] == [7, 8, 9, 10]
    assert found["Oven"] == [1, 2]
    assert found["oven.py::preheat"] == found["shop/gone.py::Oven"] == []


def test_entries_of_a_corpus(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus")
    with Index.open(corpus, index_dir=str(tmp_path / "i"), encoder="none", refresh="never") as index:
        index.update()
        library = IndexTexts(index)
        dataset = Dataset("", (Case("?", symbols={"d1": 1.0}),), level="symbol")
        (hit,) = index.search("parse_order", k=1).hits
        shown = list(library.show([to_search_result(hit)]))
        assert library.code(dataset)["d1"] == {place for place, _ in shown if place}
        assert [text for _, text in shown][1:] == ["1  def parse_order(text):", "2      return text.split()"]


def test_documentation_that_is_held_back_is_not_shown(tmp_path: Path) -> None:
    settings = {"index_dir": str(tmp_path / "i"), "encoder": "none", "refresh": "never", "strip_docs": True}
    with Index.open(make_tree(tmp_path / "tree"), **settings) as index:
        index.update()
        library = IndexTexts(index)
        shown = texts(library, SearchResult("shop/money.py"))
        assert "1  def total_price(items, rate):" in shown and not any("Sum the prices" in t for t in shown)
        relevant = numbers(library, Dataset("", (Case("?", files={"shop/money.py": 1.0}),)))
        assert relevant["shop/money.py"] == [1, 3, 4, 7, 9]
