"""What a warm keyword search does beside ranking: the same few operations, however many files there are."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dowse import Index
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.fulltext import FulltextReader

QUERIES = ["parse the header value", "value of a header", "where headers are written", "write header: value"]
# A transaction, its generation, the name that words may be, rows of candidates, what their rows leave out,
# texts; in mode auto one more.
_MAX_STATEMENTS = 7
# Whether the catalog is the one that is open, and whether there is feedback.
_MAX_FILES_LOOKED_AT = 2
# Sequences of words that a message may be known by.
_MAX_TRIGRAM_QUERIES = 4


def _index(folder: Path, files: int) -> Index:
    """Index so many files of two functions each."""
    tree = folder / "tree"
    tree.mkdir(parents=True)
    for number in range(files):
        parse = f"def parse_header_{number}(value):\n    return value.strip()\n"
        write = f"def write_header_{number}(value):\n    print(value)\n"
        (tree / f"module_{number}.py").write_text(f"{parse}\n\n{write}")
    index = Index.open(tree, index_dir=folder / "index", encoder="none")
    index.update()
    return index


@contextmanager
def _counted(index: Index, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Count the statements, files looked at, and terms and trigram queries that reach the text indexes."""
    counts: Counter[str] = Counter()
    assert isinstance(index.backend, LocalBackend)
    (catalog,) = index.backend._idle
    look, frequency, search = os.stat, FulltextReader._read_frequency, FulltextReader._file_ids

    def counting_stat(*arguments: object, **options: object) -> os.stat_result:
        counts["files"] += 1
        return look(*arguments, **options)  # type: ignore[arg-type]

    def counting_frequency(self: FulltextReader, field: str, term: str) -> int:
        counts["terms"] += 1
        return frequency(self, field, term)

    def counting_trigrams(self: FulltextReader, *arguments: object) -> list[int]:
        counts["trigrams"] += 1
        return search(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", counting_stat)
        patched.setattr(FulltextReader, "_read_frequency", counting_frequency)
        patched.setattr(FulltextReader, "_file_ids", counting_trigrams)
        catalog.connection.set_trace_callback(lambda _: counts.update(["statements"]))
        yield counts
        catalog.connection.set_trace_callback(None)


@pytest.mark.parametrize("mode", ["auto", "keyword"])
def test_a_warm_search_does_the_same_few_operations_in_any_number_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Each first query of an open index may read terms; nothing it does grows with the files."""
    by_size = []
    for files in (5, 60):
        with _index(tmp_path / str(files), files) as index:
            index.search("warm up", mode=mode)
            each = []
            for query in QUERIES:
                with _counted(index, monkeypatch) as counts:
                    assert index.search(query, 5, mode=mode).hits
                each.append(counts)
        by_size.append(each)
    small, large = by_size
    for before, after in zip(small, large, strict=True):
        assert after["statements"] <= _MAX_STATEMENTS + (mode == "auto")
        assert after["files"] <= _MAX_FILES_LOOKED_AT
        assert after["trigrams"] <= _MAX_TRIGRAM_QUERIES
        for what in ("files", "terms", "trigrams"):
            assert after[what] <= before[what]


def test_a_repeated_search_asks_for_no_term_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _index(tmp_path, 5) as index:
        for query in QUERIES:
            index.search(query)
        with _counted(index, monkeypatch) as counts:
            for query in QUERIES:
                index.search(query)
    assert counts["terms"] == 0
