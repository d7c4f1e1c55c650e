"""Edge length of a tree embedding, and the precision that the coordinates then need.

Long edges preserve the tree's distances: where a path turns by the angle a at a node it loses −2 ln sin(a/2),
whatever the length of its edges. After other turns it arrives at an angle, by less than half the smallest
angle if an edge is longer than −2 ln tan(a/4), so it never loses more than −2 ln sin(a/4) at a node; the
smallest angle is that of the node with most neighbours. But a point at the distance r from the origin is
2e^−r from the boundary: each edge on the path from the root costs length / ln 2 bits. (Sarkar 2011; De Sa,
Gu, Ré & Sala, "Representation Tradeoffs for Hyperbolic Embeddings", ICML 2018.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dowse.research.hyperbolic.directions import half_angle_sine

# Bits of a float64 significand.
FLOAT_DIGITS = 53
# Bits that are not used for length: distances between the farthest points are then right to a few per cent.
GUARD_DIGITS = 6
# Maximum distortion where decimals are needed anyway: paths may be this many times too short.
DISTORTION = 2.0
# From this edge length on, paths whose turns are all right angles never return to where they were. On real
# trees, neighbours are nearest (MAP 1) from here on as well, if the ball has enough dimensions.
NO_RETURN = -2 * math.log(math.tan(math.pi / 8))
# From so many dimensions on, shorter edges suffice, down to this length: a few neighbours are then not
# nearest, but decimals would make a search ten times as slow.
MANY_DIMENSIONS, SHORTEST = 5, 1.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Edge length, precision and dimension of an embedding."""

    length: float  # hyperbolic, of every edge
    digits: int  # bits of a coordinate; for more than 53, coordinates are decimals
    dimension: int  # of the ball

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
            digits: Bits that a coordinate may have: edges become as long as these allow. 0 for 53 if those
                suffice for the distortion, or at least keep separate nodes apart (siblings are no nearer to
                each other than to their parent, paths do not return; nearly so in many dimensions); else for
                as many as needed.
            distortion: How many times too short a path may be, where digits are 0.
        """
        if distortion <= 1:
            raise ValueError(f"a distortion of {distortion} needs infinitely many digits: take one above 1")
        if digits and digits <= GUARD_DIGITS:
            raise ValueError(f"{digits} digits leave none for an edge: take {GUARD_DIGITS + 1} or more")
        neighbours = 1 + 2 ** math.ceil(math.log2(max(widest, 1)))
        levels = max(2, depth + depth % 2)
        longest = _longest_edge(digits or FLOAT_DIGITS, levels)
        gap = half_angle_sine(neighbours, dimension)
        length = _loss(gap) * distortion / (distortion - 1)
        enough = SHORTEST if dimension >= MANY_DIMENSIONS else max(NO_RETURN, _separating_edge(gap))
        if digits or longest >= min(length, enough):
            return Scale(longest, digits or FLOAT_DIGITS, dimension)
        return Scale(length, GUARD_DIGITS + math.ceil(length * levels / math.log(2)), dimension)


def _longest_edge(digits: int, levels: int) -> float:
    """Return the longest edge such that so many digits suffice at this depth."""
    return (digits - GUARD_DIGITS) * math.log(2) / levels


def _loss(gap: float) -> float:
    """Return what a path loses at a node at most, given the sine of half the smallest angle."""
    return -2 * math.log(math.sin(math.asin(gap) / 2))


def _separating_edge(gap: float) -> float:
    """Return the edge length from which siblings are no nearer to each other than to their parent.

    With the angle a between them, cosh d = cosh² l − sinh² l cos a; d ≥ l where cosh l ≥ cos a / (1 − cos a).
    """
    one_minus_cos = 2 * gap * gap
    return math.acosh(max(1.0, (1 - one_minus_cos) / one_minus_cos))
