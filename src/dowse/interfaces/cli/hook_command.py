"""`dowse hook`: what clients run at the start of a session and before a grep. Not for people: not listed."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence

from dowse.errors import UsageError

# Of the client's message: patterns are short.
_MAX_INPUT = 1_000_000
_START = """\
dowse's tools find code in this repository by what it does, by name, and by who calls it.
Ask them in plain words before grep or reading whole files; use grep for exact strings.
"""
# Words, joined by what people write between them in a pattern: this asks for a concept, not for a string.
_CONCEPT = re.compile(r"\(?[A-Za-z]{2,}(?:(?:[ |]|\\\||\.[*+]\??|\\s[*+]?)+[A-Za-z]{2,})+\)?")
_MAX_WORDS = 12
# Commands of a shell that search text or names of files, and a glob of several words: `*session*cookie*`.
_SEARCHERS = frozenset("grep egrep fgrep rg ag ack find fd".split())
_ENDS = frozenset(["|", "||", "&", "&&", ";", ">", ">>", "<", "(", ")"])
_GLOB = re.compile(r"\*?[A-Za-z]{2,}(?:\*[A-Za-z]{2,})+\*?")


def main(arguments: Sequence[str]) -> int:
    """Answer one hook; a client must never fail because of it."""
    if arguments == ["session-start"]:
        sys.stdout.write(_START)
        return 0
    if arguments == ["grep"]:
        sys.stdout.write(suggestion(sys.stdin.read(_MAX_INPUT)))
        return 0
    raise UsageError("`dowse hook` takes session-start or grep; clients run it, see `dowse install`")


def suggestion(message: str) -> str:
    """Return the answer to a client that is about to grep: a hint if the pattern is a concept."""
    try:
        given = json.loads(message)["tool_input"]
        pattern, command = given.get("pattern", ""), given.get("command", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    patterns = [pattern] if isinstance(pattern, str) else []
    patterns += _shell_words(command) if isinstance(command, str) else []
    concept = next((each for each in patterns if _CONCEPT.fullmatch(each.strip())), None)
    if concept is None:
        return ""
    # "\s" between words is no word.
    words = " ".join(re.findall(r"[A-Za-z]{2,}", concept.replace("\\s", " "))[:_MAX_WORDS])
    hint = f'These are words for a concept: dowse\'s search tool finds it by meaning, e.g. "{words}".'
    output = {"hookEventName": "PreToolUse", "additionalContext": hint}
    return json.dumps({"hookSpecificOutput": output}) + "\n"


def _shell_words(command: str) -> list[str]:
    """Return the words of the greps and finds in a shell command; nothing of what is no valid command."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    found, is_search = [], False
    try:
        for word in lexer:
            is_search = word not in _ENDS and (is_search or word.rpartition("/")[2] in _SEARCHERS)
            if is_search:
                found.append(word.replace("*", " ") if _GLOB.fullmatch(word) else word)
    except ValueError:
        return []
    return found
