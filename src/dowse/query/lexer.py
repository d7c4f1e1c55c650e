"""The lexer of the query language: text to tokens.

Text that is no query language, such as an unclosed quote or an unknown `word:`, becomes plain words, and a
remark says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal as Choice

from dowse.errors import FilterError
from dowse.lazy_classes import dataclass

FILTERS = ("lang", "path", "repo", "kind", "sym", "case", "rev")
# Names that users of other search tools type.
FILTER_SYNONYMS = {
    "language": "lang",
    "file": "path",
    "symbol": "sym",
    "type": "kind",
    "r": "repo",
    "f": "path",
    "branch": "rev",
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
_NAME = re.compile(r"[$@]?[^\W\d](?:[\w.:$]|#(?=[^\W\d]))*\Z")
_CODE_SHAPE = re.compile(
    r"[a-z0-9][A-Z]"  # camelCase
    r"|[A-Z]{2}[a-z]+[A-Z]|_|::|\$"  # HTTPServerX, snake_case, paths
    r"|\w\.\w\w|\w\w\.\w|\w#\w"  # dotted, but not "e.g."; Cart#add
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


def tokenize(text: str, remarks: list[str] | None = None) -> Iterator[Token]:
    """Split a query into tokens; remarks say what was taken as plain text."""
    remarks = [] if remarks is None else remarks
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        token, start = _next_token(text, start, remarks)
        if token.text:
            yield token


def is_code_word(text: str) -> bool:
    """Whether a word looks like a name in code: camelCase, snake_case, dotted, letters with digits."""
    return bool(_NAME.match(text) and _CODE_SHAPE.search(text))


def _next_token(text: str, start: int, remarks: list[str]) -> tuple[Token, int]:
    """Read the token at `start`, and return it with its end."""
    char = text[start]
    if char in "()":
        return Token(char, char, start), start + 1  # type: ignore[arg-type]
    is_negated = bool(_NEGATABLE.match(text, start))
    delimiter, known = start + is_negated, len(remarks)
    if text[delimiter] in _DELIMITED:
        literal = _DELIMITED[text[delimiter]](text, delimiter, remarks)
        if literal is None and len(remarks) > known:
            return _stray(text, start)
        if literal and not (is_negated and literal[0].text):
            return literal
    if is_negated:
        return Token("not", "-", start), start + 1
    return _filter(text, start, remarks) or _word(text, start, remarks)


def _stray(text: str, start: int) -> tuple[Token, int]:
    """Read a word that begins with the delimiter of nothing; without it the word may be empty."""
    raw, end = _bare(text, start)
    value = raw.strip('-"`')
    return Token("word", value, start, flag=is_code_word(value)), end


def _phrase(text: str, start: int, remarks: list[str]) -> tuple[Token, int] | None:
    quoted = _quoted(text, start)
    if quoted is None:
        remarks.append(f'the " at position {start} is never closed on its line')
        return None
    value, end = quoted
    if not value.strip():
        remarks.append(f"the quotes at position {start} are empty")
        return Token("word", "", start), end
    return Token("phrase", value, start), end


def _quoted(text: str, start: int) -> tuple[str, int] | None:
    r"""Read a quoted string; \" and \\ are the only escapes. None if it is not closed on the same line."""
    match = _QUOTED.match(text, start)
    return (re.sub(r'\\(["\\])', r"\1", match[1]), match.end()) if match else None


def _backticked(text: str, start: int, remarks: list[str]) -> tuple[Token, int] | None:
    end = text.find("`", start + 1)
    if end < 0:
        remarks.append(f"the backtick at position {start} is never closed")
        return None
    value = " ".join(text[start + 1 : end].split())
    if not value:
        remarks.append(f"the backticks at position {start} are empty")
    end += 1
    punctuation = len(text[end:]) - len(text[end:].lstrip(TRAILING))
    if text[end + punctuation : end + punctuation + 1].strip() == "":  # "where is `render`?"
        end += punctuation
    return Token("word", value, start, flag=True), end


def _regex(text: str, start: int, remarks: list[str]) -> tuple[Token, int] | None:
    """Read /regex/ or /regex/i; None if the slash begins a path or a comment, or is alone."""
    if text[start + 1 : start + 2] in ("", "/", ")") or text[start + 1].isspace():
        return None
    match = _REGEX.match(text, start)
    if match is None:
        remarks.append(f"the / at position {start} is never closed, so it begins no regex")
        return None
    end = match.end()
    value = re.sub(r"\\.", lambda m: "/" if m[0] == "\\/" else m[0], match[1], flags=re.DOTALL)
    after = _REGEX_END.match(text, end)
    if after is not None:
        return Token("regex", value, start, flag=after.group(1) == "i"), after.end()
    if any(char.isspace() for char in value):
        remarks.append(
            f"text follows the regex at position {start} directly; only the flag i may, and / inside is \\/"
        )
    return None


_DELIMITED: dict[str, Callable[[str, int, list[str]], tuple[Token, int] | None]] = {
    '"': _phrase,
    "`": _backticked,
    "/": _regex,
}


def _filter(text: str, start: int, remarks: list[str]) -> tuple[Token, int] | None:
    """Read name:value; None if the colon belongs to a word."""
    match = _FILTER.match(text, start)
    if match is None:
        return None
    name, colon = match.group(1), match.end()
    is_empty = colon == len(text) or text[colon].isspace() or text[colon] == ")"
    if name not in FILTERS:
        if not is_empty and not text[colon].isdigit():  # "key: value", "localhost:8080"
            remarks.append(_unknown_filter(name))
        return None
    if is_empty:
        remarks.append(f"{name}: has no value right after the colon")
        return None
    quoted = _quoted(text, colon) if text[colon] == '"' else None
    value, end = quoted or _bare(text, colon, remarks)
    if not quoted and value.startswith('"'):
        remarks.append(f'the " at position {colon} is never closed on its line')
        value = value.strip('"')
    if not value.strip():
        raise FilterError(f"{name}: needs a value; write one after the colon", start)
    return Token("filter", value, start, name=name), end


def _unknown_filter(name: str) -> str:
    """Return a remark with the nearest known filter."""
    nearest = suggestion(name, (*FILTERS, *FILTER_SYNONYMS))
    nearest = FILTER_SYNONYMS.get(nearest, nearest)
    return f"{name}: is no filter" + (f"; did you mean {nearest}:?" if nearest else "")


def suggestion(value: str, known: tuple[str, ...]) -> str:
    """Return the known name nearest to a value, or ""."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(value, known, n=1, cutoff=0.55)), "")


def _bare(text: str, start: int, remarks: list[str] | None = None) -> tuple[str, int]:
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
    if opened and remarks is not None:
        remarks.append(f"the ( at position {opened[-1]} is never closed")
    return text[start:end], end


def _word(text: str, start: int, remarks: list[str]) -> tuple[Token, int]:
    """Read a plain word or an operator."""
    raw, end = _bare(text, start, remarks)
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
