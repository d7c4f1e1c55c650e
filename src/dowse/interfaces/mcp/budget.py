"""How a budget of tokens is spent on hits: a name and a taste each, then more lines, the best hits first."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from dowse.token_estimate import BYTES_PER_TOKEN, byte_length

# Lines that every hit gets before any gets more, in an answer with snippets.
TASTE_LINES = 5
# Lines that a snippet has at most: who wants more asks for the symbol.
SNIPPET_LINES = 40
# What a whole line may have of a file's line: minified code would eat the budget.
LINE_CHARACTERS = 200
# Set aside for saying what was left out.
_RESERVE = 160


def allot(
    tastes: Sequence[int], most: Sequence[int], left: int, cost: Callable[[int, int], int]
) -> list[int]:
    """Return how many lines each hit is shown with; hits beyond the end of the list are left out.

    Args:
        tastes: Lines that each hit gets before any gets more.
        most: Lines that each hit gets at most.
        left: Bytes to spend.
        cost: The bytes that a hit takes with so many lines; 0 lines is its name alone.
    """
    left -= _RESERVE
    counts: list[int] = []
    # Hit by hit: names alone would eat a small budget, and a few lines of the best tell more than many names.
    for at in range(len(most)):
        if cost(at, 0) > left:
            break
        counts.append(_most_lines(at, 0, tastes[at], left - cost(at, 0), cost))
        left -= cost(at, counts[at])
    for at, has in enumerate(counts):
        counts[at] = _most_lines(at, has, most[at], left, cost)
        left -= cost(at, counts[at]) - cost(at, has)
    return counts


def _most_lines(at: int, has: int, wanted: int, left: int, cost: Callable[[int, int], int]) -> int:
    """Return the largest number of lines up to what is wanted that can be paid for."""
    spent = cost(at, has)
    low, high = has, max(has, wanted)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(at, middle) - spent <= left:
            low = middle
        else:
            high = middle - 1
    return low


def most_that_fit(total: int, max_tokens: int, render: Callable[[int], str]) -> int:
    """Return the largest number of items whose rendering is within a budget; 0 if even one is not."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if byte_length(render(middle)) <= max_tokens * BYTES_PER_TOKEN:
            low = middle
        else:
            high = middle - 1
    return low


def clipped(text: str, max_tokens: int) -> str:
    """Return a text cut to the budget, as the last resort: it then ends in an ellipsis."""
    most = max_tokens * BYTES_PER_TOKEN
    if byte_length(text) <= most:
        return text
    return text.encode("utf-8", "replace")[: most - 4].decode("utf-8", "ignore") + "…"


def beginning(text: str, left: int) -> str:
    """Return as much of a text as takes no more than some bytes in JSON; it then ends in an ellipsis."""
    if json_bytes(text) - 2 <= left:
        return text
    low, high = 0, min(len(text), max(0, left))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if json_bytes(text[:middle] + "…") - 2 <= left else (low, middle - 1)
    return text[:low] + "…" if low else ""


def json_bytes(data: Any) -> int:  # noqa: ANN401 - any JSON
    """Return how long data is as clients write it for their models: without spaces."""
    return byte_length(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def short(text: str, most: int = LINE_CHARACTERS) -> str:
    """Return one line of a text that is not too long."""
    text = text.rstrip()
    return text if len(text) <= most else text[: most - 1] + "…"
