"""Pooling: the union of the best results of several searches, to be judged blind."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from dowse.errors import EvalError
from dowse.eval.configurations import COMPARED, parse_configuration
from dowse.eval.datasets.lines import check_encoding, plain_text, read_lines
from dowse.eval.matching import to_search_result
from dowse.eval.run import make_search, runnable_configurations
from dowse.eval.types import Search, SearchResult
from dowse.index import Index
from dowse.security.limited_json import count_elements
from dowse.security.safe_files import read_regular_file, resolve_inside
from dowse.types import Hit

POOL_DEPTH = 10
# Lines of each result that are shown: enough to judge a function by, and a screen holds it.
_SHOWN = 16
_WIDTH = 140
_MAX_BYTES = 10_000_000
_MAX_VALUES = 100_000  # of an object with one query
# Kinds of characters that move the cursor, turn text around, end a line, or can't be written.
_UNSHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Item:
    """One pooled result; which search found it and at which rank is left out on purpose."""

    path: str = ""
    symbol: str = ""
    start_line: int = 0
    end_line: int = 0
    kind: str = ""
    lines: tuple[tuple[int, str], ...] = ()  # the first of its text, with their numbers
    id: str = ""  # of an entry of a corpus that has no path

    @property
    def key(self) -> str:
        """Its unique name among the results of a query."""
        if self.path and self.symbol:
            return f"{self.path}::{self.symbol}"
        if self.path:
            return f"{self.path}#{self.start_line}-{self.end_line}" if self.start_line else self.path
        return self.symbol or self.id

    @property
    def location(self) -> str:
        """Its location as editors write it: `path:line`."""
        line = f":{self.start_line}" if self.path and self.start_line else ""
        return (self.path or self.id) + line


@dataclass(frozen=True, slots=True)
class Question:
    """A query with its pool, in an order that does not depend on ranks."""

    id: str
    query: str
    items: tuple[Item, ...]


def read_queries(path: str | Path) -> list[str]:
    """Read queries, one a line, or JSON objects with a "query"; duplicates are left out.

    A line that begins with a hash and a blank is a comment (`#include` may be a query).
    """
    queries = []
    check_encoding(Path(path))
    for number, line in read_lines(Path(path)):
        if line.startswith(b"# "):
            continue
        where = f"{path}:{number}"
        query = _object_query(line, where) if line.startswith(b"{") else line.decode("utf-8", "replace")
        queries.append(" ".join(query.split()))
    if not queries:
        raise EvalError(f"{path}: no questions; write one a line")
    return list(dict.fromkeys(queries))


def _object_query(line: bytes, where: str) -> str:
    if count_elements(line, _MAX_VALUES) > _MAX_VALUES:
        raise EvalError(f"{where}: too many values; write one question a line")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EvalError(
            f"{where}: not valid JSON ({error}); write one object or one question a line"
        ) from error
    query = plain_text(row.get("query"))
    if not query.strip():
        raise EvalError(f'{where}: no question; write its text under "query"')
    return query


def pool(
    searches: Index | Iterable[Search],
    queries: Iterable[str],
    k: int = POOL_DEPTH,
    *,
    root: Path | None = None,
    on_query: Callable[[int], None] = lambda _: None,
) -> list[Question]:
    """Run every query with every search and pool the first k results of each; an index has all its modes.

    With `root`, files are shown of which a search tells only path and lines.
    """
    if isinstance(searches, Index):
        index, root = searches, root or searches.root
        configurations = runnable_configurations(index, map(parse_configuration, COMPARED))
        searches = [make_search(index, each) for each in configurations]
    searches = list(searches)
    if not searches:
        raise EvalError("there is nothing to search with; name at least one configuration")
    questions = []
    for query in dict.fromkeys(queries):
        results = [result for search in searches for result in islice(search(query, k), k)]
        items = {item.key: item for result in reversed(results) if (item := _item(result, root)).key}
        name = _question_id(query)
        ordered = sorted(items.values(), key=lambda item: _digest(f"{name} {item.key}"))
        questions.append(Question(name, query, tuple(ordered)))
        on_query(len(questions))
    return questions


def _question_id(query: str) -> str:
    """Return the id of a query: a hash of its text alone, since its judgements come one by one."""
    return f"judge-{_digest(query)[:12]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _item(result: object, root: Path | None) -> Item:
    location = to_search_result(result)
    if isinstance(result, Hit):
        symbol = result.symbol
        return Item(*location[:4], symbol.kind, _shown(symbol.numbered_lines), location.id)
    return Item(*location[:4], "", _shown(read_lines_of(location, root)), location.id)


def read_lines_of(result: SearchResult, root: Path | None) -> list[tuple[int, str]]:
    """Return the lines of a result of which only the location is known."""
    if root is None or not result.path:
        return []
    try:
        data = read_regular_file(resolve_inside(root, result.path), _MAX_BYTES)
    except OSError:
        return []
    texts = data.decode("utf-8", "replace").split("\n")
    first = max(1, result.start_line)
    last = result.end_line or len(texts)
    return list(enumerate(texts[first - 1 : last], first))


def _shown(lines: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    full = [(number, _shown_code(text)) for number, text in lines]
    return tuple([(number, text) for number, text in full if text][:_SHOWN])


def _shown_code(text: str) -> str:
    """Return a line of code that can be shown: not too long, and nothing in it that steers a terminal."""
    plain = "".join("�" if unicodedata.category(c) in _UNSHOWN else c for c in text.expandtabs(4).rstrip())
    return plain if len(plain) <= _WIDTH else plain[: _WIDTH - 1] + "…"
