"""Hyperbolic space as the inside of the unit ball (Poincaré): distance, addition, maps to tangents and back.

Points are the last axis of an array; everything else broadcasts. `distance`, `distances`, `room` and `add`
take float64 arrays or object arrays of `decimal.Decimal`; the rest is for float64.
"""

from __future__ import annotations

import decimal
import math
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Coordinates in float64, or as decimals where those are too coarse.
Points = NDArray[Any]

# What is left to the boundary is never taken as less than this: what rounding pushed onto the boundary, or
# over it, counts as far away, not as an error.
NEAREST = 2.0**-53
# Digits that are enough for a number whose logarithm is wanted as a float.
FEW_DIGITS = 40
# From here on acosh(1 + x) is ln(2x) to every digit of a float.
FAR = 1e20


def distance(x: Points, y: Points) -> NDArray[np.float64]:
    """Return acosh(1 + 2‖x−y‖² / ((1−‖x‖²)(1−‖y‖²))), also where points are very near or very far."""
    if np.asarray(x).dtype == object or np.asarray(y).dtype == object:
        return _decimal_distance(x, y)
    apart = x - y
    ratio = 2 * squared(apart) / (room(x) * room(y))
    found: NDArray[np.float64] = np.log1p(ratio + np.sqrt(ratio * (ratio + 2)))
    return found


def distances(x: Points, y: Points) -> NDArray[np.float64]:
    """Return the distance of each of some points (n, dimension) from each of others, as a matrix."""
    return distance(x[:, None, :], y[None, :, :])


def room(points: Points) -> Points:
    """Return 1 − ‖x‖²: what is left to the boundary."""
    left = np.asarray(1 - squared(points))
    return left if left.dtype == object else np.maximum(left, NEAREST)


def squared(points: Points) -> Points:
    """Return ‖x‖²."""
    if points.dtype == object:
        return np.asarray((points * points).sum(axis=-1))
    found: Points = np.einsum("...i,...i->...", points, points)
    return found


def add(x: Points, y: Points) -> Points:
    """Return x ⊕ y (Möbius addition): where y goes under the translation that moves the origin to x.

    Written in x + y, which is short where y is near −x: the textbook form loses all digits there.
    """
    moved = x + y
    length, left = squared(moved)[..., None], room(x)[..., None]
    found: Points = (left * moved + length * x) / (length + left * room(y)[..., None])
    return found


def log_map(base: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the tangents at `base` that lead to points: `exp_map` leads back.

    A tangent's length in the ball's metric is 2‖v‖ / (1 − ‖base‖²): the distance from `base` to the point.
    """
    seen = add(-base, points)
    length = np.linalg.norm(seen, axis=-1, keepdims=True)
    towards = seen / np.where(length > 0, length, 1)
    far = distance(base, points)[..., None] / 2
    found: NDArray[np.float64] = room(base)[..., None] * far * towards
    return found


def exp_map(base: NDArray[np.float64], tangents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where one arrives by going from `base` along tangents; stays inside the ball."""
    length = np.linalg.norm(tangents, axis=-1, keepdims=True)
    towards = tangents / np.where(length > 0, length, 1)
    return inside(add(base, np.tanh(length / room(base)[..., None]) * towards))


def inside(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points with those that rounding pushed out of the ball put just inside it."""
    length = np.linalg.norm(points, axis=-1, keepdims=True)
    most = 1 - 4 * NEAREST
    found: NDArray[np.float64] = points * (most / np.maximum(length, most))
    return found


def with_digits(precision: int) -> AbstractContextManager[decimal.Context]:
    """Compute with so many decimal digits while the returned context lasts; nothing is too small or large."""
    return decimal.localcontext(decimal.Context(prec=precision, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX))


def _decimal_distance(x: Points, y: Points) -> NDArray[np.float64]:
    # Sums and products of decimals are exact where nothing bounds their digits; rounded is only what comes
    # out of the differences, so no precision must be known.
    with with_digits(decimal.MAX_PREC):
        parts = squared(x - y), room(x), room(y)
    with with_digits(FEW_DIGITS):
        found = np.frompyfunc(_acosh_of, 3, 1)(*parts)
    return np.asarray(found, np.float64)


def _acosh_of(apart: decimal.Decimal, left: decimal.Decimal, right: decimal.Decimal) -> float:
    ratio = 2 * (+apart) / ((+left) * (+right))
    if ratio < FAR:
        small = float(ratio)
        return math.log1p(small + math.sqrt(small * (small + 2)))
    power = ratio.adjusted()
    return math.log(2 * float(ratio.scaleb(-power))) + power * math.log(10)
