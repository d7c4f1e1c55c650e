"""A query's text cut into tokens; every decision about a single token is made here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice

from dowse.query.errors import QueryError

FILTERS = ("lang", "path", "repo", "kind", "sym", "case")
# Users of other search tools type these.
FILTER_SYNONYMS = {
    "language": "lang",
    "file": "path",
    "symbol": "sym",
    "type": "kind",
    "r": "repo",
    "f": "path",
}
OPERATORS = ("AND", "OR", "NOT")
# Ends a sentence rather than a name.
TRAILING = "?!,.;:"
# "-" excludes only before these: "->", "--flag" and "-1" are things people look for.
_NEGATABLE = re.compile(r"-(?=[^\W\d]|[\"`/(])")
_FILTER = re.compile(r"([a-z]+):(?!:|//)")
_REGEX_END = re.compile(r"(i?)(?=[\s)]|$)")
_NAME = re.compile(r"[$@]?[^\W\d][\w.:$]*\Z")
_CODE_SHAPE = re.compile(
    r"[a-z0-9][A-Z]"  # camelCase
    r"|[A-Z]{2,}[a-z]+[A-Z]|_|::|\$"  # HTTPServerX, snake_case, paths
    r"|\w\.\w\w|\w\w\.\w"  # dotted, but not "e.g."
    r"|[^\W\d]\d"  # letters with digits
)

Kind = Choice["word", "phrase", "regex", "filter", "operator", "not", "(", ")"]


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `text` is its value; `name` is a filter's name; `flag` marks code words and /…/i."""

    kind: Kind
    text: str
    position: int
    name: str = ""
    flag: bool = False


def tokenize(text: str) -> Iterator[Token]:
    """Cut a query into tokens."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token, at = _next_token(text, at)
        yield token


def is_code_word(text: str) -> bool:
    """Whether a word looks like a name in code: camelCase, snake_case, dotted, letters with digits."""
    return bool(_NAME.match(text) and _CODE_SHAPE.search(text))


def _next_token(text: str, at: int) -> tuple[Token, int]:
    """Read the token that starts at `at`."""
    char = text[at]
    if char in "()":
        return Token(char, char, at), at + 1  # type: ignore[arg-type]
    if char == '"':
        value, end = _quoted(text, at)
        return Token("phrase", value, at), end
    if char == "`":
        return _backticked(text, at)
    if char == "/":
        found = _regex(text, at)
        if found is not None:
            return found
    if _NEGATABLE.match(text, at):
        return Token("not", "-", at), at + 1
    return _filter(text, at) or _word(text, at)


def _quoted(text: str, at: int) -> tuple[str, int]:
    r"""Read a quoted string; \" and \\ are the only escapes."""
    value: list[str] = []
    index = at + 1
    while index < len(text):
        char = text[index]
        if char == '"':
            if not "".join(value).strip():
                raise QueryError(f"empty quotes at position {at}; put the text to find between them", at)
            return "".join(value), index + 1
        if char == "\\" and text[index + 1 : index + 2] in ('"', "\\"):
            index += 1
            char = text[index]
        if char == "\n":
            raise QueryError(
                f"a line break inside quotes at position {index}; quote each line by itself", index
            )
        value.append(char)
        index += 1
    raise QueryError(
        f'the quote at position {at} is never closed; add a closing " or write \\" inside quotes', at
    )


def _backticked(text: str, at: int) -> tuple[Token, int]:
    """Read an identifier in backticks."""
    end = text.find("`", at + 1)
    if end < 0:
        raise QueryError(f"the backtick at position {at} is never closed; close it or leave it out", at)
    value = " ".join(text[at + 1 : end].split())
    if not value:
        raise QueryError(f"empty backticks at position {at}; put a name between them", at)
    end += 1
    marks = len(text[end:]) - len(text[end:].lstrip(TRAILING))
    if text[end + marks : end + marks + 1].strip() == "":  # "where is `render`?"
        end += marks
    return Token("word", value, at, flag=True), end


