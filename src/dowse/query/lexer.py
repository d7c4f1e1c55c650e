"""The lexer of the query language: text to tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice

from dowse.errors import QueryError

FILTERS = ("lang", "path", "repo", "kind", "sym", "case")
# Names that users of other search tools type.
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
_QUOTED = re.compile(r'"((?:\\["\\]|\\(?!["\\])|[^"\\\n])*)"')
# Up to the closing slash, which needs no escape inside [ ].
_REGEX = re.compile(r"/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])*)/", re.DOTALL)
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
    """One token: `text` is its value; `name` is that of a filter; `flag` marks code words and /…/i."""

    kind: Kind
    text: str
    position: int
    name: str = ""
    flag: bool = False


def tokenize(text: str) -> Iterator[Token]:
    """Split a query into tokens."""
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        token, start = _next_token(text, start)
        yield token


def is_code_word(text: str) -> bool:
    """Whether a word looks like a name in code: camelCase, snake_case, dotted, letters with digits."""
    return bool(_NAME.match(text) and _CODE_SHAPE.search(text))


def _next_token(text: str, start: int) -> tuple[Token, int]:
    """Read the token at `start`, and return it with its end."""
    char = text[start]
    if char in "()":
        return Token(char, char, start), start + 1  # type: ignore[arg-type]
    if char == '"':
        value, end = _quoted(text, start)
        return Token("phrase", value, start), end
    if char == "`":
        return _backticked(text, start)
    if char == "/":
        regex = _regex(text, start)
        if regex is not None:
            return regex
    if _NEGATABLE.match(text, start):
        return Token("not", "-", start), start + 1
    return _filter(text, start) or _word(text, start)


def _quoted(text: str, start: int) -> tuple[str, int]:
    r"""Read a quoted string; \" and \\ are the only escapes."""
    match = _QUOTED.match(text, start)
    if match is not None:
        value = re.sub(r'\\(["\\])', r"\1", match[1])
        if not value.strip():
            raise QueryError(f"empty quotes at position {start}; put the text to find between them", start)
        return value, match.end()
    newline = text.find("\n", start)
    if newline >= 0:
        message = f"a line break inside quotes at position {newline}; quote each line by itself"
        raise QueryError(message, newline)
    message = f'the quote at position {start} is never closed; add a closing " or write \\" inside quotes'
    raise QueryError(message, start)


def _backticked(text: str, start: int) -> tuple[Token, int]:
    end = text.find("`", start + 1)
    if end < 0:
        raise QueryError(f"the backtick at position {start} is never closed; close it or leave it out", start)
    value = " ".join(text[start + 1 : end].split())
    if not value:
        raise QueryError(f"empty backticks at position {start}; put a name between them", start)
    end += 1
    punctuation = len(text[end:]) - len(text[end:].lstrip(TRAILING))
    if text[end + punctuation : end + punctuation + 1].strip() == "":  # "where is `render`?"
        end += punctuation
    return Token("word", value, start, flag=True), end


def _regex(text: str, start: int) -> tuple[Token, int] | None:
    """Read /regex/ or /regex/i; None if the slash begins a path or a comment, or is alone."""
    if text[start + 1 : start + 2] in ("", "/", ")") or text[start + 1].isspace():
        return None
    match = _REGEX.match(text, start)
    if match is None:
        message = (
            f'the regex at position {start} is never closed; add a closing / or quote a path as in "/etc"'
        )
        raise QueryError(message, start)
    end = match.end()
    value = re.sub(r"\\.", lambda m: "/" if m[0] == "\\/" else m[0], match[1], flags=re.DOTALL)
    after = _REGEX_END.match(text, end)
    if after is not None:
        return Token("regex", value, start, flag=after.group(1) == "i"), after.end()
    if any(char.isspace() for char in value):
        raise QueryError(
            f"unexpected text after the regex at position {end}; only the flag i may follow, "
            "and a / inside a regex is written \\/",
            end,
        )
    return None


def _filter(text: str, start: int) -> tuple[Token, int] | None:
    """Read name:value; None if the colon belongs to a word."""
    match = _FILTER.match(text, start)
    if match is None:
        return None
    name, colon = match.group(1), match.end()
    is_empty = colon == len(text) or text[colon].isspace() or text[colon] == ")"
    if name not in FILTERS:
        if is_empty or text[colon].isdigit():  # "key: value", "localhost:8080"
            return None
        raise _unknown_filter(text, name, start, colon)
    if is_empty:
        message = f'{name}: needs a value right after the colon; quote "{name}:" to search for it'
        raise QueryError(message, start)
    value, end = _quoted(text, colon) if text[colon] == '"' else _bare(text, colon)
    return Token("filter", value, start, name=name), end


def _unknown_filter(text: str, name: str, start: int, colon: int) -> QueryError:
    """Return an error with the known filters, the nearest one, and how to search for the text itself."""
    nearest = suggestion(name, (*FILTERS, *FILTER_SYNONYMS))
    nearest = FILTER_SYNONYMS.get(nearest, nearest)
    hint = f"did you mean {nearest}:? " if nearest else ""
    known = ", ".join(f"{each}:" for each in FILTERS)
    literal = (text[start:colon] + "".join(text[colon:].split(None, 1)[:1])).replace('"', "")
    return QueryError(
        f'unknown filter {name}: ({hint}filters: {known}); to search for it, quote it: "{literal}"', start
    )


def suggestion(value: str, known: tuple[str, ...]) -> str:
    """Return the known name nearest to a value, or ""."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(value, known, n=1, cutoff=0.55)), "")


def _bare(text: str, start: int) -> tuple[str, int]:
    """Read up to white space or an unmatched closing parenthesis."""
    opened: list[int] = []
    end = start
    while end < len(text) and not text[end].isspace():
        if text[end] == "(":
            opened.append(end)
        elif text[end] == ")":
            if not opened:
                break
            opened.pop()
        end += 1
    if opened:
        raise unclosed_parenthesis(opened[-1])
    return text[start:end], end


def unclosed_parenthesis(position: int) -> QueryError:
    """Return the error for an opening parenthesis without a closing one."""
    message = f"the ( at position {position} is never closed; close it, or quote text that holds it"
    return QueryError(message, position)


def _word(text: str, start: int) -> tuple[Token, int]:
    """Read a plain word or an operator."""
    raw, end = _bare(text, start)
    if raw in OPERATORS:
        return Token("not" if raw == "NOT" else "operator", raw, start), end
    value = _strip_punctuation(raw)
    return Token("word", value, start, flag=is_code_word(value) or raw.rstrip(TRAILING) == f"{value}()"), end


def _strip_punctuation(raw: str) -> str:
    """Drop sentence punctuation and the empty parentheses of a call, if a plain word remains."""
    value = raw.rstrip(TRAILING)
    if value.endswith("()") and _NAME.match(value[:-2]):
        value = value[:-2]
    return value if value and value not in OPERATORS and _is_plain_word(value) else raw


def _is_plain_word(value: str) -> bool:
    """Whether the lexer reads this text as the same word."""
    return not (
        value[0] in '()"`/' or _NEGATABLE.match(value) or _FILTER.match(value) or value.endswith("()")
    )
