"""The reading baselines: ripgrep, and reading the whole files it lists, or windows around the matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest

from dowse.eval.index_symbols import read_symbol_lines
from dowse.eval.systems.mirror import Mirror, mirror
from dowse.eval.systems.ripgrep import (
    Lines,
    content_words,
    find_ripgrep,
    matching_lines,
    passages,
    rank_files,
    rank_symbols,
    ripgrep_version,
)
from dowse.eval.systems.system import System
from dowse.eval.types import SearchResult
from dowse.index import Index

WHOLE, WINDOW = "rg+read", "rg+window"
# Lines read before and after matches, as by `rg -C 5`. Chosen in favour of ripgrep, on the dev split:
# with 3 some more targets and fewer of their lines are read, with 10 and 20 fewer targets.
AROUND = 5
# Files whose names are seen at once: the agent looks at the head of the list before it opens any.
LISTED = 10


def ripgrep_reading(index: Index, name: str) -> System:
    """Prepare what an agent reads that has ripgrep alone, in reading order.

    Files come in the order of the row `ripgrep`: most words of the query first, then most matches. This
    favours the baseline: ripgrep prints files unordered, and the list of all matches costs nothing here.
    Whole files are read from top to bottom. Windows are close matches and some lines around them, first the
    best window of every file, then the second of each, and so on. Entries of a corpus are read whole.

    Args:
        index: What may be read.
        name: `rg+read` or `rg+window`.
    """
    program, copy = find_ripgrep(), mirror(index)
    symbols = read_symbol_lines(index) if copy.corpus else None
    order = _windows if name == WINDOW else _files

    def search(query: str, k: int) -> list[SearchResult]:
        found = matching_lines(program, copy, content_words(query))
        return rank_symbols(found, copy, symbols)[:k] if symbols else list(islice(order(found, copy), k))

    how = f"windows of {AROUND} lines around matches" if name == WINDOW else "whole files"
    return System(name, f"{ripgrep_version(program)}; {how}, by distinct content words, then matches", search)


def _files(found: Mapping[str, Lines], copy: Mirror) -> Iterator[SearchResult]:
    for name in rank_files(found, copy):
        yield SearchResult(copy.files[name].path, repo=copy.files[name].repo)


def _windows(found: Mapping[str, Lines], copy: Mirror) -> Iterator[SearchResult]:
    """Give windows that do not overlap, the best of every file first."""
    names = rank_files(found, copy)
    # Closer passages are one, or their surroundings would be read twice.
    rounds = zip_longest(*(passages(found[name], 2 * AROUND) for name in names))
    for windows in rounds:
        for name, window in zip(names, windows, strict=True):
            if window is not None:
                first, last = max(1, window.first - AROUND), window.last + AROUND
                yield SearchResult(copy.files[name].path, "", first, last, repo=copy.files[name].repo)
