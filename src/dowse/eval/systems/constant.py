"""The constant baseline: the same answer to all queries, the largest first. A tool must do better."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dowse.eval.index_symbols import read_symbol_lines, symbol_result
from dowse.eval.systems.system import System, open_index
from dowse.eval.types import SearchResult
from dowse.index import Index


def constant(place: Index | str | Path, *, exclude: Iterable[str] = (), level: str = "file") -> System:
    """Return the baseline that answers with the files of most symbols, or with the longest symbols.

    Args:
        place: An index, whose files are taken as they are, or a folder.
        exclude: What to leave out of a folder, written as in .gitignore.
        level: "file" or "symbol".
    """
    with open_index(place, exclude) as index:
        found = _longest_symbols(index) if level == "symbol" else _largest_files(index)
    about = (
        f"the same for every question: {'longest symbols' if level == 'symbol' else 'largest files'} first"
    )
    return System("constant", about, lambda _, k: found[:k])


def _largest_files(index: Index) -> list[SearchResult]:
    files = sorted(index.files(), key=lambda file: (-file.symbols, file.path))
    return [SearchResult(file.path, repo=file.repo) for file in files]


def _longest_symbols(index: Index) -> list[SearchResult]:
    rows = [row for each in read_symbol_lines(index).rows.values() for row in each]
    rows.sort(key=lambda row: (row.start_line - row.end_line, row.path, row.start_line, row.key))
    return [symbol_result(row) for row in rows]
