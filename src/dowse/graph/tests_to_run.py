"""The tests among what a change touches: which are doubtful, which are named after the changed file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dowse.graph.model import RELATIONS, GraphStep
from dowse.graph.traverse import MAX_FOLLOWED_CANDIDATES, Traversal
from dowse.storage.protocol import Reader
from dowse.types import Note, SymbolRow, is_test

# Symbols at the last hop whose references are counted.
_MAX_LAST = 500
# `test_cart.py`, `cart_test.go`, `CartTest.java`, `cart.spec.ts`, `spec_cart.rb` test `cart`.
_TEST_MARK = re.compile(r"^(?:tests?|spec)[_.-]|[_.-](?:tests?|spec)$|(?<=[a-z0-9])Tests?$|^Test(?=[A-Z])")
_NAMES = ("test_{}", "{}_test", "{}Test", "{}Tests", "Test{}", "{}.test", "{}.spec", "{}_spec", "spec_{}")


def is_doubtful(step: GraphStep) -> bool:
    """Whether a step is a test that has only a name in common with the change, as many symbols have."""
    return step.is_test and not step.is_sure and step.edge.candidates > MAX_FOLLOWED_CANDIDATES


def tests_file_of(path: str, seed: SymbolRow) -> bool:
    """Whether a file is named as the tests of the file of a symbol."""
    return path != seed.path and _TEST_MARK.sub("", _stem(path)) == _stem(seed.path)


def impact_notes(
    reader: Reader,
    seed: SymbolRow,
    traversal: Traversal,
    steps: Sequence[GraphStep],
    left_out: int,
    depth: int,
) -> list[Note]:
    """Say which tests are left out, which files may be tests beside, and where the search stopped."""
    notes = []
    if left_out:
        text = (
            f"{left_out:,} tests are left out: they name one of more than {MAX_FOLLOWED_CANDIDATES} symbols"
        )
        notes.append(Note("truncated", f"{text} of that name", "-k 0 gives all"))
    known = {step.symbol.path for step in steps}
    if named := [path for path in _named_tests(reader, seed) if path not in known]:
        text = f"named after {seed.path}, and not known to use {seed.qualified_name}: {', '.join(named[:5])}"
        notes.append(Note("graph", text))
    if count := _further(reader, traversal, {seed.row}, depth):
        text = f"stopped after {depth} steps; at least {count:,} more symbols use what is there"
        notes.append(Note("truncated", text, f"--depth {depth + 1} goes on"))
    return notes


def _named_tests(reader: Reader, seed: SymbolRow) -> list[str]:
    """Return the test files that are named after the file of a symbol."""
    if is_test(seed):
        return []
    endings = [name.format(_stem(seed.path)) + _suffix(seed.path) for name in _NAMES]
    files = {file.path: file for ending in endings for file in reader.files_with_suffix(ending)}
    return sorted(path for path, file in files.items() if file.role == "test" and tests_file_of(path, seed))


def _further(reader: Reader, traversal: Traversal, seeds: set[int], depth: int) -> int:
    """Return how many symbols refer to those at the last hop and were not reached."""
    last = [step.symbol.row for step in traversal.reached if step.depth == depth and not is_test(step.symbol)]
    if not last:
        return 0
    reached = {step.symbol.row for step in traversal.reached} | seeds
    edges = reader.edges(last[:_MAX_LAST], RELATIONS["impact"].kinds, incoming=True)
    sure = {edge.source for edge in edges if edge.candidates <= MAX_FOLLOWED_CANDIDATES}
    return len(sure - reached)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(_suffix(path))


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if name.rfind(".") > 0 else ""
