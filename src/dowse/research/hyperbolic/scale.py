"""How long an edge of the tree becomes, and how many digits the coordinates then need.

Long edges keep the tree's distances: where a path turns by the angle a at a node it loses −2 ln sin(a/2),
whatever the length of its edges. After other turns it comes in aslant, by less than half the narrowest angle
if an edge is longer than −2 ln tan(a/4), so it never loses more than −2 ln sin(a/4) at a node; the narrowest
angle is that of the node with most neighbours. But a point at the distance r from the origin is 2e^−r from
the boundary: each edge on the way from the root costs length / ln 2 binary digits. (Sarkar 2011; De Sa and
others, "Representation Tradeoffs for Hyperbolic Embeddings", ICML 2018.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dowse.research.hyperbolic.directions import half_gap

# What a float64 has.
FLOAT_DIGITS = 53
# Digits that do not go into length: distances between the farthest points are then right to a few per cent.
GUARD_DIGITS = 6
# Paths may come out this many times too short where decimals are computed anyway.
DISTORTION = 2.0
# From here on paths whose turns are all right angles never come back to where they were. On real trees
# neighbours are nearest (MAP 1) from here on as well, where the ball has room enough.
NO_RETURN = -2 * math.log(math.tan(math.pi / 8))
# In a ball of so many dimensions shorter edges do as well, down to this length: a few neighbours are then
# not nearest, but decimals would take a search ten times as long.
ROOMY, SHORTEST = 5, 1.0


@dataclass(frozen=True, slots=True)
class Scale:
    """What points of a tree are made with.

    Attributes:
        length: Hyperbolic length of every edge.
        digits: Binary digits of a coordinate; more than 53 are kept as decimals.
        dimension: Of the ball.
    """

    length: float
    digits: int
    dimension: int

    @property
    def decimal(self) -> bool:
        """Whether coordinates are decimals."""
        return self.digits > FLOAT_DIGITS

    @property
    def decimal_digits(self) -> int:
        """Decimal digits of a coordinate."""
        return math.ceil(self.digits * math.log10(2)) + 1

    @staticmethod
    def choose(
        widest: int, depth: int, dimension: int, digits: int = 0, distortion: float = DISTORTION
    ) -> Scale:
        """Return the scale for a tree; trees of nearly the same size get the same.

        Args:
            widest: The most children that a node has; counts as the next power of two.
            depth: The most edges between the root and a node; counts as the next even number.
            dimension: Of the ball.
            digits: Binary digits that a coordinate may have: edges become as long as these carry. 0 for 53 if
                those carry the distortion, or at least keep apart what lies apart (siblings are no nearer to
                each other than to their parent, paths do not return; where there is room, nearly so); else
                for as many as it needs.
            distortion: How many times too short a path may come out, where digits are free.
        """
        if distortion <= 1:
            raise ValueError(f"a distortion of {distortion} needs endless digits: take one above 1")
        if digits and digits <= GUARD_DIGITS:
            raise ValueError(f"{digits} digits leave none for an edge: take {GUARD_DIGITS + 1} or more")
        neighbours = 1 + 2 ** math.ceil(math.log2(max(widest, 1)))
        levels = max(2, depth + depth % 2)
        carried = _carried(digits or FLOAT_DIGITS, levels)
        gap = half_gap(neighbours, dimension)
        length = _loss(gap) * distortion / (distortion - 1)
        enough = SHORTEST if dimension >= ROOMY else max(NO_RETURN, _apart(gap))
        if digits or carried >= min(length, enough):
            return Scale(carried, digits or FLOAT_DIGITS, dimension)
        return Scale(length, GUARD_DIGITS + math.ceil(length * levels / math.log(2)), dimension)


def _carried(digits: int, levels: int) -> float:
    """Return the longest edge such that a point so deep has its digits."""
    return (digits - GUARD_DIGITS) * math.log(2) / levels


def _loss(gap: float) -> float:
    """Return what a path loses at a node at most, given the sine of half the narrowest angle."""
    return -2 * math.log(math.sin(math.asin(gap) / 2))


def _apart(gap: float) -> float:
    """Return the edge from which on siblings are no nearer to each other than to their parent.

    With the angle a between them, cosh d = cosh² l − sinh² l cos a; d ≥ l where cosh l ≥ cos a / (1 − cos a).
    """
    rest = 2 * gap * gap  # 1 − cos a
    return math.acosh(max(1.0, (1 - rest) / rest))
