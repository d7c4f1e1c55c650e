"""What names mean inside the functions of one file: parameters, variables, functions in functions."""

from __future__ import annotations

from bisect import bisect_right
from heapq import heappop, heappush
from typing import NamedTuple

from dowse.kinds import TYPES
from dowse.storage.local.graph_tables import OwnSymbol
from dowse.types import Fact


class LocalName(NamedTuple):
    """A name in the lines where it holds."""

    first: int
    last: int
    fact: Fact | None  # what is said of it
    symbol: OwnSymbol | None  # or the function that it is


# Of a name that a function binds to more things than this, nobody can tell what it stands for.
_MAX_BINDINGS = 50


class _Scopes:
    """What holds for one name, by line; found in the time of a binary search."""

    __slots__ = ("_bounds", "_innermost", "_seen", "_spans")

    def __init__(self) -> None:
        self._spans: dict[tuple[int, int], list[LocalName]] = {}
        self._seen: set[tuple[object, ...]] = set()
        self._bounds: list[int] | None = None  # lines from which on something else holds
        self._innermost: list[list[LocalName]] = []

    def add(self, name: LocalName) -> None:
        """Take one binding; those that say the same as an earlier one are left out."""
        fact = name.fact
        says = (name.first, name.last, *(fact[:4] if fact else (name.symbol,)))
        held = self._spans.setdefault((name.first, name.last), [])
        if says not in self._seen and (fact is None or len(held) < _MAX_BINDINGS):
            self._seen.add(says)
            held.append(name)

    def at(self, line: int) -> list[LocalName]:
        """What holds at a line: the innermost only."""
        if self._bounds is None:
            self._bounds = self._sweep()
        index = bisect_right(self._bounds, line) - 1
        return self._innermost[index] if index >= 0 else []

    def _sweep(self) -> list[int]:
        """Go through all lines where a range starts or ends; keep the shortest ranges around each."""
        starts: dict[int, list[tuple[int, int]]] = {}
        for first, last in self._spans:
            starts.setdefault(first, []).append((last - first, last))
        bounds = sorted({line for first, last in self._spans for line in (first, last + 1)})
        around: list[tuple[int, int]] = []  # a heap of (length, last line)
        for line in bounds:
            for each in starts.get(line, ()):
                heappush(around, each)
            while around and around[0][1] < line:
                heappop(around)
            self._innermost.append(self._shortest(around, line))
        return bounds

    def _shortest(self, around: list[tuple[int, int]], line: int) -> list[LocalName]:
        """The bindings of the shortest ranges that hold at a line; ranges of one length may touch."""
        found: list[LocalName] = []
        put_back: list[tuple[int, int]] = []
        while around and (not put_back or around[0][0] == put_back[0][0]):
            length, last = heappop(around)
            if last >= line:
                put_back.append((length, last))
                found += self._spans[last - length, last]
        for each in put_back:
            heappush(around, each)
        return found


class LocalNames:
    """The local names of a file, by name."""

    def __init__(self, symbols: list[OwnSymbol], facts: list[Fact], remainder: int) -> None:
        self._ranges = _ranges(symbols)
        self._names: dict[str, _Scopes] = {}
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
            self._add(fact.name.lstrip("$"), LocalName(first, last, fact, None))
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
                self._add(symbol.name, LocalName(*home, None, symbol))

    def _add(self, name: str, found: LocalName) -> None:
        scopes = self._names.get(name)
        if scopes is None:
            scopes = self._names[name] = _Scopes()
        scopes.add(found)

    def knows(self, name: str) -> bool:
        """Whether any function of the file binds a name."""
        return name in self._names

    def lookup(self, name: str, line: int) -> list[LocalName]:
        """What holds for a name at a line: the innermost only."""
        scopes = self._names.get(name)
        return scopes.at(line) if scopes else []

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
