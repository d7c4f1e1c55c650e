r"""Translate globs to Lucene regular expressions that match exactly what `query.evaluate` matches.

Lucene matches whole values, has neither non-capturing groups nor `\x{…}`, and folds the case of ASCII only:
other letters become character classes of their upper- and lower-case forms. Letters with more forms (ſ, the
Kelvin sign, a dotted capital I) match only these.
"""

from __future__ import annotations

import re
from functools import lru_cache
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
# Regexes with many stars have large automata; Lucene gives up beyond this.
_MAX_STATES = 100_000
# Lucene refuses an automaton with a chain of a thousand states.
MAX_LENGTH = 900


def path_query(field: str, glob: str) -> Query:
    """Return the query for paths, or names of repositories, that `path_matches` accepts."""
    _check_length(glob)
    fold = not has_upper(glob)
    if not any(char in glob for char in "*?"):
        part = glob.lstrip("/")
        if not part:
            return {"match_all": {}}
        return _regexp(field, f".*{''.join(_char_regex(char, fold) for char in part)}.*", fold)
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
    """Return the regex for a character; Lucene itself folds the case of ASCII."""
    forms = {char}
    if fold and not char.isascii():
        forms |= {form for form in (char.lower(), char.upper()) if len(form) == 1}
    return _escape(char) if len(forms) == 1 else f"[{''.join(map(_escape, sorted(forms)))}]"


def _escape(text: str) -> str:
    return "".join(char if char.isalnum() else f"\\{char}" for char in text)
