r"""Globs in Lucene's dialect of regular expressions, with the very meaning that `query.evaluate` gives them.

Lucene matches whole values, knows no groups without capture, no `\x{…}`, and folds the case of ASCII alone:
other letters are written with all their forms. One difference is left: a capital sigma is both its small
forms, where Python's `lower` looks at what stands around it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache
from typing import Any

from dowse.query import QueryError
from dowse.query.evaluate import glob_to_regex

Query = dict[str, Any]
NOTHING: Query = {"match_none": {}}

# What `glob_to_regex` and the two functions below it are made of.
_ELEMENT = re.compile(r"\\x\{([0-9a-f]+)\}|(\(\?:)|(\[\^/\])|(\.)|(.)", re.DOTALL)
# RE2 is told never to match a line feed, so neither may these.
_NOT_SLASH, _ANY = "[^/\n]", "[^\n]"
_OPERATORS = frozenset("()*+?|")
# Code points above this have no case.
_LAST_CASED = 0x1E943
# Regexes with many stars have large automata; Lucene gives up beyond this.
_STATES = 100_000
# Lucene refuses to look into an automaton of a thousand states in a row.
LONGEST = 900
# The one letter whose small form has two characters.
_DOTTED_I, _DOT = "İ", "\u0307"


def path_query(field: str, glob: str) -> Query:
    """Return what matches the paths, or names of repositories, that `path_matches` accepts."""
    _refuse_long(glob)
    fold = not _has_upper(glob)
    if not any(char in glob for char in "*?"):
        part = glob.lstrip("/")
        if not part:
            return {"match_all": {}}
        if fold and any(char.lower() != char for char in part):
            return NOTHING  # titlecase digraphs are no capitals, and no small letters either
        return _regexp(field, f".*{_lowered_part(part) if fold else _escaped(part)}.*", fold)
    if "\n" in glob:
        return NOTHING
    start = "" if glob.startswith("/") else "(?:.*/)?"
    return _regexp(field, _translated(f"{start}{glob_to_regex(glob.strip('/'))}(?:/.*)?", fold), fold)


def symbol_query(glob: str) -> Query:
    """Return what matches the symbols that `symbol_matches` accepts."""
    _refuse_long(glob)
    if "\n" in glob:
        return NOTHING
    fold = not _has_upper(glob)
    plain = glob.replace("::", ".").replace("#", ".")
    body = glob_to_regex(re.sub(r"\*+", "**", plain).replace("/", "."))
    regex = _translated(rf"(?:.*\x{{2e}})?{body}", fold)
    either = [_regexp(field, regex, fold) for field in ("name", "qualified_name")]
    return {"bool": {"should": either, "minimum_should_match": 1}}


def wildcard_query(field: str, pattern: str) -> Query:
    """Return what matches as SQLite's LIKE does: `*` and `?`, the case of ASCII alone left aside."""
    if len(pattern) > LONGEST:  # then as it is written, or not at all
        return {"term": {field: {"value": pattern}}}
    escaped = pattern.replace("\\", "\\\\")
    if "*" not in pattern and "?" not in pattern:
        return {"term": {field: {"value": pattern, "case_insensitive": True}}}
    return {"wildcard": {field: {"value": escaped, "case_insensitive": True, "rewrite": "constant_score"}}}


def ending_query(field: str, ending: str) -> Query:
    """Return what matches a path that is this, or ends with it after a `/`."""
    if len(ending) > LONGEST:
        return {"term": {field: ending}}
    return _regexp(field, f"(.*/)?{_escaped(ending)}", fold=False)


def _refuse_long(glob: str) -> None:
    if len(glob) > LONGEST:
        raise QueryError(f"a cluster takes no glob of more than {LONGEST} characters; shorten it")


def _regexp(field: str, regex: str, fold: bool) -> Query:
    wanted = {"value": regex, "flags": "NONE", "case_insensitive": fold, "max_determinized_states": _STATES}
    return {"regexp": {field: wanted}}


def _has_upper(text: str) -> bool:
    return any(char.isupper() for char in text)


@lru_cache(maxsize=256)
def _translated(regex: str, fold: bool) -> str:
    """Write one of our RE2 patterns for Lucene."""
    pieces = []
    for found in _ELEMENT.finditer(regex):
        code, group, inside, dot, char = found.groups()
        if code:
            pieces.append(_letter(chr(int(code, 16)), fold))
        elif group:
            pieces.append("(")
        elif inside:
            pieces.append(_NOT_SLASH)
        elif dot:
            pieces.append(_ANY)
        else:
            pieces.append(char if char in _OPERATORS else _letter(char, fold))
    return "".join(pieces)


def _letter(char: str, fold: bool) -> str:
    return _any_of(_folded_forms(char) if fold else char)


def _escaped(text: str) -> str:
    return "".join(char if char.isalnum() else f"\\{char}" for char in text)


def _folded_forms(char: str) -> str:
    """Return the letters that are the same to RE2 where case is left aside; ASCII is left to Lucene."""
    if char.isascii():
        return {"k": "k\u212a", "s": "s\u017f"}.get(char.lower(), char)
    return _fold_partners().get(_fold(char), char)


def _fold(char: str) -> str:
    """Return the simple case folding of a letter, one character as in Unicode's tables."""
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


@cache
def _fold_partners() -> dict[str, str]:
    """Return all forms of letters that have several, by their folding."""
    forms: dict[str, set[str]] = defaultdict(set)
    for char in map(chr, range(_LAST_CASED + 1)):
        if (folded := _fold(char)) != char:
            forms[folded] |= {folded, char}
    return {folded: "".join(sorted(each)) for folded, each in forms.items()}


@cache
def _capitals() -> dict[str, str]:
    """Return the letters whose small form is a given one, itself included where it is its own."""
    forms: dict[str, str] = defaultdict(str)
    for char in map(chr, range(_LAST_CASED + 1)):
        if (small := char.lower()) != char and len(small) == 1:
            forms[small] += char
    forms["\u03c2"] += "\u03a3"  # a final sigma's capital is that of every sigma
    return {small: small + capitals for small, capitals in forms.items()}


def _lowered_part(part: str) -> str:
    """Return what finds a part in a value as if the value were in small letters."""
    pieces = [_escaped(c) if c.isascii() and c != "k" else _any_of(_capitals().get(c, c)) for c in part]
    for at in range(len(part) - 1):
        if part[at : at + 2] == f"i{_DOT}":
            pieces[at : at + 2] = [f"(i{_DOT}|{_DOTTED_I})", ""]
    # A part may end within that letter, or begin there.
    if part[-1] == "i":
        pieces[-1] = f"[i{_DOTTED_I}]"
    if part[0] == _DOT:
        pieces[0] = f"[{_DOT}{_DOTTED_I}]"
    return "".join(pieces)


def _any_of(chars: str) -> str:
    return _escaped(chars) if len(chars) == 1 else f"[{''.join(map(_escaped, chars))}]"
