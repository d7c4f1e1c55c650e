"""Exact search: which symbol a matching line belongs to, and patterns that match everywhere."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.errors import TooSlow
from dowse.query.regex.matcher import compile_pattern
from dowse.storage.symbol_lines import assign_to_symbols

from helpers import write_tree

PATTERNS = [".", "a*", r"\w+", "a|b", "$", "^", r"\bx", "\u00e9?"]


def smallest_around(starts: list[int], ends: list[int], number: int) -> int:
    """The index of the last symbol that starts before a line and ends after it, by trying all."""
    fitting = [i for i in range(len(starts)) if starts[i] <= number <= ends[i]]
    return fitting[-1] if fitting else -1


def test_each_line_goes_to_the_smallest_symbol_around_it():
    chance = random.Random(3)
    for _ in range(200):
        spans = sorted((a, a + chance.randrange(12)) for a in (chance.randrange(1, 40) for _ in range(12)))
        starts, ends = [a for a, _ in spans], [b for _, b in spans]
        found = {}
        assign_to_symbols(1, (list(range(1, 13)), starts, ends), list(range(1, 55)), found)
        for number in range(1, 55):
            assert number in found[1, smallest_around(starts, ends, number) + 1]


@pytest.fixture
def everywhere(tmp_path, monkeypatch):
    """An index of ten files with ten lines each, where 25 lines are many."""
    tree = {f"m{n}.py": "".join(f"a{n}_{m} = 1\n" for m in range(10)) for n in range(10)}
    monkeypatch.setattr("dowse.search.pipeline.MAX_LINES", 25)
    with Index.open(write_tree(tmp_path / "tree", tree), index_dir=str(tmp_path / "index")) as index:
        index.update()
        yield index


def test_a_pattern_that_matches_everywhere_ends_early_and_says_so(everywhere):
    answer = everywhere.search("/./", k=3)
    assert len(answer.hits) == 3 and [note.code for note in answer.notes] == ["truncated"]
    assert sum(len(hit.matches) for hit in everywhere.search("/./", k=0).hits) == 100
    filtered = everywhere.search("/./ path:m*.py -path:m0.py", k=3)
    assert len(filtered.hits) == 3 and [note.code for note in filtered.notes] == ["truncated"]
    cut = [str(note) for note in everywhere.search("/_1/", k=3).notes]
    assert cut == ["these are the first 3 of 10 symbols that match; -k 0 gives all"]
    assert everywhere.search("/./ kind:function", k=3).notes == ()  # any of the symbols may be one


def test_a_negated_pattern_is_matched_in_every_file(everywhere):
    hits = everywhere.search("/a0/ -/a[1-9]/", k=3).hits
    assert {hit.symbol.path for hit in hits} == {"m0.py"}
    assert not everywhere.search("/a/ -/./", k=3).hits


@given(st.text("ab\n \u00e9_x", max_size=60), st.sampled_from(PATTERNS))
def test_numbers_of_lines_are_those_of_all_matches(text, pattern):
    compiled = compile_pattern(pattern)
    lines = [match.line for match in compiled.find_lines(text)]
    assert compiled.line_numbers(text) == lines
    assert [match.line for match in compiled.find_lines(text, one_a_line=True)] == lines


def test_a_pattern_that_takes_too_long_in_one_file_gives_what_others_have(tmp_path):
    slow = "|".join(f"a[ab]{{{count}}}c" for count in range(900, 989))
    line = "".join(random.Random(1).choices("ab", k=900_000))
    files = {"a.txt": "here is an x\n", "b.txt": f"{line}\n"}
    settings = {"index_dir": str(tmp_path / "index"), "encoder": "none", "exact_seconds": 3.0}
    with Index.open(write_tree(tmp_path / "tree", files), **settings) as index:
        index.update()
        started = time.monotonic()
        answer = index.search(f"/an x|{slow}/", k=3)
        assert [hit.symbol.path for hit in answer.hits] == ["a.txt"]
        assert [note.code for note in answer.notes] == ["truncated"]
        with pytest.raises(TooSlow, match="more specific"):
            index.search(f"/{slow}/", k=3)
        assert time.monotonic() - started < 20.0


def test_lines_whose_matches_take_too_long_are_given_whole(tmp_path, monkeypatch):
    with Index.open(
        write_tree(tmp_path / "tree", {"a.txt": "an x\n"}), index_dir=str(tmp_path / "index")
    ) as index:
        index.update()

        def too_slow(*_: object, **__: object) -> None:
            raise TooSlow("no answer")

        monkeypatch.setattr("dowse.query.regex.matcher.Pattern.find_lines", too_slow)
        [hit] = index.search("/x/", k=3).hits
        assert [(match.line, match.text, match.spans) for match in hit.matches] == [(1, "an x", ((0, 4),))]


def test_files_that_are_too_large_are_named(tmp_path):
    write_tree(
        tmp_path, {"a.py": "needle = 1\n", "data/big.py": f"# {'x' * 200}\n" * 15_000 + "needle = 2\n"}
    )
    with Index.open(tmp_path, encoder="none") as index:
        index.update()
        found = index.search("/needle/", k=0)
        assert any("1 file" in note.text and "data/big.py" in note.text for note in found.notes)
        assert not index.search("/needle/ path:a.py", k=0).notes
    with Index.open(tmp_path, encoder="none", max_file_bytes=10_000_000) as index:
        index.update()
        found = index.search("/needle/", k=0)
        assert [match.line for hit in found.hits for match in hit.matches] == [1, 15_001] and not found.notes
