"""Repository text in replies, marked as data: an agent must be able to tell it from dowse's own words.

Code, names, paths and notes that quote them stand between `<data-…>` and `</data-…>`, whose name nobody can
guess who writes a repository. Outside stand dowse's words, what the call itself sent, and what the user's
folders are called. Every line of code begins with its number, and names are one line each, quoted where they
hold more than a plain name does.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Sequence

from dowse.security.terminal import escape_controls, escape_name, escape_surrogates_in_json

# Of this process: the same text has the same mark, and no repository can hold it.
_KEY = secrets.token_bytes(16)
_DIGEST_BYTES = 4
# What the two lines of a frame take of a budget, line ends included.
FRAME_BYTES = len("<data->\n\n</data->") + 4 * _DIGEST_BYTES
# A path, a qualified name, an operator: nothing that reads like a sentence or like a mark.
_PLAIN_NAME = re.compile(r"[^\s\"<>`]+")


def framed(lines: Sequence[str]) -> list[str]:
    """Return lines of a repository between marks; nothing for none."""
    if not lines:
        return []
    body = "\n".join(lines).encode("utf-8", "backslashreplace")
    mark = f"data-{hashlib.blake2b(body, key=_KEY, digest_size=_DIGEST_BYTES).hexdigest()}"
    return [f"<{mark}>", *lines, f"</{mark}>"]


def quoted(name: str) -> str:
    """Return a name or path on one line, in quotes if it is more than a plain name."""
    escaped = escape_name(name)
    return escaped if not name or _PLAIN_NAME.fullmatch(escaped) else json.dumps(escaped, ensure_ascii=False)


def one_line(text: str) -> str:
    """Return a line of code that stays one line to every reader and hides nothing."""
    return escape_controls(text)


def encodable(data: dict[str, object]) -> dict[str, object]:
    """Return structured content as JSON can carry it: text that is exact, but for undecodable bytes."""
    checked: dict[str, object] = escape_surrogates_in_json(data)
    return checked
