r"""Translate globs to Lucene regular expressions that match exactly what `query.evaluate` matches.

Lucene matches whole values, has neither non-capturing groups nor `\x{…}`, and folds the case of ASCII only:
other letters become character classes of all their forms. One difference remains: a capital sigma matches
both its lower-case forms, where Python's `lower` looks at the surrounding letters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from dowse.errors import QueryError
from dowse.query.evaluate import glob_to_regex, has_upper

Query = dict[str, Any]
MATCH_NONE: Query = {"match_none": {}}

# The elements that `glob_to_regex` and the two functions below write.
_ELEMENT = re.compile(r"\\x\{([0-9a-f]+)\}|(\(\?:)|(\[\^/\])|(\.)|(.)", re.DOTALL)
# RE2 is configured never to match a line feed, so these must not either.
_NOT_SLASH, _ANY = "[^/\n]", "[^\n]"
_OPERATORS = frozenset("()*+?|")
# Code points above this have no case.
_LAST_CASED = 0x1E943
# Regexes with many stars have large automata; Lucene gives up beyond this.
_MAX_STATES = 100_000
# Lucene refuses an automaton with a chain of a thousand states.
MAX_LENGTH = 900
# The one letter whose lower-case form has two characters.
_DOTTED_I, _DOT = "İ", "\u0307"


def path_query(field: str, glob: str) -> Query:
    """Return the query for paths, or names of repositories, that `path_matches` accepts."""
    _check_length(glob)
    fold = not has_upper(glob)
    if not any(char in glob for char in "*?"):
        part = glob.lstrip("/")
        if not part:
            return {"match_all": {}}
        if fold and any(char.lower() != char for char in part):
            return MATCH_NONE  # titlecase digraphs are neither upper nor lower case
        return _regexp(field, f".*{_lower_case_regex(part) if fold else _escape(part)}.*", fold)
    if "\n" in glob:
        return MATCH_NONE
    start = "" if glob.startswith("/") else "(?:.*/)?"
    return _regexp(field, _translate(f"{start}{glob_to_regex(glob.strip('/'))}(?:/.*)?", fold), fold)


def symbol_query(glob: str) -> Query:
    """Return the query for symbols that `symbol_matches` accepts."""
    _check_length(glob)
    if "\n" in glob:
        return MATCH_NONE
    fold = not has_upper(glob)
    plain = glob.replace("::", ".").replace("#", ".")
    body = glob_to_regex(re.sub(r"\*+", "**", plain).replace("/", "."))
    regex = _translate(rf"(?:.*\x{{2e}})?{body}", fold)
    either = [_regexp(field, regex, fold) for field in ("name", "qualified_name")]
    return {"bool": {"should": either, "minimum_should_match": 1}}


def wildcard_query(field: str, pattern: str) -> Query:
    """Return the query for a pattern with `*` and `?`, ignoring the case of ASCII like SQLite's LIKE."""
    if len(pattern) > MAX_LENGTH:  # then only as it is written
        return {"term": {field: {"value": pattern}}}
    escaped = pattern.replace("\\", "\\\\")
    if "*" not in pattern and "?" not in pattern:
        return {"term": {field: {"value": pattern, "case_insensitive": True}}}
    return {"wildcard": {field: {"value": escaped, "case_insensitive": True, "rewrite": "constant_score"}}}


def suffix_query(field: str, suffix: str) -> Query:
    """Return the query for paths that are `suffix`, or end with it after a `/`."""
    if len(suffix) > MAX_LENGTH:
        return {"term": {field: suffix}}
    return _regexp(field, f"(.*/)?{_escape(suffix)}", fold=False)


def _check_length(glob: str) -> None:
    if len(glob) > MAX_LENGTH:
        raise QueryError(f"a cluster accepts no glob of more than {MAX_LENGTH} characters; shorten it")


def _regexp(field: str, regex: str, fold: bool) -> Query:
    options = {"flags": "NONE", "case_insensitive": fold, "max_determinized_states": _MAX_STATES}
    return {"regexp": {field: {"value": regex, **options}}}


@lru_cache(maxsize=256)
def _translate(regex: str, fold: bool) -> str:
    """Return an RE2 pattern of `glob_to_regex` in Lucene's syntax."""
    pieces = []
    for match in _ELEMENT.finditer(regex):
        code, group, inside, dot, char = match.groups()
        if code:
            pieces.append(_char_regex(chr(int(code, 16)), fold))
        elif group:
            pieces.append("(")
        elif inside:
            pieces.append(_NOT_SLASH)
        elif dot:
            pieces.append(_ANY)
        else:
            pieces.append(char if char in _OPERATORS else _char_regex(char, fold))
    return "".join(pieces)


def _char_regex(char: str, fold: bool) -> str:
    return _any_of(_folded_forms(char) if fold else char)


def _escape(text: str) -> str:
    return "".join(char if char.isalnum() else f"\\{char}" for char in text)


def _folded_forms(char: str) -> str:
    """Return the letters that RE2 takes for the same when it ignores case; Lucene folds ASCII itself."""
    if char.isascii():
        return {"k": "k\u212a", "s": "s\u017f"}.get(char.lower(), char)
    return _case_forms(_fold).get(_fold(char), char)


def _fold(char: str) -> str:
    """Return the simple case folding of a letter: one character, as in Unicode's CaseFolding.txt."""
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


@cache
def _case_forms(lower: Callable[[str], str]) -> dict[str, str]:
    """Return the letters with a given lower-case form or case folding, with that form itself."""
    forms: dict[str, set[str]] = defaultdict(set)
    for char in map(chr, range(_LAST_CASED + 1)):
        if (form := lower(char)) != char and len(form) == 1:
            forms[form] |= {form, char}
    if lower is str.lower:
        forms["\u03c2"] |= {"\u03c2", "\u03a3"}  # a final sigma has the capital of every sigma
    return {form: "".join(sorted(chars)) for form, chars in forms.items()}


def _lower_case_regex(part: str) -> str:
    """Return the regex that finds a part in a value as if the value were in lower case."""
    pieces = [
        _escape(c) if c.isascii() and c != "k" else _any_of(_case_forms(str.lower).get(c, c)) for c in part
    ]
    for at in range(len(part) - 1):
        if part[at : at + 2] == f"i{_DOT}":
            pieces[at : at + 2] = [f"(i{_DOT}|{_DOTTED_I})", ""]
    # A part may begin or end within that letter.
    if part[-1] == "i":
        pieces[-1] = f"[i{_DOTTED_I}]"
    if part[0] == _DOT:
        pieces[0] = f"[{_DOT}{_DOTTED_I}]"
    return "".join(pieces)


def _any_of(chars: str) -> str:
    return _escape(chars) if len(chars) == 1 else f"[{''.join(map(_escape, chars))}]"
