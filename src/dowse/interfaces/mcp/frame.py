"""Framing of repository text in replies, against prompt injection: agents must tell it from dowse's words.

Code, names, paths and notes that quote them are between `<data-…>` and `</data-…>`, a boundary that the
author of a repository can't guess. Outside the frame are dowse's words, the arguments of the call, and the
names of the user's folders. Every line of code begins with its number; names are one line each, in quotes if
they contain more than a plain name.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Sequence

from dowse.security.terminal import escape_name

# One key for each process: the same text has the same boundary, and no repository can contain it.
_KEY = secrets.token_bytes(16)
_DIGEST_BYTES = 4
# What the two lines of a frame cost, line ends included.
FRAME_BYTES = len("<data->\n\n</data->") + 4 * _DIGEST_BYTES
# A path, a qualified name, an operator: nothing that reads like a sentence or like a boundary.
_PLAIN_NAME = re.compile(r"[^\s\"<>`]+")


def frame(lines: Sequence[str]) -> list[str]:
    """Return lines of a repository between boundaries; nothing for no lines."""
    if not lines:
        return []
    body = "\n".join(lines).encode("utf-8", "backslashreplace")
    boundary = f"data-{hashlib.blake2b(body, key=_KEY, digest_size=_DIGEST_BYTES).hexdigest()}"
    return [f"<{boundary}>", *lines, f"</{boundary}>"]


def quote_name(name: str) -> str:
    """Return a name or path on one line, in quotes if it is more than a plain name."""
    escaped = escape_name(name)
    return escaped if not name or _PLAIN_NAME.fullmatch(escaped) else json.dumps(escaped, ensure_ascii=False)
