"""Suggestions while a query is typed: symbol names, past queries, filters."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal

from dowse.lazy_classes import dataclass
from dowse.query.languages import KINDS, LANGUAGES
from dowse.services.symbol_names import NameTable, SymbolName, folder_order


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion."""

    kind: Literal["name", "query", "filter"]
    text: str  # to show
    query: str  # the whole query when it is accepted
    detail: str  # kind and location of a symbol, how often a query was asked, or what a filter does
    index: str = ""  # of a name
    id: str = ""  # of the symbol, if only one has the name


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggestions, best first."""

    query: str
    suggestions: list[Suggestion]
    took_ms: float


# The filters of the query language.
_FILTERS = {
    "lang": "only this language",
    "path": "only paths like this",
    "kind": "only this kind of symbol",
    "sym": "only symbols with a name like this",
    "repo": "only this repository",
    "case": "yes or no: whether case counts",
    "rev": "another branch, tag or commit",
}
# Letters of a word from which on names are suggested; filters need one.
_MIN_NAME_LETTERS = 2
# Limits for each kind, so that none crowds out the others.
_MAX_QUERIES, _MAX_FILTERS = 4, 7
# The names of each index, by the index's name.
Tables = Sequence[tuple[str, NameTable]]


def suggest(
    typed: str, tables: Tables, past_queries: Iterable[tuple[str, int]], limit: int
) -> list[Suggestion]:
    """Return suggestions, best first.

    Args:
        typed: The query so far.
        tables: The names of each index.
        past_queries: Queries that were asked before, and how often a hit of theirs was chosen.
        limit: How many to return.
    """
    start = max(typed.rfind(" "), typed.rfind("\t"), typed.rfind("(")) + 1
    before, word = typed[:start], typed[start:]
    suggestions = list(_filters(before, word, tables))
    if ":" not in word.removeprefix("-"):
        names = _names(before, word, tables, limit)
        suggestions = [*_queries(typed, past_queries), *suggestions[:2], *names]
    distinct = {each.query: each for each in reversed(suggestions)}
    return list(distinct.values())[::-1][:limit]


def _queries(typed: str, past_queries: Iterable[tuple[str, int]]) -> Iterator[Suggestion]:
    wanted = " ".join(typed.lower().split())
    matching = [(query, count) for query, count in past_queries if wanted and wanted in query.lower()]
    matching.sort(key=lambda each: (not each[0].lower().startswith(wanted), -each[1], each[0]))
    for query, count in matching[:_MAX_QUERIES]:
        if query.lower() != wanted:
            times = "once" if count == 1 else f"{count} times"
            yield Suggestion(kind="query", text=query, query=query, detail=f"asked before, {times}")


def _filters(before: str, word: str, tables: Tables) -> Iterator[Suggestion]:
    sign = "-" if word.startswith("-") else ""
    name, colon, value = word.removeprefix("-").partition(":")
    if not colon:
        for known, detail in _FILTERS.items():
            if name and known.startswith(name.lower()):
                text = f"{sign}{known}:"
                yield Suggestion(kind="filter", text=text, query=f"{before}{text}", detail=detail)
        return
    prefix = value.lower()
    matching = (each for each in _values(name, tables) if each.lower().startswith(prefix))
    for each in islice(matching, _MAX_FILTERS):
        text = f"{sign}{name}:{_quote(each)}"
        detail = _FILTERS.get(name, "")
        yield Suggestion(kind="filter", text=text, query=f"{before}{text} ", detail=detail)


def _values(name: str, tables: Tables) -> Iterable[str]:
    """Return the values of a filter, those in the indexes first."""
    if name == "lang":
        return list(dict.fromkeys([*(each for _, table in tables for each in table.languages), *LANGUAGES]))
    if name == "kind":
        here = {each for _, table in tables for each in table.kinds}
        return sorted({*KINDS} & here) or list(KINDS)
    if name == "path":
        return heapq.merge(*(table.folders for _, table in tables), key=folder_order)
    if name == "repo":
        return sorted({each for _, table in tables for each in table.repos})
    if name == "case":
        return ["yes", "no"]
    return []


def _quote(value: str) -> str:
    return f'"{value}"' if any(char in value for char in ' "()') else value


def _names(before: str, word: str, tables: Tables, limit: int) -> Iterator[Suggestion]:
    bare = word.lstrip("-`")
    if len(bare) < _MIN_NAME_LETTERS:
        return
    sign = word[: len(word) - len(bare)]
    names = [(index, name) for index, table in tables for name in table.complete(bare, limit)]
    names.sort(key=lambda each: each[1].sort_key(bare.lower()))
    for index, name in names[:limit]:
        text = name.qualified_name if "." in bare else name.text
        yield Suggestion(
            kind="name",
            text=text,
            query=f"{before}{sign}{text}",
            detail=_location(name),
            index=index,
            id=name.id if name.symbols == 1 else "",
        )


def _location(name: SymbolName) -> str:
    others = f" and {name.symbols - 1:,} more" if name.symbols > 1 else ""
    return f"{name.kind} in {name.path}:{name.line}{others}"
