"""Suggestions while typing."""

from __future__ import annotations

import pytest

from dowse import Index
from dowse.services.suggest import suggest
from dowse.services.symbol_names import NameCache
from interfaces.http.running import Running


@pytest.fixture(scope="module")
def books(inn: Index) -> list[tuple[str, object]]:
    book = NameCache(inn.backend)
    book.refresh()
    return [("inn", book.cached())]


def texts(typed: str, books: list, asked: tuple = ()) -> list[str]:
    return [way.query for way in suggest(typed, books, asked, 8)]


def test_names_begin_with_what_was_typed_or_have_a_word_that_does(books: list) -> None:
    assert texts("swe", books) == ["sweep"]
    assert texts("bread", books) == ["buy_bread"]
    assert texts("room.cl", books) == ["Room.clean"]
    assert texts("ROO", books)[0] == "Room"
    assert texts("zzz", books) == []


def test_suggestions_keep_the_rest_of_the_query(books: list) -> None:
    assert texts("who calls swe", books) == ["who calls sweep"]
    assert texts("-swe", books) == ["-sweep"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("la", "lang:"),
        ("bread -pa", "bread -path:"),
        ("lang:p", "lang:python "),
        ("kind:cl", "kind:class "),
        ("path:in", "path:inn/ "),
        ("case:", "case:yes "),
    ],
)
def test_filters_are_completed(books: list, typed: str, first: str) -> None:
    assert texts(typed, books)[0] == first


def test_past_queries_come_first(books: list) -> None:
    asked = (("sweep the floor", 2), ("who may sweep", 5), ("nothing like it", 9))
    assert texts("sweep", books, asked)[:3] == ["sweep the floor", "who may sweep", "sweep"]
    assert texts("sweep the floor", books, asked) == []


def test_over_http(server: Running) -> None:
    server.state.indexes.get("inn").names.refresh()
    found = server.get("suggest", q="buy_b", index="inn")["suggestions"]
    assert [(each["kind"], each["text"], each["index"]) for each in found] == [("name", "buy_bread", "inn")]
    assert server.get("symbol", target=found[0]["id"])["symbol"]["name"] == "buy_bread"
    assert server.get("suggest", q="")["suggestions"] == []


def test_names_of_a_new_generation_replace_the_old(inn: Index, tmp_path) -> None:
    from helpers import write_tree

    root = write_tree(tmp_path / "t", {"a.py": "def first_name():\n    pass\n"})
    with Index.open(root, index_dir=str(tmp_path / "i")) as index:
        index.update()
        book = NameCache(index.backend)
        book.refresh()
        assert book.cached().complete("first", 5)
        write_tree(root, {"a.py": "def second_name():\n    pass\n"})
        index.update()
        book.refresh()
        assert not book.cached().complete("first", 5) and book.cached().complete("second", 5)
