"""Checks of the files and symbols in a snapshot: everything that catalog, graph and searches rely on."""

from __future__ import annotations

import binascii
from base64 import b64decode

from dowse.damage import BrokenBlock
from dowse.graph.symbol_table import decode_symbol_table
from dowse.security.limited_json import count_elements
from dowse.source.roles import ROLES
from dowse.storage.compression import unpack, unpacked_size
from dowse.storage.local.graph_tables import REFERENCE_KINDS, unpack_columns
from dowse.transfer import checks
from dowse.transfer.checks import FRAME_BYTES, PACKED_BYTES, PACKED_ELEMENTS, BrokenSnapshot, Budget, Check

_HASH_DIGITS = 32
_KEY_CHARACTERS = 4_096
_NAME_CHARACTERS = 100_000
_LINES = 1 << 31
_SIZE = 1 << 62  # of a file that was read, even if its text was not indexed
# Cutting documentation out of a symbol's text takes time proportional to the product of both counts.
_SPAN_PAIRS = 4_000_000


def _any(_: object) -> None:
    """Accept a field that is checked together with others."""


_FILE: dict[str, Check] = {
    "key": checks.text(_KEY_CHARACTERS, 1),
    "repo": checks.line(1_000),
    "path": _any,
    "language": checks.line(100),
    "role": checks.choice(("", *ROLES)),
    "size": checks.integer(0, _SIZE),
    "mtime_ns": checks.integer(),
    "content_hash": checks.hexadecimal(_HASH_DIGITS),
    "encoding": checks.line(100),
    "lines": checks.integer(0, _LINES),
    "problem": checks.text(_NAME_CHARACTERS),
    "text": checks.string(lambda value: len(value) <= FRAME_BYTES, "no text"),
    "references": _any,
    "facts": _any,
    "offers": checks.integers(1_000_000),
    "marks": checks.integers(1_000_000),
    "symbols": _any,
}
_SYMBOL: dict[str, Check] = {
    "key": checks.text(_KEY_CHARACTERS, 1),
    "kind": checks.pattern(r"[a-z][a-z_-]{0,31}"),
    "name": checks.text(_NAME_CHARACTERS),
    "qualified_name": checks.text(_NAME_CHARACTERS),
    "start_line": checks.integer(1, _LINES),
    "end_line": checks.integer(1, _LINES),
    "signature": checks.text(_NAME_CHARACTERS),
    "doc": checks.text(FRAME_BYTES),
    "spans": _any,
    "content_hash": checks.hexadecimal(_HASH_DIGITS),
    "doc_spans": _any,
    "part": checks.integer(0, 1_000_000),
    "scope_key": checks.integer(),
    "name_key": checks.integer(),
    "overrides": checks.boolean,
    "vector_key": checks.hexadecimal(_HASH_DIGITS),
}


def check_file(value: object, is_corpus: bool, budget: Budget) -> None:
    """Check a file with all its symbols."""
    file = checks.check_fields(value, _FILE, "a file")
    if not (is_corpus and file["path"] == ""):  # functions of a corpus need no path
        checks.relative_path(file["path"])
    if not is_corpus and file["key"] != file["path"]:
        raise BrokenSnapshot("a file has another key than its path")
    size, lines = len(file["text"].encode()), file["text"].count("\n") + 1
    if file["lines"] > lines:
        raise BrokenSnapshot("a file has more lines than its text")
    symbols = file["symbols"]
    if type(symbols) is not list:
        raise BrokenSnapshot("a file has no list of symbols")
    for symbol in symbols:
        _check_symbol(symbol, size, lines, budget)
    _check_references(_unpackable(file["references"], budget), size, lines)
    _check_facts(_unpackable(file["facts"], budget))


def _check_symbol(value: object, size: int, lines: int, budget: Budget) -> None:
    symbol = checks.check_fields(value, _SYMBOL, "a symbol")
    if not symbol["start_line"] <= symbol["end_line"] <= lines:
        raise BrokenSnapshot("a symbol has lines that its file does not have")
    covered = _check_spans(symbol["spans"], size)
    _check_spans(symbol["doc_spans"], size)
    if len(symbol["spans"]) * len(symbol["doc_spans"]) > _SPAN_PAIRS:
        raise BrokenSnapshot("a symbol has too many spans")
    # Terms are computed from it again: many symbols that all span a large text would take hours.
    budget.spend(covered)


def _check_spans(spans: object, size: int) -> int:
    """Accept ranges within a text, in order and disjoint; return how many bytes they cover."""
    if type(spans) is not list:
        raise BrokenSnapshot("a symbol has no list of spans")
    last = covered = 0
    for span in spans:
        if type(span) is not list or len(span) != 2 or type(span[0]) is not int or type(span[1]) is not int:
            raise BrokenSnapshot("a span is no pair of numbers")
        if not last <= span[0] <= span[1] <= size:
            raise BrokenSnapshot("spans lie outside the text, or out of order")
        covered += span[1] - span[0]
        last = span[1]
    return covered


def _unpackable(value: object, budget: Budget) -> bytes:
    """Return compressed bytes, after a check of the size that they claim to unpack to."""
    try:
        if type(value) is not str:
            raise ValueError
        packed = b64decode(value.encode("ascii"), validate=True)
        size = unpacked_size(packed) if packed else 0
    except (ValueError, binascii.Error, BrokenBlock):
        raise BrokenSnapshot("references or facts of a file can't be unpacked") from None
    if size > PACKED_BYTES:
        raise BrokenSnapshot("references or facts of a file are too large")
    budget.spend(size)
    return packed


def _check_references(packed: bytes, size: int, lines: int) -> None:
    if not packed:
        return
    try:
        count, words, numbers = unpack_columns(packed)
    except BrokenBlock:
        raise BrokenSnapshot("references of a file can't be read") from None
    if not REFERENCE_KINDS.issuperset(words[:count]):
        raise BrokenSnapshot("a reference is of no known kind")
    for column, largest in ((numbers[:count], lines), (numbers[count : 2 * count], size)):
        if not 0 <= min(column) <= max(column) <= largest:
            raise BrokenSnapshot("a reference stands outside its file")


def _check_facts(packed: bytes) -> None:
    if not packed:
        return
    try:
        # Parsed facts take up to a hundred times the memory of their text.
        data = unpack(packed)
        if count_elements(data, PACKED_ELEMENTS) > PACKED_ELEMENTS:
            raise BrokenSnapshot("a file has too many facts")
        exported, local, remainder = decode_symbol_table(data)
    except BrokenBlock:
        raise BrokenSnapshot("facts of a file can't be read") from None
    number = checks.integer(-1, _LINES)
    number(remainder)
    for fact in local:
        if set(map(type, fact[:4])) != {str}:
            raise BrokenSnapshot("a fact is no text")
        for each in fact[4:]:
            number(each)
    for facts in exported.values():
        if type(facts) is not list or any(type(each) is not list or len(each) != 3 for each in facts):
            raise BrokenSnapshot("facts are not of the form that dowse writes")
        if any(set(map(type, each)) != {str} for each in facts):
            raise BrokenSnapshot("a fact is no text")
