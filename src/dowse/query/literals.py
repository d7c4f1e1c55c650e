"""String literals of source code as templates, and how much of a pasted message each of them explains.

A literal is read as the program prints it: escapes are resolved, literals that are joined become one, and a
placeholder or value between them is a gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dowse.lazy_classes import NamedTuple
from dowse.parsing.tokenizer import STOP_WORDS

# Stands for what a program fills in.
GAP = "\0"
_MAX_TOKENS = 200
# Strings, which `re` compiles when a literal is first read: few questions come so far.
_STRING = (
    r"""(?s)(?P<triple>\"""|''')(?P<long>.*?)(?P=triple)|"(?P<double>(?:\\.|[^"\\\n])*)"|'(?P<single>(?:\\.|[^'\\\n])*)'"""
    # Over several lines only if it does not look like what follows a literal that began before.
    r"|`(?P<back>(?:\\.|[^`\\\n])*|(?![\s),;\]])(?:\\.|[^`\\])*)`"
)
# The placeholders of printf and its relatives, of Python, Rust and C#, and variables inside of strings.
_PLACEHOLDER = (
    r"%(?:[({<]\w+[)}>])?(?:\d+\$)?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|ll|[hljztLq])?[a-zA-Z@]\b"
    r"|%\{\w+\}|[$#]\{[^{}]*\}|\{[^{}\n]*\}|\$\w+(?:(?:->|::\$?)\w+|\[\w+\])*|%[1-9]\b"
)
_ESCAPE = re.compile(r"\\(?:[nrt]|\r?\n[ \t]*|x[0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{2,8}\}?|(.))", re.DOTALL)
# Between literals of one message: an operator on both sides of a value, a macro such as PRIu64, or nothing.
_OPERATOR = r"(?:\+|<<|\.{1,2}|&|~)"
_JOINED = re.compile(rf"\\?(?:{_OPERATOR}|[fFuUrRbL$@]+)?\Z")
_VALUE = re.compile(
    rf"{_OPERATOR}[^;{{}}]{{1,150}}{_OPERATOR}[fFuUrRbL$@]{{0,2}}\Z|[A-Z]\w{{1,30}}\Z", re.DOTALL
)
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")


class Literal(NamedTuple):
    """A literal, or several that are joined."""

    text: str  # as printed, with gaps
    start: int  # offsets in the source
    end: int


class Match(NamedTuple):
    """How much of a message a literal explains, in words."""

    words: int  # of the message
    content: int  # of them, without stop words
    run: int  # the most in sequence
    share: float  # of the literal
    whole: bool  # all of the message is explained

    @property
    def score(self) -> float:
        """The words that agree; those of the literal that the message lacks count against it."""
        missing = self.words / self.share - self.words if self.share else 0.0
        return self.words - 0.3 * min(missing, self.words)


def read_literals(source: str) -> list[Literal]:
    """Return the literals of a piece of source code; those that are joined as one."""
    literals: list[Literal] = []
    for match in re.finditer(_STRING, source):
        text = _printed(match["long"] or match["double"] or match["single"] or match["back"] or "")
        gap = _gap_between(source[literals[-1].end : match.start()]) if literals else None
        if gap is None:
            literals.append(Literal(text, match.start(), match.end()))
        else:
            before = literals[-1]
            literals[-1] = Literal(before.text + gap + text, before.start, match.end())
    return literals


def message_tokens(text: str) -> list[str]:
    """Return the words and signs of a message, or of a literal."""
    return _TOKEN.findall(text)[:_MAX_TOKENS]


def align(message: Sequence[str], literal: str) -> Match:
    """Return how much of a message a literal explains; both have to agree letter by letter."""
    tokens = message_tokens(literal)
    from difflib import SequenceMatcher  # after the rest: few questions come so far

    blocks = SequenceMatcher(None, message, tokens, autojunk=False).get_matching_blocks()
    same = [
        [token for token in message[block.a : block.a + block.size] if token[0].isalnum()] for block in blocks
    ]
    words = [word for block in same for word in block]
    total = sum(token[0].isalnum() for token in tokens)
    # Between two blocks of the literal's text, words of the message are values if the literal has a gap.
    left = sum(token[0].isalnum() for token in message) - len(words) - sum(_filled(message, tokens, blocks))
    return Match(
        len(words),
        len([word for word in words if is_content(word)]),
        max(map(len, same)),
        len(words) / total if total else 0.0,
        left <= 0,
    )


def is_content(word: str) -> bool:
    """Whether a word says something."""
    return len(word) > 1 and word.lower() not in STOP_WORDS and not word.isdigit()


def _filled(
    message: Sequence[str], tokens: Sequence[str], blocks: Sequence[tuple[int, int, int]]
) -> Iterator[int]:
    """Yield for each gap of the literal how many words of the message it takes."""
    a = b = 0
    for next_a, next_b, size in blocks:
        if GAP in tokens[b:next_b]:
            yield sum(token[0].isalnum() for token in message[a:next_a])
        a, b = next_a + size, next_b + size


def _printed(text: str) -> str:
    text = _ESCAPE.sub(lambda match: match[1] or " ", text)
    return re.sub(_PLACEHOLDER, GAP, text.replace("%%", "%"))


def _gap_between(code: str) -> str | None:
    """Return what the code between two literals prints, None if they are apart."""
    code = code.strip()
    if _JOINED.match(code):
        return ""
    return GAP if _VALUE.match(code) else None
