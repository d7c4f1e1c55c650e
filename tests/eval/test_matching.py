"""What meets what: paths, lines, names and ids, and which places results take."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.eval.matching import display_name, ranked_keys, same_path, to_search_result
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


def test_one_file_is_never_two() -> None:
    assert ranks([SearchResult("app.py")], ["src/a/app.py", "src/b/app.py"]) == {"src/a/app.py": 1}


@pytest.mark.parametrize(
    ("first", "last", "met"),
    [(1, 9, False), (1, 10, True), (15, 15, True), (20, 30, True), (21, 30, False), (1, 99, True)],
)
def test_lines_must_overlap_where_they_are_given(first: int, last: int, met: bool) -> None:
    assert bool(ranks([SearchResult("a.py", "", first, last)], ["a.py#10-20"])) == met


def test_one_line_and_unknown_lines() -> None:
    assert ranks([SearchResult("a.py", "", 10)], ["a.py#10"]) == {"a.py#10": 1}
    assert ranks([SearchResult("a.py", "", 11)], ["a.py#10"]) == {}
    assert ranks([SearchResult("a.py")], ["a.py#10-20"]) == {"a.py#10-20": 1}  # a tool that tells no lines
    assert ranks([SearchResult("a.py", "", 10, 20)], ["b.py#10-20"]) == {}


@pytest.mark.parametrize("path", ["docs/c#/intro.md", "notes#1/a.py", "a#b-c", "a.py#", "#readme"])
def test_a_hash_in_a_path_is_part_of_it(path: str) -> None:
    assert ranks([SearchResult(path)], [path]) == {path: 1}
    assert ranks([SearchResult(path, "", 5, 6)], [f"{path}#6-9"]) == {f"{path}#6-9": 1}


def test_several_spans_of_one_file_may_be_met_at_once_or_one_by_one() -> None:
    spans = ["a.py#1-10", "a.py#50-60"]
    assert ranks([SearchResult("x.py"), SearchResult("a.py")], spans) == {spans[0]: 2, spans[1]: 3}
    apart = [SearchResult("a.py", "", 55, 56), SearchResult("b.py"), SearchResult("a.py", "", 3, 4)]
    assert ranks(apart, spans) == {spans[1]: 1, spans[0]: 3}
    nested = ["a.py#1-100", "a.py#10-20"]
    assert ranks([SearchResult("a.py", "", 12, 13), SearchResult("a.py", "", 40, 41)], nested) == {
        nested[0]: 1,
        nested[1]: 2,
    }


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


def test_a_wrong_place_in_a_file_takes_one_even_if_the_right_one_follows() -> None:
    results = [
        SearchResult("a.py", "", 1, 2),
        SearchResult("a.py", "", 3, 4),
        SearchResult("a.py", "", 12, 14),
    ]
    assert ranks(results, ["a.py#10-20"], counting="distinct") == {"a.py#10-20": 2}
    assert ranks(results, ["a.py#10-20"], counting="results") == {"a.py#10-20": 3}


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


def test_what_meets_a_name_again_takes_no_place_among_distinct_ones() -> None:
    results = [
        SearchResult("a.py", "Cart.add", id="1"),
        SearchResult("b.py", "Bag.add", id="2"),
        SearchResult("c.py", "f", id="3"),
    ]
    assert ranks(results, ["add", "f"], "symbol") == {"add": 1, "f": 2}
    assert ranks(results, ["add", "f"], "symbol", "results") == {"add": 1, "f": 3}


def test_entries_of_a_corpus_are_told_apart_by_id() -> None:
    """Functions of different repositories share paths and names; each is a result of its own."""
    results = [SearchResult("setup.py", "main", 1, 2, f"e{number}") for number in range(5)]
    assert ranks(results, ["e4"], "symbol") == {"e4": 5}
    nameless = [SearchResult(id=f"e{number}") for number in range(3)]
    assert ranks(nameless, ["e2"], "symbol") == {"e2": 3}


def test_results_without_names_are_told_apart_by_place() -> None:
    """At symbol level a tool that names none must not have all its results counted as one."""
    results = [
        SearchResult("a.py", "", 1, 9),
        SearchResult("a.py", "", 10, 20),
        SearchResult("b.py"),
        SearchResult("c.py", "f"),
    ]
    assert ranks(results, ["c.py::f"], "symbol") == {"c.py::f": 4}


def test_the_same_result_twice_takes_one_place() -> None:
    results = [SearchResult("a.py", "f"), SearchResult("a.py", "f"), SearchResult("b.py", "g")]
    assert ranks(results, ["b.py::g"], "symbol") == {"b.py::g": 2}


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
        ({"path": "a.py", "start_line": 3, "score": 0.5}, SearchResult("a.py", start_line=3)),
        ({"path": Path("a.py"), "symbol": None, "end_line": None}, SearchResult("a.py")),
        ({"path": PureWindowsPath(r"src\a.py")}, SearchResult("src/a.py")),
        ({"id": "e1"}, SearchResult(id="e1")),
    ],
)
def test_results_of_other_tools(result: object, expected: SearchResult) -> None:
    assert to_search_result(result) == expected


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "a search gave None; each result must be"),
        (7, "a search gave 7"),
        (("a.py", 0.5), "a search gave .*a.py.* each result must be"),
        ({}, "needs any of the fields path, symbol"),
        ({"file": "a.py"}, "needs any of the fields path, symbol"),
        ({"path": 3}, "gave 3 as path; it must be text or a path"),
        ({"path": "a.py", "symbol": ["f"]}, "as symbol; it must be text"),
        ({"path": "a.py", "start_line": "12"}, "gave '12' as start_line; it must be a whole number"),
        ({"path": "a.py", "end_line": True}, "as end_line"),
        ({"id": 5}, "gave 5 as id; it must be text"),
        (SearchResult("a.py", 5), "gave 5 as symbol"),
    ],
)
def test_what_is_no_result_is_refused_and_named(result: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        to_search_result(result)


def test_how_results_are_shown() -> None:
    assert display_name(SearchResult("a.py", "f", 3), "file") == "a.py"
    assert display_name(SearchResult(id="e1"), "file") == "e1"
    assert display_name(SearchResult("a.py", "K.f", 3, id="9f"), "symbol") == "a.py::K.f"
    assert display_name(SearchResult(symbol="K.f", id="9f"), "symbol") == "K.f"
    assert display_name(SearchResult("a.py", "", 3, id="9f"), "symbol") == "a.py:3"
    assert display_name(SearchResult("a.py"), "symbol") == "a.py"
    assert display_name(SearchResult(id="e1"), "symbol") == "e1"
