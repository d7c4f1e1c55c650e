"""Mentions of a name: lines with it that are not known to refer to the symbol, by the trigram index."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from dowse import deadline
from dowse.graph.model import Mention, is_sure, role_order
from dowse.graph.reachability import Bases, dispatching_method
from dowse.graph.traverse import Reached
from dowse.graph.type_hierarchy import is_constructor, is_type, members
from dowse.lazy_classes import NamedTuple
from dowse.storage.protocol import Reader
from dowse.storage.symbol_lines import SymbolLines, assign_to_symbols
from dowse.types import LineMatch, SymbolRow

if TYPE_CHECKING:
    from dowse.query.regex.matcher import Pattern

# Relations whose empty answer would deny a use.
RELATIONS_WITH_MENTIONS = ("callers", "uses", "impact")
# Mentions in an answer, unless all are asked for.
MENTION_LIMIT = 20
# Files that are read: a name in more of them is a common word.
_MAX_FILES = 5_000
# Characters of a longer line that are shown.
_EXCERPT = 200
# Languages in which `OpenIt` and `openit` name one function.
_CASE_INSENSITIVE = frozenset(["php"])
_PROSE = frozenset(["markdown", "text", "rst", "html"])


class Mentions(NamedTuple):
    """The lines that mention a symbol's name."""

    shown: tuple[Mention, ...] = ()  # code first, then tests, then prose
    total: int = 0
    is_complete: bool = True  # whether every file was read


def find_mentions(
    reader: Reader,
    relation: str,
    seeds: Sequence[SymbolRow],
    reached: Sequence[Reached],
    bases: Bases,
    limit: int = MENTION_LIMIT,
) -> Mentions:
    """Return the lines that mention the name of the seeds, if no reference to them is certain.

    Lines of their own definition, and of references to them that the traversal reached, are left out.
    """
    if relation not in RELATIONS_WITH_MENTIONS or reader.is_corpus or not seeds[0].name:
        return Mentions(is_complete=False)
    # What is farther away, or overrides the seeds, does not refer to them.
    direct = [step for step in reached if step.depth == 1 and step.edges[0].kind != "overrides"]
    if any(is_sure(step.edges[0]) and not dispatching_method(step, bases) for step in direct):
        return Mentions()
    pattern, own = _name_pattern(seeds), _own_rows(reader, seeds)
    known = {(edge.file_id, edge.line) for step in direct for edge in step.edges}
    known |= {(seed.file_id, seed.start_line) for seed in seeds if seed.row < 0}
    lines, is_complete = matching_lines(reader, pattern)
    own_files = {seed.file_id for seed in seeds}
    for (file_id, row), numbers in lines_by_symbol(reader, lines, own_files & lines.keys()).items():
        if row in own:
            known.update((file_id, number) for number in numbers)
    left = [
        (file, number) for file, numbers in lines.items() for number in numbers if (file, number) not in known
    ]
    files = {row.file_id: row for row in reader.file_rows(sorted({file for file, _ in left}))}
    left.sort(key=lambda place: (*file_order(files[place[0]]), place[1]))
    shown = _read(reader, pattern, left[:limit] if limit else left, files)
    return Mentions(tuple(shown), len(left), is_complete)


def _name_pattern(seeds: Sequence[SymbolRow]) -> Pattern:
    """Return the pattern of the seeds' names as whole words; a constructor is called by that of its class."""
    names = {seed.name for seed in seeds}
    names |= {seed.qualified_name.split(".")[-2] for seed in seeds if is_constructor(seed)}
    return word_pattern(sorted(names), folds=seeds[0].language in _CASE_INSENSITIVE)


def word_pattern(words: Sequence[str], *, folds: bool = False) -> Pattern:
    """Return the pattern of some words as whole words; `folds` ignores their case."""
    from dowse.query.regex.matcher import compile_pattern  # only when an answer needs mentions

    pattern = "|".join(map(_whole_word, words))
    return compile_pattern(pattern, case="insensitive" if folds else "sensitive")


def _whole_word(name: str) -> str:
    start = r"\b" if re.match(r"\w", name) else ""
    end = r"\b" if re.search(r"\w$", name) else ""
    return start + re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", name) + end  # others have no escape


def _own_rows(reader: Reader, seeds: Sequence[SymbolRow]) -> set[int]:
    """Return the rows whose lines define the seeds: a class and its constructor define each other."""
    own = {seed.row for seed in seeds}
    own |= {
        row.row for row in members(reader, [seed for seed in seeds if is_type(seed)]) if is_constructor(row)
    }
    owners = {seed.qualified_name.rpartition(".")[0] for seed in seeds if is_constructor(seed)}
    rows = reader.rows_of_files(sorted({seed.file_id for seed in seeds})) if owners else []
    return own | {row.row for row in rows if row.qualified_name in owners}


def matching_lines(reader: Reader, pattern: Pattern) -> tuple[dict[int, list[int]], bool]:
    """Return the numbers of matching lines by file, and whether every file was read."""
    from dowse.query.regex.trigrams import required_trigrams

    files = reader.trigram_candidates(required_trigrams(pattern))
    lines, is_complete = {}, reader.is_complete and len(files) <= _MAX_FILES
    for file_id, text in reader.texts(files[:_MAX_FILES]):
        deadline.check()
        if deadline.is_late():
            is_complete = False
            break
        if numbers := pattern.line_numbers(text):
            lines[file_id] = numbers
    return lines, is_complete


def lines_by_symbol(reader: Reader, lines: dict[int, list[int]], files: Collection[int]) -> SymbolLines:
    """Return lines of files under the innermost symbols around them."""
    by_symbol: SymbolLines = {}
    for file_id, extents in reader.symbol_ranges(sorted(files)):
        assign_to_symbols(file_id, extents, lines[file_id], by_symbol)
    return by_symbol


def file_order(file: SymbolRow) -> tuple[bool, int, str, str]:
    """Return a sort key of files: code first, then tests, then prose."""
    return file.language in _PROSE, role_order(file), file.repo, file.path


def _read(
    reader: Reader,
    pattern: Pattern,
    places: Sequence[tuple[int, int]],
    files: dict[int, SymbolRow],
) -> list[Mention]:
    """Return the text of lines, and the innermost symbol around each."""
    wanted: dict[int, list[int]] = {}
    for file, number in places:
        wanted.setdefault(file, []).append(number)
    rows = {
        (file, number): row
        for (file, row), numbers in lines_by_symbol(reader, wanted, wanted).items()
        for number in numbers
    }
    symbols = {row.row: row for row in reader.rows(sorted({row for row in rows.values() if row}))}
    mentions = []
    for file, numbers in wanted.items():
        for match in pattern.find_lines(reader.text(file)):
            if match.line not in numbers:
                continue
            symbol = symbols.get(rows.get((file, match.line), 0), files[file])
            mentions.append(Mention(symbol, match.line, _excerpt(match)))
    return mentions


def _excerpt(match: LineMatch) -> str:
    """Return a line, or of a long one what is around the name."""
    start = max(0, match.spans[0][0] - _EXCERPT // 2)
    text = match.text if len(match.text) <= _EXCERPT else match.text[start : start + _EXCERPT]
    return text.strip()
