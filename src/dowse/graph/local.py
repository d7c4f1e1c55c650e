"""What names mean inside the functions of one file: parameters, variables, functions in functions."""

from __future__ import annotations

from typing import NamedTuple

from dowse.kinds import TYPES
from dowse.store.graph_tables import OwnSymbol
from dowse.types import Fact


class LocalName(NamedTuple):
    """A name in the lines where it holds."""

    first: int
    last: int
    fact: Fact | None  # what is said of it
    symbol: OwnSymbol | None  # or the function that it is


class LocalNames:
    """The local names of a file, by name."""

    def __init__(self, symbols: list[OwnSymbol], facts: list[Fact], remainder: int) -> None:
        self._ranges = _ranges(symbols)
        self._names: dict[str, list[LocalName]] = {}
        self._classes = {
            s.qualified_name
            for index, s in enumerate(symbols)
            if s.kind in TYPES or (s.kind == "module" and index != remainder)
        }
        self._symbols, self._rest = symbols, remainder
        for fact in facts:
            first, last = fact.first, fact.last
            if not first:
                first, last = self._ranges[fact.owner] if 0 <= fact.owner < len(symbols) else (1, 1 << 30)
            self._names.setdefault(fact.name.lstrip("$"), []).append(LocalName(first, last, fact, None))
        self._add_functions(symbols, remainder)

    def _add_functions(self, symbols: list[OwnSymbol], remainder: int) -> None:
        """Functions in functions are known only there."""
        homes = {
            s.qualified_name: self._ranges[i]
            for i, s in enumerate(symbols)
            if s.kind in ("function", "method") and not s.part
        }
        for index, symbol in enumerate(symbols):
            if symbol.part or index == remainder:
                continue
            home = homes.get(symbol.qualified_name.rpartition(".")[0])
            if home and home[0] <= symbol.first <= home[1]:
                self._names.setdefault(symbol.name, []).append(LocalName(*home, None, symbol))

    def knows(self, name: str) -> bool:
        """Whether any function of the file binds a name."""
        return name in self._names

    def lookup(self, name: str, line: int) -> list[LocalName]:
        """What holds for a name at a line: the innermost only."""
        around = [each for each in self._names.get(name, ()) if each.first <= line <= each.last]
        if not around:
            return []
        least = min(each.last - each.first for each in around)
        return [each for each in around if each.last - each.first == least]

    def class_around(self, owner: int) -> str:
        """The qualified name of the class that a definition is or is in, "" for none."""
        if not 0 <= owner < len(self._symbols):
            return ""
        symbol = self._symbols[owner]
        name = symbol.qualified_name
        if symbol.kind in TYPES or (
            symbol.kind == "module" and name in self._classes and owner != self._rest
        ):
            return name
        above = name.rpartition(".")[0]
        while above and above not in self._classes:
            above = above.rpartition(".")[0]
        return above or (name.rpartition(".")[0] if symbol.kind == "method" else "")

    def function_around(self, owner: int) -> str:
        """The qualified name of the function that is a class for its `this`, in JavaScript."""
        symbol = self._symbols[owner] if 0 <= owner < len(self._symbols) else None
        return symbol.qualified_name if symbol and symbol.kind == "function" and owner != self._rest else ""


def _ranges(symbols: list[OwnSymbol]) -> list[tuple[int, int]]:
    """The lines of every symbol, those of its later parts included."""
    ranges: list[tuple[int, int]] = []
    start = 0
    for index, symbol in enumerate(symbols):
        if not symbol.part:
            start = index
        ranges.append((symbols[start].first, symbol.last))
    for index in range(len(symbols) - 1, 0, -1):
        if symbols[index].part:
            ranges[index - 1] = (ranges[index - 1][0], max(ranges[index - 1][1], ranges[index][1]))
    return ranges
