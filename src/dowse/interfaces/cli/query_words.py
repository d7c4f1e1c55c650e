"""The words of `dowse search`: which are the query, and whether the last one names a place."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from dowse.errors import UsageError
from dowse.interfaces.cli.common import environment
from dowse.lazy_classes import NamedTuple

# Stands for standard input, as in other tools.
STDIN = "-"
# Written like a path, whether or not it exists.
_PATH_LIKE = ("./", "../", "~/")
# Nothing that only paths have: no separator, no ending.
_WORD = re.compile(r"[\w-]+")
# Colours of a test runner.
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class QueryWords(NamedTuple):
    """A query, and where it is to be searched."""

    query: str
    path: str = "."
    note: str = ""  # how the words were understood, where another way was possible
    is_input: bool = False  # whether the query is a text from standard input


def read_query(words: Sequence[str]) -> QueryWords:
    """Return query and place of a command line.

    Several words are one query. The last one is a place if it exists and can't be a word of a sentence: it
    has a separator or an ending, or what precedes it is one argument, as in `grep PATTERN PATH`. `-`, or no
    word at all, reads the query from standard input.
    """
    *query, last = words or [STDIN]
    note = ""
    if not query or not is_place(last):
        query, last = [*query, last], "."
    elif ends_in_word(words):
        note = f"{last} counts as a word; {last}/ or ./{last} searches in that folder"
        query, last = [*query, last], "."
    elif _WORD.fullmatch(last):
        note = f'searching in {last}, which exists here; to search for the word, quote "{" ".join(words)}"'
    text = " ".join(query)
    if text == STDIN:
        return QueryWords(_read_stdin(asked=bool(words)), last, note, is_input=True)
    return QueryWords(text, last, note)


def ends_in_word(words: Sequence[str]) -> bool:
    """Whether the last of some words is one of a sentence, even if a file or folder has its name."""
    return len(words) > 2 and _WORD.fullmatch(words[-1]) is not None


def is_place(word: str) -> bool:
    """Whether a word names a file or folder.

    Raises:
        UsageError: It can be nothing else, and does not exist.
    """
    try:
        path = Path(environment.get().folder, Path(word).expanduser())
        if path.exists():
            return True
        below_known = path.is_absolute() and path.parent != Path("/") and path.parent.exists()
    except (OSError, ValueError, RuntimeError):  # too long for a path, a NUL in it, an unknown ~user
        return False
    if word.startswith(_PATH_LIKE) or (word.startswith("/") and below_known):
        raise UsageError(f"{word} does not exist; name a folder or file that does, or quote the query")
    return False


def _read_stdin(*, asked: bool) -> str:
    """Return the text of standard input, or the end of it where it is longer than a query may be.

    Args:
        asked: Whether it was asked for; else only a pipe or a file is read, never a terminal.
    """
    from dowse.query.parser import MAX_LENGTH

    if not asked and not _is_piped():
        raise UsageError("search needs a query: words, or `-` for standard input; see `dowse search --help`")
    stream = getattr(sys.stdin, "buffer", None)
    text = stream.read().decode("utf-8", "replace") if stream else sys.stdin.read()
    text = _ESCAPE.sub("", text).strip()
    if not text:
        raise UsageError("standard input has no query in it; give one as words, or pipe a text")
    # A test run or a trace says at its end what went wrong.
    return text if len(text) <= MAX_LENGTH else text[-MAX_LENGTH:].partition("\n")[2] or text[-MAX_LENGTH:]


def _is_piped() -> bool:
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
