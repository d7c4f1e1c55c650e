"""Baselines without a program: the same answer to all queries, and BM25 of SQLite FTS5."""

from __future__ import annotations

import re
import sqlite3
import weakref
from collections.abc import Iterator

from dowse.errors import EvalError
from dowse.eval.matching import to_search_result
from dowse.eval.types import RankedSearch, SearchResult
from dowse.index import Index
from dowse.types import Symbol

_TABLE = "CREATE VIRTUAL TABLE symbols USING fts5 (name, path, text, tokenize = 'porter unicode61')"
# Symbols whose texts are held at once.
_BATCH = 2_000
# A query with more distinct words is a document; SQLite limits the depth of expressions.
_MAX_WORDS = 200


def fts5(index: Index) -> RankedSearch:
    """Index symbols with SQLite: Porter stemming, any word of the query, BM25 ranking."""
    base = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        base.execute(_TABLE)
    except sqlite3.OperationalError as error:
        raise EvalError(f"this Python's SQLite has no FTS5 ({error}); use a Python that has it") from error
    results: list[SearchResult] = []
    for symbol in all_symbols(index):
        results.append(to_search_result(symbol))
        row = (len(results), symbol.qualified_name, symbol.path, symbol.code)
        base.execute("INSERT INTO symbols (rowid, name, path, text) VALUES (?, ?, ?, ?)", row)

    def search(query: str, k: int) -> list[SearchResult]:
        words = list(dict.fromkeys(re.findall(r"\w+", query.lower())))[:_MAX_WORDS]
        if not words:
            return []
        wanted = " OR ".join(f'"{word}"' for word in words)
        rows = base.execute(
            "SELECT rowid FROM symbols WHERE symbols MATCH ? ORDER BY rank, rowid LIMIT ?", (wanted, k)
        )
        return [results[row - 1] for (row,) in rows]

    weakref.finalize(search, base.close)
    return search


def all_symbols(index: Index) -> Iterator[Symbol]:
    """Give all symbols in an order that does not depend on how they were indexed."""
    with index.backend.reader() as reader:
        files = sorted(reader.files(), key=lambda file: (file.repo, file.path))
        rows = reader.rows_of_files([file.file_id for file in files])
        for start in range(0, len(rows), _BATCH):
            yield from reader.symbols(rows[start : start + _BATCH])
