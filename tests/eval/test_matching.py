"""What meets what: paths, lines, names and ids, and which places results take."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.eval.matching import ranked_keys, same_path, to_search_result
from dowse.eval.types import COUNTINGS, LEVELS, SearchResult


def ranks(
    results: list[SearchResult], targets: list[str], level: str = "file", counting: str = "distinct"
) -> dict[str, int]:
    """Return the place of every target that was met."""
    keys = ranked_keys(results, targets, level, counting)
    return {key: at for at, key in enumerate(keys, 1) if key in targets}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("src/app.py", "src/app.py", True),
        ("app.py", "src/app.py", True),
        ("/home/me/src/app.py", "src/app.py", True),
        ("wsgiapp.py", "app.py", False),  # the end of a name is not a name
        ("my_src/app.py", "src/app.py", False),
        ("src/app.py", "lib/app.py", False),
        ("src/app.pyi", "src/app.py", False),
        ("", "app.py", False),
    ],
)
def test_paths_are_compared_folder_by_folder_from_the_end(one: str, other: str, same: bool) -> None:
    assert same_path(one, other) == same_path(other, one) == same
    assert (ranks([SearchResult(one)], [other]) == {other: 1}) == same


def test_the_closest_path_is_the_one_that_is_meant() -> None:
    """Seen from src/flask, `app.py` could be any app.py, until one is found that fits better."""
    results = [SearchResult("app.py"), SearchResult("sansio/app.py")]
    assert ranks(results, ["src/flask/sansio/app.py"]) == {"src/flask/sansio/app.py": 2}
    assert ranks([SearchResult("docs/README.md"), SearchResult("README.md")], ["README.md"]) == {
        "README.md": 2
    }
    assert ranks([SearchResult("README.md"), SearchResult("docs/README.md")], ["docs/README.md"]) == {
        "docs/README.md": 2
    }
    both = ranks(results, ["src/flask/app.py", "src/flask/sansio/app.py"])
    assert both == {"src/flask/app.py": 1, "src/flask/sansio/app.py": 2}


@pytest.mark.parametrize(
    ("first", "last", "met"),
    [(1, 9, False), (1, 10, True), (15, 15, True), (20, 30, True), (21, 30, False), (1, 99, True)],
)
def test_lines_must_overlap_where_they_are_given(first: int, last: int, met: bool) -> None:
    assert bool(ranks([SearchResult("a.py", "", first, last)], ["a.py#10-20"])) == met


@pytest.mark.parametrize("path", ["docs/c#/intro.md", "notes#1/a.py", "a#b-c", "a.py#", "#readme"])
def test_a_hash_in_a_path_is_part_of_it(path: str) -> None:
    assert ranks([SearchResult(path)], [path]) == {path: 1}
    assert ranks([SearchResult(path, "", 5, 6)], [f"{path}#6-9"]) == {f"{path}#6-9": 1}


def test_distinct_files_take_one_place_each_and_results_all() -> None:
    results = [
        SearchResult("x.py", "f"),
        SearchResult("x.py", "g"),
        SearchResult("a.py", "f"),
        SearchResult("a.py", "g"),
        SearchResult("b.py"),
    ]
    assert ranks(results, ["a.py", "b.py"], counting="distinct") == {"a.py": 2, "b.py": 3}
    assert ranks(results, ["a.py", "b.py"], counting="results") == {"a.py": 3, "b.py": 5}


def test_symbols_are_met_by_path_and_whole_name() -> None:
    found = SearchResult("src/shop/cart.py", "Cart.add", 3, 9)
    for target in ("src/shop/cart.py::Cart.add", "cart.py::Cart.add", "Cart.add", "add"):
        assert ranks([found], [target], "symbol") == {target: 1}
    for target in (
        "cart.py::add",
        "t.py::Cart.add",
        "art.add",
        "Cart",
        "other.py::Cart.add",
        "src/shop/cart.py",
    ):
        assert ranks([found], [target], "symbol") == {}


def test_entries_of_a_corpus_are_told_apart_by_id() -> None:
    """Functions of different repositories share paths and names; each is a result of its own."""
    results = [SearchResult("setup.py", "main", 1, 2, f"e{number}") for number in range(5)]
    assert ranks(results, ["e4"], "symbol") == {"e4": 5}
    nameless = [SearchResult(id=f"e{number}") for number in range(3)]
    assert ranks(nameless, ["e2"], "symbol") == {"e2": 3}


@pytest.mark.parametrize("counting", COUNTINGS)
@pytest.mark.parametrize("level", LEVELS)
def test_no_key_of_a_miss_looks_like_a_target(level: str, counting: str) -> None:
    wrong = [SearchResult("a.py", "f", id="a.py (1)x"), SearchResult("b.py", "g")]
    targets = ["a.py (1)", "a.py::f (1)", "b.py (2)", "b.py::g (2)"]
    assert ranks(wrong, targets, level, counting) == {}


PATHS = ["a.py", "b.py", "src/a.py", "src/b.py", "src/web/a.py"]
founds = st.builds(
    SearchResult,
    st.sampled_from(["", *PATHS]),
    st.sampled_from(["", "f", "K.f", "K"]),
    st.integers(0, 5),
    st.integers(0, 9),
    st.sampled_from(["", "e1", "e2"]),
)
targets = st.lists(
    st.sampled_from([*PATHS, "a.py#2-3", "src/a.py#5", "f", "K.f", "a.py::f", "e1"]), unique=True
)


@given(st.lists(founds, max_size=12), targets, st.sampled_from(LEVELS))
def test_keys_are_distinct_and_both_countings_meet_the_same(
    results: list[SearchResult], wanted: list[str], level: str
) -> None:
    for counting in COUNTINGS:
        keys = ranked_keys(iter(results), iter(wanted), level, counting)
        assert len(keys) == len(set(keys))
    distinct, each = (ranks(results, wanted, level, counting) for counting in COUNTINGS)
    assert distinct.keys() == each.keys()
    assert all(distinct[key] <= each[key] for key in each)
    assert len(ranked_keys(results, wanted, level, "results")) >= len(results)


def test_a_hit_tells_everything(sample_index: Index) -> None:
    hit = sample_index.search("bread", k=1).hits[0]
    symbol = hit.symbol
    lines = (symbol.start_line, symbol.end_line)
    assert to_search_result(hit) == SearchResult(
        symbol.path, symbol.qualified_name, *lines, symbol.id, symbol.repo
    )


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("src/a.py", SearchResult("src/a.py", id="src/a.py")),
        ("./src/a.py::K.f", SearchResult("src/a.py", "K.f", id="./src/a.py::K.f")),
        (Path("src/a.py"), SearchResult("src/a.py", id="src/a.py")),
        (SearchResult("./a.py", "f", 1, 2, "x"), SearchResult("a.py", "f", 1, 2, "x")),
    ],
)
def test_results_of_other_tools(result: object, expected: SearchResult) -> None:
    assert to_search_result(result) == expected
