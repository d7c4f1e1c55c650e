"""`dowse hook`: what clients run at the start of a session and before a grep. Not for people: not listed."""

from __future__ import annotations

import json
import re
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
_CONCEPT = re.compile(r"\(?[A-Za-z]{2,}(?:(?:[ |]|\.[*+]\??|\\s[*+]?)+[A-Za-z]{2,})+\)?")
_MAX_WORDS = 12


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
        pattern = json.loads(message)["tool_input"]["pattern"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    if not isinstance(pattern, str) or not _CONCEPT.fullmatch(pattern.strip()):
        return ""
    # "\s" between words is no word.
    words = " ".join(re.findall(r"[A-Za-z]{2,}", pattern.replace("\\s", " "))[:_MAX_WORDS])
    hint = f'These are words for a concept: dowse\'s search tool finds it by meaning, e.g. "{words}".'
    output = {"hookEventName": "PreToolUse", "additionalContext": hint}
    return json.dumps({"hookSpecificOutput": output}) + "\n"
