"""The references of one file by a compiler's index, as they are stored between import and linking."""

from __future__ import annotations

import json
from typing import NamedTuple

from dowse.storage.protocol import BrokenBlock

# The key of a symbol with the path of its file.
TargetKey = tuple[str, str]


class Implementation(NamedTuple):
    """A type that implements another, by the compiler: known from its definition."""

    source: str  # key of the symbol
    line: int
    column: int
    target: TargetKey


class CompiledReferences(NamedTuple):
    """What the compiler's index says about a file."""

    # Line and column → the symbols that are meant there; none if it is no symbol of the index.
    sites: dict[tuple[int, int], list[TargetKey]]
    imports: set[tuple[int, int]]  # those of the sites that are in import statements
    # Those where a variable, a field or a method outside the index is meant: it may run one of ours.
    dispatched: set[tuple[int, int]]
    implementations: list[Implementation]


def encode_compiled(references: CompiledReferences) -> bytes:
    """Return the references as JSON, each target once."""
    numbers: dict[TargetKey, int] = {}

    def number(target: TargetKey) -> int:
        return numbers.setdefault(target, len(numbers))

    sites = [
        [*site, int(site in references.imports) + 2 * (site in references.dispatched), *map(number, targets)]
        for site, targets in sorted(references.sites.items())
    ]
    implementations = [
        [each.source, each.line, each.column, number(each.target)] for each in references.implementations
    ]
    return json.dumps([list(numbers), sites, implementations], separators=(",", ":")).encode()


def decode_compiled(data: bytes) -> CompiledReferences | None:
    """Return encoded references, None for none; raises BrokenBlock if the data is not of that form."""
    if not data:
        return None
    try:
        pairs, sites, implementations = json.loads(data)
        targets = [(str(path), str(key)) for path, key in pairs]
        return CompiledReferences(
            {(line, column): [targets[n] for n in numbers] for line, column, _, *numbers in sites},
            {(line, column) for line, column, flags, *_ in sites if flags & 1},
            {(line, column) for line, column, flags, *_ in sites if flags & 2},
            [Implementation(source, line, column, targets[n]) for source, line, column, n in implementations],
        )
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise BrokenBlock(str(error)) from error
