"""What choices are worth: a visitor has one vote, and repeating it adds less each time.

Without a thumb a vote is 1 − Π (1 − worth of each choice): below 1, however often one clicks. The last thumb,
1 or −1, is a visitor's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

# Looking at a hit may be a mistake; who copies from it, or opens it in an editor, has use for it.
WORTH = {"click": 0.4, "copy": 0.6, "open": 0.6}
_THUMBS = {"up": 1.0, "down": -1.0}


def vote(kinds: Iterable[str]) -> float:
    """Return what one visitor says of one symbol for one question, from −1 to 1.

    Args:
        kinds: Of the visitor's choices, in the order of time.
    """
    doubt, thumb = 1.0, 0.0
    for kind in kinds:
        thumb = _THUMBS.get(kind, thumb)
        doubt *= 1 - WORTH.get(kind, 0.0)
    return thumb or 1 - doubt


def likeness(a: Iterable[str], b: Iterable[str], worth: Mapping[str, float]) -> float:
    """Return how alike two questions are, from 0 to 1: the cosine of their terms, rare ones counting more."""
    first, second = set(a), set(b)
    sizes = [sum(worth[term] ** 2 for term in terms) for terms in (first, second)]
    shared = sum(worth[term] ** 2 for term in first & second)
    return shared / (sizes[0] * sizes[1]) ** 0.5 if shared else 0.0


def pooled(votes: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    """Return what visitors say together, and what they would say without the loudest of them.

    Args:
        votes: By visitor, for several questions, each already weighted by how alike the question is. Of
            those, only the strongest for and the strongest against count: asking the same in ten
            wordings gives nobody ten votes.
    """
    each = [max(0.0, *given) + min(0.0, *given) for given in votes.values()]
    return sum(each), sum(each) - max(each, default=0.0)
