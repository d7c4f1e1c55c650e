"""No combination of settings gives a traceback, on an empty, a tiny and an undocumented index."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from setting_combinations import (
    INDEX_VALUES,
    KINDS,
    SEARCH_VALUES,
    make_index,
    pairwise,
    problem,
)

from helpers import large_from, run_dowse, write_tree


@pytest.mark.parametrize("kind", large_from(0, KINDS))
def test_a_small_index_answers_whatever_the_settings(kind, tmp_path):
    rows = pairwise({**INDEX_VALUES, **SEARCH_VALUES})
    rows.sort(key=lambda row: [str(row[name]) for name in INDEX_VALUES])
    problems = {}
    for built, group in itertools.groupby(rows, lambda row: {name: row[name] for name in INDEX_VALUES}):
        with make_index(kind, tmp_path, built) as index:
            for row in group:
                if said := problem(index, {name: row[name] for name in SEARCH_VALUES}):
                    problems[str(row)] = said
    assert not problems


def test_indexing_and_searching_code_without_documentation(tmp_path):
    root = write_tree(tmp_path / "tree", {"a.py": "def task(x):\n    return x\n\n\ndef other():\n    pass\n"})
    flags = ("--index-dir", tmp_path / "index", "--encoder", "small")
    done = run_dowse("index", root, *flags)
    assert (done.returncode, done.stderr) == (0, "")
    done = run_dowse("search", "task", root, *flags, "--mode", "embedding")
    assert done.returncode == 0 and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["search", "callers", "status"])
def test_commands_on_a_folder_with_nothing_in_it(tmp_path: Path, command):
    (tmp_path / "empty").mkdir()
    words = [] if command == "status" else ["anything"]
    for _ in range(2):
        done = run_dowse(
            command, *words, tmp_path / "empty", "--index-dir", tmp_path / "index", DOWSE_ENCODER="small"
        )
        assert done.returncode in (0, 1, 2) and "Traceback" not in done.stderr
