"""Token budgets: how many lines of each hit, and how many items of a list, fit into an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dowse.token_estimate import BYTES_PER_TOKEN, byte_length

# Lines that every hit gets before any gets more, in an answer with snippets.
PREVIEW_LINES = 5
_FEWEST_LINES = 3
# Characters of a line that are shown: minified code would use up the budget.
LINE_CHARACTERS = 200
# Bytes reserved for the note about what was omitted, if something is.
_RESERVE = 160
# The share of a budget for beginnings of hits after the first, before the best hits get all their lines.
# Chosen on commits of four repositories: with all of it for beginnings, 500 tokens held half as many of the
# lines that a commit changed; with none, a tenth fewer of the changed functions at 2,000 tokens.
_PREVIEW_SHARE = 0.5


def allocate_lines(
    previews: Sequence[int],
    limits: Sequence[int],
    budget: int,
    cost: Callable[[int, int], int],
    order: Sequence[int] = (),
) -> list[int]:
    """Return how many lines each hit is shown with; hits beyond the end of the list are omitted.

    Args:
        previews: Lines that each hit gets before any gets more.
        limits: Lines that each hit gets at most.
        budget: Bytes to spend.
        cost: The bytes of a hit, by its position and number of lines; 0 lines is its name alone.
        order: In which order hits get more than their previews; the order of the hits if empty.
    """
    counts = _allocate(previews, limits, budget, cost, order)
    if len(counts) == len(limits):
        return counts
    return _allocate(previews, limits, budget - _RESERVE, cost, order)


def _allocate(
    previews: Sequence[int],
    limits: Sequence[int],
    budget: int,
    cost: Callable[[int, int], int],
    order: Sequence[int],
) -> list[int]:
    counts: list[int] = []
    kept = int(budget * (1 - _PREVIEW_SHARE))
    budget = _add_previews(counts, previews, budget, kept, cost)
    for position in order or range(len(limits)):
        if position < len(counts):
            count = counts[position]
            counts[position] = _max_lines(position, count, limits[position], budget, cost)
            budget -= cost(position, counts[position]) - cost(position, count)
    _add_previews(counts, previews, budget, 0, cost)
    return counts


def _add_previews(
    counts: list[int], previews: Sequence[int], budget: int, kept: int, cost: Callable[[int, int], int]
) -> int:
    """Add further hits with their previews while more than `kept` bytes are left; return what is left."""
    # Hit by hit: names alone would use up a small budget, and a few lines of the best say more than names.
    for position in range(len(counts), len(previews)):
        available = budget - (kept if position else 0)
        name = cost(position, 0)
        # The last one begins the next page if there is room for little more than its name.
        if cost(position, min(_FEWEST_LINES, previews[position]) if counts else 0) > available:
            break
        counts.append(_max_lines(position, 0, previews[position], available - name, cost))
        budget -= cost(position, counts[position])
    return budget


def _max_lines(position: int, count: int, wanted: int, budget: int, cost: Callable[[int, int], int]) -> int:
    """Return the largest number of lines from `count` to `wanted` whose extra cost is within a budget."""
    spent = cost(position, count)
    return _largest(count, max(count, wanted), lambda lines: cost(position, lines) - spent <= budget)


def max_items(total: int, max_tokens: int, render: Callable[[int], str]) -> int:
    """Return the largest number of items whose rendering is within a token budget; 0 if even one is not."""
    return _largest(0, total, lambda count: byte_length(render(count)) <= max_tokens * BYTES_PER_TOKEN)


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, by binary search; `low` is taken to fit."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def truncate(text: str, max_tokens: int) -> str:
    """Return a text cut to a token budget, as the last resort: it then ends in an ellipsis."""
    max_bytes = max_tokens * BYTES_PER_TOKEN
    if byte_length(text) <= max_bytes:
        return text
    return text.encode("utf-8", "replace")[: max_bytes - 4].decode("utf-8", "ignore") + "…"


def truncate_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    """Return a line without trailing space, cut to a number of characters."""
    text = text.rstrip()
    return text if len(text) <= limit else text[: limit - 1] + "…"
