"""Ways to go on while somebody types: names, questions that were asked before, filters."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dowse.query.languages import KINDS, LANGUAGES
from dowse.security.secret_masking import mask_text
from dowse.services.symbol_names import Name, Names, folder_order

# What each filter of the query language takes.
_FILTERS = {
    "lang": "only this language",
    "path": "only paths like this",
    "kind": "only this kind of symbol",
    "sym": "only symbols with a name like this",
    "repo": "only this repository",
    "case": "yes or no: whether case counts",
}
# A word of so many letters says enough to suggest names; filters need one.
_NAME_LETTERS = 2
# A share of the suggestions each, so that none crowds out the others.
_MOST_QUERIES, _MOST_FILTERS = 4, 6


@dataclass(frozen=True, slots=True)
class Way:
    """One way to go on."""

    kind: str  # "name", "query" or "filter"
    text: str
    query: str
    detail: str
    index: str = ""
    id: str = ""


def suggest(
    typed: str, books: Sequence[tuple[str, Names]], asked: Iterable[tuple[str, int]], limit: int
) -> list[Way]:
    """Return ways to go on, best first.

    Args:
        typed: The query so far.
        books: The names of each index.
        asked: Questions that were asked before, and how often something was chosen for them.
        limit: How many to give.
    """
    before, word = _split(typed)
    ways = list(_filters(before, word, books))
    if ":" not in word.removeprefix("-"):
        ways = [*_queries(typed, asked), *ways[:2], *_names(before, word, books, limit)]
    return list({way.query: way for way in reversed(ways)}.values())[::-1][:limit]


def _split(typed: str) -> tuple[str, str]:
    """Return what stands before the word that is being typed, and that word."""
    at = max(typed.rfind(" "), typed.rfind("\t"), typed.rfind("(")) + 1
    return typed[:at], typed[at:]


def _queries(typed: str, asked: Iterable[tuple[str, int]]) -> Iterator[Way]:
    wanted = " ".join(typed.lower().split())
    found = [(query, count) for query, count in asked if wanted and wanted in query.lower()]
    found.sort(key=lambda each: (not each[0].lower().startswith(wanted), -each[1], each[0]))
    for query, count in found[:_MOST_QUERIES]:
        if query.lower() != wanted and mask_text(query) == query:
            times = "once" if count == 1 else f"{count} times"
            yield Way("query", query, query, f"asked before, {times}")


def _filters(before: str, word: str, books: Sequence[tuple[str, Names]]) -> Iterator[Way]:
    sign = "-" if word.startswith("-") else ""
    name, colon, value = word.removeprefix("-").partition(":")
    if not colon:
        for known, detail in _FILTERS.items():
            if name and known.startswith(name.lower()):
                yield Way("filter", f"{sign}{known}:", f"{before}{sign}{known}:", detail)
        return
    begin = value.lower()
    fitting = (each for each in _values(name, books) if each.lower().startswith(begin))
    for each in islice(fitting, _MOST_FILTERS):
        written = f"{sign}{name}:{_quoted(each)}"
        yield Way("filter", written, f"{before}{written} ", _FILTERS.get(name, ""))


def _values(name: str, books: Sequence[tuple[str, Names]]) -> Iterable[str]:
    """Return what a filter can be, what is in the indexes first."""
    if name == "lang":
        return list(dict.fromkeys([*(each for _, names in books for each in names.languages), *LANGUAGES]))
    if name == "kind":
        here = {each for _, names in books for each in names.kinds}
        return sorted({*KINDS} & here) or list(KINDS)
    if name == "path":
        return heapq.merge(*(names.folders for _, names in books), key=folder_order)
    if name == "repo":
        return sorted({each for _, names in books for each in names.repos})
    if name == "case":
        return ["yes", "no"]
    return []


def _quoted(value: str) -> str:
    return f'"{value}"' if any(char in value for char in ' "()') else value


def _names(before: str, word: str, books: Sequence[tuple[str, Names]], limit: int) -> Iterator[Way]:
    bare = word.lstrip("-`")
    if len(bare) < _NAME_LETTERS:
        return
    found = [(index, name) for index, names in books for name in names.starting(bare, limit)]
    found.sort(key=lambda each: each[1].order(bare.lower()))
    for index, name in found[:limit]:
        prefix = word[: len(word) - len(bare)]
        shown = name.qualified_name if "." in bare else name.text
        if mask_text(shown) != shown:  # a name that holds a secret completes nothing
            continue
        yield Way("name", shown, f"{before}{prefix}{shown}", _place(name), index, _single(name))


def _place(name: Name) -> str:
    others = f" and {name.symbols_named - 1:,} more" if name.symbols_named > 1 else ""
    return f"{name.kind} in {name.path}:{name.line}{others}"


def _single(name: Name) -> str:
    return name.id if name.symbols_named == 1 else ""