def _regex(text: str, at: int) -> tuple[Token, int] | None:
    """Read /regex/ or /regex/i; None when the slash begins a path, a comment or stands alone."""
    if text[at + 1 : at + 2] in ("", "/", ")") or text[at + 1].isspace():
        return None
    value, end = _until_slash(text, at + 1)
    if end < 0:
        raise QueryError(
            f'the regex at position {at} is never closed; add a closing / or quote a path as in "/etc"', at
        )
    after = _REGEX_END.match(text, end + 1)
    if after is not None:
        return Token("regex", value, at, flag=after.group(1) == "i"), after.end()
    if any(char.isspace() for char in value):
        raise QueryError(
            f"unexpected text after the regex at position {end + 1}; only the flag i may follow, "
            "and a / inside a regex is written \\/",
            end + 1,
        )
    return None


def _until_slash(text: str, at: int) -> tuple[str, int]:
    """Read a regex up to its closing slash, which may stand freely inside [ ]; -1 when there is none."""
    value: list[str] = []
    in_class = False
    index = at
    while index < len(text):
        char = text[index]
        if char == "\\" and index + 1 < len(text):
            index += 1
            char = "/" if text[index] == "/" else char + text[index]
        elif char == "/" and not in_class:
            return "".join(value), index
        elif char in "[]":
            in_class = char == "["
        value.append(char)
        index += 1
    return "".join(value), -1


def _filter(text: str, at: int) -> tuple[Token, int] | None:
    """Read name:value; None when the colon belongs to a word."""
    match = _FILTER.match(text, at)
    if match is None:
        return None
    name, start = match.group(1), match.end()
    ends = start == len(text) or text[start].isspace() or text[start] == ")"
    if name not in FILTERS:
        if ends or text[start].isdigit():  # "key: value", "localhost:8080"
            return None
        raise _unknown_filter(text, name, at, start)
    if ends:
        raise QueryError(f'{name}: needs a value right after the colon; quote "{name}:" to search for it', at)
    value, end = _quoted(text, start) if text[start] == '"' else _bare(text, start)
    return Token("filter", value, at, name=name), end


def _unknown_filter(text: str, name: str, at: int, start: int) -> QueryError:
    """Say which filters exist, which was meant, and how to search for the text itself."""
    nearest = suggestion(name, (*FILTERS, *FILTER_SYNONYMS))
    nearest = FILTER_SYNONYMS.get(nearest, nearest)
    hint = f"did you mean {nearest}:? " if nearest else ""
    known = ", ".join(f"{each}:" for each in FILTERS)
    literal = (text[at:start] + "".join(text[start:].split(None, 1)[:1])).replace('"', "")
    return QueryError(
        f'unknown filter {name}: ({hint}filters: {known}); to search for it, quote it: "{literal}"', at
    )


def suggestion(value: str, known: tuple[str, ...]) -> str:
    """Return the known name nearest to what was written, or ""."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(value, known, n=1, cutoff=0.55)), "")


def _bare(text: str, at: int) -> tuple[str, int]:
    """Read up to white space or a parenthesis that closes more than was opened here."""
    opened: list[int] = []
    end = at
    while end < len(text) and not text[end].isspace():
        if text[end] == "(":
            opened.append(end)
        elif text[end] == ")":
            if not opened:
                break
            opened.pop()
        end += 1
    if opened:
        place = opened[-1]
        raise QueryError(
            f"the ( at position {place} is never closed; close it, or quote text that holds it", place
        )
    return text[at:end], end


def _word(text: str, at: int) -> tuple[Token, int]:
    """Read a plain word or an operator."""
    raw, end = _bare(text, at)
    if raw in OPERATORS:
        return Token("not" if raw == "NOT" else "operator", raw, at), end
    value = _trimmed(raw)
    return Token("word", value, at, flag=is_code_word(value) or raw.rstrip(TRAILING) == f"{value}()"), end


def _trimmed(raw: str) -> str:
    """Drop sentence punctuation and a call's empty parentheses, unless nothing plain would remain."""
    value = raw.rstrip(TRAILING)
    if value.endswith("()") and _NAME.match(value[:-2]):
        value = value[:-2]
    return value if value and value not in OPERATORS and _stands_alone(value) else raw


def _stands_alone(value: str) -> bool:
    """Whether a word's text would be read as that very word again."""
    return not (
        value[0] in '()"`/' or _NEGATABLE.match(value) or _FILTER.match(value) or value.endswith("()")
    )
