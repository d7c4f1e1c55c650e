"""Lexical scopes in one file: parameters, local variables and nested functions."""

from __future__ import annotations

from bisect import bisect_right
from heapq import heappop, heappush

from dowse.lazy_classes import NamedTuple
from dowse.storage.protocol import FileSymbol
from dowse.types import TYPE_KINDS, Fact


class LocalBinding(NamedTuple):
    """One binding of a name, and the lines of its scope."""

    first: int
    last: int
    fact: Fact | None  # its import, type or value
    symbol: FileSymbol | None  # or the nested function that has the name


# Scopes around a line that are searched for a receiver: lambdas in lambdas.
_MAX_RECEIVERS = 8
# Bindings of one name in one scope that are kept: with more, its value is unknown anyway.
_MAX_BINDINGS = 50


class _NameScopes:
    """The scopes of one name; the innermost one at a line is found by binary search."""

    __slots__ = ("_bounds", "_depth", "_innermost", "_seen", "_spans")

    def __init__(self, depth: int = 1) -> None:
        self._depth = depth  # scopes that are kept at each line
        self._spans: dict[tuple[int, int], list[LocalBinding]] = {}
        self._seen: set[tuple[object, ...]] = set()
        self._bounds: list[int] | None = None  # lines at which the innermost scope changes
        self._innermost: list[list[list[LocalBinding]]] = []

    def add(self, binding: LocalBinding) -> None:
        """Add a binding, without duplicates."""
        fact = binding.fact
        identity = (binding.first, binding.last, *(fact[:4] if fact else (binding.symbol,)))
        bindings = self._spans.setdefault((binding.first, binding.last), [])
        if identity not in self._seen and (fact is None or len(bindings) < _MAX_BINDINGS):
            self._seen.add(identity)
            bindings.append(binding)

    def at(self, line: int) -> list[list[LocalBinding]]:
        """Return the bindings of the scopes around a line, from the inside out."""
        index = self.index(line)
        return self._innermost[index] if index >= 0 else []

    def index(self, line: int) -> int:
        """Return a number that lines in the same scopes share."""
        if self._bounds is None:
            self._bounds = self._sweep()
        return bisect_right(self._bounds, line) - 1

    def _sweep(self) -> list[int]:
        """Sweep over the lines where scopes start or end; keep the shortest scopes around each."""
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

    def _shortest(self, around: list[tuple[int, int]], line: int) -> list[list[LocalBinding]]:
        """Return the bindings of the shortest scopes at a line; scopes of one length may overlap."""
        shortest: list[list[LocalBinding]] = []
        put_back: list[tuple[int, int]] = []
        while around and (len(shortest) < self._depth or around[0][0] == put_back[-1][0]):
            length, last = heappop(around)
            if last >= line:
                if not put_back or length != put_back[-1][0]:
                    shortest.append([])
                put_back.append((length, last))
                shortest[-1] += self._spans[last - length, last]
        for each in put_back:
            heappush(around, each)
        return shortest


class LocalScopes:
    """The local scopes of a file, by name."""

    def __init__(
        self, symbols: list[FileSymbol], facts: list[Fact], remainder: int, sigil: str = "$"
    ) -> None:
        self._ranges = _ranges(symbols)
        self._names: dict[str, _NameScopes] = {}
        self._classes = {
            s.qualified_name
            for index, s in enumerate(symbols)
            if s.kind in TYPE_KINDS or (s.kind == "module" and index != remainder)
        }
        self._symbols, self._remainder = symbols, remainder
        for fact in facts:
            first, last = fact.first, fact.last
            if not first:
                first, last = self._ranges[fact.owner] if 0 <= fact.owner < len(symbols) else (1, 1 << 30)
            self._add(fact.name.lstrip(sigil) if sigil else fact.name, LocalBinding(first, last, fact, None))
        self._add_functions(symbols, remainder)

    def _add_functions(self, symbols: list[FileSymbol], remainder: int) -> None:
        """Bind nested functions in the function around them."""
        functions = {
            s.qualified_name: self._ranges[i]
            for i, s in enumerate(symbols)
            if s.kind in ("function", "method") and not s.part
        }
        for index, symbol in enumerate(symbols):
            if symbol.part or index == remainder or symbol.kind == "method":
                continue  # a method of an object literal is no name of the function around it
            scope = functions.get(symbol.qualified_name.rpartition(".")[0])
            if scope and scope[0] <= symbol.first <= scope[1]:
                self._add(symbol.name, LocalBinding(*scope, None, symbol))

    def _add(self, name: str, binding: LocalBinding) -> None:
        scopes = self._names.get(name)
        if scopes is None:
            scopes = self._names[name] = _NameScopes(_MAX_RECEIVERS if name == "this" else 1)
        scopes.add(binding)

    def binds(self, name: str) -> bool:
        """Whether any function of the file binds a name."""
        return name in self._names

    def lookup(self, name: str, line: int) -> list[LocalBinding]:
        """Return the bindings of a name in the innermost scope at a line."""
        scopes = self._names.get(name)
        around = scopes.at(line) if scopes else []
        return around[0] if around else []

    def receivers(self, line: int) -> list[list[LocalBinding]]:
        """Return the bindings of `this` around a line, from the inside out."""
        scopes = self._names.get("this")
        return scopes.at(line) if scopes else []

    def receiver_index(self, line: int) -> int:
        """Return a number that lines with the same receivers share."""
        scopes = self._names.get("this")
        return scopes.index(line) if scopes else -1

    def lines_of(self, owner: int) -> tuple[int, int]:
        """Return the first and the last line of a symbol."""
        return self._ranges[owner] if 0 <= owner < len(self._ranges) else (0, 1 << 30)

    def enclosing_class(self, owner: int) -> str:
        """Return the qualified name of the class that a definition is or is in, "" for none."""
        if not 0 <= owner < len(self._symbols):
            return ""
        symbol = self._symbols[owner]
        name = symbol.qualified_name
        if symbol.kind in TYPE_KINDS or (
            symbol.kind == "module" and name in self._classes and owner != self._remainder
        ):
            return name
        outer = name.rpartition(".")[0]
        while outer and outer not in self._classes:
            outer = outer.rpartition(".")[0]
        return outer or (name.rpartition(".")[0] if symbol.kind == "method" else "")

    def enclosing_function(self, owner: int) -> str:
        """Return the qualified name of a JavaScript function, which is the class of its `this`."""
        symbol = self._symbols[owner] if 0 <= owner < len(self._symbols) else None
        return (
            symbol.qualified_name if symbol and symbol.kind == "function" and owner != self._remainder else ""
        )


def _ranges(symbols: list[FileSymbol]) -> list[tuple[int, int]]:
    """Return the first and last line of every symbol, with those of its later parts."""
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
